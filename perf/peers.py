"""Programs of perf/ on Hotlane, MPICH or Open MPI: compiled where the library is not ours, run, and their ends judged."""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tests", "hosts"))  # for hosts.py
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-O3", "-g", "-fopenmp"]
MANY = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]  # more ranks than cores under Open MPI


def others():
    """{name: (compiler wrapper, launcher with its options, environment)} of every MPI that scripts know: Debian's, and
    PyPI's below the folder $HOTLANE_PEERS (made by perf/install-peers)."""
    debian = {"mpich": ("mpicc.mpich", ["mpiexec.mpich"], {}),
              "openmpi": ("mpicc.openmpi", ["mpiexec.openmpi"] + MANY, {})}
    folder = os.environ.get("HOTLANE_PEERS", "")
    if not folder:
        return debian
    mpich, openmpi, intel = (os.path.join(os.path.abspath(folder), p) for p in ("mpich", "openmpi", "impi-rt"))
    return {**debian,
            "mpich5": (mpich + "/bin/mpicc", [mpich + "/bin/mpiexec"], {}),
            "openmpi5": (openmpi + "/bin/mpicc", [openmpi + "/bin/mpiexec"] + MANY, {}),
            # No compiler of its own there: one program of the standard ABI serves.
            "intel": (mpich + "/bin/mpicc_abi", [intel + "/bin/mpiexec"], {"LD_LIBRARY_PATH": intel + "/lib"})}


def shmems():
    """The same for OpenSHMEM."""
    return {"openmpi": ("oshcc", ["oshrun"] + MANY, {})}


NAMES = ["hotlane"] + list(others())


# What makes ranks of one machine speak by the network.
_UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any",
        "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
_MPICH = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}
NETWORK = {"hotlane": {"HOTLANE_NEAR": "0"}, "mpich": _MPICH, "mpich5": _MPICH, "openmpi": _UCX,
           "openmpi5": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"},
           "intel": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}}


def between_hosts(mpi):
    """The same where each rank has a host of its own, which has another interface than lo."""
    return {} if mpi == "hotlane" else {k: v for k, v in NETWORK[mpi].items() if v != "lo"}


class Unavailable(Exception):
    """The MPI that was asked for is not here; the text says what to do."""


class Failed(Exception):
    """A run ended badly; the text tells how, with the command and its last lines."""


def natural(word, least=0):
    """Of an option: a whole number from 0."""
    if not word.isdecimal() or int(word) < least:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number from {least}")
    return int(word)


def count(word):
    """Of an option: how often or how long, which is never none."""
    return natural(word, 1)


def power(word):
    """Of an option: a power of two."""
    number = count(word)
    if number & (number - 1):
        raise argparse.ArgumentTypeError(f"{word}: expected a power of two")
    return number


def numbers(words):
    """Of an option: whole numbers from 0, separated by commas, or none."""
    return [natural(w) for w in words.split(",") if w]


def counts(words):
    """Of an option: whole numbers from 1, separated by commas."""
    return [count(w) for w in words.split(",")]


def powers(words):
    """Of an option: powers of two, separated by commas."""
    return [power(w) for w in words.split(",")]


def some_of(names):
    """The type of an option: some of `names`, separated by commas."""
    def take(words):
        for word in words.split(","):
            if word not in names:
                raise argparse.ArgumentTypeError(f"{word}: expected some of {','.join(names)}")
        return words.split(",")
    return take


def add_arguments(parser, many=False):
    """The options that all scripts share."""
    parser.add_argument("--build", default=os.environ.get("HOTLANE_BUILD", os.path.join(HERE, "..", "build")),
                        help="Hotlane's build folder (default: $HOTLANE_BUILD, then build/ in the source folder)")
    if not many:
        parser.add_argument("--mpi", choices=NAMES, default="hotlane", help="the MPI to run on (default: hotlane)")


def refusal(said):
    """Of what a compiler said, the line that tells why: the first with "error", or the last."""
    lines = said.strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if "error" in line), lines[-1])


def _digest(command, sources):
    """Tells compilations apart: by the command, the compiler behind it and what is in the folders of the sources."""
    digest = hashlib.sha256("\0".join([shutil.which(command[0]), str(os.stat(shutil.which(command[0])).st_mtime_ns)] + command).encode())
    for folder in sorted({os.path.dirname(os.path.join(HERE, source)) for source in sources}):
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()[:16]


