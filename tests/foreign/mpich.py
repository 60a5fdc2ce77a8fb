#!/usr/bin/env python3
"""Builds MPICH's own C tests against our mpicc and runs them by their test lists.

Their sources are no part of this project: they come from a source tree given by --source (MPICH's, or its test/mpi), or
from Debian's source package when apt can fetch it; else the exit code is 77 and the reason is printed. A program passes
when it ends with 0 and prints " No Errors". Failures that are expected stand in mpich.expect with their reasons; one
that passes is an error too, so the list cannot rot. Programs that end because they call a function that is not built
yet are counted apart: the library says so itself."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import drawn  # noqa: E402
import locked  # noqa: E402

FOLDERS = ('rma comm attr group info datatype errhan init io pt2pt part coll topo threads/pt2pt threads/comm threads/rma '
           'threads/init threads/coll').split()
HAVE = """STDIO_H STDLIB_H STRING_H STRINGS_H UNISTD_H STDARG_H STDINT_H INTTYPES_H MEMORY_H LIMITS_H SYS_TYPES_H
SYS_STAT_H SYS_TIME_H SYS_RESOURCE_H PTHREAD_H GETRUSAGE MEMSET STRDUP USLEEP LONG_DOUBLE LONG_LONG _BOOL
FLOAT__COMPLEX DOUBLE__COMPLEX LONG_DOUBLE__COMPLEX MPI_WIN_CREATE LONG_LONG_INT PTHREAD_BARRIER_INIT""".split()
SIZES = {'SHORT': 2, 'INT': 4, 'LONG': 8, 'LONG_LONG': 8, 'VOID_P': 8, 'MPI_OFFSET': 8}
WAYS = {'near': {}, 'net': {'HOTLANE_NEAR': '0'}}
# Names that MPI 3.0 removed; their replacements have the same parameters.
RENAMED = ['-DMPI_Type_hvector=MPI_Type_create_hvector', '-DMPI_Type_hindexed=MPI_Type_create_hindexed',
           '-DMPI_Address=MPI_Get_address', '-DMPI_Errhandler_set=MPI_Comm_set_errhandler',
           # Conversions are macros in the standard's binary interface, without names of the profiling interface.
           '-DPMPI_Message_c2f=PMPI_Message_toint', '-DPMPI_Message_f2c=PMPI_Message_fromint',
           # And of the time before MPI 3.0.
           '-DMPIO_Request=MPI_Request', '-DMPIO_Wait=MPI_Wait', '-DMPIO_Test=MPI_Test']
PASSED = re.compile(r'^ *No [Ee]rrors', re.M)
NOT_BUILT = re.compile(r'(MPI_\w+) is not built yet')


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def source_lists(folder):
    """Options of apt-get for lists of its own below `folder`: this system's, of sources instead of binaries."""
    parts, lists = folder / 'apt' / 'parts', folder / 'apt' / 'lists'
    for made in (parts, lists / 'partial', folder / 'apt' / 'cache' / 'archives' / 'partial'):
        made.mkdir(parents=True, exist_ok=True)
    etc = pathlib.Path('/etc/apt')
    for file in [etc / 'sources.list', *etc.glob('sources.list.d/*.list'), *etc.glob('sources.list.d/*.sources')]:
        if file.exists():
            name = 'main.list' if file.parent == etc else file.name
            (parts / name).write_text(re.sub(r'^(deb|Types:.*)(?=\s)', lambda m: 'deb-src' if m[1] == 'deb' else 'Types: deb-src',
                                             file.read_text(), flags=re.M))
    return ['-o', 'Dir::Etc::sourcelist=/dev/null', '-o', f'Dir::Etc::sourceparts={parts}', '-o', f'Dir::State::lists={lists}',
            '-o', f'Dir::Cache={folder / "apt" / "cache"}']


