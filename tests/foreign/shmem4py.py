#!/usr/bin/env python3
"""Builds shmem4py with our oshcc and runs the tests of its source package: near, over the network, and with the network as
the way to the PE itself too.

The package comes from PyPI into a virtual environment of the build folder, which is kept; where that is impossible the
exit code is 77 and the reason is printed. Every test must pass and none may be skipped: those that shmem4py skips are for
other libraries."""
import argparse
import os
import pathlib
import shutil
import sys

import pypi

VERSION = '1.0.0'


def build(folder, source, oshcc):
    # It knows five libraries by their macros: README.md has these two, which say Sandia's.
    words = [str(oshcc), '-DSHMEM_DEF_H', '-DSHMEM_FUNCTION_ATTRIBUTES']
    shutil.rmtree(source / 'build', ignore_errors=True)
    code, text = pypi.pip(folder, 'install', '-q', '--no-deps', '--no-build-isolation', '--force-reinstall', source,
                     env={**os.environ, 'OSHCC': ' '.join(words), 'CFLAGS': '-O0'})
    if code != 0:
        print(text[-6000:])
        sys.exit('shmem4py cannot be built with oshcc')


def run(folder, source, oshrun, pes, way):
    """All tests as one job: every PE says how its tests ended."""
    found = pypi.Outcome([oshrun, '-n', str(pes), '--tag-output', '--timeout', '240', folder / 'bin/python', '-m', 'unittest',
                          'discover', '-v', '-s', source / 'test'], way, False)
    print(f'{pes} PEs, {way}: {found}')
    if not found.is_good(pes) or min(found.ran) != max(found.ran) or min(found.ran) < 100:
        print(found.text[-12000:])
        return False
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--build', type=pathlib.Path, required=True, help='our build folder')
    options.add_argument('--pes', type=int, default=2)
    options.add_argument('--ways', default='near,net,lane')
    args = options.parse_args()
    pypi.need_plain_library(args.build)
    folder = (args.build / 'shmem4py').resolve()
    # It is older than numpy 2, which refuses some of its arrays.
    pypi.environment(folder, 'cffi', 'numpy<2')
    source = pypi.unpack(folder, 'shmem4py', VERSION)
    build(folder, source, (args.build / 'tools/oshcc').resolve())
    good = [run(folder, source, args.build / 'tools/oshrun', args.pes, way) for way in args.ways.split(',')]
    sys.exit(not all(good))


if __name__ == '__main__':
    main()
