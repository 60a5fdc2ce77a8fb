"""Runs the stencil on Hotlane, MPICH or Open MPI for the scripts and tests beside it."""
import argparse
import contextlib
import json

import harness
import peers
from peers import HERE, NAMES, Failed, Program, Unavailable, add_arguments

__all__ = ["HERE", "NAMES", "Failed", "FortranStencil", "Stencil", "Unavailable", "add_arguments", "add_divisions", "check", "divide", "rows_of", "stencils"]


class Stencil(Program):
    """The program on one MPI. Close it (or use `with`) to remove what it compiled."""

    def __init__(self, mpi, build):
        # As perf/meson.build says: nothing may change an answer.
        super().__init__("stencil", mpi, build, "stencil_src",
                         ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"])
        self.name = mpi

    def apis(self):
        """The words for --api that this program was built with."""
        few = ["--serial", "--zones", "8,8", "--patch", "8", "--steps", "1", "--quiet"]
        return [api for api in ("mpi", "shmem") if self.call(0, few + ["--api", api])[0] == 0]

    def run(self, ranks, arguments, environment=None, timeout=120):
        """The results of a run as a dictionary; raises Failed."""
        out = self.output(ranks, list(arguments) + ["--quiet", "--json", "-"], environment, timeout)
        return json.loads(out[out.index("{"):])


class FortranStencil(Program):
    """The program in Fortran, which writes its flags as the one in C does by default."""

    def __init__(self, build):
        super().__init__("stencil_fortran", "hotlane", build, None)
        self.name = "hotlane, Fortran"

    def run(self, ranks, arguments, environment=None, timeout=120):
        found = json.loads(self.output(ranks, ["--signal", "put", *arguments], environment, timeout))
        return {**found, "hash": found["hash"].lower()}


@contextlib.contextmanager
def stencils(options, fortran=False):
    """The stencil on Hotlane, in Fortran too if that is wished and was built, and, but with --ours, on every other MPI that is
    here. Raises Unavailable without Hotlane."""
    with contextlib.ExitStack() as opened:
        found = []
        for name in ["hotlane"] if options.ours else NAMES:
            try:
                found.append(opened.enter_context(Stencil(name, options.build)))
            except Unavailable as reason:
                if name == "hotlane":
                    raise
                print(f"{name}: {reason}")
        if fortran:
            try:
                found.append(FortranStencil(options.build))
            except Unavailable as reason:
                print(f"Fortran: {reason}")
        yield found


def rows_of(programs):
    """Each on the node, Hotlane over the network as well."""
    rows = []
    for stencil in programs:
        ours = stencil.mpi == "hotlane"
        rows.append(harness.Row(stencil.name, stencil, {}, ours=ours))
        if ours:
            rows.append(harness.Row(f"{stencil.name}, network", stencil, peers.NETWORK["hotlane"], [], "network", True))
    return rows


def check(row, ranks, grid, arguments, timeout, right):
    """The results of one run of a row, whose hash is to be `right`."""
    found = row.program.run(ranks, grid + arguments, row.environment, timeout)
    if found["hash"] != right:
        raise Failed(f"{ranks} ranks, {' '.join(map(str, grid + arguments))}: hash {found['hash']}, serial {right}")
    return found


def jobs(words):
    """Of an option: ranks by threads, 2x4,8x1."""
    found = [tuple(peers.count(n) for n in job.split("x")) for job in words.split(",") if job]
    if any(len(job) != 2 for job in found):
        raise argparse.ArgumentTypeError(f"{words}: expected ranks x threads, such as 2x4,8x1")
    return found


def add_divisions(parser, some, steps, timeout):
    """The options of `divide`."""
    parser.add_argument("--jobs", type=jobs, default=some, help="ranks x threads of the stencil; empty: none (default: %(default)s)")
    parser.add_argument("--patches", type=peers.counts, default="16,8", help="sides of the stencil's patches (default: %(default)s)")
    parser.add_argument("--zones", default="128,128", help="of the stencil (default: %(default)s)")
    parser.add_argument("--steps", type=peers.count, default=steps, help="of each run of the stencil (default: %(default)s)")
    parser.add_argument("--timeout", type=peers.count, default=timeout, help="seconds for one run of the stencil (default: %(default)s)")


def divide(book, programs, more=(), goals=None):
    """Tables of options.jobs at each side of patches: time ÷ that of a serial run of the same turn, and shares of communication in the
    threads' time; more: arguments of the stencil; goals: {job: most times}. Every hash is compared with the serial run's. Returns {side of
    patches: harness.Values of (times, percent of communication, percent with the wait for neighbours)}."""
    options, rows, ended, last, all_values = book.options, rows_of(programs), set(), {}, {}
    grid = ["--zones", options.zones, "--steps", options.steps]

    def run(row, job, patch):
        if last.get("job") != job or row in last["rows"]:
            last.update(job=job, rows=[], serial=programs[0].run(0, grid + ["--serial"], {}, options.timeout))
        last["rows"].append(row)
        if (row.name, job, patch) in ended:
            return {}
        try:
            found = check(row, job[0], grid, ["--patch", patch, "--threads", job[1], *more], options.timeout, last["serial"]["hash"])
        except Failed as failed:  # others of the row may end
            ended.add((row.name, job, patch))
            book.say(f"{row.name}, {job[0]} × {job[1]}: {failed}")
            book.bad |= row.ours
            return {}
        times = last["serial"]["zones_per_s"] / found["zones_per_s"]
        return {f"{job[0]} × {job[1]}": (times, 100 * found["communication_share"], 100 * found["share_with_wait"])}

    for patch in options.patches:
        values = harness.in_turns(rows, options.jobs, lambda row, job, patch=patch: run(row, job, patch), options)
        all_values[patch] = values
        title = f"stencil, ranks × threads, {options.zones.replace(',', ' × ')} zones, patches of {patch}"
        book.table(f"{title}: time ÷ that of a serial run", "times", values.pick(value=lambda v, _: v[0]), better="less")
        for job, goal in (goals or {}).items():
            key = f"{job[0]} × {job[1]}"
            for name in (row.name for row in rows if row.ours and values[row.name].get(key)):
                book.aim(f"{name}, {key}, patches of {patch}", harness.middle([v[0] for v in values[name][key]]), goal)
        for field, words in ((1, "communication"), (2, "communication and the wait for neighbours")):
            book.table(f"{title}: {words}", "percent of the threads' time", values.pick(value=lambda v, _, f=field: v[f]), better="less",
                       drawn=field == 1)
    return all_values
