#!/usr/bin/env python3
"""perf/report from the outside: report.py BUILD. It is stopped in the middle and goes on, leaves no process when it is killed, says
what changed between two reports and what is missing for a build that a part needs, and makes one page that needs no network, with a caption
for each figure and each table; headless Chromium, where it is installed, shows it wide and narrow, light and dark, without a complaint.

report.py BUILD FIGURES: only that these work, those whose builds others make. report.py --scripts: every script of perf/ is a part, or is named with
a reason, and the report of the documentation is small and has a caption for each figure; and what needs no build."""
import html.parser
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
REPORT = os.path.join(SOURCE, "perf", "report")
FIGURES = "hoefler-listings,balaji-nobody"
MOST = 1000000  # bytes of docs/report
TABLES = "balaji-locks,kandalla-2,kandalla-3,many-ranks,ends"
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions", "--enable-logging=stderr"]
SCHEMES = {"light": "--blink-settings=preferredColorScheme=1", "dark": "--blink-settings=preferredColorScheme=0"}
sys.path[:0] = [os.path.join(SOURCE, "perf")]
import builds  # noqa: E402
import figures  # noqa: E402
import harness  # noqa: E402
import svg  # noqa: E402


def command(folder, *words, only=FIGURES):
    return [sys.executable, REPORT, "--tiny", "--only", only, "--build", sys.argv[1], "--out", folder, *words]


def run(folder, *words, only=FIGURES, environment=None):
    return subprocess.run(command(folder, *words, only=only), capture_output=True, text=True, check=False, timeout=200, stdin=subprocess.DEVNULL,
                          env=environment)


def check(right, words):
    if not right:
        sys.exit(f"report: {words}")


def descendants(pid):
    """Every process below one, with its command line."""
    parents = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = {pid}
    for _ in parents:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            break
        found |= more
    return found - {pid}


def is_there(pid):
    """A process that is not yet waited for has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def interrupt(folder, how):
    """Sends a signal once a figure runs, of which a launcher with ranks is there; returns the output when nothing of it is left."""
    process = subprocess.Popen(command(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    below, end = set(), time.monotonic() + 60
    while len(below) < 6 and process.poll() is None and time.monotonic() < end:  # two guards, a script, a launcher and ranks
        below = descendants(process.pid)
        time.sleep(0.01)
    if process.poll() is not None or len(below) < 6:
        process.kill()
        check(False, f"it did not start: {process.communicate()}")
    os.kill(process.pid, how)
    out, err = process.communicate(timeout=60)
    end = time.monotonic() + 30
    while (left := [p for p in below if is_there(p)]) and time.monotonic() < end:
        time.sleep(0.01)
    check(not left, f"signal {how} left {left}")
    return process.returncode, out + err


class Page(html.parser.HTMLParser):
    """What the page refers to, and what each figure has."""

    def __init__(self, text):
        super().__init__()
        self.outside, self.figures, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href", "action", "data", "srcset") and not value.startswith(("#", "data:"))]
        if tag in ("script", "iframe", "object", "embed"):
            self.outside.append(tag)
        if tag == "figure":
            self.figures.append({"shown": 0, "caption": ""})
        if tag in ("svg", "table") and "figure" in self.open:
            self.figures[-1]["shown"] += 1

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "figcaption" in self.open:
            self.figures[-1]["caption"] += data


def examine(folder, count=None):
    """The page has so many figures (None: as many as it says), each with pictures or tables and a caption, and nothing from elsewhere."""
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
        text = file.read()
    page = Page(text)
    check(not page.outside and "@import" not in text and not re.search(r"url\((?!#)", text), f"the page needs {page.outside}")
    if count is None:  # a page of an earlier day: commands and figures may have changed since then
        says = re.search(r"\b(\d+) of \d+ figures", text)
        check(says, "the page does not count its figures")
        count, hows = int(says[1]), [""]
    else:
        hows = {f.how.partition("{")[0] for f in figures.FIGURES} | {figures.ONCE}
        check(f"{count} of {len(figures.FIGURES)} figures" in text, "the page counts its figures against something else than all there are")
    check(len(page.figures) == count, f"{len(page.figures)} figures, not {count}")
    for figure in page.figures:
        check(figure["shown"] > 0 and "Measured" in figure["caption"] and any(how in figure["caption"] for how in hows),
              f"a figure without picture, table or caption: {figure}")
    check("var(" not in svg.STYLE, "a renderer without CSS variables draws the pictures black")
    check("The paper shows" in text or "What is asked" in text, "the page does not say what a figure is about")
    for words in ("Seen here", "Why it differs", "The command", "prefers-color-scheme:dark", "max-width:60rem"):
        check(words in text, f"the page lacks '{words}'")


def shown(folder):
    """Chromium draws the page in both widths, light and dark: four different pictures, none empty, and the console says nothing."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not browser:
        return "without a look at it: chromium is not installed"
    pictures = {}
    for name, width, scheme in ((f"{scheme}-{width}", width, scheme) for scheme in SCHEMES for width in (1400, 400)):
        picture = os.path.join(folder, f"{name}.png")
        done = subprocess.run([browser, *CHROMIUM, SCHEMES[scheme], f"--user-data-dir={folder}/profile", f"--window-size={width},1600",
                               f"--screenshot={picture}", "file://" + os.path.abspath(os.path.join(folder, "index.html"))],
                              capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL)
        check(done.returncode == 0 and os.path.exists(picture), f"chromium: code {done.returncode}: {done.stderr[-500:]}")
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        check(not console, f"the console says {console}")
        with open(picture, "rb") as file:
            pictures[name] = file.read()
    sizes = {name: len(picture) for name, picture in pictures.items()}
    check(min(sizes.values()) > 20000, f"empty pictures: {sizes}")
    check(len(set(pictures.values())) == len(pictures), f"pictures that should differ are the same: {sizes}")
    return "looked at in chromium, wide and narrow, light and dark"


