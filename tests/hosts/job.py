"""What the tests on several hosts share: the build's programs, jobs whose ends are judged, cases that are counted."""
import os
import subprocess
import sys
import time

import hosts


class Skip(Exception):
    """A case that cannot run here, with the reason."""


def until(true, what, seconds=60):
    """Waits for a condition, and returns what it was."""
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.01)
    return value


class Job:
    """A launcher (ours, or the words of another one) with a program behind words that place its ranks."""

    build = ""

    def __init__(self, ranks, place, command, *options, env=None, launcher=None):
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI_", "HOTLANE_"))}
        self.words = (launcher or [os.path.join(Job.build, "tools", "mpiexec")]) + ["-n", str(ranks), *options] + place + command
        self.begin = time.monotonic()
        self.process = subprocess.Popen(self.words, env={**environ, **(env or {})}, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=hosts.with_parent)
        self.out = ""

    def until(self, words, seconds=30):
        """Reads output up to a line that holds the words."""
        for line in self.process.stdout:
            self.out += line
            if words in line:
                return
        raise AssertionError(f"no {words!r} within {seconds} s: {self.show()}")

    def end(self, seconds=60):
        try:
            more, _ = self.process.communicate(timeout=seconds)
            self.code = self.process.returncode
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                more, _ = self.process.communicate(timeout=20)
            except subprocess.TimeoutExpired as late:
                self.process.kill()
                more = (late.stdout or b"").decode(errors="replace") + "and the launcher was killed\n"
            self.code = None
        self.out += more or ""
        self.seconds = time.monotonic() - self.begin
        assert self.code is not None, f"still there after {seconds} s: {self.show()}"
        return self

    def good(self, seconds=60):
        self.end(seconds)
        assert self.code == 0, f"code {self.code}: {self.show()}"
        return self.out

    def show(self):
        return " ".join(self.words[-8:]) + "\n" + self.out


def program(name):
    """A program of tests/, by its folder and name there."""
    return os.path.join(Job.build, "tests", name)


def main(groups):
    """usage: SCRIPT GROUP BUILD. Runs the cases of the group; the last line counts them."""
    group, Job.build = sys.argv[1], os.path.abspath(sys.argv[2])
    try:
        hosts.seal()
        with hosts.Hosts(1):
            pass
    except hosts.Unavailable as reason:
        print(f"skipped: {reason}")
        return 77
    failed = ran = 0
    for case in groups[group]:
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
            print(f"FAILED  {time.monotonic() - begin:5.2f} s  {case.__name__}: {type(reason).__name__}: {reason}")
        sys.stdout.flush()
    print(f"{100 * (ran - failed) // max(ran, 1)}%: Checks: {ran}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0
