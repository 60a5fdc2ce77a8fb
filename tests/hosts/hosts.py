#!/usr/bin/env python3
"""Several hosts on one machine: network namespaces on one bridge, which end with the script that made them.

    hosts.seal()                            # optional: nothing that this script starts outlives it, and no root is needed
    with hosts.Hosts(2) as there:
        subprocess.run([mpiexec, "-n", "4"] + there.place(2) + [program])    # ranks 0, 1 on host1, ranks 2, 3 on host2
        there.cut(2), there.heal(2)         # pulls host2's cable, and plugs it in again
        subprocess.run(there.at(1) + [foreign_mpiexec, "-launcher-exec", hosts.AGENT, ...], env={**os.environ, **there.environ})

A host has its own network (hostK is 10.77.0.K), host name, boot id, System V memory, /etc/hosts and /dev/shm; files are shared.
As a program it is what launchers call in place of ssh: AGENT [OPTIONS] HOST COMMAND ..., with there.environ."""
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

AGENT = os.path.abspath(__file__)
# How a launcher of another MPI is told of AGENT; Hydra's, where it is none of these.
AGENTS = {"openmpi": ["--mca", "plm_rsh_agent"], "openmpi5": ["--prtemca", "plm_ssh_agent"]}
KINDS = ["--net", "--uts", "--ipc", "--mount"]
RANK = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}"


class Unavailable(Exception):
    """This machine or this user cannot have such hosts; the text says why."""


def seal():
    """Starts this script again as the first process of process and mount namespaces of its own, as root there: however it
    ends, the kernel ends with it all that it has started, and no mount or interface outlives that."""
    if os.environ.pop("HOSTS_SEALED", "") == "1":
        return
    if not shutil.which("unshare"):
        raise Unavailable("hosts need the program unshare")
    user = ["--user", "--map-root-user"] if os.geteuid() else []
    first = ["unshare"] + user + ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    tried = subprocess.run(first + ["true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise Unavailable(f"no namespaces here: {tried.stderr.strip()}")
    os.environ["HOSTS_SEALED"] = "1"
    os.execvp(first[0], first + [sys.executable] + sys.argv)


def with_parent():
    """For Popen's preexec_fn: the process dies with its parent, also when that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def by_rank(commands, each=1):
    """Words in front of a program under a launcher: every `each` ranks take the next of the commands, the rest the last."""
    cases = "".join(f"{i if i + 1 < len(commands) else '*'}) set -- {shlex.join(c)} \"$@\";; " for i, c in enumerate(commands))
    return ["sh", "-c", f"case $(({RANK} / {each})) in {cases}esac; exec \"$@\"", "place"]


class Hosts:
    """The holders are processes that read from a pipe of ours: when we end, however, they end and the hosts with them."""

    def __init__(self, count, names=None):
        missing = [p for p in ("unshare", "nsenter", "ip") if not shutil.which(p)]
        if os.geteuid() != 0 or missing:
            raise Unavailable("hosts need root" if not missing else f"hosts need the programs {', '.join(missing)}")
        self.holders = []
        self.names = names or [f"host{k}" for k in range(1, count + 1)]
        try:
            self.switch = self._hold(["--net"], "ip link add br0 type bridge; ip link set br0 up")
            for k in range(1, count + 1):
                self._add(k)
        except (subprocess.CalledProcessError, Unavailable) as error:
            self.close()
            raise Unavailable(f"no hosts here: {error}") from error
        self.prefix = self.place()
        self.environ = {"HOSTS_PIDS": ",".join(f"{n}={h.pid}" for n, h in zip(self.names, self.holders[1:]))}

    def _add(self, k):
        known = "127.0.0.1 localhost\\n" + "".join(f"10.77.0.{i} {n}\\n" for i, n in enumerate(self.names, 1))
        boot = f"{k:08x}-0000-4000-8000-{k:012x}"
        host = self._hold(KINDS, f"hostname {self.names[k - 1]}; mount -t tmpfs -o mode=1777 shm /dev/shm; cd /dev/shm; "
                          f"printf '{known}' >hosts; mount --bind hosts /etc/hosts; echo {boot} >boot; "
                          "mount --bind boot /proc/sys/kernel/random/boot_id; rm hosts boot; ip link set lo up")
        self.on_switch("ip", "link", "add", f"p{k}", "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        self.on_switch("ip", "link", "set", f"p{k}", "master", "br0", "up")
        for words in ((f"addr add 10.77.0.{k}/24 dev eth0"), ("link set eth0 up")):
            subprocess.run(self.at(k) + ["ip"] + words.split(), check=True, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 60  # the kernel gets round to it later, on a crowded machine seconds later
        while b"state UP" not in subprocess.check_output(self.at(k) + ["ip", "link", "show", "eth0"]):
            if time.monotonic() > end:
                raise Unavailable("the interface of a new host does not come up")
            time.sleep(0.005)

    def _hold(self, kinds, setup):
        holder = subprocess.Popen(["unshare"] + kinds + ["--propagation=private"] * ("--mount" in kinds) +
                                  ["sh", "-ec", setup + "; echo ready; exec cat >/dev/null"],
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
        self.holders = []

    def at(self, k, *more):
        """Words in front of a command that shall run on host k, counted from 1. more: further words for nsenter."""
        return ["nsenter", "-t", str(self.holders[k].pid)] + KINDS + [f"--wd={os.getcwd()}", *more, "--"]

    def on_switch(self, *command):
        subprocess.run(["nsenter", "-t", str(self.switch.pid), "--net"] + list(command), check=True, stdin=subprocess.DEVNULL)

    def place(self, each=1):
        """Words in front of a program under a launcher that serves one machine: `each` ranks on the first host, as many on
        the next, the rest on the last."""
        return by_rank([self.at(k) for k in range(1, len(self.names) + 1)], each)

    def launched(self, mpi, launcher, each=1):
        """Words of the launcher of another MPI (perf/peers.py), which runs on the first host and starts `each` ranks on
        every one; with self.environ."""
        if mpi in AGENTS:
            words = [*AGENTS[mpi], AGENT, "-H", ",".join(f"{name}:{each}" for name in self.names)]
        else:
            words = ["-launcher", "ssh", "-launcher-exec", AGENT, "-hosts", ",".join(self.names), "-ppn", str(each)]
        return self.at(1) + launcher + words

    def cut(self, k):
        """Pulls host k's cable out of the switch: nobody is told."""
        self.on_switch("ip", "link", "set", f"p{k}", "down")

    def heal(self, k):
        self.on_switch("ip", "link", "set", f"p{k}", "up")

    def links(self, k):
        """Connections of host k that are established."""
        with open(f"/proc/{self.holders[k].pid}/net/tcp", encoding="ascii") as f:
            return sum(line.split()[3] == "01" for line in f)


def rsh(words):
    """What ssh does with these words: a shell on that host gets the rest, joined."""
    pids = dict(pair.split("=") for pair in os.environ["HOSTS_PIDS"].split(","))
    while words and words[0].startswith("-"):
        words = words[1:]
    if len(words) < 2 or words[0].split("@")[-1] not in pids:
        sys.exit(f"{AGENT}: no such host: {words}")
    os.execvp("nsenter", ["nsenter", "-t", pids[words[0].split("@")[-1]]] + KINDS +
              [f"--wd={os.getcwd()}", "--", "sh", "-c", " ".join(words[1:])])


if __name__ == "__main__":
    if len(sys.argv) < 3 or "HOSTS_PIDS" not in os.environ:
        sys.exit(__doc__)
    rsh(sys.argv[1:])