def wire():
    """A row that sends less through the interface than it puts is marked and not compared; one that does is compared."""
    options = type("Options", (), {"rounds": 1, "within": 0, "json": ""})()
    harness.Book(options, "wire")

    def send(row, _):
        if row.name == "honest":
            subprocess.run([sys.executable, "-c", "import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection("
                            "s.getsockname())\nt = s.accept()[0]\nfor _ in range(100):\n c.sendall(bytes(65536))\n n = 0\n while n < 65536:"
                            "\n  n += len(t.recv(65536))"], check=True)
        return {1: 1.0}

    rows = [harness.Row(name, None, {}, [], "network") for name in ("honest", "other")] + [harness.Row("hotlane", None, ours=True)]
    values = harness.in_turns(rows, [None], send, options, lambda *_: 100 * 65536 if _[2] else 0)
    check("honest" not in values.marks, f"an honest row is marked: {values.marks}")
    # Others on this machine use the loopback device, too: the row is judged again when it was lucky.
    for _ in range(5):
        if values.marks.get("other") == harness.NO_PATH:
            break
        values = harness.in_turns(rows, [None], send, options, lambda *_: 1 << 40)
    check(values.marks.get("other") == harness.NO_PATH, f"a row without bytes is not marked: {values.marks}")
    check("other" not in harness.compared(values, 1, ours=False), "a row without bytes is compared")


def pages_that_go():
    """Huge pages that others take while perf/mem_page runs are skipped, not a failure."""
    loader = importlib.machinery.SourceFileLoader("mem_page", os.path.join(SOURCE, "perf", "mem_page"))
    mem_page = importlib.util.module_from_spec(importlib.util.spec_from_loader("mem_page", loader))
    loader.exec_module(mem_page)
    program = type("Program", (), {"call": lambda *_: (77, "skipped: a mapping: Cannot allocate memory\n", "aborted")})()
    try:
        mem_page.measure(program, 1, "4K", type("Options", (), {"operations": 1, "rounds": 1}))
    except mem_page.Skipped as reason:
        check("a mapping: Cannot allocate memory" in str(reason), f"pages that others took: {reason}")
        return
    check(False, "pages that others took are not skipped")


def relative():
    """Shares below 0 lie inside the picture, and the percent of a relative table are said beside the paper's."""
    text = svg.curves_text("less", "cores", "percent", {"a": [(2, -30, -40, 10), (4, 20, 10, 30)], "b": [(2, 0, 0, 0), (4, 0, 0, 0)]})
    places = [float(y) for y in re.findall(r"[\d.]+ ([\d.-]+)h0", text) + re.findall(r"V([\d.-]+)", text)]
    check(len(places) > 4 and all(svg.TOP <= y <= svg.HEIGHT - svg.BOTTOM for y in places) and ">-20<" in text and ">0<" in text, f"negative shares: {text}")
    svg.curves_text("none", "cores", "percent", {"a": [(2, 0, 0, 0), (4, 0, 0, 0)]})
    table = {"title": "less", "unit": "percent", "x": "cores", "better": "more", "keys": [2, 4], "drawn": "relative",
             "rows": [{"name": "against global", "ours": True, "mark": "", "cells": [[12.2], [36, 38]], "paper": []}], "failed": {}}
    said = figures.percents("The paper has 18 %.")([table])
    check(said == ["less: against global 12 % on 2 cores, 37 % on 4 cores. The paper has 18 %."], f"percents: {said}")
    check(figures.against_others("hotlane")([table]) == ["No other library ran here to compare with."], "what is relative is compared")


