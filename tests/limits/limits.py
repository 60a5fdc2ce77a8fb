#!/usr/bin/env python3
"""Jobs in poor surroundings (few descriptors, little memory, no /proc, forbidden system calls ...) work with one line, or end with
one error that names what is short. Never a signal, never a hang, nothing left.

usage: limits.py GROUP MPIEXEC JOB CAGE [PES]
"""
import errno
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "launch"))
import harness  # noqa: E402
from harness import Job, Skip, until  # noqa: E402

MPIEXEC, JOB, CAGE = (os.path.abspath(p) for p in sys.argv[2:5])
PES = os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 else None
harness.MPIEXEC = CAGE
HANG = 60  # seconds
NEAR, NET = {}, {"HOTLANE_NEAR": "0"}


def shared_files():
    """What a job of ours, or libfabric in it, might leave in memory; others' tests may run beside this one."""
    return {name for name in glob.glob("/dev/shm/*") if re.search(r"hotlane|fi_|ofi|psm", name)}


class Nothing:
    """There is no OpenSHMEM in this build."""

    works, lines, err, code = True, [], "", 0


class Ended:
    """How a job ended: code, output, and its error's lines, each once, without who said it."""

    def __init__(self, job):
        self.code, self.out, self.err = job.code, job.out, job.err
        plain = [re.sub(r"^hotlane:\s*((rank|PE) \d+ \(\S+\):)?\s*|^(mpiexec|rank \d+|PE \d+): ", "", line)
                 for line in job.err.splitlines()]
        plain = [re.sub(r"\b(rank|PE|pid|process) \d+\b|0x[0-9a-f]+", r"\1 N", line) for line in plain]
        self.lines = [line for line in dict.fromkeys(plain) if not re.search("(ending|aborted) the job", line) and line.strip()]
        self.works = self.code == 0


def caged(*cage, n=2, mode="mpi", env=NEAR, ranks_only=False):
    """Runs the job; what must never be is checked here."""
    before = shared_files()
    job = [JOB, mode] if mode != "shmem" else [PES]
    env = {"HOTLANE_CONF": "", **env}
    if job[0] is None:
        return Nothing()
    start = [MPIEXEC, "--oversubscribe", "-n", n]
    args = [*start, CAGE, *cage, *job] if ranks_only else [*cage, *start, *job]
    done = Job(*args, env=env, share=False).end(timeout=HANG)
    done.must_leave_nothing()
    until(lambda: shared_files() <= before, f"nothing is left in /dev/shm; there is {shared_files()}", 10)
    if done.code == 77 and "does not let us" in done.out:
        raise Skip(done.out.strip().splitlines()[-1])
    said = f"code {done.code}\n{done.out}{done.err}"
    assert 0 <= done.code < 128 and "by signal" not in done.err, f"a signal: {said}"
    assert done.code not in (2, 126), f"the test is wrong: {said}"
    ended = Ended(done)
    assert not ended.works or "done" in done.out, f"it says nothing: {said}"
    return ended


def works(*args, lines=0, words=None, **more):
    """The job works, with at most `lines` different lines; the first matches `words`."""
    ended = caged(*args, **more)
    assert ended.works, f"{args} {more}: code {ended.code}: {ended.err}"
    assert len(ended.lines) <= lines, f"{args} {more}: more than {lines} lines: {ended.err}"
    spoke = words is None or isinstance(ended, Nothing) or any(re.search(words, line) for line in ended.lines)
    assert spoke, f"{args}: no word of {words}: {ended.err}"
    return ended


def fails(*args, words, lines=1, **more):
    """It ends with an error that matches `words`."""
    ended = caged(*args, **more)
    assert not ended.works, f"{args} {more}: it worked"
    judge(ended, words, lines, args)
    return ended


