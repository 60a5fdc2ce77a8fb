"""What the scripts beside it share: runs in turns, medians and spread, bytes on the interface, tables, pictures and JSON.

A script makes rows (`Row`), runs them in turns (`in_turns`) and gives what it found to a `Book`, which prints each table, draws
it and, with --json, writes all of them for perf/report."""
import collections
import contextlib
import json
import math
import os
import statistics
import time

import missed
import peers
import hosts  # found by way of peers
import svg

# name: words; program: peers.Program; environment: {variable: value}; arguments: in front of those of all rows; path: node,
# network or hosts; ours: is it Hotlane's?
Row = collections.namedtuple("Row", "name program environment arguments path ours", defaults=[{}, [], "node", False])
NO_PATH = "by shared memory"  # mark of a row that was to use the network and did not
MISSED = os.path.join(peers.HERE, "missed.expect")


def add_json(parser):
    """The option by which perf/report gets the tables of a script."""
    parser.add_argument("--json", metavar="FILE", default="", help="write the tables there, and no pictures; FILE.progress says how far it is")


def add_arguments(parser, rounds, picture=None, words="runs of each, in turns", goals=False):
    """The options of all scripts that measure in turns; goals: does this one have some?"""
    parser.add_argument("--rounds", type=peers.count, default=rounds, help=f"{words} (default: %(default)s)")
    parser.add_argument("--within", metavar="SECONDS", type=peers.natural, default=0,
                        help="no round begins so long after the first one of a table; 0: all do (default: %(default)s)")
    parser.add_argument("--ours", action="store_true", help="Hotlane only")
    add_json(parser)
    if goals:
        parser.add_argument("--gate", action="store_true", help="fail when a goal is missed that missed.expect does not list")
    if picture:
        parser.add_argument("--picture", default=picture, help="begin of the pictures' file names (default: %(default)s)")
    peers.add_arguments(parser, many=True)


@contextlib.contextmanager
def programs(name, options, sources, flags=(), kind=peers.Program):
    """The program on every library that is here, Hotlane first; what was compiled goes afterwards."""
    found = peers.installed(name, options.build, sources, flags, only=["hotlane"] if options.ours else None, kind=kind)
    try:
        yield found
    finally:
        for program in found:
            program.close()


def interface_bytes(pid="self", name="lo"):
    """Bytes that passed the interface of a process's network so far, once where it is its own other end (lo); None where the
    kernel does not tell."""
    try:
        with open(f"/proc/{pid}/net/dev", encoding="ascii") as file:
            words = next((line.split(":")[1].split() for line in file if line.strip().startswith(name + ":")), None)
    except OSError:
        return None
    return words and int(words[8]) + (int(words[0]) if name != "lo" else 0)


class Values(dict):
    """{row: {key: [values, one of each round]}}; failed: {row: why}; marks: {row: words}; rounds: how many there were."""

    def __init__(self, rows):
        super().__init__((row.name, {}) for row in rows)
        self.failed, self.marks, self.rounds = {}, {}, 0
        self.ours = {row.name for row in rows if row.ours}

    def pick(self, keys=None, value=lambda v, key: v, rows=None):
        """Some of it: keys: {key: its new name}, rows: {row: its new name} (None: all as they are); value(value, key): what of
        each value."""
        found = Values([])
        rows = {name: name for name in self} if rows is None else rows
        found.rounds, found.ours = self.rounds, {rows[n] for n in self.ours if n in rows}
        found.failed, found.marks = ({rows[n]: words for n, words in some.items() if n in rows} for some in (self.failed, self.marks))
        for row, cells in self.items():
            if row in rows:
                found[rows[row]] = {(keys[k] if keys else k): [value(v, k) for v in vs] for k, vs in cells.items() if keys is None or k in keys}
        return found


def _judge_wire(values, sent, options):
    """Marks rows that were to use the network and sent less than half of their data through the interface."""
    for name, (counted, wanted) in sent.items():
        if wanted and counted < wanted / 2:
            values.marks[name] = ", ".join(filter(None, [values.marks.get(name), NO_PATH]))
            options.book.say(f"{name}: {counted:.3g} bytes on the interface of {wanted:.3g} that were put: {NO_PATH}")


def in_turns(rows, steps, run, options, payload=None, interface=("self", "lo")):
    """Runs each row at each step, round after round. run(row, step) returns {key: value}, empty for what is left out; a row
    that fails (peers.Failed) is not run again. payload(step, key, value): the least number of bytes that such a run carries; rows
    of the paths network and hosts that send less than half of it through the interface (process, name) are marked."""
    values, sent = Values(rows), {}
    begin, done = time.monotonic(), 0
    for turn in range(options.rounds):
        if turn and options.within and time.monotonic() - begin > options.within:
            break
        for step in steps:
            for row in rows:
                done += 1
                if row.name in values.failed:
                    continue
                before = interface_bytes(*interface)
                try:
                    found = run(row, step)
                except peers.Failed as error:
                    values.failed[row.name] = str(error)
                    options.book.say(f"{row.name}: {error}")
                    options.book.bad |= row.ours
                    continue
                after = interface_bytes(*interface)
                for key, value in found.items():
                    values[row.name].setdefault(key, []).append(value)
                if payload and row.path != "node" and before is not None:
                    counted, wanted = sent.get(row.name, (0, 0))
                    sent[row.name] = counted + after - before, wanted + sum(payload(step, k, v) for k, v in found.items())
                options.book.progress(done / (options.rounds * len(steps) * len(rows)), begin, options.within)
        values.rounds = turn + 1
    _judge_wire(values, sent, options)
    return values