def sentences():
    """What is said of a table names its unit, keeps names with commas apart, gives each row its own ends, and owns up to single runs and failures."""
    def row(name, ours, *cells):
        return {"name": name, "ours": ours, "mark": "", "cells": list(cells), "paper": []}

    table = {"title": "received", "unit": "messages/s", "x": "threads", "better": "more", "keys": [1, 2, 8], "drawn": True, "failed": {"mpich": "it hung"},
             "rows": [row("a, locks", True, [1], [4], [2]), row("a, probe", True, [2], [6], []), row("b, probe", False, [1], [2], [4])]}
    said = figures.growth("a, locks", "a, probe")([table])
    check(said == ["received: from 1 to 8 threads a, locks grows 2.00 times.", "received: from 1 to 2 threads a, probe grows 3.00 times."], f"growth: {said}")
    said = figures.in_order("a, probe", "a, locks")([table])
    check(said == ["received, 2 threads, messages/s: from the best to the worst a, probe (6); a, locks (4): the paper's order, by one run of each."],
          f"order: {said}")
    said = figures.against_others("a, probe")([table])
    check(said == ["received, messages/s: a, probe is 2.00 to 3.00 times as good as the best of the others (b, probe).", "Not compared: mpich (failed)."],
          f"against others: {said}")
    said = figures.beside("a, probe", "b, probe", "none")([table])
    check(said == ["received, messages/s: a, probe reaches 2.00 to 3.00 times b, probe."], f"beside a limit: {said}")
    for figure in figures.FIGURES:  # no number of cores makes a reason untrue
        why = figure.why.format(cores=64)
        check("{" not in why and not re.search(r"\b[Oo]n 64 cores|64 cores, so\b", why), f"{figure.id} concludes from a number of cores: {why}")


def sizes():
    """Numbers are written short, and compared as they are written; the report of the documentation stays small."""
    loader = importlib.machinery.SourceFileLoader("report", REPORT)
    report = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
    loader.exec_module(report)
    check([report.brief(c) for c in ([], [3.0, 3.0], [1.23456, 9, 5e6, 2.5e6], [1234567], [12345, 12346.5])]
          == [[], [3], [1.235, 1250000, 5000000], [1235000], [12345, 12350]], "numbers are not written short")
    row = {"name": "a", "ours": True, "mark": "", "cells": [[1234567.0, 1234568.0]], "paper": []}
    table = {"title": "t", "x": "threads", "better": "more", "keys": [1], "drawn": True, "rows": [row]}
    entry = {"command": "c", "seen": ["much"], "lists": [], "tables": [table, {**table, "title": "u", "drawn": False}]}
    short = report.shortened(entry)
    check(short == {"command": "c", "lists": [], "tables": [{**table, "rows": [{"name": "a", "ours": True, "cells": [[1235000, 1235000]]}]}]}, f"an entry: {short}")
    check(report.changes(entry, short).startswith("0 of 1 points"), f"the same numbers differ: {report.changes(entry, short)}")
    check(harness.spread([999960.0, 1.5e6, 1e12]) == "1.5M (1M–1T)", harness.spread([999960.0, 1.5e6, 1e12]))
    folder = os.path.join(SOURCE, "docs", "report")
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    check(size < MOST, f"docs/report has {size} bytes, and is to have less than {MOST}: make it again by perf/report, which writes short")