def guarded(command, environment, timeout):
    """Runs a command to its end; returns (exit code, standard output, standard error). Code None: it took too long. Whatever it
    started has ended then, and ends as well when this script does (guard.py)."""
    process = subprocess.Popen([sys.executable, "-I", "-S", os.path.join(HERE, "guard.py")] + command, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment)
    late = threading.Timer(timeout, process.stdin.close)  # what the guard waits for
    late.start()
    try:
        with process.stdout, process.stderr:
            err = []
            reader = threading.Thread(target=lambda: err.append(process.stderr.read()), daemon=True)
            reader.start()
            out = process.stdout.read()
            reader.join()
        code = process.wait()
        return None if process.stdin.closed else code, out, err[0]
    finally:
        late.cancel()
        process.stdin.close()
        process.wait()


class Program:
    """One program of perf/ on one MPI. Close it (or use `with`) to remove what it compiled.

    For Hotlane it is BUILD/perf/NAME; for others it is compiled from `sources`, files or one folder under perf/."""

    others = staticmethod(others)

    def __init__(self, name, mpi, build, sources, flags=()):
        self.mpi, self.folder, self.environment = mpi, None, {}
        self.prefix = []  # of the program's own command, behind the launcher's (hosts.py)
        if mpi == "hotlane":
            self.program = os.path.join(os.path.abspath(build), "perf", name)
            self.launcher = [os.path.join(os.path.abspath(build), "tools", "mpiexec")]
            for file in [self.program] + self.launcher:
                if not os.access(file, os.X_OK):
                    raise Unavailable(f"{file} is not there: build Hotlane with its benchmarks (-Dperf=enabled), or name its build folder by --build")
        else:
            self._compile(name, sources, flags)

    def _compile(self, name, sources, flags):
        wrapper, launcher, self.environment = self.others()[self.mpi]
        if not shutil.which(wrapper) or not shutil.which(launcher[0]):
            raise Unavailable(f"{wrapper} and {launcher[0]} are not installed")
        self.launcher = launcher
        if isinstance(sources, str):
            folder = os.path.join(HERE, sources)
            sources = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".c")]
        command = [wrapper] + FLAGS + list(flags) + [os.path.join(HERE, f) for f in sources]
        kept = os.environ.get("PEERS_BUILT", "")  # a folder in which perf/report keeps them
        if kept:
            folder = os.path.join(kept, f"{name}-{self.mpi}-{_digest(command, sources)}")
            self.program = os.path.join(folder, name)
            if os.access(self.program, os.X_OK):
                return
            os.makedirs(folder, exist_ok=True)
        else:
            folder = self.folder = tempfile.mkdtemp(prefix=name + "-")
            self.program = os.path.join(folder, name)
        made = subprocess.run(command + ["-o", self.program + ".new", "-lm"], capture_output=True, text=True)
        if made.returncode:
            self.close()
            raise Unavailable(f"{wrapper} could not compile {name}: {refusal(made.stderr)}")
        os.replace(self.program + ".new", self.program)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, ranks, arguments):
        """The command line; ranks 0: the program alone, without launcher."""
        return (self.launcher + ["-n", str(ranks)] if ranks else []) + self.prefix + [self.program] + [str(a) for a in arguments]

    def call(self, ranks, arguments, environment=None, timeout=120):
        """Runs to the end; returns what `guarded` does."""
        return guarded(self.command(ranks, arguments), {**os.environ, **self.environment, **(environment or {})}, timeout)

    def output(self, ranks, arguments, environment=None, timeout=120):
        """What a run printed; raises Failed."""
        code, out, err = self.call(ranks, arguments, environment, timeout)
        if code == 0:
            return out
        how = f"no end within {timeout} s" if code is None else f"exit code {code}"
        settings = [f"{k}={v}" for k, v in (environment or {}).items()]
        raise Failed("\n".join([f"{how}: " + " ".join(settings + self.command(ranks, arguments))]
                               + err.strip().splitlines()[-8:]))


def knows(program, variable):
    """Does the program's build of Hotlane have the variable?"""
    info = subprocess.run([program.launcher[0].replace("mpiexec", "hotlane-info"), "--env"], capture_output=True, text=True,
                          check=False)
    return variable in info.stdout


class ShmemProgram(Program):
    """The same on an OpenSHMEM."""
    others = staticmethod(shmems)

    def _compile(self, name, sources, flags):
        if shutil.which("oshcc") and subprocess.run(["oshcc", "--showme"], capture_output=True).returncode:
            raise Unavailable("oshcc is not Open MPI's")  # but perhaps Hotlane's own
        super()._compile(name, sources, flags)


def installed(name, build, sources, flags=(), only=None, kind=Program):
    """The program on every library that is here, or those of the list `only`, Hotlane first: a list to be closed. Raises
    Unavailable without Hotlane."""
    found = [kind(name, "hotlane", build, sources, flags)]
    for mpi in kind.others():
        if only and mpi not in only:
            continue
        try:
            found.append(kind(name, mpi, build, sources, flags))
        except Unavailable:
            pass
    return found
