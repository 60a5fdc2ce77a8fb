#!/usr/bin/env python3
"""Prints the scoreboard of the source tree and fails past its bars.

usage: lint.py [--worst N] [SOURCE_ROOT]

Each row: measure, value, bar, worst places. Reads the files that git tracks (all C files of a tree without git).
Files of public headers (include/) may be of any length: they are tables of the standard.
"""
import argparse
import os
import re
import subprocess
import sys

import house

CODE = ("lib/", "rma/", "shmem/", "tools/", "perf/", "tests/")
LIBRARY = ("lib/", "rma/", "shmem/")
CONTROL = {"if", "for", "while", "switch", "return", "sizeof", "defined", "ElfW"}
# The last ones have the shape that PMIx gives its functions and handlers.
PUBLIC = re.compile(r"P?MPIX?_|p?shmemx?_|HL_API|p?mpi_|PMIx_|pmix_event$")
ATOMIC = (r"__atomic_|__sync_|\b_Atomic\b|stdatomic|"
          r"\batomic_(load|store|fetch|thread_fence|exchange)|_mm_mfence")


def tracked(root):
    try:
        out = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout
        files = out.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        files = []
    if not any(files):
        files = [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs
                 if "/build" not in d and "/.git" not in d]
    return sorted(f for f in files if f and os.path.isfile(os.path.join(root, f)))


def without_comments(text):
    """Blanks comments, strings and character constants; keeps every line break."""
    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return found[0] + "_" * (len(found) - 2) + found[-1]
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


def parameters(head):
    """Number of parameters of the function whose signature is `head`."""
    match = re.search(r"(\w+)\s*\(", head)
    depth, count, seen = 0, 1, False
    for char in head[match.end():]:
        if char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                break
            depth -= 1
        elif char == "," and depth == 0:
            count += 1
        if not char.isspace():
            seen = True
    return count if seen else 0


# What may stand before a function's type and looks like a call: attributes, HL_PRINTF(3, 4) and the like.
ATTRIBUTE = re.compile(r"\b(?:__attribute__|HL_[A-Z_]+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*(?=[\w*])")


def functions(lines):
    """Yields (name, first line, last line, signature) of every function, without its attributes: braces alone in column 0 enclose
    its body."""
    start = None
    for i, line in enumerate(lines):
        if line == "{" and i > 0:
            start = i
        elif line.startswith("}") and start is not None:
            first = start - 1
            while first > 0 and lines[first - 1].strip() and not re.match(r"[}#]|.*;\s*$", lines[first - 1]):
                first -= 1
            head = ATTRIBUTE.sub("", " ".join(lines[first:start]))
            names = [n for n in re.findall(r"(\w+)\s*\(", head) if n not in CONTROL and not n.startswith("__")]
            if names and "=" not in head.split("(")[0]:
                yield names[0], first + 1, i + 1, head
            start = None


def changed(root):
    """The files that differ from the last commit of main, as far as git tells."""
    base = subprocess.run(["git", "-C", root, "merge-base", "HEAD", "main"], capture_output=True, text=True).stdout.strip()
    return set(subprocess.run(["git", "-C", root, "diff", "--name-only", base or "HEAD"], capture_output=True, text=True).stdout.split())


class Board:
    """The rows of the table; a row past its bar fails the test and shows its places, those in changed files first."""

    def __init__(self, worst, files):
        self.rows, self.worst, self.files, self.failed = [], worst, files, False

    def count(self, measure, places, bar=0):
        """`places` is a list of 'file:line text'; their number is judged."""
        self.add(measure, len(places), bar, places)

    def add(self, measure, value, bar, places=()):
        bad = value > bar
        self.failed |= bad
        self.rows.append((measure, value, bar, "FAIL" if bad else "ok"))
        if bad:
            places = sorted(places, key=lambda p: not any(f in p for f in self.files))
            self.rows += [("    " + p, "", "", "") for p in places[:self.worst]]

    def show(self):
        print(f"{'measure':<58} {'value':>6} {'bar':>6}")
        for measure, value, bar, state in self.rows:
            print(f"{measure:<58} {value:>6} {bar:>6} {state}" if state else measure)


def matches(sources, pattern, allowed):
    """Places whose line matches, in files that are not allowed to."""
    return [f"{name}:{i} {line.strip()[:90]}" for name, lines in sources.items() if not allowed(name)
            for i, line in enumerate(lines, 1) if re.search(pattern, line)]