def amounts():
    """A short run chooses how many messages a row sends: as many as its rate allows, one at least, and no more than the most."""
    asked = []

    def rate(per_second, number):
        asked.append(number)
        return per_second

    cases = [((1e3, 100, 128, 10 ** 6), 100, [128]), ((1e6, 100, 128, 10 ** 6), 100000, [128, 25000]), ((1e6, 100, 128, 5000), 5000, [128, 1250]),
             ((2, 100, 128, 10 ** 6), 1, [128]), ((1e6, 1, 512, 200), 200, [200])]
    for (per_second, milliseconds, first, most), wanted, runs in cases:
        del asked[:]
        found = harness.fitted(lambda number, r=per_second: rate(r, number), milliseconds, first, most)
        check(found == wanted and asked == runs, f"{per_second}/s for {milliseconds} ms: {found} messages after runs of {asked}")


def every_script():
    """A script of perf/ is a part, or no part for a reason; what is named is there."""
    there = {name for name in os.listdir(os.path.join(SOURCE, "perf")) if os.access(path := os.path.join(SOURCE, "perf", name), os.X_OK) and os.path.isfile(path)}
    parts = {figure.script for figure in figures.FIGURES}
    check(not there - parts - set(figures.NO_PARTS), f"neither a part of the report nor in figures.NO_PARTS with a reason: {sorted(there - parts - set(figures.NO_PARTS))}")
    check(not parts & set(figures.NO_PARTS) and parts | set(figures.NO_PARTS) <= there,
          f"named twice, or not there: {sorted(parts & set(figures.NO_PARTS) | (parts | set(figures.NO_PARTS)) - there)}")
    check(len({f.id for f in figures.FIGURES}) == len(figures.FIGURES), "two parts have one name")


def tables():
    """Parts that are tables: numbers beside the paper's, words; a change of either is told."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(folder, only=TABLES)
        check(done.returncode == 0 and "5 of 5 figures" in done.stdout, f"tables: {done.returncode} {done.stdout}{done.stderr}")
        examine(folder, 5)
        with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
            text = file.read()
        for words in ("8 (paper: 8)", "5 of 5 numbers are the paper&#x27;s.", "MPICH_<wbr>ALLOC_<wbr>MEM_<wbr>PG_<wbr>SZ",
                      "Hotlane has 3 of the figure&#x27;s 3 variables", "pgsize=2M:policy=M", "Failures: 0"):
            check(words in text, f"the tables lack '{words}'")
        old = os.path.join(folder, "old.json")
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            then = json.load(file)
        locks, memory = (next(f for f in then["figures"] if f["id"] == name) for name in ("balaji-locks", "kandalla-2"))
        locks["tables"][0]["rows"][1]["cells"][1] = [9]
        memory["lists"][1]["rows"][0][1] = "nothing"
        with open(old, "w", encoding="utf-8") as file:
            json.dump(then, file)
        done = run(folder, "--compare", old, only=TABLES)
        check(re.search(r"balaji-locks against \S+: 1 of \d+ .*object, MPI_Isend \+ MPI_Wait mode: 0.89 times \(better\)", done.stdout)
              and re.search(r"kandalla-2 against \S+: 1 of \d+ .*MPI_Alloc_mem of a small piece, nothing: pages of ", done.stdout),
              f"compared: {done.stdout}{done.stderr}")
        shown(folder)


def without_tools():
    """A build that cannot be made is named with what is missing; it is no failure."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(sys.executable, os.path.join(folder, "python3"))
        done = run(folder, only="cache-lines,hoefler-listings", environment={**os.environ, "PATH": folder})
        why = "cache-lines: skipped: meson is not installed, which makes the build that this needs (meson setup BUILD -Datomics=directory "
        check(done.returncode == 0 and why in done.stdout and "1 of 2 figures" in done.stdout, f"without meson: {done.returncode} {done.stdout}{done.stderr}")
        with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
            check("meson is not installed" in file.read(), "the page does not say what is missing")
        examine(folder, 1)


def builds_made():
    """A build is made once and brought up to date later; one that fails is named with its error. (Programs in the places of meson and ninja:
    what they make is this build, which does not count cache lines.)"""
    with tempfile.TemporaryDirectory() as folder:
        def program(name, words):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write("#!/bin/sh\n" + words)
            os.chmod(file.name, 0o755)

        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        program("meson", f'test "$1" = setup && test -e "$3/meson.build" || exit 1\nmkdir -p "$2"; cd "$2" && touch build.ninja && ln -s {sys.argv[1]}/* .\necho made {folder}\n')
        program("ninja", 'echo "[1/2] Compiling"; sleep 1.2; echo "error: no more"; exit 1\n')
        done = run(folder, only="cache-lines", environment=environment)
        check(done.returncode == 0 and "cache-lines: skipped: the build lines cannot be made (" in done.stdout and "): error: no more\n" in done.stdout
              and re.search(r"\[1/2\] build lines: 0 % of \d+ s", done.stderr), f"a build fails: {done.returncode} {done.stdout}{done.stderr}")
        program("meson", "exit 1\n")
        program("ninja", 'echo "[1/2] Compiling"; sleep 1.2\n')
        done = run(folder, only="cache-lines", environment=environment)
        check(done.returncode == 0 and re.search(r"cache-lines: skipped: ", done.stdout),
              f"a build goes on: {done.returncode} {done.stdout}{done.stderr}")
        done = run(folder, only="cache-lines", environment=environment)
        check("[2/2] cache-lines" in done.stderr and "build lines: 100 % of 1 s" in done.stderr, f"a build that is there: {done.stdout}{done.stderr}")


