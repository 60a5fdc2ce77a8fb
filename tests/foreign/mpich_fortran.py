#!/usr/bin/env python3
"""Builds MPICH's own Fortran tests (mpif.h, module mpi, module mpi_f08) with our mpifort and runs them by their test lists.

The sources come as mpich.py has them. Their configure runs as in MPICH's own build (FROM_MPICH=yes), which is how it is told that
there is mpi_f08. A program runs with the ranks that its list names, and with those of --ranks that are more, unless
mpich_fortran.expect says that there is one number for it. What is expected to fail stands there, too, as in mpich.expect. Exit code
77 with the reason: the sources are not to be had."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types

import mpich

FLAGS = '-g -O1 -w -fallow-argument-mismatch -fcray-pointer'


def own_copy(source, top):
    """Their tests for this run alone, as their rules may make files among the sources; the rest of the tree as links."""
    if not top.exists():
        top.mkdir()
        for entry in source.parents[1].iterdir():
            if entry.name != 'test':
                (top / entry.name).symlink_to(entry)
        shutil.copytree(source, top / 'test' / 'mpi', symlinks=True)
    return top / 'test' / 'mpi'


def configure(opts, source, build):
    """Makes `build` a build folder of their tests that calls our compilers."""
    tools = pathlib.Path(opts.tools)
    build.mkdir(exist_ok=True)
    mismatch = '-fallow-argument-mismatch'
    env = {**os.environ, 'FROM_MPICH': 'yes', 'MPICH_ENABLE_FC': 'yes', 'WRAPPER_FFLAGS': mismatch, 'WRAPPER_FCFLAGS': mismatch,
           'CC': str(tools / 'mpicc'), 'F77': str(tools / 'mpif77'), 'FC': str(tools / 'mpifort')}
    run = subprocess.run([source / 'configure', f'--bindir={tools}', '--enable-fortran=all', '--disable-cxx', '--disable-spawn',
                          '--disable-dtpools', '--enable-strictmpi'], cwd=build, env=env, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f'their configure fails:\n{(run.stdout + run.stderr)[-4000:]}')


def make(folder, *words):
    command = ['make', '-k', '-s', '-C', folder, f'FFLAGS={FLAGS}', f'FCFLAGS={FLAGS}', 'CFLAGS=-g -O1 -w', *words]
    run = subprocess.run(command, capture_output=True, text=True, errors='replace')
    return run.stdout + run.stderr


def rows_of(tree, ranks, expected):
    """{program: [(program, ranks, options)]}: what the list says, which configure may have made, and with more ranks."""
    programs = {}
    for name, listed, options in mpich.read_list(tree.path, tree.source):
        rows = programs.setdefault(name, [])
        fixed = {f'={tree.folder}', f'={tree.folder}/{name}'} & expected.keys()
        more = () if fixed else (n for n in ranks if n > listed)
        for count in sorted({listed, *more}):
            if (name, count, options) not in rows:
                rows.append((name, count, options))
    return programs


def run_one(opts, report, tree, name, rows):
    label, program = f'{tree.folder}/{name}', tree.path / name
    words = '' if program.exists() else make(tree.path, name)
    for way in opts.ways.split(','):
        if not program.exists():
            report.add(label, label, way, 'fail', 'does not compile\n' + words)
            continue
        for _, ranks, options in rows:
            title = ' '.join([label, str(ranks), *options['arg']])
            report.add(label, title, way, *mpich.run_program(opts, program, ranks, options, way))


def run_all(opts, source, build):
    report = mpich.Report(pathlib.Path(__file__).with_suffix('.expect'))
    ranks, begin = [int(n) for n in opts.ranks.split(',')], time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
        futures = []
        for suite in opts.suites.split(','):
            make(build / suite, f'-j{opts.jobs}')
            for path in sorted((build / suite).iterdir()):
                tree = types.SimpleNamespace(folder=f'{suite}/{path.name}', path=path, source=source / suite / path.name)
                for name, rows in rows_of(tree, ranks, report.expected).items() if path.is_dir() else ():
                    if not opts.only or re.search(opts.only, f'{tree.folder}/{name}'):
                        futures.append(pool.submit(run_one, opts, report, tree, name, rows))
        for future in futures:
            future.result()
    result = report.finish()
    print(f'{time.monotonic() - begin:.0f} s')
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--source', default=os.environ.get('MPICH_SOURCE'),
                        help="MPICH's source tree, or its test/mpi; default: the environment's MPICH_SOURCE")
    parser.add_argument('--tools', required=True, help='the folder of mpicc, mpif77, mpifort and mpiexec')
    parser.add_argument('--suites', default='f77,f90,f08', help='default: %(default)s')
    parser.add_argument('--ranks', default='4', help='more ranks than the list has; default: %(default)s')
    parser.add_argument('--ways', default='near,net')
    parser.add_argument('--only', help='a regular expression of suite/folder/program')
    parser.add_argument('--seconds', type=int, default=600, help='limit of one run, beside others')
    parser.add_argument('--fetched', help='a folder for the fetched sources, kept: what is there is not fetched again')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() + 1)
    parser.add_argument('--keep', help='a folder for the build, kept: what is there is not built again')
    opts = parser.parse_args()
    opts.tools = os.path.abspath(opts.tools)
    opts.mpiexec = os.path.join(opts.tools, 'mpiexec')
    if shutil.which('make') is None:
        mpich.skip('there is no make')
    with tempfile.TemporaryDirectory() as temp:
        work = pathlib.Path(opts.keep or temp).resolve()
        work.mkdir(exist_ok=True)
        source = mpich.source_of(opts.source, work, opts.fetched)
        source = own_copy(source, work / 'source') if opts.fetched else source
        build = work / 'build'
        if not (build / 'config.status').exists():
            configure(opts, source, build)
        sys.exit(run_all(opts, source, build))


if __name__ == '__main__':
    main()
