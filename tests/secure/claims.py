#!/usr/bin/env python3
"""Somebody claims ranks' ports in the provider's hand-shake, so that it closes their connections: what is lost is missed, and
the job goes on or ends with an error; it never hangs and never computes with half of it.

usage: claims.py MPIEXEC ENDS CAPTURE.so [SCENE ...]
"""
import glob
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

from prey import Prey, listening

MPIEXEC, ENDS, CAPTURE = sys.argv[1:4]
SCENES = sys.argv[4:] or ["message", "put", "get", "add", "lock"]
SHAKE = 56  # bytes, of tcp;ofi_rxm
HANG = 45   # seconds; a busy machine has the same errors, later


def shake(streams, ports):
    """A hand-shake, and where in it the port stands: what an earlier job said whose ports those were."""
    for path in glob.glob(os.path.join(streams, "*")):
        with open(path, "rb") as f:
            words = f.read(SHAKE)
        for at in range(32, len(words) - 1):
            if str(struct.unpack_from("<H", words, at)[0]) in ports:
                return bytearray(words), at
    return None, 0


def claim(shakes, targets, claimed):
    """Says to each target that we are each of the claimed ports. The connections stay open: who closes them gives back."""
    words, at = shakes
    held = []
    for target in targets:
        for port in claimed:
            struct.pack_into("<H", words, at, int(port))
            s = socket.create_connection(("127.0.0.1", int(target)))
            s.sendall(words)
            held.append(s)
    return held


def scene(prey, shakes, what):
    job = prey.start(ENDS, what, prey.stop)
    ranks = sorted(prey.pids_of(job), key=rank_of)
    zero, one = (listening([pid]) for pid in ranks)
    held = claim(shakes, zero, one)
    time.sleep(0.5)  # rank 0 takes them
    begin = time.monotonic()
    try:
        out = prey.finish(job, HANG)
    except subprocess.TimeoutExpired as late:
        job.kill()
        raise AssertionError(f"{what}: the job hangs") from late
    took = time.monotonic() - begin
    for s in held:
        s.close()
    if job.returncode == 0:
        assert out.count("has 4711") == 2, f"{what}: wrong data: {out}"
        print(f"{what}: nothing was lost, {took:.1f} s")
    else:
        assert job.returncode > 0 and re.search(r"network has lost|rank [01] has ended|operation on target [01] failed", out), out
        said = [line for line in out.splitlines() if "lost" in line or "has ended" in line or "MPI_ERR" in line]
        print(f"{what}: ended with {job.returncode} after {took:.1f} s: {said[0]}")


def rank_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as f:
        return f.read().split(b"PMI_RANK=")[1].split(b"\0")[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        prey = Prey(MPIEXEC, 2, folder)
        streams, before = prey.record(CAPTURE, ENDS, "put", prey.stop)
        shakes = shake(streams, before)
        if shakes[0] is None:
            print("the provider's hand-shake is not known here")
            return 77
        for what in SCENES:
            scene(prey, shakes, what)
    return 0


if __name__ == "__main__":
    sys.exit(main())
