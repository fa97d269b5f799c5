# SPDX-License-Identifier: Apache-2.0
"""Does what a README says, in its order: readme.py BUILD SCRATCH README...

Blocks of sh run in one shell per file, from the root of the checkout; blocks of tw, tws, c and cmake are written to the
file that their first line names, where the shell then stands. `build/release` stands for BUILD, other folders in
`build` lie in SCRATCH, and `../start` too. Blocks with ./dev are left out: they would run this test again. Exit status:
0 all did what they should, 1 one did not, 77 this processor lacks the instructions.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = ("tw", "tws", "c", "cmake")


def blocks(text):
    """(language, body) in order; a block that ought to name its file and does not is an error."""
    for language, body in BLOCK.findall(text):
        if language in NAMED and not re.match(r"(?:# |/\* )[\w.]+", body):
            raise SystemExit(f"a block of {language} does not begin with the name of its file:\n{body}")
        if "./dev " not in body:
            yield language, body


def script(text, build, scratch):
    """One shell script; every file is written where the shell then is."""
    lines = ["set -eu"]
    for language, body in blocks(text):
        if language == "sh":
            body = body.replace("build/release", build)
            body = re.sub(r"(?<=[ =])build/(installed|gemm|gemm_bf16|gemm_i8|linear|softmax|layernorm|blur|attention)\b",
                          scratch + r"/\1", body)
            body = body.replace("$PWD/build/installed", scratch + "/installed").replace("../start", scratch + "/start")
            lines.append(body)
        elif language in NAMED:
            name = re.match(r"(?:# |/\* )([\w.]+)", body).group(1)
            lines.append(f"cat > {name} <<'END_OF_BLOCK'\n{body}END_OF_BLOCK")
    return "\n".join(lines) + "\n"


def main(build, scratch, readmes):
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    for readme in readmes:
        with open(readme, encoding="utf-8") as file:
            commands = script(file.read(), build, scratch)
        if commands.count("\n") < 2:
            print(f"{readme}: no block to run")
            return 1
        done = subprocess.run(["sh", "-c", commands], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        print(f"{readme}: exit status {done.returncode}\n{done.stdout}")
        if done.returncode:
            return 77 if done.returncode == 77 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]))
