# SPDX-License-Identifier: Apache-2.0
"""The answering side of the line protocol for peers in Python.

A peer gives `about` (name, version, threads, what runs underneath) and `formulations(case, inputs, sizes)`:
by name, a Formulation. The harness checks and times every one and goes on with the fastest right one.
"""
import gc
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness.protocol import VERSION, Line, ProtocolError, format_line, parse_line  # noqa: E402

# A slice begins with this much untimed work, so threads are awake and caches hold what they would.
_WARM_UP_S = 0.005


@dataclass
class Formulation:
    """`run` does the work and returns when it is done; `result` gives the last output as an array;
    `poison` spoils the memory that `run` writes, where there is one that it keeps."""
    run: Callable[[], object]
    result: Callable[[], numpy.ndarray]
    poison: Callable[[], None] = lambda: None


def threads():
    return int(os.environ["TILEWRIGHT_BENCH_THREADS"])


def into(output, run):
    """A formulation that writes into an array that is there already."""
    # All ones is a NaN of every float type, and -1 of the whole numbers.
    return Formulation(run, lambda: output, lambda: output.view(numpy.uint8).fill(0xFF))


def aligned_empty(shape, dtype=numpy.float32):
    """An array that begins a cache line, as the candidate's memory does; numpy promises 16 bytes only."""
    size = numpy.dtype(dtype).itemsize * math.prod(shape)
    memory = numpy.empty(size + 64, numpy.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + size].view(dtype).reshape(shape)


def load_inputs(fields):
    inputs = []
    for index in range(int(fields["inputs"])):
        loaded = numpy.load(os.path.join(fields["dir"], f"in{index}.npy"))
        inputs.append(aligned_empty(loaded.shape, loaded.dtype))
        inputs[-1][...] = loaded
    return inputs


def _sizes(fields):
    return {name: int(value) for name, value in fields.items() if name not in ("dir", "inputs", "out", "type")}


class Server:
    def __init__(self, about, formulations):
        self._about, self._make = about, formulations
        self._formulations, self._current = {}, None

    def answer(self, line):
        if line.verb == "hello":
            if line.words != [str(VERSION)]:
                raise ProtocolError(f"speaks version {VERSION} only")
            return Line("ready", [], self._about)
        if line.verb == "case":
            inputs = load_inputs(line.fields)
            self._formulations = self._make(line.words[0], inputs, _sizes(line.fields))
            if not self._formulations:
                raise ValueError(f"has no case {line.words[0]}")
            return Line("ok", [], {"formulations": ",".join(self._formulations)})
        if line.verb == "use":
            self._current = self._formulations[line.words[0]]
            return Line("ok")
        if self._current is None:
            raise ProtocolError(f"`{line.verb}` before `use`")
        if line.verb == "output":
            self._current.poison()
            self._current.run()
            numpy.save(line.words[0], numpy.ascontiguousarray(self._current.result()))
            return Line("ok")
        if line.verb == "time":
            return Line("times", self._time(int(line.words[0])))
        raise ProtocolError(f"no verb `{line.verb}`")

    def _time(self, count):
        run, clock, times = self._current.run, time.perf_counter_ns, []
        gc.collect()
        gc.disable()
        begin = clock()
        run()
        while clock() - begin < _WARM_UP_S * 1e9:
            run()
        for _ in range(count):
            begin = clock()
            run()
            times.append(max(1, clock() - begin))
        gc.enable()
        return times


def serve(about, formulations):
    """Answers until `quit`. What the libraries print goes to standard error: standard output is ours."""
    channel = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)
    server = Server(about, formulations)
    for text in sys.stdin:
        try:
            line = parse_line(text)
            reply = Line("bye") if line.verb == "quit" else server.answer(line)
        except Exception as error:  # pylint: disable=broad-except
            message = f"{type(error).__name__}: {error}"[:400].replace("\n", " ")
            reply = Line("fail", [], {"code": "error", "message": message})
        print(format_line(reply), file=channel, flush=True)
        if reply.verb == "bye":
            return