def judge(ended, words, lines, args):
    assert any(re.search(words, line) for line in ended.lines), f"{args}: no word of {words!r}: {ended.err}"
    assert len(ended.lines) <= lines, f"{args}: more than {lines} lines: {ended.err}"


def either(*args, words, lines=2, **more):
    """One or the other: an error must match `words`. True when it worked."""
    ended = caged(*args, **more)
    if ended.works:
        assert len(ended.lines) <= lines, f"{args}: more than {lines} lines: {ended.err}"
    else:
        judge(ended, words, lines, args)
    return ended.works


# ---- resource limits

FILES = r"ulimit -n|ulimit -Hn|Too many open files|Error 24"
SPACE = r"ulimit -v|cannot allocate|Cannot allocate|failed to map|no .* \(malloc\)|cannot create"
FORBIDDEN = r"Operation not permitted|Function not implemented|Input/output error|refused"


def few_files_near():
    for n in (5, 6, 8, 9):
        either("--nofile", n, words=FILES, ranks_only=True)
    works("--nofile", 16, ranks_only=True)


def few_files_on_the_network():
    for n in (12, 24, 32):
        fails("--nofile", n, words=FILES, lines=5, ranks_only=True, env=NET)  # of messages, too
    works("--nofile", 60, lines=1, words="1 lane instead of", ranks_only=True, env=NET)


def connections_that_cannot_be_made_end_the_job():
    """A rank that has no descriptor left can neither connect nor be connected to: that is told after seconds."""
    for n in (37, 38, 41):
        either("--nofile", n, words=FILES, lines=5, ranks_only=True, env=NET)


def few_files_for_the_launcher():
    for n in (6, 8, 12, 37):
        fails("--nofile", n, words=FILES)
    works("--nofile", 60)
    works("--soft-nofile", 20)
    works("--soft-nofile", 20, env=NET)


def little_address_space():
    for mib in (8, 16, 112, 144):
        either("--as", mib << 20, words=SPACE, ranks_only=True)
    for mib in (256, 1024, 4096):
        works("--as", mib << 20, ranks_only=True)
    works("--as", 1 << 30, ranks_only=True, mode="shmem")


def little_address_space_on_the_network():
    either("--as", 160 << 20, words=SPACE, lines=3, ranks_only=True, env=NET)
    works("--as", 1 << 30, ranks_only=True, env=NET)


def little_private_memory():
    for kib in (1000, 2000):
        fails("--data", kib << 10, words="ulimit -d|the program itself gets no", ranks_only=True)
        fails("--data", kib << 10, words="ulimit -d", lines=2, ranks_only=True, env=NET)
    fails("--data", 20000 << 10, words="ulimit -d", lines=2, ranks_only=True, env=NET)
    for mib in (64, 512):
        works("--data", mib << 20, ranks_only=True)
    works("--data", 1 << 30, ranks_only=True, env=NET)


def no_file_may_grow():
    for size in (0, 1000000):
        fails("--fsize", size, words="ulimit -f", lines=2)
        fails("--fsize", size, words="ulimit -f", env=NET)


def no_memory_may_be_locked():
    works("--memlock", 0)
    works("--memlock", 0, env=NET)


def a_small_stack():
    works("--stack", 65536)
    works("--stack", 65536, env=NET)
    works("--stack", 65536, mode="shmem")


def other_user():
    """RLIMIT_NPROC does not bind root, so another user runs the job: one that has no other process."""
    if os.geteuid() != 0:
        raise Skip("only root can become a user without processes")
    folder = os.path.dirname(JOB)
    while folder != "/":
        if not os.stat(folder).st_mode & 1:
            raise Skip(f"other users cannot reach {folder}")
        folder = os.path.dirname(folder)
    return "--user", 50000 + os.getpid() % 10000


def few_processes():
    user = other_user()
    for n in (1, 3, 4, 5, 6):
        fails(*user, "--nproc", n, words="ulimit -u", lines=2)
    works(*user, "--nproc", 16)
    fails(*user, "--nproc", 5, words="ulimit -u", env=NET)


