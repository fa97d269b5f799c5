# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the processor: eager into given outputs, its oneDNN path, and torch.compile."""
import os
import sys

# What torch.compile keeps stays in this peer's environment. Read when torch is imported.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(sys.prefix, "inductor"))

import torch  # noqa: E402
from serve import Formulation, into, serve, threads  # noqa: E402

torch.set_num_threads(threads())
torch.set_num_interop_threads(1)
torch.set_grad_enabled(False)


def _out(output, run):
    """`output` is a tensor that `run` writes."""
    return into(output.numpy(), run)


def _fresh(run):
    """`run` returns its result in memory of its own choice."""
    held = {}

    def keep():
        held["result"] = run()

    return Formulation(keep, lambda: held["result"].numpy(), held.clear)


def _compiled(function, *arguments):
    """Compiled for these shapes; writes into its last argument. Absent where there is no C++ compiler."""
    try:
        compiled = torch.compile(function, dynamic=False, fullgraph=True)
        compiled(*arguments)
    except Exception as error:  # pylint: disable=broad-except
        print(f"torch.compile: {error}", file=sys.stderr, flush=True)
        return None
    return _out(arguments[-1], lambda: compiled(*arguments))


def _gemm(inputs, sizes):
    a, b = inputs
    output = torch.empty(sizes["M"], sizes["N"])
    transposed = b.t()
    return {
        "mm": _out(output, lambda: torch.mm(a, b, out=output)),
        "linear": _fresh(lambda: torch.nn.functional.linear(a, transposed)),
        "onednn": _fresh(lambda: torch.ops.mkldnn._linear_pointwise(  # pylint: disable=protected-access
            a, transposed, None, "none", [], "")),
    }


def _bits(run):
    """`run` returns bf16, which numpy has no type for: its bits are handed on."""
    held = {}

    def keep():
        held["result"] = run()

    return Formulation(keep, lambda: held["result"].contiguous().view(torch.int16).numpy().view("uint16"),
                       held.clear)


def _gemm_bf16(inputs, sizes):
    a, b = (bits.view(torch.bfloat16) for bits in inputs)
    output = torch.empty(sizes["M"], sizes["N"], dtype=torch.bfloat16)
    transposed = b.t()
    packed = b.t().contiguous()

    def into_output():
        torch.mm(a, b, out=output)
        return output

    return {
        "mm": _bits(into_output),
        "linear": _bits(lambda: torch.nn.functional.linear(a, transposed)),
        "linear_contiguous": _bits(lambda: torch.nn.functional.linear(a, packed)),
    }


def _gemm_i8(inputs, sizes):
    """u8 by i8: the matrix product of PyTorch takes two i8, which holds seven bits of the left side."""
    unsigned, b = inputs
    a = unsigned.view(torch.int8)
    output = torch.empty(sizes["M"], sizes["N"], dtype=torch.int32)
    transposed = b.t().contiguous().t()

    def into_output(right):
        def run():
            torch._int_mm(a, right, out=output)  # pylint: disable=protected-access
        return run

    made = {"int_mm": _out(output, into_output(b)), "int_mm_transposed": _out(output, into_output(transposed))}
    quantized = _quantized(unsigned, b)
    if quantized is not None:
        made["qlinear"] = quantized
    return made


def _quantized(a, b):
    """oneDNN's linear of u8 by i8 with its weights packed beforehand, which gives f32: exact up to 2^24."""
    try:
        one, zero = torch.ones(1), torch.zeros(1, dtype=torch.int32)
        packed = torch.ops.onednn.qlinear_prepack(b.t().contiguous(), list(a.shape))
        scales, zeros = torch.ones(b.shape[1]), torch.zeros(b.shape[1], dtype=torch.int32)

        def run():
            return torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, packed, scales, zeros, None, 1.0, 0,
                                                      torch.float32, "none", [], "")
        run()
        del one, zero
    except Exception as error:  # pylint: disable=broad-except
        print(f"qlinear: {error}", file=sys.stderr, flush=True)
        return None
    return _fresh(run)


def _softmax(inputs, sizes):
    (x,) = inputs
    output = torch.empty(sizes["R"], sizes["C"])

    def store(source, target):
        target.copy_(torch.softmax(source, -1))

    return {
        "softmax_out": _out(output, lambda: torch.softmax(x, -1, out=output)),
        "softmax": _fresh(lambda: torch.softmax(x, -1)),
        "compiled": _compiled(store, x, torch.empty_like(output)),
    }


def _layernorm(inputs, sizes):
    x, scale, shift = inputs
    shape = (sizes["C"],)
    outputs = (torch.empty(sizes["R"], sizes["C"]), torch.empty(sizes["R"], 1), torch.empty(sizes["R"], 1))

    def store(source, weight, bias, target):
        target.copy_(torch.nn.functional.layer_norm(source, shape, weight, bias, 1e-5))

    def given():
        torch.ops.aten.native_layer_norm.out(x, shape, scale, shift, 1e-5, out0=outputs[0], out1=outputs[1],
                                             out2=outputs[2])

    return {
        "layer_norm": _fresh(lambda: torch.nn.functional.layer_norm(x, shape, scale, shift, 1e-5)),
        "native_out": _out(outputs[0], given),
        "compiled": _compiled(store, x, scale, shift, torch.empty_like(outputs[0])),
    }


def _blur(inputs, sizes):
    (source,) = inputs
    height, width = sizes["H"], sizes["W"]

    def store(image, target):
        rows = (image[:, :width] + image[:, 1:width + 1] + image[:, 2:]) * (1 / 3)
        target.copy_((rows[:height] + rows[1:height + 1] + rows[2:]) * (1 / 3))

    return {"compiled": _compiled(store, source, torch.empty(height, width))}


_CASES = {"gemm": _gemm, "gemm_bf16": _gemm_bf16, "gemm_i8": _gemm_i8, "softmax": _softmax, "layernorm": _layernorm, "blur": _blur}


def _formulations(case, inputs, sizes):
    if case not in _CASES:
        return {}
    made = _CASES[case]([torch.from_numpy(array) for array in inputs], sizes)
    return {name: formulation for name, formulation in made.items() if formulation is not None}


if __name__ == "__main__":
    serve({"name": "torch", "version": torch.__version__, "threads": torch.get_num_threads(),
           "capability": torch.backends.cpu.get_cpu_capability()}, _formulations)
