# SPDX-License-Identifier: Apache-2.0
"""Writes a .npy file that may be wrong on purpose: npy.py [header=TEXT] [version=N] [length=BYTES] [data=BYTES]
[fill=BYTE] FILE. `length` cuts the file short."""
import struct
import sys


def main(arguments):
    given = dict(word.split("=", 1) for word in arguments[:-1])
    header = given.get("header", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }").encode() + b"\n"
    file = b"\x93NUMPY" + bytes([int(given.get("version", 1)), 0]) + struct.pack("<H", len(header)) + header
    file += bytes([int(given.get("fill", 0))]) * int(given.get("data", 12))
    with open(arguments[-1], "wb") as out:
        out.write(file[:int(given.get("length", len(file)))])


if __name__ == "__main__":
    main(sys.argv[1:])