def fetch(folder, package='mpich', holds='mpich-*/test/mpi'):
    """What Debian's source package, unpacked below `folder`, holds at that path."""
    if shutil.which('apt-get') is None:
        skip('no source tree given and no apt-get to fetch one')
    lists = source_lists(pathlib.Path(folder))
    subprocess.run(['apt-get', *lists, '-qq', 'update'], capture_output=True)  # a list that fails may be another package's
    run = subprocess.run(['apt-get', *lists, 'source', '-qq', package], cwd=folder, capture_output=True, text=True)
    found = sorted(pathlib.Path(folder).glob(holds))
    if run.returncode != 0 or not found:
        skip(f'apt-get source {package} failed: ' + (run.stderr.strip().splitlines() or ['no reason given'])[-1])
    return found[0]


def fetch_once(kept):
    """The same in a folder that several rows share: fetched by who comes first."""
    with locked.locked(kept):
        tree = pathlib.Path(kept) / 'mpich'
        if not tree.exists():
            with tempfile.TemporaryDirectory(dir=kept) as work:
                os.rename(fetch(work).parents[1], tree)
    return tree


def source_of(given, work, kept=None):
    tree = pathlib.Path(given or (fetch_once(kept) if kept else fetch(work)))
    for candidate in (tree, tree / 'test/mpi'):
        if (candidate / 'util/mtest.c').exists():
            return candidate.resolve()
    skip(f'{tree} holds no util/mtest.c')


def write_config(work):
    """What their configure would find on this system, with its option --enable-strictmpi: nothing beyond the standard."""
    lines = [f'#define HAVE_{name} 1' for name in HAVE]
    lines += [f'#define SIZEOF_{name} {size}' for name, size in SIZES.items()]
    lines += ['#define POINTERINT_t long', '#define STDC_HEADERS 1', '#define STDCALL', '#define THREAD_PACKAGE_NONE 0',
              '#define THREAD_PACKAGE_POSIX 1', '#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX',
              '#define PACKAGE "tests"', '#define USE_STRICT_MPI 1']
    (work / 'up').mkdir(exist_ok=True)  # they include "../dtpoolsconf.h"
    for name in ('mpitestconf.h', 'dtpoolsconf.h'):
        (work / name).write_text('\n'.join(lines) + '\n')


class Tree:
    """The programs of one folder, as its Makefile.am tells them."""

    def __init__(self, source, folder):
        self.folder, self.path = folder, source / folder
        self.vars = {}
        makefile = self.path / 'Makefile.am'
        text = makefile.read_text().replace('\\\n', ' ') if makefile.exists() else ''
        for name, value in re.findall(r'^(\w+?)\s*\+?=\s*(.*)$', text, re.M):
            self.vars[name] = self.vars.get(name, '') + ' ' + value

    def sources(self, program):
        named = self.vars.get(f'{program}_SOURCES', f'{program}.c').split()
        return [self.path / name for name in named if name.endswith('.c')]

    def flags(self, program):
        words = (self.vars.get(f'{program}_CPPFLAGS', '') + ' ' + self.vars.get(f'{program}_LDADD', '')).split()
        return [w for w in words if w.startswith(('-D', '-l'))]


def read_list(*folders):
    """(program, ranks, options) of the first test list; lines for switches of MPICH itself are left out."""
    rows = []
    path = next((f / n for f in folders for n in ('testlist.in', 'testlist') if (f / n).exists()), None)
    for line in path.read_text().splitlines() if path else []:
        words = line.split('#')[0].split()
        if not words or line.startswith('@') or 'env=MPIR_' in line or 'env=MPICH_' in line or 'env=HYDRA' in line:
            continue
        if len(words) < 2 or not words[1].isdigit():
            continue
        options = {'arg': [], 'env': []}
        for word in words[2:]:
            key, _, value = word.partition('=')
            if key in ('arg', 'env'):
                options[key].append(value)
            else:
                options[key] = value
        row = (words[0], int(words[1]), options)
        if row not in rows:
            rows.append(row)
    return rows