def only(names):
    """These work, for the build that is given."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(folder, only=names)
        count = len(names.split(","))
        check(done.returncode == 0 and f"{count} of {count} figures" in done.stdout, f"{names}: {done.returncode} {done.stdout}{done.stderr}")
        check(not os.path.exists(os.path.join(folder, "builds")), "a build was made though this one serves")
        examine(folder, count)
        print(f"{names}; {shown(folder)}")


def main():
    every_script()
    pages_that_go()
    wire()
    listed = subprocess.run([REPORT, "--list"], capture_output=True, text=True, check=True).stdout
    check(all(f"  {f.id} " in listed for f in figures.FIGURES) and "no part of the report: perf/lanes (" in listed, listed)
    check(re.search(r"cache-lines .* not .*\(a build of its own, made once: \d+ s\)", listed), f"the list hides what takes a build: {listed}")
    quick = subprocess.run([REPORT, "--quick", "--only", "cache-lines"], capture_output=True, text=True, check=False)
    check(quick.returncode == 2 and "cache-lines: no part of a --quick report" in quick.stderr, quick.stderr)
    wrong = subprocess.run([REPORT, "--only", "foo"], capture_output=True, text=True, check=False)
    check(wrong.returncode == 2 and "foo: expected some of " in wrong.stderr, wrong.stderr)
    with tempfile.TemporaryDirectory() as folder:
        code, said = interrupt(folder, signal.SIGINT)
        check(code == 130 and "the same command goes on" in said, f"stopped with {code}: {said}")
        check("<h2>Not measured here</h2>" in open(os.path.join(folder, "index.html"), encoding="utf-8").read(), "the page hides what is not there")
        interrupt(folder, signal.SIGKILL)
        done = run(folder)
        check(done.returncode == 0 and "2 of 2 figures" in done.stdout, f"it does not go on: {done.returncode} {done.stdout}{done.stderr}")
        examine(folder, 2)
        before = os.stat(os.path.join(folder, "figures", "balaji-nobody.json")).st_mtime_ns
        old = os.path.join(folder, "old.json")
        shutil.copy(os.path.join(folder, "report.json"), old)
        with open(old, encoding="utf-8") as file:
            then = json.load(file)
        for row in (r for f in then["figures"] if f["id"] == "balaji-nobody" for t in f["tables"] for r in t["rows"] if r["name"] == "global"):
            row["cells"] = [[1, 2] for _ in row["cells"]]  # so slow it never was
        with open(old, "w", encoding="utf-8") as file:
            json.dump(then, file)
        done = run(folder, "--compare", old)
        check(before == os.stat(os.path.join(folder, "figures", "balaji-nobody.json")).st_mtime_ns, "what is there was measured again")
        check(done.returncode == 0 and re.search(r"balaji-nobody against \S+: 2 of \d+ points .*global, 1 threads: .*better.*", done.stdout)
              and re.search(r"hoefler-listings against \S+: 0 of", done.stdout), f"compared: {done.stdout}{done.stderr}")
        wrong = run(folder, "--compare", os.path.join(folder, "index.html"))
        check(wrong.returncode == 2 and "expected the report.json" in wrong.stderr, wrong.stderr)
        said = shown(folder)
    tables()
    if not builds.is_like(sys.argv[1], "lines"):
        without_tools()
        builds_made()
    print(f"two figures, stopped, killed, resumed, compared; tables; {said}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--scripts"]:
        every_script()
        examine(os.path.join(SOURCE, "docs", "report"))
        relative()
        sentences()
        sizes()
        amounts()
    elif len(sys.argv) > 2:
        only(sys.argv[2])
    else:
        main()
