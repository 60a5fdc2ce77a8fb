#!/usr/bin/env python3
"""Builds every configuration of a tier, runs its tests, and closes with what passed, failed and was skipped.

quick   the release build and the tests of suite quick: the developer's loop
(none)  what CI runs: release builds with gcc and clang, sanitizers, interleavings; suites quick and full
--long  the same builds, every test there is; of what is too much for a run (docs/FABRICS.md, docs/PROOFS.md) it draws some by the date
--provider NAME  the release build, and the tests of several ranks that force the network over that provider (tests/net/fabrics.py)
--resume  rows that passed in an earlier run over the same sources are counted and not run again; Ctrl-C stops a run
--list  builds nothing: the configurations, and the suites that each tier runs

Builds are kept under build-check/ in the source folder. Counted are Check cases, multi-rank programs and script tests.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(ROOT, "build-check")
STRICT = ["--werror"]
FAST = ["-Dbuildtype=debugoptimized", "-Db_lto=false", "-Db_ndebug=false", "-Dperf=disabled"]

# name: (needs, meson options, environment, suites by tier). A tier that is not named runs the suites of the one below.
CONFIGURATIONS = {
    "release": ("gcc", STRICT, {}, {"quick": ["quick"], "full": ["quick", "full"], "long": ["quick", "full", "long"]}),
    # Without memkind and PMIx here; memkind is in the others but tsan, which it does not go with.
    "clang": ("clang", STRICT + FAST + ["-Dmemkind=disabled", "-Dpmix=disabled"], {"CC": "clang"}, {"full": ["unit", "fuzz", "memory"]}),
    "asan": ("gcc", FAST + ["-Db_sanitize=address,undefined", "-Db_lundef=false"], {},
             {"full": ["unit", "sanitize", "asan"], "long": ["unit", "sanitize", "asan", "quick", "asan_long"]}),
    "tsan": ("gcc", FAST + ["-Db_sanitize=thread", "-Db_lundef=false", "-Datomics=tsan"], {},
             {"full": ["unit", "sanitize", "tsan"], "long": ["unit", "sanitize", "tsan", "tsan_long"]}),
    "faults": ("gcc", FAST + ["-Dfaults=true"], {}, {"full": ["faults"], "long": ["faults_all"]}),
    "counting": ("gcc", FAST + ["-Datomics=counting"], {}, {"full": ["counting"]}),
    "directory": ("gcc", FAST + ["-Datomics=directory", "-Dmemkind=disabled", "-Dpmix=disabled", "-Dfortran=disabled"], {},
                  {"full": ["directory"]}),
    "checked": ("gcc", FAST + ["-Dchecked_mode=true"], {}, {"full": ["checked"]}),
    "scheduled": ("gcc", FAST + ["-Datomics=scheduled", "-Dfaults=true"], {}, {"full": ["interleave"], "long": ["interleave", "interleave_long"]}),
}
RUN_ENVIRONMENT = {
    # intercept_send: what the provider has sent is looked at after the system call, when the peer may have answered already and
    # the sender's buffer be freed.
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:allocator_may_return_null=1:protect_shadow_gap=0:intercept_send=0",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions='" + os.path.join(ROOT, "tests", "lsan.supp") + "'",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1:suppressions='" + os.path.join(ROOT, "tests", "tsan.supp") + "'",
}
# What everybody runs says the same each time; new seeds are for the long runs.
TIER_ENVIRONMENT = {"quick": {"TEST_SEED": "1"}, "full": {"TEST_SEED": "1"}, "long": {"HOTLANE_FUZZ_SECONDS": "60"}}
CHECK_LINE = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
# Lines that say what went wrong, as against those that say what went well.
TELLING = re.compile(r"FAIL|NOT FOUND|:[FE]:|ERROR|WARNING: ThreadSanitizer|SUMMARY|runtime error|Assert|assert|Traceback|Error:|wrong|"
                     r"hangs?\b|killed by|the job ends|ending the job|Segmentation|Abort")
MOST_AT_END = 40  # lines about all failures together, with which the output ends


def ending(entry):
    """How a test ended: Meson's word, and what the process said by its exit code."""
    code = entry.get("returncode") or 0
    number = -code if code < 0 else code - 128 if 128 < code < 160 else 0
    with_name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    return f"{entry['result']}, exit code {code}{with_name}, after {entry['duration']:.1f} s"


