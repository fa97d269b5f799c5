# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS through its C interface: sgemm into memory that is there already."""
import ctypes
from pathlib import Path

import scipy_openblas32
import threadpoolctl
from serve import aligned_empty, into, serve, threads

_ROW_MAJOR, _COLUMN_MAJOR, _PLAIN = 101, 102, 111


def _load():
    library = ctypes.CDLL(str(next(Path(scipy_openblas32.get_lib_dir()).glob("libscipy_openblas*.so"))))
    library.scipy_openblas_set_num_threads(threads())
    integer, real, pointer = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
    library.scipy_cblas_sgemm.restype = None
    library.scipy_cblas_sgemm.argtypes = [integer] * 6 + [
        real, pointer, integer, pointer, integer, real, pointer, integer]
    return library


_LIBRARY = _load()


def _formulations(case, inputs, sizes):
    if case != "gemm":
        return {}
    left, right = inputs
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    output = aligned_empty((m, n))
    a, b, c = left.ctypes.data, right.ctypes.data, output.ctypes.data
    sgemm = _LIBRARY.scipy_cblas_sgemm

    def row_major(keep=(left, right)):
        sgemm(_ROW_MAJOR, _PLAIN, _PLAIN, m, n, k, 1.0, a, k, b, n, 0.0, c, n)
        return keep

    # The same memory read as transposes: C' = B' A'.
    def column_major(keep=(left, right)):
        sgemm(_COLUMN_MAJOR, _PLAIN, _PLAIN, n, m, k, 1.0, b, n, a, k, 0.0, c, n)
        return keep

    return {"row_major": into(output, row_major), "column_major": into(output, column_major)}


def _about():
    pool = next(info for info in threadpoolctl.threadpool_info()
                if "scipy_openblas32" in info["filepath"])
    return {"name": "openblas", "version": pool["version"], "threads": pool["num_threads"],
            "kernel": pool["architecture"]}


if __name__ == "__main__":
    serve(_about(), _formulations)