def a_home_that_is_closed():
    user = other_user()
    with tempfile.TemporaryDirectory() as home:
        works(*user, lines=1, words="Permission denied, so it is not read", env={"HOME": home, "XDG_CONFIG_HOME": home,
                                                                                 "HOTLANE_CONF": "default"})


# ---- control groups

class Group:
    """A control group with a limit of memory, in either hierarchy."""

    def __init__(self, limit):
        with open("/proc/self/cgroup", encoding="ascii") as f:
            lines = dict(line.strip().split(":", 2)[1:] for line in f)
        old = [names for names in lines if "memory" in names.split(",")]
        top = "/sys/fs/cgroup" + ("/memory" + lines[old[0]] if old else lines.get("", ""))
        self.folder = os.path.join(top, f"hotlane-test-{os.getpid()}")
        try:
            os.mkdir(self.folder)
            with open(os.path.join(self.folder, "memory.limit_in_bytes" if old else "memory.max"), "w", encoding="ascii") as f:
                f.write(str(limit))
        except OSError as e:
            if os.path.isdir(self.folder):
                os.rmdir(self.folder)
            raise Skip(f"no control group of our own can be made: {e}") from e

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        until(lambda: not open(os.path.join(self.folder, "cgroup.procs"), encoding="ascii").read(), "the group is empty")
        os.rmdir(self.folder)


def a_group_with_enough_memory():
    with Group(256 << 20) as folder:
        works("--group", folder)


def a_group_with_too_little_memory():
    """The kernel kills who takes more: the launcher says so, and the limit."""
    with Group(12 << 20) as folder:
        done = Job("--group", folder, MPIEXEC, "--oversubscribe", "-n", 2, JOB, "mpi", share=False).end(timeout=HANG)
        done.must_leave_nothing()
        assert done.code not in (0, 77), done.err
        assert "reached the limit of 12 MiB of memory" in done.err or "bytes of memory and swap are available" in done.err, done.err


# ---- file systems

def file_systems():
    if os.path.realpath(JOB).startswith("/tmp/"):
        raise Skip("a file system of a test's own over /tmp would hide this build")
    for what in (("--tiny", "/tmp"), ("--tiny", "/dev/shm"), ("--no-shm",), ("--read-only",), ("--no", "/sys")):
        works(*what)
    works("--tiny", "/tmp", env=NET)
    works("--read-only", env=NET)
    works("--no-shm", mode="shmem")


def no_proc():
    env = {"LD_LIBRARY_PATH": os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(JOB))), "lib")}
    works("--no", "/proc", env=env)
    works("--no", "/proc", env={**env, **NET})
    works("--no", "/proc", env=env, mode="shmem", lines=1, words="/proc cannot be read")


# ---- forbidden system calls

# Without them all goes on; those with words say so in a line.
SPARED = {"mbind": None, "set_mempolicy": None, "get_mempolicy": None, "move_pages": None, "process_vm_readv": None,
          "process_vm_writev": None, "populate": None, "fallocate": None, "seal": "cannot seal", "pidfd_open": None,
          "pidfd_send_signal": None, "pidfd_getfd": None, "userfaultfd": None, "io_uring_setup": None, "close_range": None,
          "getrandom": None, "sched_setaffinity": None, "membarrier": None, "rseq": None, "statx": None, "sysinfo": None,
          "getcpu": None, "pdeathsig": None, "subreaper": None, "setpgid": None, "huge_memfd": None,
          "sched_getaffinity": "sched_getaffinity", "unix": "cannot prove who shares this node"}
# Without them nothing goes.
NEEDED = {"memfd_create": "memfd_create", "eventfd2": "receive thread", "epoll_create1": "epoll_create1", "signalfd4": "signalfd",
          "socketpair": "socketpair|pipes and sockets", "bind": "opening an endpoint", "socket": "opening an endpoint"}