class Builder:
    def __init__(self, opts, source, work):
        self.opts, self.source, self.work = opts, source, work
        folders = (work, work / 'up', source / 'include', source / 'dtpools/include', source / 'util')
        self.include = ['-I' + str(p) for p in folders]

    def compile(self, args):
        return subprocess.run([self.opts.mpicc, '-g', '-O1', '-w', *RENAMED, *args], capture_output=True, text=True)

    def library(self, name, files, flags=()):
        objects = []
        for file in files:
            out = self.work / f'{name}-{file.stem}.o'
            run = self.compile([*self.include, *flags, '-DHAVE_CONFIG_H', '-c', str(file), '-o', str(out)])
            if run.returncode != 0:
                print(run.stderr)
                skip(f'their {file.name} does not compile here')
            objects.append(str(out))
        return objects

    def common(self):
        util = self.source / 'util'
        pools = sorted((self.source / 'dtpools/src').glob('*.c'))
        self.single = self.library('single', [util / n for n in ('mtest.c', 'mtest_common.c', 'mtest_single.c', 'dtypes.c')])
        self.thread = self.library('thread', [util / n for n in ('mtest.c', 'mtest_common.c', 'mtest_thread.c')],
                                   ['-DMTEST_USE_THREAD'])
        self.pools = self.library('pools', pools)

    def program(self, tree, name):
        """Path of the executable, or the compiler's words."""
        out = self.work / tree.folder.replace('/', '_') / name
        out.parent.mkdir(exist_ok=True)
        threads = tree.folder.startswith('threads') or 'mtest_thread' in tree.vars.get(f'{name}_LDADD', '')
        objects = (self.thread if threads else self.single) + self.pools
        flags = tree.flags(name)
        macros, libs = [f for f in flags if f[1] == 'D'], [f for f in flags if f[1] == 'l']
        extra = ['-DMTEST_USE_THREAD'] if threads else []
        run = self.compile([*self.include, *macros, *extra, *map(str, tree.sources(name)), *objects, *libs, '-lm',
                            '-lpthread', '-o', str(out)])
        return (out, '') if run.returncode == 0 else (None, run.stderr)


def run_program(opts, program, ranks, options, way):
    """'ok', 'unbuilt' or 'fail', and the words."""
    limit = min(int(options.get('timeLimit', opts.seconds)), opts.seconds)
    env = {**os.environ, **WAYS[way], **dict(e.partition('=')[::2] for e in options['env'])}
    command = [opts.mpiexec, '-n', str(ranks), '--timeout', str(limit), str(program), *options['arg']]
    folder = program.with_suffix('.run')  # of its own: files that programs make have one name in all of them
    folder.mkdir(exist_ok=True)
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors='replace', env=env, cwd=folder,
                             timeout=limit + 20, stdin=subprocess.DEVNULL)
        text, code = run.stdout + run.stderr, run.returncode
    except subprocess.TimeoutExpired:
        text, code = 'did not end', 1
    missing = NOT_BUILT.search(text)
    if missing:
        return 'unbuilt', missing.group(1)
    wants_code = options.get('resultTest') in ('TestStatus', 'TestStatusNoErrors')
    if options.get('resultTest') == 'TestErrFatal':
        return ('ok', '') if code != 0 and not PASSED.search(text) else ('fail', text)
    if wants_code:
        return ('ok', '') if code != 0 or PASSED.search(text) else ('fail', text)
    return ('ok', '') if code == 0 and PASSED.search(text) else ('fail', f'exit code {code}\n{text}')


def expectations(path):
    """{'folder/program' or, for one way, 'folder/program@net': reason}; reasons of '?' rows begin with '?'."""
    rows = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            name, _, reason = line.partition(' ')
            rows[name.lstrip('?')] = ('?' if name.startswith('?') else '') + reason.strip()
    return rows


