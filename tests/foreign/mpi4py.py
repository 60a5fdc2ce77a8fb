#!/usr/bin/env python3
"""Builds mpi4py with our mpicc, as the README says, and runs the tests of its source package.

usage: mpi4py.py --build FOLDER RUN...     RUN is RANKS:near or RANKS:net, and :WORD for the modules with that word in
                                           their name alone

What is built is kept in the build folder. No test may fail; those that are skipped want more ranks, dynamic processes (which
Hotlane has not), process failure's extensions, or Python packages; the reasons are printed."""
import argparse
import os
import pathlib
import re
import sys

import pypi

VERSION = '4.1.2'
LEFT_OUT = [
    ('-e', 'pool', 'starts processes and waits for them'),
    ('-e', 'dynproc', 'connects jobs by ports: a rank that gets the error leaves another one waiting'),
    ('-x', 'testIAgree', 'on a library without this extension calls collectives in another order on each rank'),
]
SKIPPED = re.compile(r'mpi-world-size<\d+|comm\.size.*|mpi-spawn|mpi-comm_revoke|numba|cupy|yaml|dill')


def build(folder, source, mpicc, header):
    """Anew only when MPI's header changed since."""
    done = folder / 'built'
    if done.exists() and done.stat().st_mtime > header.stat().st_mtime:
        return
    # pip keeps what it compiled for another MPI.
    code, text = pypi.pip(folder, 'install', '-q', '--no-deps', '--no-cache-dir', '--no-build-isolation', '--force-reinstall',
                          source, env={**os.environ, 'MPICC': str(mpicc), 'CFLAGS': '-O0'})
    if code != 0:
        print(text[-6000:])
        sys.exit('mpi4py cannot be built with mpicc')
    done.touch()


def run(folder, source, mpiexec, words):
    ranks, way, *only = words.split(':')
    command = [mpiexec, '-n', ranks, '--tag-output', '--timeout', '2400', folder / 'bin/python', source / 'test/main.py', '-v',
               '--no-builddir', *(word for row in LEFT_OUT for word in row[:2]), *(word for o in only for word in ('-i', o))]
    found = pypi.Outcome(command, way, True, MPI4PY_TEST_SPAWN='0')
    print(f'{words}: {found}; skipped: {", ".join(found.skipped) or "none"}', flush=True)
    if not found.is_good(int(ranks)) or not all(SKIPPED.fullmatch(reason) for reason in found.skipped):
        print('\n'.join(re.findall(r'^.*(?:ERROR|FAIL): .*', found.text, re.M)[:100]))
        print(found.text[-12000:])
        return False
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--build', type=pathlib.Path, required=True, help='our build folder')
    options.add_argument('runs', nargs='+', metavar='RUN')
    args = options.parse_args()
    pypi.need_plain_library(args.build)
    folder = (args.build / 'mpi4py').resolve()
    pypi.environment(folder, 'cython>=3', 'numpy', 'cffi')
    source = pypi.unpack(folder, 'mpi4py', VERSION)
    here = pathlib.Path(__file__).resolve().parent
    build(folder, source, (args.build / 'tools/mpicc').resolve(), here.parent.parent / 'include/mpi.h')
    for _, name, reason in LEFT_OUT:
        print(f'left out: {name}: {reason}')
    good = [run(folder, source, args.build / 'tools/mpiexec', words) for words in args.runs]
    sys.exit(not all(good))


if __name__ == '__main__':
    main()
