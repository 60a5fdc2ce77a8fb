#!/usr/bin/env python3
"""The programs of the README do what it says. usage: readme.py SOURCE BUILD"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def block(text, first):
    """The indented text that begins with this line, without its indent."""
    begin = text.index("    " + first)
    lines = re.match(r"(?:(?:    .*)?\n)+", text[begin:]).group().rstrip("\n").split("\n")
    return "\n".join(line[4:] for line in lines) + "\n"


def run(wrapper, name, source):
    """What two ranks print, in the order of the lines."""
    with open(name, "w", encoding="utf-8") as f:
        f.write(source)
    subprocess.run([os.path.join(TOOLS, wrapper), "-fopenmp", "-Wall", "-Werror", name, "-o", "program"], check=True)
    out = subprocess.run([os.path.join(TOOLS, "mpiexec"), "-n", "2", "--timeout", "60", "./program"], check=True,
                         capture_output=True, text=True).stdout
    return sorted(" ".join(line.split()) for line in out.splitlines())


with open(os.path.join(sys.argv[1], "README.md"), encoding="utf-8") as readme:
    TEXT = readme.read()
TOOLS = os.path.join(sys.argv[2], "tools")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    said, wanted = run("mpicc", "threads.c", block(TEXT, "#include <mpi.h>")), block(TEXT, "rank 0 has").split("\n")[:-1]
    assert said == wanted, f"{said} instead of {wanted}"
    if shutil.which("gfortran") and os.path.exists(os.path.join(TOOLS, "mpifort")):
        said = run("mpifort", "halo.f90", block(TEXT, "program halo"))
        assert [float(line.split()[-1]) for line in said] == [1.0, 0.0], said