def provider_names(text):
    """String literals of the library and its tools that are names of libfabric's providers; the table has them."""
    table = text.get("lib/fab/providers.c", "")
    known = {part for name in re.findall(r'\.name = "([^"]+)"', table) for part in (name, name.split(";")[0])}
    places = []
    for name, whole in text.items():
        if name.startswith(LIBRARY + ("tools/",)) and name.endswith((".c", ".h")) and name != "lib/fab/providers.c":
            for i, line in enumerate(re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), whole, flags=re.S).split("\n"), 1):
                places += [f"{name}:{i} {word}" for word in re.findall(r'"((?:\\.|[^"\\])*)"', line)
                           if word in known or "ofi_rx" in word]
    return places


def silent_waits(code):
    """Waits that the watchdog could not put into words: of a condition without HL_HANG_WORDS in the same file, or by a
    call of its own that may last. Those that end by themselves, or look at the watchdog, are named here."""
    known = {"lib/prog/wait.c": "how the one routine waits", "lib/prog/door.c": "how it sleeps", "lib/prog/keeper.c": "how one sleeps at descriptors",
             "lib/op/near_lock.c": "whoever holds it copies, or is dead",
             "lib/mem/near_map.c": "hl_hang_look", "lib/boot/": "hl_hang_look; PMIx waits by itself", "lib/lane/open_async.c": "a helper thread",
             "lib/match/port.c": "owners of ports wait for nobody", "lib/rx/mr.c": "a second in all", "shmem/parts.c": "one nap", "shmem/alloc.c": "one nap",
             "lib/base/atomic_directory.c": "for the baton"}
    places = []
    for name, lines in code.items():
        if not name.startswith(LIBRARY) or not name.endswith(".c"):
            continue
        text = "\n".join(lines)
        told = set(re.findall(r"HL_HANG_WORDS\(\s*(\w+)", text))
        for found in re.finditer(r"\bhl_prog_wait(?:_rung|_slow)?\s*\(\s*(\w+)\s*,", text):
            if found.group(1) not in told:
                places.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1} {found.group(1)}")
        for i, line in enumerate(lines, 1):
            if not name.startswith(tuple(known)) and re.search(
                    r"\b(sched_yield|nanosleep|clock_nanosleep|usleep|sleep|pthread_cond_(timed)?wait|sem_wait|ppoll|SYS_futex)\b\s*[(,]", line):
                places.append(f"{name}:{i} {line.strip()[:90]}")
    return places


# Words of our own that newcomers could not guess, and what replaced each.
OLD_WORDS = {"pulse|feel_\\w+|felt_\\w+|feelers?": "heartbeat",
             "knock|knocks|knocked": "ping, of a lane; tcp_probe, of a host",
             "hl_letter": "hl_fab_receive, acknowledgement",
             "mend|mends|mended|mending": "reconnect",
             "bury|buries|buried|mourn|mourns": "fail, mark dead",
             "tray|trays": "rpc slot, request slot",
             "shelf|shelves": "kvs cache",
             r"hl_(?:fab|rx)_seal\w*|seal\.c": "cloexec",
             "choke|chokes|choked|choking": "flow control; throttle",
             "train|trains": "eager segments",
             "joint|joints": "split copy",
             "spot|spots": "target address",
             "zip|zips": "layout iterator",
             "patience": "stall timer, timeout",
             r"hl_told\w*": "hl_wait_desc, describe",
             r"verdicts?|hl_verdict\w*": "agreement, of members; post status, of a lane",
             r"hl_(?:near_)?home\w*": "part of the board",
             r"hl_owed\w*|pay_owed": "deferred; acknowledgement that is due",
             r"guests?|hl_warm\w*|add_warm|warm\.[ch]": "borrower; lane that is opened in the background",
             r"homes? of (?:a|each|the) rank": "part of the board",
             r"hl_reach_(?:offer|withdraw|note|take|copy|read)": "hl_offer_*, of large messages",
             r"hl_epoch_(?:reach8?|unfence|words)": "hl_epoch_limit, hl_epoch_flush_is_more",
             r"hl_win_(?:xfer|far|reach)(?!\w)": "hl_win_move, hl_move_apply, hl_move_unmapped; hl_win_take_lock",
             r"hl_entry_post(?:ed)?|hl_post(?:_op|_req|_list)?(?!\w)": "hl_command",
             r"hl_matcher_(?:i?send|i?recv|i?m?probe|i?mrecv|cancel|self)": "hl_match_send and its kin; hl_match_self",
             r"hl_way_(?:ping|await|reconnect|read_heartbeat)": "hl_lane_*; hl_way_* is of way.c",
             r"hl_rx_tick": "hl_rx_want_ticks",
             r"hl_claim\w*|HL_CLAIM\w*": "hl_wild_*, of receives from any source; claims are of rings",
             r"hl_rx_unpack": "hl_rx_apply_records; hl_type_unpack is of datatypes"}
