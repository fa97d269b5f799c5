# SPDX-License-Identifier: Apache-2.0
"""./dev setup: the Debian packages that the project is built, tested and formatted with. Nothing else is
needed: no download, no virtual environment. (Peers of the benchmarks have their own: ./dev bench setup.)"""
import os
import shutil
import subprocess
import sys

import trees

PACKAGES = """
g++ cmake ninja-build git
llvm-22-dev llvm-22-tools clang-22 libclang-rt-22-dev lld-22 clang-format-22
qemu-user
libisl-dev libz3-dev libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev
libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev libgmp-dev
ccache mold
""".split()

# A minimal installation may lack this source.
SOURCES = ("If apt-get does not know a package: LLVM 22 for Debian 12 comes with its security updates, from\n"
           "deb http://deb.debian.org/debian-security bookworm-security main   (in /etc/apt/sources.list)")


def missing():
    """The packages that dpkg does not report as installed."""
    done = subprocess.run(["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *PACKAGES],
                          capture_output=True, text=True, check=False)
    installed = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in PACKAGES if name not in installed]


def apt_line(names):
    return "apt-get update && apt-get install -y --no-install-recommends " + " ".join(names)


def _privilege():
    """The prefix that makes a command run as root without a question, or None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        return ["sudo", "-n"]
    return None


def setup(only_print=False):
    if only_print:
        print(apt_line(PACKAGES))
        return 0
    if not shutil.which("dpkg-query") or not shutil.which("apt-get"):
        print("dev: this is not a Debian machine; install what these packages hold: " + " ".join(PACKAGES),
              file=sys.stderr)
        return 1
    names = missing()
    if not names:
        print(f"setup: all {len(PACKAGES)} packages are installed")
        return 0
    prefix = _privilege()
    if prefix is None:
        print(f"dev: {len(names)} packages are missing; run as root, then repeat:\n{apt_line(names)}", file=sys.stderr)
        return 1
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    trees.run([*prefix, "apt-get", "update"])
    try:
        trees.run([*prefix, *quiet, "apt-get", "install", "-y", "--no-install-recommends", *names])
    except trees.Failed as failure:
        raise trees.Failed(f"{failure}\n{SOURCES}") from None
    still = missing()
    if still:
        raise trees.Failed("apt-get ended well, but these are still missing: " + " ".join(still))
    print(f"setup: installed {len(names)} packages")
    return 0