def fitted(rate_of, milliseconds, first, most):
    """How many of something one run does in so long, at most `most`: by the rate of a short run of `first`, and of a second one where
    that was too short to tell. rate_of(number): the rate of such a run, a second."""
    number = min(first, most)
    for _ in range(2):
        rate = rate_of(number)
        wanted = max(1, min(most, round(rate * milliseconds / 1e3)))
        if wanted <= 10 * number:
            break
        number = wanted // 4
    return wanted


def add_milliseconds(parser, what):
    """The option of scripts that run a number of something, of which some libraries do a hundred times as many in a second."""
    parser.add_argument("--milliseconds", type=peers.natural, default=0,
                        help=f"of one run, about: a short run of each row chooses how many {what}; 0: as many in every row (default: %(default)s)")


def middle(values):
    return statistics.median(values)


def number(value, digits=4):
    """With so many digits: 237.1M; what was counted exactly."""
    if isinstance(value, int) and abs(value) < 1e6:
        return str(value)
    value = float(f"{value:.{digits}g}")  # 999.96 k are 1 M
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.{digits}g}{unit}"
    return f"{value:.{digits}g}"


def spread(values):
    """The median, and in brackets the least and the most, with three digits, where there is more than one value."""
    if min(values) == max(values):
        return number(values[0])
    least, most = number(min(values), 3), number(max(values), 3)
    return f"{number(middle(values))} ({least[:-1] if least[-1] == most[-1] and most[-1].isalpha() else least}–{most})"


def cell(row, n, show=spread):
    """Of a table's row the n-th cell: what was measured, and what the paper has."""
    words = show(row["cells"][n]) if row["cells"][n] else "–"
    paper = row["paper"][n] if row.get("paper") else None
    return words if paper is None else f"{words} (paper: {paper})"


def compared(values, key, ours=True):
    """{row: median} at one key: of Hotlane's rows, or of the others that are to be compared."""
    return {name: middle(cells[key]) for name, cells in values.items()
            if cells.get(key) and (name in values.ours) == ours and NO_PATH not in values.marks.get(name, "")}


def ratio(values, key, row, better="more"):
    """(how many times as good as the best of the others the row is, that other's name), or None."""
    others, own = compared(values, key, ours=False), values.get(row, {}).get(key)
    if not others or not own:
        return None
    best = (max if better == "more" else min)(others, key=others.get)
    if not others[best] or not middle(own):
        return None
    return (middle(own) / others[best] if better == "more" else others[best] / middle(own)), best


