#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints an algorithm whose value is `nested.py exp N`: N calls, or `nested.py brackets N`: N brackets deep."""
import sys

kind, depth = sys.argv[1], int(sys.argv[2])
opening = {"exp": "exp(", "brackets": "("}[kind]
print("algorithm nested(N) {\n  input x : f32[N]")
print("  output y[i < N] : f32 = " + opening * depth + "x[i]" + ")" * depth + "\n}")
