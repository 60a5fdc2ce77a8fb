"""What the launcher's tests share: starting jobs, waiting, and finding what was left behind."""
import contextlib
import ctypes
import errno
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
import uuid

MPIEXEC, RANK = sys.argv[2:4] if len(sys.argv) > 3 else ("mpiexec", "launch_rank")
PRELOAD = sys.argv[4] if len(sys.argv) > 4 else ""  # makes a launcher of eight CPUs, which counts; none under sanitizers
TRIES = 3    # of a case that is late: a machine with other work may be slow once, who waits for the wrong thing is so each time
HANG = 10    # times a limit: not a matter of other work
PYTHON = sys.executable
WALL = 0x40000000  # of waitpid: also what is traced and no child


# Jobs get these even if a shell without job control started the tests in the background, where they are ignored.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


class Skip(Exception):
    """A case that cannot run here, with the reason."""


class Late(AssertionError):
    """Right, but not in time: the case is played again."""


def crowd():
    """How much longer everything takes where other programs want the CPUs too: at least 1, as of now."""
    with open("/proc/loadavg", encoding="ascii") as f:
        words = f.read().split()
    return max(1.0, max(float(words[0]), float(words[3].split("/")[0])) / len(os.sched_getaffinity(0)))


BEGIN = crowd()


def in_time(seconds, limit=1.0):
    """Something took `seconds`, and may take `limit` on a machine that has nothing else to do: an end after a death one second."""
    most = limit * max(BEGIN, crowd())
    assert seconds < most * HANG, f"{seconds:.2f} s, more than {HANG} times {most:.2f}"
    if seconds >= most:
        raise Late(f"{seconds:.2f} s, more than {most:.2f}")


def outside():
    """The environment without what a launcher, or whoever runs the tests, has put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI_", "OMP_", "HOTLANE_"))}


class Job:
    """One launcher; its processes carry a mark in their environment by which leftovers are found."""

    every = []

    def __init__(self, *args, env=None, share=True, launcher=None, **popen):
        """share: more threads than CPUs are meant, without a line. launcher: the words of another one."""
        Job.every.append(self)
        self.mark = uuid.uuid4().hex
        environment = {**outside(), **(env or {}), "LAUNCH_TEST": self.mark}
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        words = launcher or [MPIEXEC] + ["--oversubscribe"] * share
        self.process = subprocess.Popen([*words, *map(str, args)], env=environment, **popen)
        self.begin = time.monotonic()

    def end(self, stdin=None, timeout=30, soon=False):
        """Waits; sets code, out, err, seconds. Kills the launcher when it hangs. soon: in the time for an end after a death."""
        begin = time.monotonic()
        try:
            out, err = self.process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the job hangs: {self.process.args}") from None
        self.seconds = time.monotonic() - self.begin
        self.code = self.process.returncode
        self.out, self.err = (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")
        if soon:
            in_time(time.monotonic() - begin)
        return self

    def left(self):
        """Pids of living processes with our mark (zombies have no environment)."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if self.mark.encode() in environment_of(pid):
                found.append(int(pid))
        return found

    def sockets(self):
        """Inode numbers of the sockets that its processes hold now."""
        found = set()
        for pid in self.left():
            try:
                for fd in os.listdir(f"/proc/{pid}/fd"):
                    target = os.readlink(f"/proc/{pid}/fd/{fd}")
                    if target.startswith("socket:"):
                        found.add(target[8:-1])
            except OSError:
                pass
        return found

    def must_leave_nothing(self, sockets=frozenset()):
        """No process, and none of these sockets."""
        until(lambda: not self.left(), f"nothing is left behind; there is {self.left()}")
        until(lambda: not sockets & all_sockets(), f"no socket is left open; there is {sockets & all_sockets()}")

    def lines(self, n):
        """Reads n lines of output from the running job."""
        return [self.process.stdout.readline().decode().rstrip("\n") for _ in range(n)]

    def guardians(self):
        return [p for p in self.left() if name_of(p) == "hotlane-guard"]

    def both_guardians(self):
        """When they are there; a new one takes a moment to become one."""
        until(lambda: len(self.guardians()) == 2, "there are two guardians")
        return self.guardians()


def all_sockets(processes=("self",)):
    """Inode numbers of all sockets in the networks of these; those that only wait for their time to pass have none."""
    found = set()
    for pid in processes:
        for kind, column in (("unix", 6), ("tcp", 9), ("tcp6", 9), ("udp", 9)):
            try:
                with open(f"/proc/{pid}/net/{kind}", encoding="ascii", errors="replace") as f:
                    found |= {line.split()[column] for line in f}
            except OSError:
                pass
    return found - {"0"}


