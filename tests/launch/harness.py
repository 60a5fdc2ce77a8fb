"""What the launcher's tests share: starting jobs, waiting, and finding what was left behind."""
import os
import subprocess
import sys
import time
import uuid

MPIEXEC, RANK = sys.argv[2:4] if len(sys.argv) > 3 else ("mpiexec", "launch_rank")
SOON = 2.5  # seconds in which a job must have ended after a death; the launcher aims below 1 on an idle machine


class Skip(Exception):
    """A case that cannot run here, with the reason."""


class Job:
    """One launcher; its processes carry a mark in their environment by which leftovers are found."""

    every = []

    def __init__(self, *args, env=None, **popen):
        Job.every.append(self)
        self.mark = uuid.uuid4().hex
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI_", "HOTLANE_"))}
        environment.update(env or {}, LAUNCH_TEST=self.mark)
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([MPIEXEC, *map(str, args)], env=environment, **popen)
        self.begin = time.monotonic()

    def end(self, stdin=None, timeout=30):
        """Waits; sets code, out, err, seconds. Kills the launcher when it hangs."""
        try:
            out, err = self.process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the job hangs: {self.process.args}") from None
        self.seconds = time.monotonic() - self.begin
        self.code = self.process.returncode
        self.out, self.err = (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")
        return self

    def left(self):
        """Pids of living processes with our mark (zombies have no environment)."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    if self.mark.encode() in f.read():
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def must_leave_nothing(self):
        until(lambda: not self.left(), f"nothing is left behind; there is {self.left()}")

    def lines(self, n):
        """Reads n lines of output from the running job."""
        return [self.process.stdout.readline().decode().rstrip("\n") for _ in range(n)]

    def guardian(self):
        return [p for p in self.left() if name_of(p) == "mpiexec-guard"]


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


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


def until(true, what, seconds=10):
    """Waits for a condition."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.005)


def same(got, want):
    assert got == want, f"got {got!r}, expected {want!r}"


def holds(text, *words):
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def main(groups):
    """Runs the cases of the group named on the command line; the last line counts them."""
    failed = ran = 0
    for case in groups[sys.argv[1]]:
        Job.every.clear()
        begin = time.monotonic()
        try:
            case()
            ran += 1
            print(f"ok      {time.monotonic() - begin:5.2f} s  {case.__name__}")
        except Skip as reason:
            print(f"skipped          {case.__name__}: {reason}")
        except Exception as reason:  # pylint: disable=broad-except
            ran += 1
            failed += 1
            for job in Job.every:
                for pid in job.left():
                    os.kill(pid, 9)
            print(f"FAILED  {time.monotonic() - begin:5.2f} s  {case.__name__}: {type(reason).__name__}: {reason}")
        sys.stdout.flush()
    print(f"{100 * (ran - failed) // max(ran, 1)}%: Checks: {ran}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0


