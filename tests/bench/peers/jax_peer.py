# SPDX-License-Identifier: Apache-2.0
"""JAX on the processor: each case as one jitted function, waited for."""
import os

# Read when the backend starts: as many processors as threads, or XLA takes all.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(os.environ["TILEWRIGHT_BENCH_THREADS"])])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  pylint: disable=wrong-import-position
import jax.numpy as jnp  # noqa: E402  pylint: disable=wrong-import-position
import numpy  # noqa: E402  pylint: disable=wrong-import-position
from serve import Formulation, serve  # noqa: E402  pylint: disable=wrong-import-position


def _layernorm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def _blur(image):
    height, width = image.shape[0] - 2, image.shape[1] - 2
    rows = (image[:, :width] + image[:, 1:width + 1] + image[:, 2:]) * (1 / 3)
    return (rows[:height] + rows[1:height + 1] + rows[2:]) * (1 / 3)


_CASES = {
    "gemm": lambda a, b: jnp.matmul(a, b, precision="highest"),
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "layernorm": _layernorm,
    "blur": _blur,
}


def _formulations(case, inputs, _sizes):
    if case not in _CASES:
        return {}
    arguments = [jax.device_put(array) for array in inputs]
    compiled = jax.jit(_CASES[case]).lower(*arguments).compile()
    held = {}

    def run():
        held["result"] = compiled(*arguments)
        held["result"].block_until_ready()

    return {"jit": Formulation(run, lambda: numpy.asarray(held["result"]), held.clear)}


if __name__ == "__main__":
    serve({"name": "jax", "version": jax.__version__, "threads": len(os.sched_getaffinity(0))}, _formulations)