def environment_of(pid):
    """As it was at exec; nothing of a zombie."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read()
    except OSError:
        return b""


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def run(*args, stdin=None, **more):
    """A whole job that must leave nothing behind."""
    if stdin is not None:
        more["stdin"] = subprocess.PIPE
    job = Job(*args, **more).end(stdin)
    job.must_leave_nothing()
    return job


def until(true, what, seconds=30):
    """Waits for a condition, and returns what it was."""
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.005)
    return value


def same(got, want):
    assert got == want, f"got {got!r}, expected {want!r}"


def holds(text, *words):
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def play(case):
    """None, or why it failed; nothing runs on."""
    Job.every.clear()
    try:
        case()
        return None
    except Skip:
        raise
    except Exception as reason:  # pylint: disable=broad-except
        for job in Job.every:
            for pid in job.left():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
        return reason


def two_programs_at_once(run):
    """The second program of each of 2 ranks is refused, while its first lives on. `run` takes the words of the program."""
    job = run("sh", "-c", f"""
        first=$(mktemp); "{RANK}" sleep > "$first" & until grep -q sleeps "$first"; do sleep 0.05; done
        rm "$first"; "{RANK}" facts; echo "code $?"; sleep 1; kill -9 $!""")
    same(job.out.count("code 42"), 2)
    holds(job.err, "another MPI program of this rank, speaks with the launcher", "a rank may run one MPI program at a time")


# ---- what cases of several files use

def sh(text):
    return ["sh", "-c", text]


def wait_soon(job):
    """The code of a job that ends in time, while its descriptors are ours."""
    begin = time.monotonic()
    code = job.process.wait(30)
    in_time(time.monotonic() - begin)
    return code


def sleepers(n, *options):
    job = Job(*options, "-n", n, RANK, "sleep")
    pids = [int(line.split()[3]) for line in job.lines(n)]
    return job, pids


def held(pid):
    """Holds a process as a debugger does; the function that lets it go on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    attach, detach = 16, 17
    if libc.ptrace(attach, pid, None, None) != 0:
        raise Skip(f"no right to trace: {os.strerror(ctypes.get_errno())}")
    until(lambda: state_of(pid) == "t", "it is held")

    def release():
        os.waitpid(pid, WALL)
        libc.ptrace(detach, pid, None, None)
    return release


def killed_but_traced(seconds):
    """A job one of whose ranks was killed `seconds` ago at least. It is traced: the launcher sees its end when its tracer, we, has."""
    job, pids = sleepers(2)
    held(pids[1])
    os.waitpid(pids[1], WALL)
    for _ in range(2):  # the second signal kills at once
        job.process.terminate()
        until(lambda: state_of(pids[0]) == "Z", "one is gone")
    until(lambda: state_of(pids[1]) == "Z", "the other is killed")
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.process.wait(seconds)
    os.waitpid(pids[1], WALL)
    return job.end(), pids[1]


TALK = """
import os, sys, random
r = int(os.environ["PMI_RANK"]); random.seed(r)
for i in range(%d):
    out = sys.stderr if %d and i %% 3 == 0 else sys.stdout
    out.write("%%d %%d %%s\\n" %% (r, i, "x" * random.randrange(200)))
    if i %% 7 == 0: out.flush()
"""


def check_talk(text, ranks, lines):
    """Every line whole, and in order for each rank."""
    seen = [0] * ranks
    for line in text.splitlines():
        match = re.fullmatch(r"(\d+) (\d+) x*", line)
        assert match, f"a cut line: {line[:80]!r}"
        rank, number = int(match[1]), int(match[2])
        same(number, seen[rank])
        seen[rank] += 1
    same(seen, [lines] * ranks)


def on_terminal(*args, **more):
    """A job whose three descriptors are a terminal of its own session; returns (job, our end)."""
    ours, theirs = pty.openpty()
    job = Job(*args, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
              preexec_fn=lambda: __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0), **more)
    os.close(theirs)
    return job, ours


def rest_of(tty):
    """What is left to read when nobody has the other end."""
    text = b""
    with contextlib.suppress(OSError):
        while more := os.read(tty, 4096):
            text += more
    return text


def without(number):
    """A preexec_fn: the kernel does not know this system call."""
    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | errno.ENOSYS), (0x06, 0, 0, 0x7fff0000))  # load, compare, refuse, allow
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    no_new_privileges, seccomp, by_filter = 38, 22, 2

    def refuse():
        head = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(program)))
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
        if prctl(no_new_privileges, 1, 0, 0, 0) or prctl(seccomp, by_filter, ctypes.addressof(head), 0, 0):
            raise OSError(ctypes.get_errno(), "no seccomp")
    return refuse


def refused(*args, words, **more):
    job = run(*args, **more)
    same((job.code, job.out), (2, ""))
    same(len(job.err.splitlines()), 1)
    holds(job.err, *words)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


RAW = """
import os, socket, sys
s = socket.socket(fileno=int(os.environ["PMI_FD"])); rank = int(os.environ["PMI_RANK"])
def ask(line):
    s.sendall(line if isinstance(line, bytes) else line.encode() + b"\\n")
    text = b""
    while not text.endswith(b"\\n"):
        got = s.recv(1)
        if not got: sys.exit(77)
        text += got
    return text.decode().rstrip("\\n")
"""


def raw(text, n=1, **more):
    return run("-n", n, PYTHON, "-c", RAW + text, **more)


def groups(job):
    same((job.code, job.err), (0, ""))
    return sorted(line.split(": ")[1] for line in job.out.splitlines())


def run_cases(cases, chosen="all"):
    """Runs the cases, or those of them whose names `chosen` lists behind commas; the last line counts them."""
    names = chosen.split(",")
    unknown = set(names) - {"all"} - {case.__name__ for case in cases}
    if unknown:
        sys.exit(f"there is no case {', '.join(sorted(unknown))}")
    failed = ran = 0
    for case in cases if chosen == "all" else [c for c in cases if c.__name__ in names]:
        begin = time.monotonic()
        try:
            for tries in range(TRIES, 0, -1):
                reason = play(case)
                if not isinstance(reason, Late) or tries == 1:
                    break
                print(f"late             {case.__name__}: {reason}; once more")
            ran += 1
            failed += reason is not None
            words = "" if reason is None else f": {type(reason).__name__}: {reason}"
            print(f"{'FAILED' if words else 'ok    '}  {time.monotonic() - begin:5.2f} s  {case.__name__}{words}")
        except Skip as reason:
            print(f"skipped          {case.__name__}: {reason}")
        sys.stdout.flush()
    print(f"{100 * (ran - failed) // max(ran, 1)}%: Checks: {ran}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0


def main(groups):
    """Runs the cases of the group named on the command line."""
    return run_cases(groups[sys.argv[1]])
