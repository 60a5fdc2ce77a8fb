"""Runs a command so that nothing of it outlives who asked: guard.py COMMAND..., its standard input a pipe that the asker holds.

However the command ends, and also when the asker goes (the pipe ends) or this program is told to end (SIGTERM, SIGINT,
SIGHUP), every process that the command started is killed: those in sessions of their own, too, whose parents are gone, because
the kernel gives them to this program. Exit code: the command's; 128 + N when signal N ended it."""
import ctypes
import os
import select
import signal
import subprocess
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def descendants():
    """Numbers of all processes below this one."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    children.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(name))
            except OSError:
                pass  # ended meanwhile
    found, look = [], [os.getpid()]
    while look:
        below = children.get(look.pop(), [])
        found += below
        look += below
    return found


def end_all():
    """Kills until there is none: who is killed may just have started another."""
    while True:
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main():
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    told, tell = os.pipe()  # a byte for each signal
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    try:
        command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    except OSError as error:
        print(f"{sys.argv[1]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127
    while command.poll() is None:
        ready = select.select([0, told], [], [])[0]
        if 0 in ready or set(os.read(told, 512)) - {signal.SIGCHLD}:
            break
    code = command.poll()
    end_all()
    return 128 + signal.SIGKILL if code is None else code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
