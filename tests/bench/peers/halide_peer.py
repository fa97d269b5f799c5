# SPDX-License-Identifier: Apache-2.0
"""Halide with the Adams2019 autoscheduler: the two-stage separable blur, compiled for this processor."""
import os
from importlib import metadata
from pathlib import Path

import halide as hl
from serve import aligned_empty, into, serve, threads

os.environ["HL_NUM_THREADS"] = str(threads())


def _plugin():
    folder = Path(hl.__file__).parent
    return str(next(folder.rglob("libautoschedule_adams2019.so")))


hl.load_plugin(_plugin())


def _pipeline(height, width, scaled):
    """The blur of Halide's own application in f32. `scaled` multiplies by 1/3 in place of dividing by 3."""
    source = hl.ImageParam(hl.Float(32), 2, "source")
    x, y = hl.Var("x"), hl.Var("y")
    rows, blurred = hl.Func("rows"), hl.Func("blurred")
    third = lambda value: value * hl.f32(1 / 3) if scaled else value / hl.f32(3)  # noqa: E731
    rows[x, y] = third(source[x, y] + source[x + 1, y] + source[x + 2, y])
    blurred[x, y] = third(rows[x, y] + rows[x, y + 1] + rows[x, y + 2])
    source.set_estimates([(0, width + 2), (0, height + 2)])
    blurred.set_estimates([(0, width), (0, height)])
    # Compact rows of known alignment: what the autoscheduler and the vectoriser may rely on.
    pipeline = hl.Pipeline(blurred)
    target = hl.get_host_target().with_feature(hl.TargetFeature.NoAsserts) \
        .with_feature(hl.TargetFeature.NoBoundsQuery)
    pipeline.apply_autoscheduler(target, hl.AutoschedulerParams("Adams2019", {"parallelism": threads()}))
    return pipeline, source, target


def _formulations(case, inputs, sizes):
    if case != "blur":
        return {}
    made = {}
    for name, scaled in (("divide", False), ("scale", True)):
        output = aligned_empty((sizes["H"], sizes["W"]))
        pipeline, source, target = _pipeline(sizes["H"], sizes["W"], scaled)
        call = pipeline.compile_to_callable([source], target)
        buffers = (hl.Buffer(inputs[0]), hl.Buffer(output))
        made[f"adams2019_{name}"] = into(output, lambda call=call, buffers=buffers: call(*buffers))
    return made


if __name__ == "__main__":
    serve({"name": "halide", "version": metadata.version("halide"), "threads": threads(),
           "target": str(hl.get_host_target())}, _formulations)
