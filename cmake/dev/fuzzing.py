# SPDX-License-Identifier: Apache-2.0
"""./dev fuzz: runs the libFuzzer targets of build/fuzz/bin. Laws: the corpus in the repository is only read
(new inputs go to the build tree unless --keep), and a target that does not run is a failure."""
import glob
import os

import trees


def _targets(name):
    found = {os.path.basename(path).removeprefix("fuzz_"): path
             for path in sorted(glob.glob(os.path.join(trees.build_folder("fuzz"), "bin", "fuzz_*")))
             if os.access(path, os.X_OK)}
    sources = {os.path.basename(path)[len("fuzz_"):-len(".cpp")]
               for path in glob.glob(os.path.join(trees.ROOT, "tests/fuzz/fuzz_*.cpp"))}
    found = {key: path for key, path in found.items() if key in sources}
    if name is None:
        return found
    name = name.removeprefix("fuzz_")
    if name not in found:
        raise trees.Failed(f"no fuzz target `{name}`; there are: {', '.join(found) or 'none'}")
    return {name: found[name]}


def _folder(*parts):
    path = os.path.join(trees.ROOT, *parts)
    os.makedirs(path, exist_ok=True)
    return path


def fuzz(name, seconds, keep):
    trees.build("fuzz", ["fuzz_targets"])
    targets = _targets(name)
    if not targets:
        raise trees.Failed("there are no fuzz targets in tests/fuzz")
    environment = {**os.environ, "ASAN_SYMBOLIZER_PATH": os.path.join(trees.LLVM_BIN, "llvm-symbolizer"),
                   "UBSAN_OPTIONS": "print_stacktrace=1"}
    failed = []
    for key, path in targets.items():
        fresh = _folder("build/fuzz/corpus", key)
        crashes = _folder("build/fuzz/crashes", key)
        seeds = os.path.join(trees.ROOT, "tests/corpus", key)
        folders = [fresh] + ([seeds] if os.path.isdir(seeds) else [])
        print(f"fuzz {key} for {seconds} s on {len(os.listdir(seeds)) if len(folders) == 2 else 0} seeds", flush=True)
        status = trees.run([path, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-verbosity=0",
                            "-print_final_stats=1", "-max_len=16384", f"-artifact_prefix={crashes}/", *folders],
                           check=False, env=environment)
        if status:
            failed.append(key)
            print(f"fuzz {key} failed; inputs: build/fuzz/crashes/{key}; minimise with\n  {os.path.relpath(path)} "
                  f"-minimize_crash=1 -max_total_time=60 build/fuzz/crashes/{key}/FILE\n"
                  f"and add the result to tests/corpus/{key}", flush=True)
        elif keep:
            trees.run([path, "-merge=1", "-verbosity=0", _folder("tests/corpus", key), fresh], env=environment)
    print(f"fuzz: {len(targets) - len(failed)} targets ran clean, {len(failed)} failed"
          + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0