class Book:
    """The tables of one run of a script. Every table is printed at once."""

    def __init__(self, options, script):
        self.options, self.tables, self.lists, self.lines, self.part = options, [], [], [], (0, 1)
        self.script, self.bad, self.shown = script, False, 0
        self.goals, self.unjudged = [], []  # [(name, by how many times it is missed)]; names of those for which something is not here
        options.book = self

    def say(self, line):
        """A line beside the tables, for the JSON as well."""
        print(line, flush=True)
        self.lines.append(line)

    def judge(self, name, value, goal, better="less"):
        """Words for a value and its goal, which count for --gate; by its name missed.expect may list it."""
        gap = missed.times(value, goal, better)
        self.goals.append((name, gap))
        return f"{value:.2f}, goal at {'most' if better == 'less' else 'least'} {goal:.2f}: {'reached' if gap <= 1 else 'missed'}"

    def aim(self, name, value, goal, better="less", more=""):
        """Says how a value stands to its goal."""
        self.say(f"  {name}: {self.judge(name, value, goal, better)}{more}")

    def bound(self, right, words):
        """A bound that only --gate keeps: it counts as a goal, and the words say how it is broken."""
        self.goals.append((words, 1 if right else math.inf))
        if not right:
            self.say(words)

    def parts(self, things):
        """The things one by one; how far the script is counts in them."""
        for k, thing in enumerate(things):
            self.part = k, len(things)
            yield thing

    def progress(self, share, begin=0, seconds=0):
        """How much of this part is done, from 0 to 1; with `seconds` the time that passed since `begin` counts instead."""
        if self.options.json and (now := time.monotonic()) - self.shown > 0.5:
            share = max(share, min(1, (now - begin) / seconds)) if seconds else share
            self.shown = now
            _write(self.options.json + ".progress", f"{(self.part[0] + min(1, share)) / self.part[1]:.4f}")

    def table(self, title, unit, values, x="", keys=None, better="more", stem=None, drawn=True, paper=None):
        """Prints values; keys: which, in order; x: what they are (empty: names); stem: draws PICTURE-STEM.svg; drawn: how
        perf/report shows it: as a picture, as a picture of what is "relative" already and so compared with no other library, as a
        "table" (what is exact, or may be 0), or (False) only with all numbers; paper:
        {row: {key: what a paper's table has there}}."""
        keys = keys or list(dict.fromkeys(k for cells in values.values() for k in cells))
        table = {"title": title, "unit": unit, "x": x, "better": better, "rounds": values.rounds, "keys": keys, "drawn": drawn,
                 "rows": [{"name": name, "ours": name in values.ours, "mark": values.marks.get(name, ""),
                           "cells": [cells.get(k, []) for k in keys], "paper": [paper.get(name, {}).get(k) for k in keys] if paper else []}
                          for name, cells in values.items() if cells],
                 "failed": values.failed}
        self._print(table)
        self.tables.append(table)
        if stem and not self.options.json and len(keys) > 1 and x and table["rows"]:
            path = f"{self.options.picture}-{stem}.svg"
            svg.curves(path, title, x, unit, series(table))
            print(f"  {path}", flush=True)

    def words(self, title, head, rows, seen):
        """Prints a table of words: a row for each thing, first its name; seen: a sentence about it."""
        self.lists.append({"title": title, "head": head, "rows": rows, "seen": seen})
        print(f"\n{title}")
        for row in [head] + rows:
            print("  " + "; ".join(filter(None, row)), flush=True)
        print(f"  {seen}", flush=True)

    def _print(self, table):
        rows, keys = table["rows"], table["keys"]
        exact = all(len(c) < 2 for r in rows for c in r["cells"])
        print(f"\n{table['title']}: {table['unit']}" + ("" if exact else f", median (least–most of {table['rounds']})"))
        lines = [[table["x"] and table["x"] + ":"] + [str(k) for k in keys]]
        lines += [[r["name"]] + [cell(r, n) for n in range(len(keys))] + [r["mark"]] * bool(r["mark"]) for r in rows]
        if not table["x"] and rows:  # names are longer than numbers: one below the other
            lines = [[""] + [r["name"] for r in rows]] + [[str(k)] + [cell(r, n) for r in rows] for n, k in enumerate(keys)]
            lines += [[""] + [r["mark"] for r in rows]] * any(r["mark"] for r in rows)
        width = max((len(word) for line in lines for word in line[1:]), default=0) + 2
        for line in lines + [[name, "failed"] for name in table["failed"]]:
            print(f"{line[0]:<40}" + "".join(f"{word:>{width}}" for word in line[1:]), flush=True)

    def compare(self, values, keys, row, better="more", goals=None, title=""):
        """Says how many times as good as the best of the others the row is at each key; goals: {key: least}, whose names are the
        title and the key."""
        goals, found = goals or {}, {k: r for k in keys if (r := ratio(values, k, row, better))}
        self.unjudged += [f"{title}, {k}" for k in goals if k not in found]
        if found:
            self.say(f"  {row} is so many times as good as the best of the others: " + "; ".join(
                f"{k}: " + (self.judge(f"{title}, {k}", r, goals[k], "more") if k in goals else f"{r:.2f}") + f" ({best})" for k, (r, best) in found.items()))

    def close(self):
        """Writes the JSON; returns the exit code: with --gate 1 when a goal was missed that is not listed, and 77 when none could be
        judged."""
        if self.options.json:
            found = {"script": self.script, "tables": self.tables, "lists": self.lists, "lines": self.lines, "bad": self.bad}
            _write(self.options.json, json.dumps(found))
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.options.json + ".progress")
        if not getattr(self.options, "gate", False):
            return 1 if self.bad else 0
        known, new, stale = missed.judge(missed.read(MISSED, self.script), self.goals, self.unjudged)
        print(f"{known + new} of {len(self.goals)} goals missed: {known} known, {new} new" if self.goals
              else "skipped: no goal can be judged here: nothing to compare with")
        return 1 if self.bad or new or stale else 0 if self.goals else 77


def main(script, options, work):
    """work(book) measures and fills the book; returns the exit code: 77 where something is not here, 1 where a run of Hotlane
    failed."""
    book = Book(options, script)
    try:
        work(book)
    except (peers.Unavailable, hosts.Unavailable) as reason:
        print(f"skipped: {reason}")
        return 77
    except peers.Failed as failed:
        print(failed)
        book.bad = True
    except KeyboardInterrupt:
        print("stopped")
        return 130
    return book.close()


def series(table):
    """{row: [(x, median, least, most)]} of a table whose keys are numbers."""
    return {row["name"]: [(k, middle(c), min(c), max(c)) for k, c in zip(table["keys"], row["cells"]) if c] for row in table["rows"]}


def _write(path, text):
    """Whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