# Where such a word is another one: (word, files, why).
OTHER_SENSES = ((r"\b(?:HL_STAT_RANK_)?(?:chokes|trays|bytes_trays|shelf_gets)\b", r"", "statistics: what users see keeps its name"),
                (r"(?<![a-z])guests?(?![a-z])", r"tests/(?:guest|net|info|data)/|tests/(?:meson\.build|unit/fab_choice\.h)|CONTRIBUTING|docs/(?:FABRICS|MEMORY|ROADMAP)\.md",
                 "of a virtual machine"),
                (r"\bzip\(", r".*\.py$", "a function of Python"))


def old_words(text):
    """Old words in identifiers, comments and texts of library, tools and tests, and on the pages of the book."""
    words = re.compile(rf"(?<![a-z])(?:{'|'.join(OLD_WORDS)})(?![a-z])", re.I)
    places = []
    for name, whole in text.items():
        if name.startswith(LIBRARY + ("tools/", "tests/", "docs/", "README", "CONTRIBUTING")) and name != "tests/lint/lint.py":
            others = [word for word, files, _ in OTHER_SENSES if re.match(files, name)]
            left = re.sub("|".join(others), "", whole, flags=re.I)
            places += [f"{name}:{left.count(chr(10), 0, found.start()) + 1} {found[0]}" for found in words.finditer(left)]
    return places


# Who calls it, who writes it, whose it is: such a sentence has a subject. A participle before one of these words has none ("Freed by the owner."),
# before another word it may describe one ("Freed requests are forgotten."); what begins with a verb like "Must" is a question, or has none.
BEHIND = (r"(?:about|after|again|also|alone|anew|around|as|at|before|behind|between|beside|by|down|during|early|except|for|from|here|if|in|instead|into|"
          r"just|late|lazily|like|not|on|once|only|or|out|over|so|there|through|to|too|twice|under|unless|until|up|when|whenever|where|while|with|within|without|elsewhere|later|meanwhile|off|since|together)")
PARTICIPLE = (r"(?:[A-Z][a-z]+ed|(?!Even\b)[A-Z][a-z]+en|Built|Found|Gone|Held|Kept|Known|Left|Lost|Made|Meant|Read|Run|Seen|Sent|Set|Shown|Told|"
              r"Thrown|Valid|Written)")
BEGINS = rf"(?:{PARTICIPLE}[,:]?\s+{BEHIND}\b|(?:Must|May|Can|Cannot|Need|Needs)\b(?=[^?]*?(?:[.]\s|\*/)))"
# The first sentence over a function may tell when it is called, since all of them speak of the function.
NO_SUBJECT = re.compile(rf"([.]\s+|/\*\s*(?!Called\b))({BEGINS})")
# What is "there" or "before" is named.
POINTS_BACK = re.compile(r"()\b([Aa]s (?:there|before|above|below))\b(?=[.,;:)]|\s*\*/)")


def without_subject(name, whole):
    """Comments in one file with a sentence that begins with a participle or a verb, or that points to another comment."""
    places = []
    for comment in re.finditer(r"/\*.*?\*/", whole, re.S):
        words = re.sub(r"\n\s*\*(?!/)", lambda m: "\n" + " " * (len(m[0]) - 1), comment[0])
        places += [f"{name}:{whole.count(chr(10), 0, comment.start() + found.start(2)) + 1} {' '.join(found[2].split())}"
                   for rule in (NO_SUBJECT, POINTS_BACK) for found in rule.finditer(words)]
    return places