def excerpt(text, most):
    """The lines of a test's output that say most about its failure, in order: telling ones, then the last ones."""
    lines = [line.rstrip()[:300] for line in text.split("\n") if line.strip()]
    chosen = [i for i, line in enumerate(lines) if TELLING.search(line)][:most // 2]
    chosen += [i for i in range(len(lines) - 1, -1, -1) if i not in chosen][:most - len(chosen)]
    return [lines[i] for i in sorted(chosen)]


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.times, self.skips, self.failures = [], [], []  # a failure: what, and its output

    def fail(self, what, output, cases=1):
        self.failed += cases
        self.failures.append((what, output))

    def add(self, build, test):
        """Counts one entry of Meson's log; a Check program counts as its cases."""
        name, result, out = f"{build}: {test['name']}", test["result"], test.get("stdout", "")
        self.times.append((test["duration"], name))
        if result == "SKIP":
            reason = [line for line in (out + test.get("stderr", "")).split("\n") if line.strip()]
            self.skipped += 1
            self.skips.append(f"{name}: {reason[-1].strip() if reason else 'no reason given'}")
            return
        checks = [tuple(map(int, m)) for m in CHECK_LINE.findall(out)]
        bad = sum(f + e for _, f, e in checks)
        self.passed += sum(n for n, _, _ in checks) - bad if checks else int(result == "OK")
        if result != "OK" or bad:
            self.fail(f"{name}: {ending(test)}", out + test.get("stderr", ""), max(bad, 1))

    def close(self, seconds):
        print("\nslowest tests:")
        for duration, name in sorted(self.times, reverse=True)[:10]:
            print(f"  {duration:7.1f} s  {name}")
        if self.skips:
            print("skipped:\n  " + "\n  ".join(self.skips))
        # Who sees only the end of this must find the cause there.
        if self.failures:
            print("failed:")
        share = max(3, MOST_AT_END // max(1, len(self.failures)) - 1)
        for what, output in self.failures:
            print("\n      ".join(["  " + what] + excerpt(output, share)))
        print(f"{seconds:.0f} s in all")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)


def run(command, env, log):
    with open(log, "ab") as out:
        return subprocess.run(command, env=env, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode


def fail(name, what, log, tally):
    print(f"{name}: {what} failed; the end of {os.path.relpath(log, ROOT)}:")
    with open(log, encoding="utf-8", errors="replace") as f:
        end = "".join(f.readlines()[-40:])
    print(end)
    tally.fail(f"{name}: {what}", end)


def needed(folder, suites):
    """The files to build for the tests of these suites: what is installed, and what the tests depend on; that alone for `directory`,
    whose program has the library inside and starts no ranks."""
    def ask(what):
        return json.loads(subprocess.check_output(["meson", "introspect", what, folder]))
    tests = [t for t in ask("--tests") if not suites.isdisjoint(s.split(":")[-1] for s in t["suite"])]
    wanted = {d for t in tests for d in t["depends"]}
    return sorted({os.path.relpath(file, folder) for target in ask("--targets") for file in target["filename"]
                   if target["id"] in wanted or target["installed"] and suites != {"directory"}})


def build(name, tier, tally):
    """Configures one configuration and compiles what its tests need, or all where warnings are errors; True when they can run."""
    needs, options, extra, _ = CONFIGURATIONS[name]
    folder, log = os.path.join(KEPT, name), os.path.join(KEPT, name + ".log")
    if shutil.which(needs) is None:
        tally.skipped += 1
        tally.skips.append(f"{name}: {needs} is not installed")
        return False
    env = {**os.environ, **extra}
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        shutil.rmtree(folder, ignore_errors=True)
        open(log, "wb").close()
        if run(["meson", "setup", folder, ROOT] + options, env, log) != 0:
            fail(name, "configuration", log, tally)
            return False
    # The list of tests comes from the last configuration, so it is brought up to date first.
    if run(["ninja", "-C", folder, "build.ninja"], env, log) != 0:
        fail(name, "configuration", log, tally)
        return False
    targets = [] if options[:1] == STRICT else needed(folder, set(suites_of(name, tier)))
    if run(["ninja", "-C", folder] + targets, env, log) != 0:
        fail(name, "compilation", log, tally)
        return False
    return True


def builds_of(tier):
    return [n for n in CONFIGURATIONS if tier != "quick" or n == "release"]


def suites_of(name, tier):
    suites = CONFIGURATIONS[name][3]
    return suites.get(tier, suites.get("full", []))


def sources_hash(tier):
    """What names the state of the sources, changed files included, and the tier, whose rows have seeds of their own."""
    whole = hashlib.sha256(tier.encode())
    for folder, inner, files in os.walk(ROOT):
        inner[:] = sorted(f for f in inner if not f.startswith(".") and f != "__pycache__" and
                          not os.path.exists(os.path.join(folder, f, "meson-private")) and os.path.join(folder, f) != KEPT)
        for file in sorted(files):
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    whole.update(os.path.relpath(path, ROOT).encode() + hashlib.sha256(f.read()).digest())
    return whole.hexdigest()


class Earlier:
    """Rows of a configuration that passed over the same sources: Meson's entries, kept in build-check/NAME.passed."""

    def __init__(self, name, sources, resume):
        self.path, self.sources, self.rows = os.path.join(KEPT, name + ".passed"), sources, {}
        if resume and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                kept = json.load(f)
            if kept["sources"] == sources:
                self.rows = kept["rows"]
                self.add(entries_of(name))
        self.save()

    def add(self, entries):
        for entry in entries:
            if entry["result"] == "OK":
                self.rows[entry["name"].split(" / ")[-1]] = {k: entry[k] for k in ("name", "result", "duration", "stdout") if k in entry}

    def save(self):
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump({"sources": self.sources, "rows": self.rows}, f)


def log_of(name):
    return os.path.join(KEPT, name, "meson-logs", "testlog.json")


def entries_of(name):
    if not os.path.exists(log_of(name)):
        return []
    with open(log_of(name), encoding="utf-8", errors="replace") as f:
        return [json.loads(line) for line in f if line.endswith("}\n")]


def rows_left(name, suites, earlier):
    """How Meson is told what to run, and the earlier rows among what was asked for; Meson takes all suites or names, not both."""
    if not earlier.rows:
        return [word for suite in suites for word in ("--suite", suite)], []
    listed = json.loads(subprocess.check_output(["meson", "introspect", "--tests", os.path.join(KEPT, name)]))
    asked = dict.fromkeys(t["name"] for t in listed if not set(suites).isdisjoint(s.split(":")[-1] for s in t["suite"]))
    return [n for n in asked if n not in earlier.rows], [earlier.rows[n] for n in asked if n in earlier.rows]


def test(name, tier, tally, earlier):
    folder = os.path.join(KEPT, name)
    left, passed = rows_left(name, suites_of(name, tier), earlier)
    for entry in passed:
        tally.add(name, entry)
    if passed:
        print(f"{name}: {len(passed)} rows passed earlier, {len(left)} are left", flush=True)
    if os.path.exists(log_of(name)):
        os.remove(log_of(name))
    if not left:
        return
    # The longest quick tests sleep for most of their time, and so do many of the long ones.
    processes = min(2, os.cpu_count() or 1) + (tier != "full")
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--num-processes", str(processes)]
    # A test that hangs does so for ever; one that does not may be slow beside other work.
    command += ["--timeout-multiplier", "4" if name in ("asan", "tsan") else "2"]
    log = os.path.join(KEPT, name + ".log")
    run(command + ["--print-errorlogs"] + left, {**TIER_ENVIRONMENT[tier], **os.environ, **RUN_ENVIRONMENT}, log)
    if not os.path.exists(log_of(name)):
        fail(name, "start of the tests", log, tally)
        return
    entries = entries_of(name)
    earlier.add(entries)
    earlier.save()
    for entry in entries:
        tally.add(name, entry)
        if entry["result"] not in ("OK", "SKIP"):
            output = entry.get("stdout", "") + entry.get("stderr", "")
            print(f"--- {name}: {entry['name']}: {ending(entry)}")
            print(output if len(output) < 12000 else f"{output[:6000]}\n[...]\n{output[-6000:]}")
    if not entries:
        fail(name, "selection of tests", log, tally)


def over_provider(provider, tier):
    """The network's rows of a tier over that provider; returns the exit code."""
    return subprocess.run([sys.executable, os.path.join(ROOT, "tests", "net", "fabrics.py"), "--build", os.path.join(KEPT, "release"),
                           "--rows", tier, provider], env={**TIER_ENVIRONMENT[tier], **os.environ}).returncode


def show(names, tiers):
    """Each configuration with the suites that each tier runs."""
    for name in names:
        print(f"{name}: {' '.join([CONFIGURATIONS[name][0], *CONFIGURATIONS[name][1]])}")
        for tier in tiers:
            if name in builds_of(tier):
                print(f"    {tier:<6} {' '.join(suites_of(name, tier))}")


def main():
    options = argparse.ArgumentParser(prog="tools/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tiers = options.add_mutually_exclusive_group()
    tiers.add_argument("--quick", dest="tier", action="store_const", const="quick", help="the developer's loop, under 2 minutes after a build")
    tiers.add_argument("--long", dest="tier", action="store_const", const="long", help="everything there is, some of it drawn by the date")
    options.add_argument("--only", default="", help="only these configurations: " + ", ".join(CONFIGURATIONS))
    options.add_argument("--provider", metavar="NAME", help="only the network's rows, over this provider (docs/FABRICS.md)")
    options.add_argument("--resume", action="store_true", help="leave out rows that passed earlier over the same sources")
    options.add_argument("--list", action="store_true", help="print the configurations and the suites that each tier runs")
    args = options.parse_args()
    tier = args.tier or "full"
    asked = args.only.split(",") if args.only else CONFIGURATIONS
    unknown = [n for n in asked if n not in CONFIGURATIONS]
    if unknown:
        options.error(f"no configuration {unknown[0]}; there are {', '.join(CONFIGURATIONS)}")
    names = [n for n in asked if n in builds_of(tier)]
    if args.list:
        show(names, [args.tier] if args.tier else ["quick", "full", "long"])
        return 0
    os.makedirs(KEPT, exist_ok=True)
    tally, begin, sources = Tally(), time.monotonic(), sources_hash(tier)
    if args.provider:
        return over_provider(args.provider, tier) if build("release", tier, tally) else 1
    for name in names:
        start = time.monotonic()
        if build(name, tier, tally):
            built = time.monotonic()
            test(name, tier, tally, Earlier(name, sources, args.resume))
            print(f"{name}: built in {built - start:.0f} s, tested in {time.monotonic() - built:.0f} s", flush=True)
    tally.close(time.monotonic() - begin)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
