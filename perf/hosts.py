"""Several hosts on one machine: network namespaces on one bridge, which end with the script that made them.

    with hosts.Hosts(2) as there:
        program.prefix = there.prefix       # rank 0 runs on the first host, all others on the second
        program.output(4, arguments)

As a program, `hosts.py place PIDS PROGRAM ...`, it runs PROGRAM on the host of its rank. A host has its own network, host
name, System V memory and /dev/shm; files are shared. Needs root and the programs unshare, nsenter and ip."""
import os
import shutil
import subprocess
import sys


class Unavailable(Exception):
    """This machine or this user cannot have such hosts; the text says why."""


def _inside(holder, kinds, *command):
    """Runs a command in the namespaces of a holder."""
    subprocess.run(["nsenter", "-t", str(holder.pid)] + kinds + list(command), check=True, stdin=subprocess.DEVNULL)


class Hosts:
    """The holders are processes that read from a pipe of ours: when we end, however, they end and the hosts with them."""

    def __init__(self, count):
        missing = [p for p in ("unshare", "nsenter", "ip") if not shutil.which(p)]
        if os.geteuid() != 0 or missing:
            raise Unavailable("hosts need root" if not missing else f"hosts need {', '.join(missing)}")
        self.holders = []
        try:
            switch = self._hold(["--net"], "ip link add br0 type bridge; ip link set br0 up")
            for k in range(1, count + 1):
                host = self._hold(["--net", "--uts", "--ipc", "--mount"],
                                  f"hostname host{k}; mount -t tmpfs -o mode=1777 shm /dev/shm; ip link set lo up")
                _inside(switch, ["--net"], "ip", "link", "add", f"p{k}", "type", "veth", "peer", "name", "eth0", "netns",
                        str(host.pid))
                _inside(switch, ["--net"], "ip", "link", "set", f"p{k}", "master", "br0", "up")
                _inside(host, ["--net"], "ip", "addr", "add", f"10.77.0.{k}/24", "dev", "eth0")
                _inside(host, ["--net"], "ip", "link", "set", "eth0", "up")
        except (subprocess.CalledProcessError, Unavailable) as error:
            self.close()
            raise Unavailable(f"no hosts here: {error}") from error
        self.prefix = [sys.executable, os.path.abspath(__file__), "place", ",".join(str(h.pid) for h in self.holders[1:])]

    def _hold(self, kinds, setup):
        holder = subprocess.Popen(["unshare"] + kinds + ["sh", "-ec", setup + "; echo ready; exec cat >/dev/null"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.holders.append(holder)
        if holder.stdout.readline() != "ready\n":
            raise Unavailable(holder.stderr.read().strip())
        return holder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for holder in self.holders:
            holder.stdin.close()
            holder.wait()
            holder.stdout.close()
            holder.stderr.close()


def place(pids, command):
    """Becomes the command on the host of this rank."""
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
    hosts = pids.split(",")
    os.execvp("nsenter", ["nsenter", "-t", hosts[min(rank, len(hosts) - 1)], "--net", "--uts", "--ipc", "--mount",
                          f"--wd={os.getcwd()}"] + command)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] != "place":
        sys.exit(__doc__)
    place(sys.argv[2], sys.argv[3:])