def sentences_without_subject(text):
    """Such comments of the library, and what is not seen, or seen where nothing is wrong, when it is planted."""
    wrong = ("It is a word. Changed under the lock.", "Must be called before.", "Kept until the end.", "A word.\n * Freed by its owner.", "A word. Called late.",
             "It is done as before.", "A word, as there: one.", "A word. May wait.")
    right = ("Freed words are forgotten.", "Must it wait? Yes.", "Called when it ends.", "It goes as before each call.", "changed under the lock")
    places = [f"not seen when planted: {words}" for words in wrong if not without_subject("", f"/* {words} */")]
    places += [f"nothing is wrong with: {words}" for words in right if without_subject("", f"/* {words} */")]
    for name, whole in text.items():
        if name.startswith(LIBRARY) and name.endswith((".c", ".h")):
            places += without_subject(name, whole)
    return places


def conditionals_inside(name, lines, bodies):
    inside = [(first, last) for _, first, last, _ in bodies]
    return [f"{name}:{i} {line.strip()}" for i, line in enumerate(lines, 1)
            if re.match(r"\s*#\s*(if|ifdef|ifndef)\b", line) and any(a < i < b for a, b in inside)]


def read_sources(root):
    text = {}
    for name in tracked(root):
        if re.search(r"\.(c|h|py|sh|md|build|txt|in)$", name) or "." not in os.path.basename(name):
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as f:
                text[name] = f.read()
    return text


def judge(root, board):
    text = read_sources(root)
    code = {n: without_comments(t).split("\n") for n, t in text.items()
            if n.endswith((".c", ".h")) and n.startswith(CODE)}
    bodies = {n: list(functions(lines)) for n, lines in code.items()}
    plain = {n: t.split("\n") for n, t in text.items() if n != "tests/lint/lint.py"}

    lengths = sorted(((b - a + 1, f"{n}:{a} {f}") for n, fs in bodies.items() for f, a, b, _ in fs), reverse=True)
    board.count("functions over 60 lines", [f"{p}: {s} lines" for s, p in lengths if s > 60])
    sizes = sorted(((len(lines) - 1, n) for n, lines in code.items()), reverse=True)
    board.add("largest .c or .h file, lines", sizes[0][0] if sizes else 0, 600,
              [f"{n}: {s} lines" for s, n in sizes if s > 600])
    board.count("functions with more than 7 parameters (public API aside)",
                [f"{n}:{a} {f}: {parameters(h)}" for n, fs in bodies.items() for f, a, _, h in fs
                 if parameters(h) > 7 and not PUBLIC.match(f)])
    board.count("#if inside function bodies",
                [p for n, lines in code.items() for p in conditionals_inside(n, lines, bodies[n])])
    board.count("getenv outside the configuration module",
                matches(code, r"\b(secure_)?getenv\s*\(", lambda n: not n.startswith(LIBRARY) or n.startswith("lib/conf/")))
    board.count("atomics and fences outside lib/base/atomic*",
                matches(code, ATOMIC, lambda n: n.startswith("lib/base/atomic") or not n.startswith(LIBRARY)))
    board.count("waits that the watchdog cannot tell of", silent_waits(code))
    board.count("names of libfabric's providers outside lib/fab/providers.c", provider_names(text))
    board.count("marks of unfinished work", matches(plain, r"\b(TODO|FIXME|XXX)\b", lambda n: False))
    board.count("paths of one machine", matches(plain, r"(^|[\s\"'=(])/(work|home|root)/", lambda n: False))
    board.count("lines of the library over 110 columns",
                [f"{n}:{i}" for n, t in text.items() if n.startswith(LIBRARY) and n.endswith((".c", ".h"))
                 for i, line in enumerate(t.split("\n"), 1) if len(line) > 110])
    board.count("old words in library, tools, tests and the book", old_words(text))
    board.count("comments with a sentence that has no subject", sentences_without_subject(text))
    board.count("C files whose first line does not say their duty",
                [n for n in code if not text[n].lstrip().startswith("/*")])
    if "lib/meson.build" in text:
        house.judge(board, text, code, bodies, functions)
    return sum(len(b) for b in bodies.values()), sum(len(lines) for lines in code.values())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    options.add_argument("--worst", type=int, default=10, help="places shown for a failed row")
    args = options.parse_args()
    board = Board(args.worst, changed(args.root))
    count, lines = judge(args.root, board)
    board.show()
    print(f"{count} functions in {lines} lines of C")
    return 1 if board.failed else 0


if __name__ == "__main__":
    sys.exit(main())
