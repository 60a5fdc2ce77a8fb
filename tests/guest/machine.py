"""Boots a made-up machine by QEMU: one of Debian's kernels, and an initial file system with the tests' programs, or this
machine's own files, which it can read.

Neither root nor KVM is needed. Kernels are fetched by apt-get once per build folder and only unpacked.
"""
import ctypes.util
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import layouts

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from locked import locked  # noqa: E402  pylint: disable=wrong-import-position

ATTEMPTS, SILENT_S = 3, 60  # a kernel writes its first line within seconds
QEMU, BUSYBOX = "qemu-system-x86_64", "/bin/busybox"


class Unavailable(Exception):
    """What these tests need is not on this machine; the text says what."""


class Broken(Exception):
    """A guest did not come to its end."""


def unpack(packages, folder):
    """Debian's packages as they are fetched and unpacked in a folder; nothing is installed. Returns where they are."""
    for program in ("apt-get", "dpkg-deb", "timeout"):
        if shutil.which(program) is None:
            raise Unavailable(f"no {program} to fetch {' '.join(packages)} with")
    done = subprocess.run(["timeout", "120", "apt-get", "download", "-qq", *packages], cwd=folder, capture_output=True, text=True)
    packed, root = glob.glob(os.path.join(folder, "*.deb")), os.path.join(folder, "root")
    if done.returncode != 0 or len(packed) < len(packages):
        raise Unavailable(f"apt-get cannot download {' '.join(packages)}: {(done.stderr or done.stdout).strip()[-200:]}")
    for file in packed:
        subprocess.run(["dpkg-deb", "-x", file, root], check=True)
    return root


