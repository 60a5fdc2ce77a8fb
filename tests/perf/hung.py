#!/usr/bin/env python3
"""perf/icount of a library that hangs, whose launcher has left a process in a session of its own: it says so, and nothing is left."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

PERF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "perf")
sys.path[:0] = [PERF]
LAUNCHER = "#!/bin/sh\nsetsid sh -c 'echo $$ >{0}/rank; exec sleep 999' &\nuntil test -s {0}/rank; do sleep 0.01; done\necho $$ >{0}/launcher\nexec sleep 999\n"


def is_there(pid):
    """A process that is not yet waited for has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def main():
    loader = importlib.machinery.SourceFileLoader("icount", os.path.join(PERF, "icount"))
    icount = importlib.util.module_from_spec(importlib.util.spec_from_loader("icount", loader))
    loader.exec_module(icount)
    with tempfile.TemporaryDirectory() as folder:
        launcher = os.path.join(folder, "mpiexec")
        with open(launcher, "w", encoding="ascii") as file:
            file.write(LAUNCHER.format(folder))
        os.chmod(launcher, 0o755)
        said = icount.count([launcher, "-n", "2", "steps"], timeout=5)
        if said != "no end within 5 s":
            sys.exit(f"hung: {said}")
        for name in ("rank", "launcher"):
            with open(os.path.join(folder, name), encoding="ascii") as file:
                pid = int(file.read())
            if is_there(pid):
                sys.exit(f"hung: the {name}'s process {pid} is left")


if __name__ == "__main__":
    main()
