#!/usr/bin/env python3
"""Runs programs that were linked with libmpifort_abi.so.1 on MPICH's libmpi_abi.so.1, which comes from PyPI.

usage: mpich.py FOLDER LIBRARY PROGRAM...

FOLDER is kept: the package is unpacked there. LIBRARY is our libmpifort_abi.so.1; a program that finds MPICH by LD_LIBRARY_PATH
must need nothing else of ours. Skips with exit code 77 where the package cannot be had.
"""
import os
import pathlib
import re
import subprocess
import sys
import zipfile

VERSION = "5.0.2"
SECONDS = 200


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def unpacked(folder):
    """The folder with bin and lib of MPICH."""
    data = folder / f"mpich-{VERSION}.data" / "data"
    if not (data / "bin" / "mpiexec").exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder,
                               f"mpich=={VERSION}"], capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"mpich {VERSION} cannot be fetched: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        with zipfile.ZipFile(next(folder.glob("mpich-*.whl"))) as wheel:
            wheel.extractall(folder)
        for program in (data / "bin").iterdir():
            program.chmod(0o755)
    return data


def main(folder, library, *programs):
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", needed))
    if "libmpi_abi.so.1" not in names or any("hotlane" in n for n in names):
        sys.exit(f"libmpifort_abi.so.1 needs {sorted(names)}: libmpi_abi.so.1 is missing, or is not the only MPI library")
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True).stdout
    if "__asan_init" in symbols or "__tsan_init" in symbols:
        skip("a sanitizer's runtime must be the program's first library")
    data = unpacked(pathlib.Path(folder))
    env = {**os.environ, "LD_LIBRARY_PATH": f"{data / 'lib'}:{os.path.dirname(os.path.abspath(library))}"}
    bad = 0
    for program in programs:
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, env=env).stdout
        if str(data) not in linked or "libhotlane" in linked:
            sys.exit(f"{program} does not run on MPICH:\n{linked}")
        for ranks in ("1", "2", "3"):
            try:
                done = subprocess.run([data / "bin" / "mpiexec", "-n", ranks, program], capture_output=True, text=True, env=env,
                                      timeout=SECONDS)
            except subprocess.TimeoutExpired:
                sys.exit(f"{program} with {ranks} ranks hangs on MPICH")
            print(f"{os.path.basename(program)}, {ranks} ranks: exit code {done.returncode}", flush=True)
            if done.returncode != 0:
                print((done.stdout + done.stderr)[-4000:])
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
