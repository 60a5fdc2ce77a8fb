#!/usr/bin/env python3
"""Checks tests/model/lane.pml with Spin: model.py names | proof | mutants | long

  names    every C function that the model names is defined in the file that it names (needs no Spin)
  proof    all states of 2 threads, 2 lanes, 2 targets, rings of 2, 4 operations, 2 flushes; with the tick, of 2
  mutants  each planted fault is found
  long     all states of the same with the tick; some of 3 threads and rings of 3, by seeds of TEST_SEED or, without it, of the date
"""
import concurrent.futures
import datetime
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = HERE / 'lane.pml'
SKIP = 77

UNDECIDED = ('no result', 'not through')
# Shapes in which a planted fault is looked for, quickest first.
SMALL = [['OPS=1'], ['OPS=1', 'TICK=1'], []]


def names_vanished():
    """The (function, file) pairs of the model's "C:" comments that the sources do not have."""
    named = re.findall(r'(\w+) \(((?:lib|rma)/[\w/.]+)\)', MODEL.read_text())
    gone = []
    for function, file in sorted(set(named)):
        path = ROOT / file
        source = path.read_text() if path.exists() else ''
        if not re.search(r'^[A-Za-z][^;={]*\b%s\(' % function, source, re.M):
            gone.append((function, file))
    print(f'{len(set(named))} functions named, {len(gone)} not found')
    return gone


def faults():
    """The lines between MUTANT and W: name to number."""
    lines = re.search(r'^#define MUTANT(.*?)^#define W\(', MODEL.read_text(), re.M | re.S).group(1)
    return {name: int(number) for name, number in re.findall(r'^#define (\w+) (\d+) +/\*', lines, re.M)}


def check(shape, verifier=(), seconds=600, flags=('-w25',), optimise='-O2'):
    """Runs one shape of the model. Returns (what was wrong or None, states, seconds, MB)."""
    with tempfile.TemporaryDirectory(prefix='hotlane-model-') as folder:
        subprocess.run(['spin', *('-D' + word for word in shape), '-a', MODEL], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(['cc', optimise, '-w', '-DSAFETY', '-DNOREDUCE', '-DVECTORSZ=160', '-DMEMLIM=4096', *verifier,
                        '-o', 'pan', 'pan.c'], cwd=folder, check=True)
        try:
            out = subprocess.run(['./pan', '-m100000', *flags], cwd=folder, text=True, timeout=seconds,
                                 capture_output=True).stdout
        except subprocess.TimeoutExpired:
            return f'not through after {seconds} s', 0, seconds, 0
    wrong = re.search(r'pan:1: (.*)', out)
    states = re.search(r'([\d.e+]+) states, stored', out)
    took = re.search(r'elapsed time ([\d.e+]+)', out)
    memory = re.search(r'([\d.]+)\s+total actual memory', out)
    result = wrong.group(1) if wrong else None
    if not wrong and 'errors: 0' not in out:
        result = 'no result: ' + out[-300:]
    if 'Search not completed' in out and 'Time limit' not in out and not wrong:
        result = 'not through within its memory'
    return result, *(float(m.group(1)) if m else 0 for m in (states, took, memory))


def report(name, result):
    wrong, states, took, memory = result
    print(f'{name:24} {states:>12,.0f} states {took:7.1f} s {memory:7.0f} MB  {wrong or "holds"}', flush=True)
    return wrong


def names_lost(few, all_names):
    """Two threads, lanes and targets have 8 ways to be named: nearly all states have 8 forms, none has more."""
    print(f'one state stands for {all_names / max(few, 1):.2f} on average')
    return not 7 < all_names / max(few, 1) <= 8


def seeds():
    """The seeds of a run's random orders, which it prints: other ones each day, and what TEST_SEED says where it is set."""
    given = os.environ.get('TEST_SEED') or datetime.datetime.now(datetime.timezone.utc).strftime('%Y%m%d')
    found = random.Random(given).sample(range(1, 1 << 30), 2)
    print(f'TEST_SEED={given} makes the seeds {" and ".join(map(str, found))}', flush=True)
    return found


def wander(seed):
    """3 threads, rings of 3, 6 operations: too many states, so 4 minutes in an order of chance, seen ones by hash."""
    return check(['THREADS=3', 'RING=3', 'TICK=1'], ('-DBITSTATE', '-DT_RAND', '-DP_RAND'), 600,
                 ('-w32', '-k3', '-Q4', f'-RS{seed}'))


def find(item):
    """A planted fault is found in one of the small shapes."""
    name, number = item
    for shape in SMALL:
        result = check([f'MUTANT={number}', *shape], flags=('-w22',), optimise='-O1', seconds=120)
        if result[0] and not result[0].startswith(UNDECIDED):
            return name, result, ' '.join(shape)
    return name, result, ''


def mutants():
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, result, shape in pool.map(find, faults().items()):
            missed += report(name, result) is None or result[0].startswith(UNDECIDED)
    print(f'{len(faults())} planted faults, {missed} not found')
    return missed


def main(what):
    if what == 'names':
        return 1 if [print('not found:', *gone) for gone in names_vanished()] else 0
    for tool in ('spin', 'cc'):
        if shutil.which(tool) is None:
            print(f'skipped: {tool} is not installed (Debian: apt-get install spin gcc)')
            return SKIP
    if what == 'mutants':
        return 1 if mutants() else 0
    if what == 'proof':
        few, all_names = check(['OPS=1', 'TICK=1']), check(['OPS=1', 'TICK=1', 'NAMES=1'])
        wrong = [report('2 threads', check([])), report('2 threads, tick', few),
                 report('the same with names', all_names), names_lost(few[1], all_names[1])]
        return 1 if any(wrong) else 0
    if what == 'long':
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            # States as one automaton: a quarter of the speed, little memory, and exact.
            all_states, some = pool.submit(check, ['TICK=1'], ('-DMA=100',), 10000, ()), pool.map(wander, seeds())
            wrong = [report('2 threads, tick', all_states.result())] + [report('3 threads, some states', result) for result in some]
        return 1 if any(wrong) else 0
    sys.exit(__doc__)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ''))
