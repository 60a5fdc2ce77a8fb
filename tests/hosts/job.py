"""What the tests on several hosts share: the build's programs, jobs whose ends are judged, cases that are counted."""
import os
import select
import subprocess
import sys
import time

import hosts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import harness  # noqa: E402  pylint: disable=wrong-import-position


class Job:
    """A launcher (ours, or the words of another one) with a program behind words that place its ranks."""

    build = ""

    def __init__(self, ranks, place, command, *options, env=None, launcher=None):
        self.words = (launcher or [os.path.join(Job.build, "tools", "mpiexec")]) + ["-n", str(ranks), *options] + place + command
        self.begin = time.monotonic()
        self.process = subprocess.Popen(self.words, env={**harness.outside(), **(env or {})}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=hosts.with_parent)
        self.read, self.at = b"", 0  # what it has said; where until() goes on

    @property
    def out(self):
        return self.read.decode(errors="replace")

    def until(self, words, seconds=30):
        """Reads up to a line that holds the words, behind the one of the last call, and returns it. It must come in that time,
        or in more where other programs want the CPUs too."""
        limit = seconds * harness.crowd()
        end = time.monotonic() + limit
        while True:
            found = self.read.find(words.encode(), self.at)
            stop = self.read.find(b"\n", found) + 1 if found >= 0 else 0
            if stop:
                begin, self.at = self.read.rfind(b"\n", 0, found) + 1, stop
                return self.read[begin:stop].decode(errors="replace")
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            self.read += more
            if not more:
                raise AssertionError(f"no {words!r} {'before the end' if ready else f'within {limit:.0f} s'}: {self.show()}")

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
                more = (late.stdout or b"") + b"and the launcher was killed\n"
            self.code = None
        self.read += more or b""
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
    """usage: SCRIPT GROUP BUILD. Runs the cases of the group, where hosts can be had."""
    Job.build = os.path.abspath(sys.argv[2])
    try:
        hosts.seal()
        with hosts.Hosts(1):
            pass
    except hosts.Unavailable as reason:
        print(f"skipped: {reason}")
        return 77
    return harness.main(groups)
