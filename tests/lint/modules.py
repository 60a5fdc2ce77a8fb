#!/usr/bin/env python3
"""Proves the refusals of the module table on a copy of the tree with a planted fault each: an include of a higher module's
header does not compile, nor does one of a private header of a module below, which the scoreboard refuses by its path as well;
a header that only its own module includes is refused where others find it; and a module without its unit test does not configure.

usage: modules.py SOURCE_ROOT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

KEEP = shutil.ignore_patterns("build*", ".git", "__pycache__")


def configure(tree, build):
    return subprocess.run(["meson", "setup", build, tree, "-Dperf=disabled", "-Db_lto=false", "-Dbuildtype=plain"],
                          capture_output=True, text=True)


def lint(tree):
    return subprocess.run([sys.executable, os.path.join(tree, "tests", "lint", "lint.py"), tree], capture_output=True, text=True)


def add_line(tree, name, line):
    with open(os.path.join(tree, name), "a", encoding="utf-8") as f:
        f.write(line + "\n")


def expect(condition, what, output):
    if not condition:
        print(f"FAILED: {what}\n{output[-3000:]}")
        sys.exit(1)
    print(f"ok: {what}")


def main():
    root = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="hotlane modules ") as work:
        os.chdir(work)  # Meson tidies up in the build folder that it is called in, too
        tree = os.path.join(work, "tree")
        shutil.copytree(root, tree, ignore=KEEP)
        add_line(tree, "lib/base/util.c", '#include "conf.h"')
        add_line(tree, "lib/stat/stops.c", '#include "conf_internal.h"')
        b1 = os.path.join(work, "b1")
        result = configure(tree, b1)
        expect(result.returncode == 0, "the copy configures", result.stdout + result.stderr)
        for module, header, what in [("base", "conf.h", "base including a header of conf"),
                                     ("stat", "conf_internal.h", "stat including a private header of conf")]:
            result = subprocess.run(["ninja", "-C", b1, f"lib/libhl_{module}.a"], capture_output=True, text=True)
            expect(result.returncode != 0 and f"{header}: No such file" in result.stdout, what + " does not compile", result.stdout)
        add_line(tree, "lib/stat/report.c", '#include "internal/conf_internal.h"')
        result = lint(tree)
        found = re.search(r"private header, or by a path .* FAIL\n((?: +.*\n)*)", result.stdout)
        expect(result.returncode != 0 and found is not None and sorted(found[1].split()) == [
            "conf_internal.h", "internal/conf_internal.h", "lib/stat/report.c", "lib/stat/stops.c"],
            "the scoreboard refuses it, and its path as well", result.stdout)
        conf = os.path.join(tree, "lib", "conf")
        os.rename(os.path.join(conf, "internal", "carried.h"), os.path.join(conf, "carried.h"))
        result = lint(tree)
        found = re.search(r"one module alone includes .* FAIL\n((?: +.*\n)*)", result.stdout)
        expect(result.returncode != 0 and found is not None and found[1].split() == ["lib/conf/carried.h"],
               "a header that only its own module includes is refused outside `internal`", result.stdout)
        os.remove(os.path.join(tree, "tests", "unit", "test_conf.c"))
        result = configure(tree, os.path.join(work, "b2"))
        expect(result.returncode != 0 and "module conf has no unit test" in result.stdout,
               "a module without its unit test does not configure", result.stdout)


if __name__ == "__main__":
    main()