class Report:
    def __init__(self, path):
        self.name, self.expected, self.lock = path.name, expectations(path), threading.Lock()
        self.counts = {'ok': 0, 'unbuilt': 0, 'expected': 0, 'fail': 0}
        self.unbuilt, self.failed, self.outcomes = {}, [], {}

    def add(self, name, label, way, outcome, words):
        with self.lock:
            key = next((k for k in (f'{name}@{way}', name) if k in self.expected), None)
            if key and outcome in ('ok', 'fail'):
                self.outcomes.setdefault(key, set()).add(outcome)
                outcome = 'expected' if outcome == 'fail' else 'ok'
            self.counts[outcome] += 1
            if outcome == 'unbuilt':
                self.unbuilt.setdefault(words, set()).add(name)
            if outcome == 'fail':
                self.failed.append(f'{label} ({way})')
                print(f'FAIL {label} ({way})\n' + '\n'.join('  | ' + l for l in words.splitlines()[:25]), flush=True)

    def finish(self):
        for function, names in sorted(self.unbuilt.items()):
            print(f'not built: {function}: {" ".join(sorted(names))}')
        stale = [k for k, seen in self.outcomes.items() if seen == {'ok'} and not self.expected[k].startswith('?')]
        for key in stale:
            print(f'PASSES though {self.name} says: {key}: {self.expected[key]}')
        print(', '.join(f'{n} {what}' for what, n in self.counts.items()))
        for line in self.failed:
            print('FAILED ' + line)
        return 1 if self.failed or stale or self.counts['ok'] == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--source', default=os.environ.get('MPICH_SOURCE'),
                        help="MPICH's source tree, or its test/mpi; default: the environment's MPICH_SOURCE")
    parser.add_argument('--mpicc', required=True)
    parser.add_argument('--mpiexec', required=True)
    parser.add_argument('--folders', default=','.join(FOLDERS), help='default: %(default)s')
    parser.add_argument('--ways', default='near,net')
    parser.add_argument('--only', help='a regular expression of folder/program')
    parser.add_argument('--drawn', type=int, help='so many programs, drawn by the date (tests/drawn.py)')
    parser.add_argument('--seconds', type=int, default=600, help='limit of one run, beside others')
    parser.add_argument('--ranks', type=int, default=10, help='rows with more ranks are left out')
    parser.add_argument('--fetched', help='a folder for the fetched sources, kept: what is there is not fetched again')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() + 1)
    parser.add_argument('--keep', help='a folder for the executables, kept')
    opts = parser.parse_args()
    opts.mpicc, opts.mpiexec = os.path.abspath(opts.mpicc), os.path.abspath(opts.mpiexec)
    with tempfile.TemporaryDirectory() as temp:
        work = pathlib.Path(opts.keep or temp).resolve()
        work.mkdir(exist_ok=True)
        source = source_of(opts.source, work, opts.fetched)
        write_config(work)
        builder = Builder(opts, source, work)
        builder.common()
        sys.exit(run_all(opts, source, builder))


def run_all(opts, source, builder):
    report = Report(pathlib.Path(__file__).with_suffix('.expect'))
    begin = time.monotonic()

    def one(tree, name, rows):
        label = f'{tree.folder}/{name}'
        program, words = builder.program(tree, name)
        for _, ranks, options in rows:
            for way in opts.ways.split(','):
                if program is None:
                    report.add(label, label, way, 'fail', 'does not compile\n' + words)
                else:
                    title = ' '.join([label, str(ranks), *options['arg']])
                    report.add(label, title, way, *run_program(opts, program, ranks, options, way))

    with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
        chosen = []
        for folder in opts.folders.split(','):
            tree = Tree(source, folder)
            programs = {}
            for row in read_list(tree.path):
                if row[1] <= opts.ranks and tree.sources(row[0])[0].exists():
                    programs.setdefault(row[0], []).append(row)
            for name, rows in programs.items():
                if not opts.only or re.search(opts.only, f'{folder}/{name}'):
                    chosen.append((tree, name, rows))
        if opts.drawn:
            chosen = drawn.draw(chosen, opts.drawn, lambda row: f'{row[0].folder}/{row[1]}')
        for future in [pool.submit(one, *row) for row in chosen]:
            future.result()
    result = report.finish()
    print(f'{time.monotonic() - begin:.0f} s')
    return result


if __name__ == '__main__':
    main()