def fetch_kernel(folder, package, modules):
    """A folder with the image `vmlinuz` of the newest kernel that a package stands for, and these modules with all that they
    need, numbered as they load. Fetched there if it is not."""
    there, wanted = os.path.join(folder, package), " ".join(modules)
    with locked(folder):
        if os.path.exists(os.path.join(there, "modules")) and read(os.path.join(there, "modules")).decode() == wanted:
            return there
        if shutil.which("apt-cache") is None:
            raise Unavailable(f"no apt-cache to find {package} with")
        depends = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True).stdout
        newest = re.search(r"Depends: (linux-image-\S+)", depends)
        if newest is None:
            raise Unavailable(f"apt-cache knows no package {package}")
        shutil.rmtree(there, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            root, kept = unpack([newest.group(1)], work), os.path.join(work, "kept")
            os.mkdir(kept)
            os.rename(glob.glob(os.path.join(root, "boot", "vmlinuz*"))[0], os.path.join(kept, "vmlinuz"))
            for number, file in enumerate(load_order(os.path.join(root, "lib", "modules"), modules)):
                os.rename(file, os.path.join(kept, f"{number:03}-{os.path.basename(file)}"))
            with open(os.path.join(kept, "modules"), "w", encoding="utf-8") as f:
                f.write(wanted)
            os.rename(kept, there)
    return there


EXTRAS = ["iproute2", "ibverbs-providers", "libbpf1", "libbsd0", "libcap2", "libelf1", "libmd0", "libmnl0"]


def extras(folder):
    """Where Debian's tools of RDMA and the driver of soft RoCE are unpacked; "" if this machine has them."""
    if shutil.which("rdma") and shutil.which("ip") and os.path.exists("/etc/libibverbs.d/rxe.driver"):
        return ""
    there = os.path.join(folder, "extras")
    with locked(folder):
        if not os.path.exists(there):
            with tempfile.TemporaryDirectory(dir=folder) as work:
                os.rename(unpack(EXTRAS, work), there)
    return there


def load_order(folder, modules):
    """The files of kernel modules under a folder, each behind those that it needs."""
    files = {os.path.basename(f)[:-3].replace("-", "_"): f for f in glob.glob(os.path.join(folder, "**", "*.ko"), recursive=True)}
    order = []

    def load(name):
        if name not in files:
            raise Unavailable(f"the kernel has no module {name}")
        for needed in filter(None, re.search(rb"\0depends=([^\0]*)\0", read(files[name]))[1].decode().split(",")):
            load(needed.replace("-", "_"))
        if files[name] not in order:
            order.append(files[name])

    for name in modules:
        load(name)
    return order


def read(path):
    with open(path, "rb") as f:
        return f.read()


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


def tree(files, folders=()):
    """An initial file system of files, path there -> path here, and of empty folders: all may be executed."""
    entries = {path: (0o40755, b"") for path in folders}
    for path, source in files.items():
        parent = os.path.dirname(path)
        while parent and parent not in entries:
            entries[parent] = (0o40755, b"")
            parent = os.path.dirname(parent)
        entries[path] = (0o100755, read(source))
    # Folders come before what is in them, whatever order the files are given in.
    return archive(dict(sorted(entries.items(), key=lambda e: (e[0].count("/"), e[0]))))


def program_files(library, programs):
    """Our programs in /hotlane (which is searched for the library too), and what they load."""
    fabric = ctypes.util.find_library("fabric")
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    fabric = re.search(rf"{re.escape(fabric or '-')} .*=> (/\S+)", known)
    loaded = [library, *programs] + ([fabric.group(1)] if fabric else [])
    files = {"hotlane/" + os.path.basename(file): file for file in programs}
    files["hotlane/libhotlane.so.0"] = library
    for file in shared_libraries(loaded) | ({fabric.group(1)} if fabric else set()):
        if "libhotlane" not in file:
            files[file.lstrip("/")] = file
    return files


def emulate(command, consoles):
    """Runs QEMU to its end. None: nobody had written to a console after SILENT_S seconds, and it was ended."""
    for path in consoles:
        open(path, "wb").close()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as qemu:
        try:
            _, err = qemu.communicate(timeout=SILENT_S)
        except subprocess.TimeoutExpired:
            if not any(os.path.getsize(path) for path in consoles):
                qemu.terminate()  # timeout, which passes it on
                qemu.communicate()
                return None
            _, err = qemu.communicate()
    return subprocess.CompletedProcess(command, qemu.returncode, stderr=err)


class Machines:
    """Boots layouts with the programs of one build folder."""

    def __init__(self, build, programs, work):
        if shutil.which(QEMU) is None:
            raise Unavailable(f"{QEMU} is not installed (Debian: qemu-system-x86)")
        if not os.path.exists(BUSYBOX) or shared_libraries([BUSYBOX]):
            raise Unavailable("no static busybox (Debian: busybox-static)")
        self.build, self.work = build, work
        self.programs = [f for f in (os.path.join(build, p) for p in programs) if os.path.exists(f)]
        self.bases = {}  # of layouts that are served by the same one

    def kernel(self, layout):
        return fetch_kernel(os.path.join(self.build, "guest-kernel"), layout.image, layout.modules)

    def base(self, layout):
        """busybox and init, the kernel's modules; and our programs, where a guest does not see this machine's files."""
        key = layout.image, *layout.modules, layout.own
        if key not in self.bases:
            files = {"bin/busybox": BUSYBOX, "init": os.path.join(HERE, "init")}
            files |= {"ko/" + os.path.basename(f): f for f in glob.glob(os.path.join(self.kernel(layout), "*.ko"))}
            if not layout.own:
                files |= program_files(os.path.join(self.build, "lib", "libhotlane.so.0"), self.programs)
            self.bases[key] = tree(files, ["bin", "sys"] + (["own"] if layout.own else ["hotlane"]))
        return self.bases[key]

    def place(self, layout):
        """Shell commands by which a guest that sees this machine's files finds them, and what had to be fetched."""
        if not layout.own:
            return ""
        extra = extras(os.path.join(self.build, "guest-kernel"))
        own = [self.build, os.path.dirname(os.path.dirname(HERE)), os.path.dirname(sys.executable)]
        lines = [f"shown {shlex.quote(path)}" for path in own]
        path = [os.path.join(self.build, "tools"), own[-1]]
        path += [os.path.join(extra, d) for d in ("usr/bin", "usr/sbin", "sbin", "bin") if extra]
        lines.append(f"cd {shlex.quote(self.build)}")
        lines.append(f"export PATH={shlex.quote(':'.join(path))}:$PATH")
        if extra:
            libraries = [folder for d in ("usr/lib", "lib") for folder in glob.glob(os.path.join(extra, d, "*-linux-gnu"))]
            lines += [f"export LD_LIBRARY_PATH={shlex.quote(':'.join(libraries))}",
                      f"export RDMAV_DRIVERS={shlex.quote(libraries[0])}/libibverbs/librxe"]
        return "\n".join(lines) + "\n"

    def boot(self, name, script):
        """Runs `script` (shell; see init) in layout `name`. Returns (what it wrote, the kernel's log)."""
        layout = layouts.LAYOUTS[name]
        out, log, initrd = (os.path.join(self.work, name + end) for end in (".out", ".kernel", ".initrd"))
        with open(initrd, "wb") as f:
            f.write(self.base(layout) + archive({"job": (0o100644, (self.place(layout) + script).encode())}))
        command = ["timeout", str(layout.seconds), "nice", "-n", "5", QEMU, "-accel", "tcg,thread=multi", "-nodefaults", "-display",
                   "none", "-no-reboot", "-serial", "file:" + log, "-serial", "file:" + out, "-kernel",
                   os.path.join(self.kernel(layout), "vmlinuz"), "-initrd",
                   initrd, "-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=unstable " +
                   "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1 " + layout.kernel]
        command += layouts.qemu_arguments(layout)
        # QEMU's emulation rarely stops before the kernel's first line: nothing of ours has run then.
        for _ in range(ATTEMPTS):
            done = emulate(command, (out, log))
            if done is not None:
                break
        else:
            raise Broken(f"{name}: {ATTEMPTS} times the kernel wrote nothing for {SILENT_S} s")
        texts = [read(path).decode(errors="replace").replace("\r", "") for path in (out, log)]
        os.remove(initrd)
        if "@@ off" not in texts[0]:
            raise Broken(f"{name}: the guest did not end by itself (QEMU's code {done.returncode}, {layout.seconds} s allowed) "
                         f"{done.stderr.strip()[-500:]}\n{texts[1][-1500:]}\n{texts[0][-1500:]}")
        return texts
