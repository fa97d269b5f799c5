# SPDX-License-Identifier: Apache-2.0
"""doc_blocks.py DOCUMENT OUTPUT: the pairs of a ```cpp and a ```tw canonical block as cases of generated.h.

A block of cpp is the body of a function that states one algorithm; the text that follows is what it must give.
"""
import re
import sys

PAIR = re.compile(r"^```cpp\n(.*?)^```\n\n```tw canonical\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(document, output):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    pairs = PAIR.findall(text)
    if not pairs or len(pairs) != len(re.findall(r"^```cpp$", text, re.MULTILINE)):
        sys.exit(f"{document}: a block of cpp without its ```tw canonical")
    lines = ['// Generated from the document by doc_blocks.py.', '#include "tests/cpp_language/generated.h"', "",
             "namespace tilewright::generated {", "namespace {", "using namespace language;"]
    rows = []
    for number, (code, expected) in enumerate(pairs):
        # The last one is what the block is about; those before it are called.
        name = re.findall(r"^Algorithm (\w+)\(", code, re.MULTILINE)[-1]
        lines += [f"Algorithm make_{number}() {{", code + f"return {name};", "}"]
        rows.append(f'{{"{name}", R"tw({expected})tw", make_{number}}},')
    lines += ["const Case kCases[] = {", *rows, "};", "}  // namespace",
              "std::span<const Case> documented() { return kCases; }", "}  // namespace tilewright::generated", ""]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
