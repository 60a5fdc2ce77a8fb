"""What scripts need that attack a job: the job, its processes, and what these have open."""
import os
import re
import subprocess


class Prey:
    """A job of `ranks` ranks over the network, two of which share memory if there are three. `command` runs on it until the
    file `stop` in `folder` appears, which its arguments name."""

    def __init__(self, mpiexec, ranks, folder):
        self.mpiexec, self.ranks, self.folder = mpiexec, ranks, folder
        self.stop = os.path.join(folder, "stop")

    def start(self, *command, **more):
        env = {**os.environ, "HOTLANE_CLIQUES": "2", **more}
        return subprocess.Popen([self.mpiexec, "-n", str(self.ranks), *command], env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def pids_of(self, job):
        """Of its ranks, when they have met."""
        pids = []
        while len(pids) < self.ranks:
            line = job.stdout.readline()
            assert line, "the job ended too early"
            found = re.match(r"ready (\d+)", line)
            pids += [int(found[1])] if found else []
        return pids

    def finish(self, job, seconds=60):
        with open(self.stop, "w", encoding="ascii"):
            pass
        out, _ = job.communicate(timeout=seconds)
        os.unlink(self.stop)
        return out

    def record(self, capture, *command):
        """What an earlier job sent, and the ports that it had."""
        streams = os.path.join(self.folder, "streams")
        os.mkdir(streams)
        os.chmod(streams, 0o755)
        # AddressSanitizer would rather be loaded first.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        job = self.start(*command, LD_PRELOAD=capture, CAPTURE=streams, ASAN_OPTIONS=asan)
        ports = set(listening(self.pids_of(job)))
        out = self.finish(job)
        assert job.returncode == 0, out
        assert os.listdir(streams), "nothing was captured"
        return streams, ports


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
    """TYPE:NAME of their sockets that have a name in the abstract namespace, where each type has names of its own."""
    inodes = sockets_of(pids)
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return [f"{row[4]}:{row[7][1:]}" for row in rows if len(row) > 7 and row[6] in inodes and row[7].startswith("@")]
