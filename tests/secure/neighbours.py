#!/usr/bin/env python3
"""A job over the network beside a hostile user of the same machine: nothing is read, written or brought down.

usage: neighbours.py KEYS MPIEXEC GUARDED NEIGHBOUR CAPTURE.so
"""
import os
import re
import subprocess
import sys
import tempfile

KEYS, MPIEXEC, GUARDED, NEIGHBOUR, CAPTURE = sys.argv[1:]
RANKS = 3  # on two pretended nodes: two share memory


def start(folder, **more):
    env = {**os.environ, "HOTLANE_CLIQUES": "2", **more}
    return subprocess.Popen([MPIEXEC, "-n", str(RANKS), GUARDED, os.path.join(folder, "stop")], env=env, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def pids_of(job):
    """Of its ranks, when they have met."""
    pids = []
    while len(pids) < RANKS:
        line = job.stdout.readline()
        assert line, "the job ended too early"
        found = re.match(r"ready (\d+)", line)
        pids += [int(found[1])] if found else []
    return pids


def finish(job, folder):
    with open(os.path.join(folder, "stop"), "w", encoding="ascii"):
        pass
    out, _ = job.communicate(timeout=60)
    return out


def sockets_of(pids):
    inodes = set()
    for pid in pids:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                continue
            inodes |= {found[1]} if found else set()
    return inodes


def listening(pids):
    """The ports on which processes listen, and the addresses: those of this machine only."""
    inodes, ports, wide = sockets_of(pids), [], []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}", encoding="ascii") as f:
            rows = [line.split() for line in f.readlines()[1:]]
        for row in rows:
            address, port = row[1].split(":")
            if row[3] == "0A" and row[9] in inodes:
                ports.append(str(int(port, 16)))
                wide += [row[1]] if address != "0100007F" else []
    assert not wide, f"a job on one machine listens to others: {wide}"
    return ports


def names(pids):
    """Of their sockets that have one, in the abstract namespace."""
    inodes = sockets_of(pids)
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return [row[7][1:] for row in rows if len(row) > 7 and row[6] in inodes and row[7].startswith("@")]


def record(folder):
    """What an earlier job sent, and the ports that it had."""
    streams = os.path.join(folder, "streams")
    os.mkdir(streams)
    os.chmod(streams, 0o755)
    job = start(folder, LD_PRELOAD=CAPTURE, CAPTURE=streams)
    ports = set(listening(pids_of(job)))
    out = finish(job, folder)
    assert job.returncode == 0, out
    os.unlink(os.path.join(folder, "stop"))
    found = os.listdir(streams)
    assert found, "nothing was captured"
    return streams, ports


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        streams, before = record(folder)
        job = start(folder)
        pids = pids_of(job)
        ports = listening(pids)
        if before & set(ports):  # a shaking of hands that names a port of this job takes a connection away
            finish(job, folder)
            print("the ports of the earlier job are in use again")
            return 77
        assert len(ports) >= RANKS and names(pids), (ports, names(pids))
        attack = subprocess.run([NEIGHBOUR, KEYS, streams, *map(str, pids), "--", *ports, "--", *names(pids)], check=False, timeout=500,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        out = finish(job, folder)
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
