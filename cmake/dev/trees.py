# SPDX-License-Identifier: Apache-2.0
"""The checkout and its build trees: paths, presets, running programs, configuring and building."""
import json
import os
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LLVM_BIN = "/usr/lib/llvm-22/bin"


class Failed(Exception):
    """A step failed; the message says which and what to do."""


def jobs():
    return len(os.sched_getaffinity(0))


def presets():
    with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
        return [row["name"] for row in json.load(file)["configurePresets"] if not row.get("hidden")]


def build_folder(preset):
    return os.path.join(ROOT, "build", preset)


def run(command, check=True, **options):
    """Runs a program in the checkout; its output goes to the terminal. Returns the exit status."""
    sys.stdout.flush()
    try:
        status = subprocess.run(command, cwd=options.pop("cwd", ROOT), check=False, **options).returncode
    except FileNotFoundError:
        raise Failed(f"`{command[0]}` is not installed; run ./dev setup") from None
    if check and status:
        raise Failed(f"exit status {status}: {shlex.join(command)}")
    return status


def _needs_configure(preset):
    """After a first configure ninja watches the CMake files by itself, but not the presets."""
    ninja = os.path.join(build_folder(preset), "build.ninja")
    stamp = os.path.join(build_folder(preset), "configured")
    if not os.path.exists(ninja) or not os.path.exists(stamp):
        return True
    return os.path.getmtime(stamp) < os.path.getmtime(os.path.join(ROOT, "CMakePresets.json"))


def configure(preset, environment=None):
    if _needs_configure(preset):
        run(["cmake", "--preset", preset], env={**os.environ, **(environment or {})})
        with open(os.path.join(build_folder(preset), "configured"), "w", encoding="utf-8"):
            pass


def build(preset, targets=(), environment=None):
    """Configures when needed and builds; returns 0 or raises Failed."""
    started = time.monotonic()
    configure(preset, environment)
    command = ["cmake", "--build", build_folder(preset), "--parallel", str(jobs())]
    for target in targets:
        command += ["--target", target]
    if run(command, check=False):
        raise Failed(f"the build of preset {preset} failed")
    print(f"built {preset} in {time.monotonic() - started:.1f} s: build/{preset}/bin", flush=True)
    return 0


def delegate(script, arguments):
    """Replaces this process by a script of the repository."""
    path = os.path.join(ROOT, script)
    if not os.path.exists(path):
        raise Failed(f"{script} does not exist in this checkout")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-B", path, *arguments])
