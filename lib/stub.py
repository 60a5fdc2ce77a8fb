#!/usr/bin/env python3
"""Writes the C source of a link stub: it defines every name of its lists, so that programs link against it.

usage: stub.py NAMES.sym ... OUTPUT.c

At run time the file behind the same SONAME is empty and needs libhotlane, which holds the code.
"""
import sys

with open(sys.argv[-1], "w", encoding="ascii") as out:
    for file in sys.argv[1:-1]:
        with open(file, encoding="ascii") as names:
            for line in names:
                name = line.split("#")[0].strip()
                if name:
                    out.write(f"void {name}(void);\nvoid {name}(void) {{}}\n")
    out.write("extern int hl_stub;\n")
