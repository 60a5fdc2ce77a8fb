"""A Slurm cluster of two nodes, in a folder and namespaces of its own: munge, controller and daemons that end with this script."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from harness import Skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
import hosts  # noqa: E402  pylint: disable=wrong-import-position

CONF = """ClusterName=hotlane
SlurmctldHost=host1(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/%n.log
TmpFS={folder}/tmp-%n
SlurmdParameters=config_overrides
KillWait=2
NodeName=host1 NodeAddr=10.77.0.1 CPUs=64
NodeName=host2 NodeAddr=10.77.0.2 CPUs=64
PartitionName=all Nodes=host1,host2 Default=YES State=UP OverSubscribe=FORCE:64
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
WAIT = 60  # seconds until all nodes are idle


class Cluster:
    """Brings it up, or raises Skip. `prefix`: words in front of srun; `environment`: what srun needs."""

    def __init__(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        missing = [p for p in PROGRAMS if not shutil.which(p)]
        if missing:
            raise Skip(f"no {', '.join(missing)} (packages slurmctld, slurmd, slurm-client, munge)")
        try:
            hosts.seal()
            self.hosts = hosts.Hosts(2)
        except hosts.Unavailable as reason:
            raise Skip(str(reason)) from None
        self.folder = tempfile.mkdtemp(prefix="hotlane-slurm-")
        os.chmod(self.folder, 0o755)  # munge insists that everybody can reach its socket
        self.environment = {"SLURM_CONF": self.folder + "/slurm.conf"}
        self.prefix = self.hosts.at(1)
        self.daemons = []
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        folder = self.folder
        for name in ("state", "tmp-host1", "tmp-host2"):
            os.mkdir(f"{folder}/{name}")
        with open(folder + "/slurm.conf", "w", encoding="ascii") as f:
            f.write(CONF.format(folder=folder))
        with open(folder + "/key", "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(os.urandom(128))
        self._daemon("munged", "--foreground", f"--socket={folder}/munge", f"--key-file={folder}/key", f"--seed-file={folder}/seed",
                     f"--log-file={folder}/munge.log", f"--pid-file={folder}/munge.pid")
        while not os.path.exists(folder + "/munge"):
            self._must_live()
        self._daemon("slurmctld", "-D", host=1)
        for k in (1, 2):
            self._daemon("slurmd", "-D", "-N", f"host{k}", host=k)
        end = time.monotonic() + WAIT
        while self.sinfo() != "2":
            self._must_live()
            if time.monotonic() > end:
                raise AssertionError(f"the cluster is not up after {WAIT} s: {self.words()}")

    def _daemon(self, *words, host=None):
        prefix = self.hosts.at(host) if host else []
        self.daemons.append(subprocess.Popen(prefix + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, env={**os.environ, **self.environment},
                                             preexec_fn=hosts.with_parent))

    def _must_live(self):
        time.sleep(0.05)
        for daemon in self.daemons:
            if daemon.poll() is not None:
                raise AssertionError(f"{daemon.args} ended with {daemon.returncode}: {self.words()}")

    def sinfo(self):
        """The number of idle nodes, as a word."""
        done = subprocess.run(self.prefix + ["sinfo", "-h", "-t", "idle", "-o", "%D"], capture_output=True, text=True, check=False,
                              env={**os.environ, **self.environment})
        return done.stdout.strip()

    def words(self):
        """The ends of all logs."""
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as f:
                    text += f"{name}: {f.read()[-600:]}\n"
        return text

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.hosts.close()
        shutil.rmtree(self.folder, ignore_errors=True)
