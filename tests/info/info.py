#!/usr/bin/env python3
"""hotlane-info says what is true, in every form, and docs/ENVIRONMENT.md is what it makes.

usage: info.py PROGRAM SOURCE_ROOT
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
CLEAN = clean_env.environment()
CLEAN["HOTLANE_CONF"] = ""
failures = cases = 0


def run(*args, **env):
    done = subprocess.run([PROGRAM, *args], env={**CLEAN, **env}, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(what, holds):
    global failures, cases
    cases += 1
    if not holds:
        failures += 1
        print(f"FAILED: {what}")


def variable(report, name):
    return next(v for v in report["variables"] if v["name"] == name)


def calls_of(text):
    """The calls that --explain names of an error class."""
    return set(re.findall(r"\w+", text.partition("  calls that give it")[2].partition("  wrong calls")[0]))


code, page, _ = run("--markdown")
with open(os.path.join(SOURCE, "docs", "ENVIRONMENT.md"), encoding="utf-8") as file:
    expect("docs/ENVIRONMENT.md is what `hotlane-info --markdown` prints (write it anew)", file.read() == page)
expect("--markdown says the same in any environment",
       run("--markdown", HOTLANE_LANES="7", HOTLANE_LANE="1")[:2] == (0, page))

code, text, error = run("--json", "--no-network")
report = json.loads(text)
expect("--json ends with 0 and no errors", (code, error) == (0, ""))
expect("--json names every variable", len(report["variables"]) > 10 and not report["notes"])
expect("the memory has an ordinary node", any(m["kind"] == "DDR" for m in report["memory"]))
expect("the base page is listed", report["pages"][0]["bytes"] == os.sysconf("SC_PAGESIZE"))
expect("usable CPUs are this process's", report["cpus"]["usable"] == len(os.sched_getaffinity(0)))
expect("lanes are counted", 1 <= report["lanes"] <= 64)
expect("--no-network loads no network", report["network"]["provider"] == "")

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "hotlane.conf"), "w", encoding="utf-8") as file:
        file.write("HOTLANE_LANES=3\nHOTLANE_PORTS=2\n")
    env = dict(XDG_CONFIG_HOME=folder, HOTLANE_CONF="default", HOTLANE_PORTS="4", HOTLANE_LANE="1")
    report = json.loads(run("--json", "--no-network", **env)[1])
    lanes, ports, stats = (variable(report, "HOTLANE_" + n) for n in ("LANES", "PORTS", "STATS"))
    expect("a file's value and origin",
           (lanes["value"], lanes["origin"]) == ("3", os.path.join(folder, "hotlane.conf")) and report["lanes"] <= 3)
    expect("the environment wins", (ports["value"], ports["origin"]) == ("4", "environment"))
    expect("defaults are called so", stats["origin"] == "default")
    expect("unknown names are told", any("did you mean HOTLANE_LANES?" in n for n in report["notes"]))
    code, text, _ = run("--env", **env)
    expect("--env names values and origins", code == 0 and "HOTLANE_PORTS=4  (environment)" in text
           and "did you mean HOTLANE_LANES?" in text)

code, text, error = run("--env", HOTLANE_LANES="lots")
expect("a refused value is told", code == 1 and "HOTLANE_LANES=lots: expected a whole number from 0 to 64" in error)
done = subprocess.run([PROGRAM, "--env"], env={**CLEAN, "HOTLANE_LANES": "lots"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                      text=True, timeout=60)
expect("it stands behind the report where both go to one pipe", done.stdout.splitlines()[-1].startswith("hotlane-info: "))
code, text, error = run(HOTLANE_LANES="lots", HOTLANE_STATS="2", HOTLANE_PORTS="none")
expect("the others are shown as they are, the refused ones with the reason, the first of them is told",
       code == 1 and "HOTLANE_STATS=2  (environment)" in text and "  (refused: HOTLANE_LANES=lots: expected" in text
       and "  (refused: HOTLANE_PORTS=none: expected" in text and "HOTLANE_LANES=lots" in error and "HOTLANE_PORTS" not in error)
expect("why no network was asked", "not asked, as a variable is refused" in text)
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "bad.conf"), "w", encoding="utf-8") as file:
        file.write("HOTLANE_LANES=lots\nHOTLANE_PORTS=4\n")
    code, text, error = run("--env", HOTLANE_CONF=file.name, HOTLANE_STATS="2")
    expect("a refused line of a file", code == 1 and f"  (refused: {file.name}:1: HOTLANE_LANES=lots: expected" in text
           and f"HOTLANE_PORTS=4  ({file.name})" in text and "HOTLANE_STATS=2  (environment)" in text)
for name, fast in (("knl-flat", ["node 1: fast"]), ("ddr-cxl", ["node 0: DDR", "node 1: other"])):
    saved = os.path.join(SOURCE, "tests", "data", name + ".xml")
    code, text, _ = run("--no-network", "--machine", saved)
    expect(f"--machine {name}", code == 0 and all(f in text for f in fast))
code, text, error = run("--machine", "/nonexistent", "--no-network")
expect("a machine that is not there", code == 2 and "/nonexistent" in error)
code, text, error = run()
expect("the whole report", code == 0 and all(w in text for w in ("Hotlane ", "network ", "lanes ", "pages ", "memory ")))
report = json.loads(run("--json")[1])
expect("a provider and why", report["network"]["why"] != "")
states = {p["name"]: p["state"] for p in report["network"]["providers"]}
expect("the one that is used is told once", [n for n, s in states.items() if s == "used"] == [report["network"]["provider"]])
expect("others are named with a state and a reason", all(p["why"] or p["state"] in ("used", "offered") for p in report["network"]["providers"]))
expect("what is known of it", report["network"]["facts"].keys() >= {"proven", "sleepers", "receives", "atomics", "dead peers", "registered memory"})
expect("the same in the text", all(f"{v}" in text for v in report["network"]["facts"].values())
       and all(re.search(rf"^  {re.escape(n)} +{s}", text, re.M) for n, s in states.items()))
report = json.loads(run("--json", HOTLANE_PROVIDER="sockets")[1])
expect("a provider that is tried says so", "just now" in report["network"]["facts"]["proven"] or report["network"]["provider"] == "")
report = json.loads(run("--json", HOTLANE_PROVIDER="no-such-provider")[1])
expect("no provider and why", report["network"]["provider"] == "" and "no-such-provider" in report["network"]["why"])
code, text, _ = run("--functions")
with open(os.path.join(SOURCE, "tests", "abi", "functions.tsv"), encoding="utf-8") as file:
    every = {line.split("\t")[0] for line in file if not line.startswith("#")}
expect("--functions names functions of the ABI", code == 0 and set(text.split()) < every and "MPI_Put" not in text.split())
expect("--functions --json", json.loads(run("--json", "--functions")[1]) == {"functions": text.split()})
report = json.loads(run("--env", "--json", HOTLANE_LANES="3")[1])
expect("--env --json", sorted(report) == ["notes", "others", "variables"] and variable(report, "HOTLANE_LANES")["value"] == "3"
       and report["variables"][0].keys() >= {"name", "origin", "values", "help"})
for given, shown in (("a/Gr\u00fc\u00dfe-\u2713-\U0001f600", None), ("\udcff\udce2\udc82", "\u00ff\u00e2\u0082")):
    report = json.loads(run("--env", "--json", HOTLANE_STATS_FILE=given)[1])
    expect("--json: letters beyond ASCII, and bytes that are none", variable(report, "HOTLANE_STATS_FILE")["value"] == (shown or given))
expect("--markdown --json", run("--markdown", "--json")[:2] == (2, "") and "not with --json" in run("--json", "--markdown")[2])
code, text, error = run("--explain", "MPI_ERR_RMA_RANGE")
expect("--explain of an error class", (code, error) == (0, "") and text.startswith("MPI_ERR_RMA_RANGE (48): target memory is not part of the window\n"))
expect("--explain names calls and wrong ones", "MPI_Put," in text and "    MPI_Put: data behind the end of the window\n" in text)
expect("--explain names calls whose pages are written by hand", {"MPIX_Put_notify", "MPI_Win_flush"} <= calls_of(text))
expect("--explain of a death names one-sided calls",
       {"MPI_Put", "MPI_Rget", "MPI_Win_flush", "MPI_Win_lock", "MPI_Win_fence", "MPI_Win_complete"} <= calls_of(run("--explain", "MPI_ERR_PROC_ABORTED")[1]))
expect("--explain folds its lines", all(len(line) <= 100 for line in text.split("\n") if line.startswith("    MPI_") and ": " not in line))
expect("--explain of an error class of tools", run("--explain", "MPI_T_ERR_INVALID_NAME")[1].startswith("MPI_T_ERR_INVALID_NAME (1011): nothing has this name\n"))
code, text, error = run("--explain", "HOTLANE_CHAIN", HOTLANE_CHAIN="8K")
expect("--explain of a variable", (code, error) == (0, "") and text.startswith("HOTLANE_CHAIN=8K  (environment)\n") and text in run("--env", HOTLANE_CHAIN="8K")[1])
code, text, error = run("--explain", "MPI_ERR_RMA_RANG")
expect("--explain of what is not there", (code, text) == (2, "") and "the nearest is MPI_ERR_RMA_RANGE (" in error and "`man" not in error)
expect("--explain of an error class by its beginning", "the nearest is MPI_ERR_TRUNCATE (" in run("--explain", "MPI_ERR_TRUNC")[2])
expect("--explain of an error class that is near to none", "nearest" not in run("--explain", "MPI_ERR_FOO")[2])
expect("--explain minds no case of what is not there", "the nearest is MPI_ERR_RMA_RANGE (" in run("--explain", "mpi_err_rma_rang")[2]
       and "the nearest is HOTLANE_LANES (" in run("--explain", "hotlane_lnaes")[2])
for name in "--explain", "--machine", "--root", "--seconds":
    expect(f"{name} without its value", run(name) == (2, "", f"hotlane-info: {name}: its value is missing (--help lists all)\n")
           and run(name, "--json") == (2, "", f"hotlane-info: {name}: its value is missing, as --json follows (--help lists all)\n"))
for given, name in (("48", "MPI_ERR_RMA_RANGE"), ("mpi_err_rma_range", "MPI_ERR_RMA_RANGE"), ("0", "MPI_SUCCESS"), ("hotlane_lanes", "HOTLANE_LANES"),
                    ("HOTLANE_CHAIN=5", "HOTLANE_CHAIN"), ("SHMEM_SYMMETRIC_PARTITION1", "SHMEM_SYMMETRIC_PARTITION<n>"),
                    ("SMA_SYMMETRIC_PARTITION127", "SHMEM_SYMMETRIC_PARTITION<n>")):
    expect(f"--explain {given} is that of {name}", run("--explain", given) == run("--explain", name) and run("--explain", name)[0] == 0)
code, text, error = run("--explain", "lease_waits")
expect("--explain of a counter", (code, error) == (0, "") and text.startswith("lease_waits: a counter: times a thread queued for a lane"))
for name, call in (("49152", False), ("SHMEM_SYMMETRIC_PARTITION128", False), ("HOTLANE_NOTHING", False), ("MPI_Put", True), ("shmem_quiet", True)):
    code, text, error = run("--explain", name)
    expect(f"--explain {name} offers a manual page of calls only", (code, text) == (2, "") and (f"`man {name}`" in error) == call)
with open(os.path.join(SOURCE, "include", "mpi.h"), encoding="utf-8") as file:
    classes = re.findall(r"\b(MPI_(?:T_)?ERR_\w+) = \d+", file.read())
expect("--explain knows every error class and variable", len(classes) > 70 and all(
    run("--explain", name)[0] == 0 for name in ["MPI_SUCCESS", *classes, *(v["name"] for v in report["variables"])]))
expect("--version", run("--version")[:2] == (0, "hotlane-info " + json.loads(run("--json", "--no-network")[1])["version"]
                                              + "\n"))
expect("-V and -h", run("-V") == run("--version") and run("-h") == run("--help"))
expect("an argument", run("extra") == (2, "", "hotlane-info: extra: no argument is taken, only options (--help lists all)\n"))
expect("--help", run("--help")[0] == 0 and "usage:" in run("--help")[1])
for option in ("--no-network", "--env", "--memory", "--check"):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([PROGRAM, option], env=CLEAN, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    expect(f"{option} on a full disk", done.returncode == 1 and "cannot write standard output: No space left on device" in done.stderr)
expect("an unknown option", run("--nonsense")[0] == 2 and run("words")[0] == 2)
expect("the option that was meant", run("--memry")[2] == "hotlane-info: unknown option --memry; the nearest is --memory (--help lists all)\n")
expect("no option is near", "nearest" not in run("-x")[2] and "nearest" not in run("--xyzxyz")[2])
expect("an option without its value", run("--machine")[0] == 2 and "value is missing" in run("--machine")[2])

for first, second in (("--check", "--functions"), ("--env", "--check"), ("--memory", "--markdown"), ("--explain=HOTLANE_CHAIN", "--env")):
    code, text, error = run(first, second)
    expect(f"{first} {second}", (code, text) == (2, "") and f"{first.partition('=')[0]} and {second} are two reports" in error)
expect("one report twice", run("--functions", "--functions")[0] == 0)
for folder in ("/nonexistent", "/dev/null", ""):
    code, text, error = run("--check", "--root", folder)
    expect(f"--root {folder}", (code, text) == (2, "") and f"--root {folder}: " in error)

print(f"{cases - failures} of {cases} hold")
sys.exit(1 if failures else 0)
