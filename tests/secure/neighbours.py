#!/usr/bin/env python3
"""A job over the network beside a hostile user of the same machine: nothing is read, written or brought down.

usage: neighbours.py KEYS MPIEXEC GUARDED NEIGHBOUR CAPTURE.so
"""
import os
import re
import subprocess
import sys
import tempfile

from prey import Prey, listening, names

KEYS, MPIEXEC, GUARDED, NEIGHBOUR, CAPTURE = sys.argv[1:]
RANKS = 3


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        prey = Prey(MPIEXEC, RANKS, folder)
        streams, before = prey.record(CAPTURE, GUARDED, prey.stop)
        job = prey.start(GUARDED, prey.stop)
        pids = prey.pids_of(job)
        ports = listening(pids)
        if before & set(ports):  # a shaking of hands that names a port of this job takes a connection away
            prey.finish(job)
            print("the ports of the earlier job are in use again")
            return 77
        assert len(ports) >= RANKS and names(pids), (ports, names(pids))
        attack = subprocess.run([NEIGHBOUR, KEYS, streams, *map(str, pids), "--", *ports, "--", *names(pids)], check=False, timeout=500,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        out = prey.finish(job)
    print(attack.stdout, out, sep="")
    if attack.returncode == 77:
        return 77
    assert attack.returncode == 0, "the neighbour was allowed something"
    assert job.returncode == 0, f"the job ended with {job.returncode}"
    dropped = [int(n) for n in re.findall(r"is intact, (\d+) dropped", out)]
    assert len(dropped) == RANKS and all(dropped), dropped
    return 0


if __name__ == "__main__":
    sys.exit(main())
