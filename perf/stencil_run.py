"""Runs the stencil on Hotlane, MPICH or Open MPI for the scripts and tests beside it."""
import json
import os
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "stencil_src")
FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-O3", "-g", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
         "-fopenmp"]
# name: (compiler wrapper, launcher and what it needs to start more ranks than cores)
OTHERS = {
    "mpich": ("mpicc.mpich", ["mpiexec.mpich"]),
    "openmpi": ("mpicc.openmpi", ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]),
}
NAMES = ["hotlane"] + list(OTHERS)


class Unavailable(Exception):
    """The MPI that was asked for is not here; the text says what to do."""


class Failed(Exception):
    """A run ended badly; the text tells how, with the command and its last lines."""


def add_arguments(parser, many=False):
    """The options that all scripts share."""
    parser.add_argument("--build", default=os.environ.get("HOTLANE_BUILD", os.path.join(HERE, "..", "build")),
                        help="Hotlane's build folder (default: $HOTLANE_BUILD, then build/ in the source folder)")
    if not many:
        parser.add_argument("--mpi", choices=NAMES, default="hotlane", help="the MPI to run on (default: hotlane)")


class Stencil:
    """The program on one MPI. Close it (or use `with`) to remove what it compiled."""

    def __init__(self, mpi, build):
        self.mpi, self.folder = mpi, None
        if mpi == "hotlane":
            self.program = os.path.join(os.path.abspath(build), "perf", "stencil")
            self.launcher = [os.path.join(os.path.abspath(build), "tools", "mpiexec")]
            for file in [self.program] + self.launcher:
                if not os.access(file, os.X_OK):
                    raise Unavailable(f"{file} is not there: build Hotlane first, or name its build folder by --build")
        else:
            self._compile(*OTHERS[mpi])

    def _compile(self, wrapper, launcher):
        if not shutil.which(wrapper) or not shutil.which(launcher[0]):
            raise Unavailable(f"{wrapper} and {launcher[0]} are not installed")
        self.launcher = launcher
        self.folder = tempfile.mkdtemp(prefix="stencil-")
        self.program = os.path.join(self.folder, "stencil")
        files = [os.path.join(SOURCES, f) for f in sorted(os.listdir(SOURCES)) if f.endswith(".c")]
        made = subprocess.run([wrapper] + FLAGS + files + ["-o", self.program, "-lm"], capture_output=True, text=True)
        if made.returncode:
            self.close()
            raise Unavailable(f"{wrapper} could not compile the stencil: {made.stderr.strip().splitlines()[-1:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, ranks, arguments):
        """The command line; ranks 0: the program alone, without launcher."""
        return (self.launcher + ["-n", str(ranks)] if ranks else []) + [self.program] + [str(a) for a in arguments]

    def call(self, ranks, arguments, environment=None, timeout=120):
        """Runs to the end; returns (exit code, standard output, standard error). Code None: it took too long."""
        process = subprocess.Popen(self.command(ranks, arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**os.environ, **(environment or {})})
        try:
            out, err = process.communicate(timeout=timeout)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return None, out, err

    def run(self, ranks, arguments, environment=None, timeout=120):
        """The results of a run as a dictionary; raises Failed."""
        arguments = list(arguments) + ["--quiet", "--json", "-"]
        code, out, err = self.call(ranks, arguments, environment, timeout)
        if code == 0:
            return json.loads(out[out.index("{"):])
        how = f"no end within {timeout} s" if code is None else f"exit code {code}"
        settings = [f"{k}={v}" for k, v in (environment or {}).items()]
        raise Failed("\n".join([f"{how}: " + " ".join(settings + self.command(ranks, arguments))]
                               + err.strip().splitlines()[-8:]))
