#!/usr/bin/env python3
"""Programs that meet the library in other ways than by linking: profilers, a second MPI, Python, C++, other MPIs.

usage: abi.py CASE BUILD

BUILD/tests/abi holds the programs. Exit code 77: skipped, with the reason.
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

CASE, BUILD = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(BUILD, "tests", "abi")
LIBS = os.path.join(BUILD, "lib")


def run(command, want=0, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    text = done.stdout + done.stderr
    assert done.returncode == want, f"{command} ended with {done.returncode}, not {want}:\n{text}"
    return text


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def need_plain_library():
    symbols = subprocess.run(["nm", "-D", os.path.join(LIBS, "libhotlane.so.0")], capture_output=True, text=True).stdout
    if "__asan_init" in symbols or "__tsan_init" in symbols:
        skip("a sanitizer's runtime must be the program's first library")


def preload(name, program="abi_calls", **more):
    """Runs a program with a library before all others. The loader splits LD_PRELOAD at blanks: a copy stands elsewhere."""
    with tempfile.TemporaryDirectory(prefix="hotlane-abi-") as plain:
        shutil.copy(os.path.join(PROGRAMS, name), plain)
        return run([os.path.join(PROGRAMS, program)], LD_PRELOAD=os.path.join(plain, name), **more)


def profiler():
    need_plain_library()
    text = preload("libprofiler.so")
    assert "profiler: init 1, send 2, recv 1, size 1" in text, text


def shmem_profiler():
    """In the program itself (shmem_calls.c), in the same when it holds the library, and preloaded."""
    assert "ok" in run([os.path.join(PROGRAMS, "abi_shmem_calls")])
    assert "ok" in run([os.path.join(PROGRAMS, "abi_shmem_static")])
    need_plain_library()
    text = preload("libshmem_profiler.so", "abi_shmem_calls")
    assert "profiler: init 1, putmem 1, long_p 1, barrier_all 1" in text and "ok" in text, text


def shmem_others():
    """What programs for other libraries expect of oshcc and oshc++ and their headers, on the node and over the network."""
    need_plain_library()
    wrappers = [name for name, compiler in (("oshcc", "cc"), ("oshc++", os.environ.get("CXX", "c++"))) if shutil.which(compiler)]
    with tempfile.TemporaryDirectory(prefix="hotlane-abi-") as folder:
        for wrapper in wrappers:
            source = os.path.join(folder, "a.c" if wrapper == "oshcc" else "a.cc")
            shutil.copy(os.path.join(HERE, "shmem_others.c"), source)
            run([os.path.join(BUILD, "tools", wrapper), "-Wall", "-Werror", source, "-o", source + ".out"])
            for near in "1", "0":
                text = run([os.path.join(BUILD, "tools", "oshrun"), "-n", "2", source + ".out"], HOTLANE_NEAR=near)
                assert text.count("ok") == 2, text


def second():
    """Two libraries in one process: the first call says so, with both files."""
    need_plain_library()
    text = preload("libsecond.so", want=16)
    assert "two MPI libraries" in text and "libsecond.so" in text and "libhotlane" in text, text


def python():
    """As mpi4py does it: opened by name with RTLD_LOCAL."""
    need_plain_library()
    mpi = ctypes.CDLL(os.path.join(LIBS, "libmpi_abi.so.1"), mode=os.RTLD_LOCAL)
    world, size = ctypes.c_void_p(0x101), ctypes.c_int(-1)
    assert mpi.MPI_Init(None, None) == 0
    assert mpi.MPI_Comm_size(world, ctypes.byref(size)) == 0 and size.value == 1
    assert mpi.MPI_Barrier(world) == 0
    assert mpi.MPI_Finalize() == 0


def cxx():
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        skip("no C++ compiler")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "a.cc")
        with open(source, "w") as f:
            f.write("#include <mpi.h>\nint main() { MPI_Comm c = MPI_COMM_WORLD; MPI_Win w = MPI_WIN_NULL;\n"
                    "int r; return MPI_Comm_rank(c, &r) + (w != MPI_WIN_NULL) + (MPI_UNWEIGHTED == nullptr); }\n")
        for standard in ("c++11", "c++17"):
            run([compiler, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                 "-I", os.path.join(ROOT, "include"), source])


def mpich():
    """A program compiled for MPICH's standard ABI runs on ours unchanged, and ours on MPICH's."""
    need_plain_library()
    folder = os.path.join(BUILD, "mpich-venv")
    prefix = mpich_prefix(folder)
    with tempfile.TemporaryDirectory() as scratch:
        theirs = os.path.join(scratch, "theirs")
        run([os.path.join(prefix, "bin", "mpicc_abi"), os.path.join(HERE, "calls.c"), "-o", theirs])
        mpiexec = os.path.join(BUILD, "tools", "mpiexec")
        text = run([mpiexec, "-n", "2", theirs], LD_LIBRARY_PATH=LIBS)
        assert text.count("ok") == 2, text
        ours = os.path.join(scratch, "ours")
        run([os.path.join(BUILD, "tools", "mpicc"), os.path.join(HERE, "calls.c"), "-o", ours])
        text = run([os.path.join(prefix, "bin", "mpiexec"), "-n", "2", ours],
                   LD_LIBRARY_PATH=os.path.join(prefix, "lib"))
        assert text.count("ok") == 2, text


def mpich_prefix(folder):
    """A venv with PyPI's mpich 5; kept in the build folder for the next time."""
    if not os.path.exists(os.path.join(folder, "bin", "mpicc_abi")):
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode != 0:
            skip("python3 -m venv does not work here")
        got = subprocess.run([os.path.join(folder, "bin", "pip"), "install", "-q", "mpich>=5"], capture_output=True,
                             text=True)
        if got.returncode != 0:
            skip("PyPI's mpich 5 cannot be installed: " + got.stderr.strip().split("\n")[-1])
    if not os.path.exists(os.path.join(folder, "bin", "mpicc_abi")):
        skip("PyPI's mpich has no mpicc_abi")
    return folder


{"profiler": profiler, "shmem_profiler": shmem_profiler, "shmem_others": shmem_others, "second": second,
 "python": python, "cxx": cxx, "mpich": mpich}[CASE]()
