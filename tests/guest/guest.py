#!/usr/bin/env python3
"""Boots made-up machines: asserts, from the kernel's own answers, where the library puts memory, and runs programs over RDMA.

usage: guest.py --build BUILD [--page] [--keep DIR] [--step PATTERN] [LAYOUT...]
       guest.py --list

Each layout (layouts.py) is a machine that QEMU emulates; its steps (steps.py) run one after the other inside, with the
library, the launcher and programs of the build folder. The one named rdma has a network of its own (rdma.py). Exit code 77,
with the reason: QEMU, a kernel or a program for the guest is not here.
The examples of docs/MEMORY.md that name a layout are steps of it; --page writes what they print into the page. --keep
leaves the logs.
"""
import argparse
import os
import re
import sys
import tempfile
import time

import cases
import layouts
import machine
import steps as table

PROGRAMS = ["tools/mpiexec", "tools/hotlane-info", "tests/guest/placement", "tests/guest/partitions", "perf/stencil"]
STEP = re.compile(r"^@@ begin (.*)\n((?:.*\n)*?)@@ end (\d+) (\S+) (\S+)$", re.M)
OOM = re.compile(r".*(?:Out of memory|oom-kill|Killed process|segfault|BUG:|WARNING:|Call Trace).*")


def run(machines, name, pattern):
    """Boots a layout, runs its steps; returns the texts of what does not hold."""
    steps = [step for step in table.of(name, machines.build) if re.search(pattern, step.name)]
    output, log = machines.boot(name, cases.script(layouts.LAYOUTS[name], steps))
    done = {m[1]: (m[2], int(m[3]), m[4]) for m in STEP.finditer(output)}
    wrong = [f"kernel: {line}" for line in OOM.findall(log)]
    failed = {"the kernel": "is in trouble"} if wrong else {}
    for step in steps:
        if step.name not in done:
            failed[step.name] = "did not run"
            wrong.append(f"{step.name}: did not run")
            continue
        text, code, left = done[step.name]
        found = step.check(text, code)
        if left != "0":
            found.append(f"{left} huge pages are still taken")
        if found:
            failed[step.name] = "; ".join(found)
            wrong += [f"{step.name}: {f}" for f in found] + ["    " + line for line in text.strip().split("\n")[-40:]]
    if not done:
        wrong += ["no step ran"] + output.split("\n")[-20:]
    elif not pattern:
        table.rdma.keep(name, machines.build, {step.name: done[step.name][0] for step in steps if step.name in done}, failed)
    return len(steps), wrong


def write_page(machines):
    """Runs the guests' examples of the documentation and writes what they print into it."""
    outputs = {}
    for name in {b.guest for b in table.EXAMPLES if b.guest}:
        output, _ = machines.boot(name, cases.script(layouts.LAYOUTS[name], table.examples(name)))
        outputs |= {m[1]: m[2] for m in STEP.finditer(output)}
    table.page.write(table.PAGE, [outputs.get(table.example_name(i)) for i in range(len(table.EXAMPLES))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("HOTLANE_BUILD", "build"))
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--keep", metavar="DIR", help="folder for consoles and kernel logs")
    parser.add_argument("--step", metavar="PATTERN", default="", help="only steps whose names match")
    parser.add_argument("--list", action="store_true", help="the layouts")
    parser.add_argument("layout", nargs="*", choices=[[], *layouts.LAYOUTS])
    options = parser.parse_args()
    if options.list:
        for name, layout in layouts.LAYOUTS.items():
            print(f"{name:14} {layout.what}")
        return 0
    bad = skipped = 0
    names = options.layout or list(layouts.LAYOUTS)
    with tempfile.TemporaryDirectory(prefix="hotlane-guest-") as work:
        work = options.keep or work
        os.makedirs(work, exist_ok=True)
        try:
            machines = machine.Machines(os.path.abspath(options.build), PROGRAMS, work)
        except machine.Unavailable as reason:
            print(f"skipped: {reason}")
            return 77
        if options.page:
            write_page(machines)
            return 0
        for name in names:
            begin = time.monotonic()
            try:
                steps, wrong = run(machines, name, options.step)
            except machine.Broken as text:
                steps, wrong = 0, [str(text)]
            except machine.Unavailable as reason:
                print(f"skipped: {name}: {reason}")
                skipped += 1
                continue
            bad += len(wrong) > 0
            print("\n".join([f"{'FAIL' if wrong else 'ok  '} {name}: {steps} steps, {time.monotonic() - begin:.0f} s", *wrong]),
                  flush=True)
    return 1 if bad else 77 if skipped == len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
