"""Boots a made-up machine by QEMU's emulation: Debian's cloud kernel, and an initial file system with the tests' programs.

Neither root nor KVM is needed. The kernel is fetched by apt-get once per build folder and only unpacked.
"""
import ctypes.util
import fcntl
import glob
import os
import re
import shutil
import subprocess
import tempfile

import layouts

HERE = os.path.dirname(os.path.abspath(__file__))
QEMU, BUSYBOX = "qemu-system-x86_64", "/bin/busybox"


class Unavailable(Exception):
    """What these tests need is not on this machine; the text says what."""


class Broken(Exception):
    """A guest did not come to its end."""


def fetch_kernel(folder):
    """The path of a kernel image under `folder`, fetched there if it is not."""
    os.makedirs(folder, exist_ok=True)
    image = os.path.join(folder, "vmlinuz")
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(image):
            return image
        with tempfile.TemporaryDirectory(dir=folder) as work:
            for program in ("apt-get", "apt-cache", "dpkg-deb", "tar"):
                if shutil.which(program) is None:
                    raise Unavailable(f"no {program} to fetch a kernel with")
            depends = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"], capture_output=True, text=True)
            package = re.search(r"Depends: (linux-image-\S+)", depends.stdout)
            if package is None:
                raise Unavailable("apt-cache knows no package linux-image-cloud-amd64")
            done = subprocess.run(["timeout", "120", "apt-get", "download", "-qq", package.group(1)], cwd=work,
                                  capture_output=True, text=True)
            packed = glob.glob(os.path.join(work, "*.deb"))
            if done.returncode != 0 or not packed:
                raise Unavailable(f"apt-get cannot download {package.group(1)}: {(done.stderr or done.stdout).strip()[-200:]}")
            subprocess.run(["sh", "-c", "dpkg-deb --fsys-tarfile *.deb | tar -x --wildcards './boot/vmlinuz*'"], cwd=work,
                           check=True)
            os.rename(glob.glob(os.path.join(work, "boot", "vmlinuz*"))[0], image)
    return image


def archive(entries):
    """An initial file system as the kernel unpacks it. `entries`: path -> (mode, bytes)."""
    out = []
    for number, (path, (mode, content)) in enumerate(list(entries.items()) + [("TRAILER!!!", (0, b""))], 1):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
        out.append(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))
    packed = b"".join(out)
    return packed + b"\0" * (-len(packed) % 512)


def shared_libraries(files):
    """Paths of the system's libraries that `files` load."""
    found = set()
    for file in files:
        text = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
        found |= set(re.findall(r"=> (/\S+) \(", text)) | set(re.findall(r"^\s+(/\S+) \(", text, re.M))
    return found


def base_archive(library, programs):
    """busybox, our programs in /hotlane (which is searched for the library too), and what they load."""
    fabric = ctypes.util.find_library("fabric")
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    fabric = re.search(rf"{re.escape(fabric or '-')} .*=> (/\S+)", known)
    loaded = [library, *programs] + ([fabric.group(1)] if fabric else [])
    entries = {"bin": (0o40755, b""), "hotlane": (0o40755, b""), "sys": (0o40755, b"")}

    def add(path, source, mode=0o100755):
        parent = os.path.dirname(path)
        while parent and parent not in entries:
            entries[parent] = (0o40755, b"")
            parent = os.path.dirname(parent)
        with open(source, "rb") as f:
            entries[path] = (mode, f.read())

    add("bin/busybox", BUSYBOX)
    add("init", os.path.join(HERE, "init"))
    for file in programs:
        add("hotlane/" + os.path.basename(file), file)
    add("hotlane/libhotlane.so.0", library)
    # Folders come before what is in them, whatever order the libraries are found in.
    for file in sorted(shared_libraries(loaded) | ({fabric.group(1)} if fabric else set())):
        if "libhotlane" not in file:
            add(file.lstrip("/"), file)
    ordered = sorted(entries.items(), key=lambda e: (e[0].count("/"), e[0]))
    return archive(dict(ordered))


class Machines:
    """Boots layouts with the programs of one build folder."""

    def __init__(self, build, programs, work):
        if shutil.which(QEMU) is None:
            raise Unavailable(f"{QEMU} is not installed (Debian: qemu-system-x86)")
        if not os.path.exists(BUSYBOX) or shared_libraries([BUSYBOX]):
            raise Unavailable("no static busybox (Debian: busybox-static)")
        self.build, self.work = build, work
        self.kernel = fetch_kernel(os.path.join(build, "guest-kernel"))
        library = os.path.join(build, "lib", "libhotlane.so.0")
        self.base = base_archive(library, [f for f in (os.path.join(build, p) for p in programs) if os.path.exists(f)])

    def boot(self, name, script, seconds=280):
        """Runs `script` (shell; see init) in layout `name`. Returns (what it wrote, the kernel's log)."""
        layout = layouts.LAYOUTS[name]
        out, log, initrd = (os.path.join(self.work, name + end) for end in (".out", ".kernel", ".initrd"))
        with open(initrd, "wb") as f:
            f.write(self.base + archive({"job": (0o100644, script.encode())}))
        command = ["timeout", str(seconds), "nice", "-n", "5", QEMU, "-accel", "tcg,thread=multi", "-nodefaults", "-display",
                   "none", "-no-reboot", "-serial", "file:" + log, "-serial", "file:" + out, "-kernel", self.kernel, "-initrd",
                   initrd, "-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=unstable " +
                   "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1 " + layout.kernel]
        command += layouts.qemu_arguments(layout)
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        texts = []
        for path in (out, log):
            with open(path, encoding="utf-8", errors="replace") as f:
                texts.append(f.read().replace("\r", ""))
        os.remove(initrd)
        if "@@ off" not in texts[0]:
            raise Broken(f"{name}: the guest did not end by itself (QEMU's code {done.returncode}, {seconds} s allowed) "
                         f"{done.stderr.strip()[-500:]}\n{texts[1][-1500:]}\n{texts[0][-1500:]}")
        return texts
