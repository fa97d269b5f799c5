# SPDX-License-Identifier: Apache-2.0
"""Peers to compare with, each in a virtual environment of its own under .cache/peers, so that none can
change another and no test needs any. Versions are pinned: a figure names what it was measured against."""
import subprocess
import sys
import venv

PEERS = {
    # The package index carries the build with CUDA: about 1 GB to fetch and 5 GB on disk. Its processor
    # kernels are those of the CPU build, which an index with that wheel may serve through PIP_INDEX_URL.
    "torch": ["torch==2.15.0", "numpy==2.4.6"],
    "openblas": ["scipy-openblas32==0.3.34.481.3", "numpy==2.4.6", "threadpoolctl==3.8.0"],
    "halide": ["halide==21.0.0", "numpy==2.4.6"],
    "jax": ["jax==0.10.2", "numpy==2.4.6"],
}


def set_up(layout, peer):
    """Creates or completes the environment of one peer; the exit status of pip."""
    folder = layout.peers / peer
    if not layout.peer_python(peer).is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        venv.EnvBuilder(with_pip=True, symlinks=True).create(folder)
    print(f"{peer}: {', '.join(PEERS[peer])} -> {folder}", file=sys.stderr)
    argv = [str(layout.peer_python(peer)), "-m", "pip", "install", "--quiet", "--no-cache-dir",
            "--disable-pip-version-check", *PEERS[peer]]
    return subprocess.run(argv, check=False).returncode


def is_set_up(layout, peer):
    return layout.peer_python(peer).is_file()
