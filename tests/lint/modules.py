#!/usr/bin/env python3
"""Proves the two refusals of the module table on a copy of the tree with a planted fault each: an include of a higher
module's header does not compile, and a module without its unit test does not configure.

usage: modules.py SOURCE_ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

KEEP = shutil.ignore_patterns("build*", ".git", "__pycache__")


def configure(tree, build):
    return subprocess.run(["meson", "setup", build, tree, "-Dperf=disabled", "-Db_lto=false", "-Dbuildtype=plain"],
                          capture_output=True, text=True)


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
        with open(os.path.join(tree, "lib", "base", "util.c"), "a", encoding="utf-8") as f:
            f.write('#include "conf.h"\n')
        result = configure(tree, os.path.join(work, "b1"))
        expect(result.returncode == 0, "the copy configures", result.stdout + result.stderr)
        result = subprocess.run(["ninja", "-C", os.path.join(work, "b1"), "lib/libhl_base.a"], capture_output=True, text=True)
        expect(result.returncode != 0 and "conf.h: No such file" in result.stdout,
               "base including a header of conf does not compile", result.stdout)
        os.remove(os.path.join(tree, "tests", "unit", "test_conf.c"))
        result = configure(tree, os.path.join(work, "b2"))
        expect(result.returncode != 0 and "module conf has no unit test" in result.stdout,
               "a module without its unit test does not configure", result.stdout)


if __name__ == "__main__":
    main()
