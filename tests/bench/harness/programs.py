# SPDX-License-Identifier: Apache-2.0
"""Our own programs: where they lie, how they are built, and what the compiler makes of a kernel."""
import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


class ProgramError(Exception):
    """A program of ours is absent or failed."""


@dataclass
class Layout:
    """Folders of one checkout. `programs` holds bench-case, bench-peak, bench-candidate and tilewright."""
    root: Path
    programs: Path
    cache: Path
    peers: Path

    @staticmethod
    def of(root, programs=None):
        root = Path(root).resolve()
        cache = root / ".cache" / "bench"
        peers = Path(os.environ.get("TILEWRIGHT_PEERS", root / ".cache" / "peers"))
        return Layout(root, Path(programs or root / "build" / "release" / "bin"), cache, peers)

    def program(self, name):
        path = self.programs / name
        if not path.is_file():
            raise ProgramError(f"{path} is absent; build it with `./dev build release`")
        return path

    def peer_python(self, peer):
        return self.peers / peer / "bin" / "python"


def run(argv, timeout, ok=(0,)):
    """Runs a program of ours; its output, or an error that quotes its last words."""
    try:
        done = subprocess.run([str(arg) for arg in argv], capture_output=True, text=True, timeout=timeout,
                              check=False)
    except subprocess.TimeoutExpired:
        raise ProgramError(f"{argv[0]}: no end within {timeout} s") from None
    if done.returncode not in ok:
        words = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise ProgramError(f"{argv[0]}: status {done.returncode}" + "".join(f"\n  {w}" for w in words))
    return done


@dataclass
class CaseFiles:
    folder: Path
    inputs: int
    # The output's shape as `case` lines spell it: 64x64.
    out: str
    # Of the output's elements: f32, bf16, i32.
    type: str
    flops: float
    bytes: float
    # How many times an f32 multiply-add peak its fastest unit has.
    rate: float


def make_case(layout, case, sizes, seed=1):
    """Inputs and reference in a folder named by what they depend on, so a second run finds them there."""
    judge = layout.program("bench-case")
    words = [f"{name}={value}" for name, value in sizes.items()] + [f"seed={seed}"]
    digest = hashlib.sha256(judge.read_bytes()).hexdigest()[:12]
    folder = layout.cache / "cases" / "-".join([case, *words, digest])
    facts = folder / "case.json"
    if not facts.is_file():
        partial = folder.with_name(f"{folder.name}.part{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        output = run([judge, "make", case, *words, partial], 300).stdout
        (partial / "case.json").write_text(output)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    return CaseFiles(folder, **json.loads(facts.read_text()))


def verify(layout, files, result):
    """The judge's report on one output file; its key `holds` says whether it is right."""
    done = run([layout.program("bench-case"), "verify", files.folder, result], 120, ok=(0, 1))
    return json.loads(done.stdout)


def build_kernel(layout, kernel, folder):
    """Compiles a kernel with our compiler and links its static library into one that can be loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = Path(kernel.algorithm).stem
    run([layout.program("tilewright"), "compile", layout.root / kernel.algorithm,
         "--schedule", layout.root / kernel.schedule, "-o", folder], 120)
    return link_shared(folder / f"lib{stem}.a", folder / f"{stem}.so")


def link_shared(archive, target):
    if not archive.is_file():
        raise ProgramError(f"{archive} is absent: nothing to link")
    compiler = os.environ.get("CC", "cc")
    run([compiler, "-shared", "-o", target, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive",
         "-Wl,-z,defs", "-lm"], 60)
    return target
