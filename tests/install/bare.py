"""A bare Debian in a folder, for tests that install there. All mounts are in a namespace of the test, so that they end with it,
however it ends. Tests are skipped (77) where nobody is root, debootstrap is not installed or no mirror answers."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile


class Machine:
    """The Debian of a folder: what a shell does in there."""

    def __init__(self, root):
        self.root = root

    def run(self, command, good=True):
        """What a command of a shell prints; ends the test where it fails."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(["chroot", self.root, "sh", "-c", command], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if good and done.returncode != 0:
            print(f"FAILED ({done.returncode}): {command}\n{done.stdout[-6000:]}")
            sys.exit(1)
        return done.stdout

    def expect(self, command, words):
        said = self.run(command)
        if words not in said:
            print(f"FAILED: {command}: no {words!r} in {said!r}")
            sys.exit(1)

    def install(self, *packages):
        self.run("apt-get -q -y install --no-install-recommends " + " ".join(packages))


def skip(reason):
    print(reason)
    sys.exit(77)


def make(root):
    made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if made.returncode != 0:
        skip(f"no bare Debian could be made (debootstrap: {made.stdout.strip()[-300:]})")
    for kind, source, target in (("proc", "proc", "proc"), ("sysfs", "sys", "sys"), (None, "/dev", "dev"), ("tmpfs", "shm", "dev/shm")):
        how = ["-t", kind] if kind else ["--rbind"]
        if not kind or os.path.isdir(os.path.join(root, target)):
            subprocess.run(["mount", *how, source, os.path.join(root, target)], check=True)
    if os.path.exists("/etc/resolv.conf"):
        shutil.copy("/etc/resolv.conf", os.path.join(root, "etc/resolv.conf"))
    return Machine(root)


def copy_source(machine, source):
    """The source as a newcomer has it, in /source/hotlane."""
    target = os.path.join(machine.root, "source", "hotlane")
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    return target


def test(source, steps):
    """Calls steps(machine, source) in a bare Debian, by a second call of the script that calls this; exits with how it ended."""
    if sys.argv[1] == "--inside":
        steps(make(sys.argv[3]), sys.argv[2])
        return
    if os.geteuid() != 0:
        skip("needs root: a bare Debian is made and mounted")
    for tool in ("debootstrap", "unshare"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    root = tempfile.mkdtemp(prefix="hotlane-debian-")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    command = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", sys.executable,
               os.path.abspath(sys.argv[0]), "--inside", os.path.abspath(source), root]
    process = subprocess.Popen(command)
    try:
        code = process.wait()
    finally:
        process.kill()
        process.wait()
        if not any(line.split()[1].startswith(root) for line in open("/proc/mounts", encoding="utf-8")):
            shutil.rmtree(root, ignore_errors=True)  # the mounts have ended with their namespace
    sys.exit(code)