def one_call(name, number, **more):
    words = SPARED.get(name)
    works("--deny", f"{name}:{number}", lines=1 if words else 0, words=words, **more)


def calls_that_are_spared():
    """All of them at once, and by turns both ways of refusing."""
    quiet = [name for name, words in SPARED.items() if words is None]
    for number in (errno.EPERM, errno.ENOSYS):
        all_of_them = [word for name in quiet for word in ("--deny", f"{name}:{number}")]
        works(*all_of_them)
        works(*all_of_them, mode="shmem")
        for name in (name for name, words in SPARED.items() if words):
            one_call(name, number)
        # Pages go back by either of two ways.
        works("--deny", f"remove:{number}")
        works("--deny", f"remove:{number}", "--deny", f"fallocate:{number}", lines=1, words="cannot be given back")
    works(*all_of_them, env=NET)


def calls_that_are_needed():
    for name, words in NEEDED.items():
        for number in (errno.EPERM, errno.ENOSYS):
            fails("--deny", f"{name}:{number}", words=f"({words}).*({FORBIDDEN})", lines=3)


def new_threads():
    works("--deny", f"clone3:{errno.ENOSYS}")
    fails("--deny", f"clone3:{errno.EPERM}", words="receive thread does not start: Operation not permitted", lines=2)


def new_processes():
    """The limit of processes is named for the error that it gives, and for no other."""
    for call, words in (("fork", "guardian processes cannot be started"), ("vfork", "process cannot be started")):
        for number, hint in ((errno.EAGAIN, r" \(the limit of processes: ulimit -u, .*\)"), (errno.ENOMEM, ""), (errno.EPERM, r" \(a sandbox.*\)")):
            fails("--deny", f"{call}:{number}", words=f"{words}: {os.strerror(number)}{hint}$")


def each_call():
    for number in (errno.EPERM, errno.ENOSYS):
        for name in SPARED:
            for env in (NEAR, NET):
                if name != "unix" or env is NEAR:
                    one_call(name, number, env=env)
            one_call(name, number, mode="shmem")


# ---- sweeps

def every_number_of_files():
    for n in range(3, 81):
        for env in (NEAR, NET):
            # Fewer lanes, no lane, and two errors: of who cannot open one, and of who hears that another one cannot.
            either("--nofile", n, words=FILES, lines=4, ranks_only=True, env=env)
        either("--nofile", n, words=FILES, lines=3, ranks_only=True, mode="shmem")
        either("--nofile", n, words=FILES)


def runs_at_all(*cage):
    """The loader needs memory, too, and is nobody of ours."""
    done = Job(*cage, JOB, "nothing", share=False).end(timeout=HANG)
    return done.code == 0


def every_address_space():
    for mib in [*range(4, 64, 4), *range(64, 400, 16), *range(400, 1200, 100)]:
        limit = ("--as", mib << 20)
        if not runs_at_all(*limit):
            continue
        for env in (NEAR, NET):
            either(*limit, words=SPACE, lines=3, ranks_only=True, env=env)
        either(*limit, words=SPACE, lines=3, ranks_only=True, mode="shmem")
        either(*limit, words=SPACE, lines=3)


GROUPS = {
    "limits": [few_files_near, few_files_on_the_network, few_files_for_the_launcher, little_address_space,
               little_address_space_on_the_network, little_private_memory, no_file_may_grow, no_memory_may_be_locked, a_small_stack, few_processes,
               a_home_that_is_closed, a_group_with_enough_memory, a_group_with_too_little_memory],
    "files": [file_systems, no_proc],
    "calls": [calls_that_are_spared, calls_that_are_needed, new_threads, new_processes],
    "waits": [connections_that_cannot_be_made_end_the_job],
    "sweep": [every_number_of_files, every_address_space, each_call],
}

if __name__ == "__main__":
    sys.exit(harness.main(GROUPS))
