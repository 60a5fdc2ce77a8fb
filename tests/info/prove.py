#!/usr/bin/env python3
"""hotlane-info --prove: what it reports of a network that works, of one that does not, and of ranks that do not use it.

usage: prove.py PROGRAM MPIEXEC [faults]      faults: the build's planted defects must be found
"""
import json
import os
import re
import subprocess
import sys

from expect import close, expect

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, MPIEXEC = (os.path.abspath(p) for p in sys.argv[1:3])
CLEAN = clean_env.environment("FI_", "PMI_")
CLEAN["HOTLANE_CONF"] = ""
STEPS = ["path", "opening test", "random", "order", "lost peer", "figures"]


def run(*args, ranks=0, **env):
    words = ([MPIEXEC, "-n", str(ranks)] if ranks else []) + [PROGRAM, "--prove", *args]
    done = subprocess.run(words, env={**CLEAN, **env}, capture_output=True, text=True, timeout=250, check=False)
    return done.returncode, done.stdout, done.stderr


def works():
    code, text, error = run("--seconds", "1")
    expect("alone: a job of two, and all is proven", code == 0 and text.endswith("6 of 6 steps proven\n"), code, text, error)
    expect("each step has its line", re.findall(r"^ok {11}(.{12}) ", text, re.M) == [f"{s:12}" for s in STEPS], text)
    expect("host, system, provider, libfabric and device are there",
           re.search(rf"^host {{9}}{re.escape(os.uname().nodename)}, ranks 0 to 1 \({os.uname().sysname} {re.escape(os.uname().release)} .*\n"
                     r" +\S+ \d+\.\d+ of libfabric \d+\.\d+, device \S+, network \S+$", text, re.M), text)
    expect("what became of providers", re.search(r"^  \S+ +used$", text, re.M) and "refused: it loses messages" in text, text)
    code, text, error = run("--seconds", "0.5", ranks=1)
    expect("one rank of a launcher is alone as well", code == 0 and "ranks 0 to 1" in text, code, text, error)
    code, text, error = run("--seconds", "0.5", "--json", ranks=4)
    report = json.loads(text)
    expect("four ranks, JSON", code == 0 and [s["name"] for s in report["steps"]] == STEPS and report["failed"] == 0
           and {s["state"] for s in report["steps"]} == {"ok"} and report["hosts"][0]["ranks"] == "ranks 0 to 3", code, text, error)
    expect("figures are above 0", all(v > 0 for v in report["figures"].values()), report["figures"])
    done = int(re.match(r"(\d+) puts, gets and atomics, and \d+ messages", report["steps"][2]["text"]).group(1))
    expect("random operations were done on all ranks", done >= 4 * 8 * 64, report["steps"][2])
    crowd = 4 * os.sysconf("SC_NPROCESSORS_ONLN") + 1  # ranks that have small buffers (HOTLANE_SMALL), as the process that is lost must
    if crowd <= 20:
        code, text, error = run("--seconds", "0.2", ranks=crowd)
        expect(f"{crowd} ranks", code == 0 and text.endswith("6 of 6 steps proven\n"), code, text, error)


def fails():
    for name, words in (("no-such-provider", "libfabric offers no fitting endpoint of it"), ("udp;ofi_rxd", "it loses messages")):
        code, text, error = run(HOTLANE_PROVIDER=name)
        expect(f"{name}: why, in one report, and each rank's reason", code == 1 and text.count("FAILED       start ") == 1
               and words in text and text.endswith("1 of 1 steps FAILED\n") and "rank 1 (" in error and words in error, code, text, error)
    code, text, error = run(HOTLANE_PROVIDER="no-such-provider", ranks=2)
    expect("the same under a launcher", code == 1 and "FAILED       start " in text, code, text, error)
    code, text, error = run("--json", HOTLANE_PROVIDER="no-such-provider")
    report = json.loads(text)
    expect("and as JSON", code == 1 and report["failed"] == 1 and report["steps"][0]["state"] == "failed"
           and report["hosts"][0]["network"] == "no network", code, text)
    code, text, error = run(HOTLANE_NEAR="1", HOTLANE_PROVIDER="")
    expect("ranks that share memory prove nothing", code == 1 and "share memory, as HOTLANE_NEAR=1 says" in text
           and text.endswith("1 of 1 steps FAILED\n"), code, text, error)
    code, text, error = run(HOTLANE_BOOT="self")
    expect("ranks that do not find each other", code == 1 and "HOTLANE_BOOT=self keeps the ranks of this job apart" in text, code, text, error)
    code, text, error = run(HOTLANE_LANES="lots")
    expect("a refused variable", code == 1 and "HOTLANE_LANES=lots: expected" in text, code, text, error)
    for words in (["--seconds", "0"], ["--seconds", "x"], ["--seconds", "-1"]):
        expect(" ".join(words), run(*words)[0] == 2 and f"--seconds {words[1]}: a number above 0 is expected" in run(*words)[2])
    alone = subprocess.run([PROGRAM, "--seconds", "1"], env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    expect("--seconds without --prove", alone.returncode == 2 and "--seconds is for --prove" in alone.stderr)


def finds_defects():
    for fault, words in (("chain_last", "FAILED       random "), ("fetch_new", "FAILED       random "), ("cas_half", "FAILED       random ")):
        code, text, error = run("--seconds", "2", HOTLANE_FAULT=fault, HOTLANE_PROVIDER="tcp;ofi_rxm")
        expect(f"{fault} is found", code == 1 and words in text and "steps FAILED" in text, code, text, error)
    code, text, error = run(HOTLANE_FAULT="no-such-defect")
    expect("a defect that is not there is refused", code == 1 and "HOTLANE_FAULT=no-such-defect: there is no such defect" in text, code, text, error)


if sys.argv[3:] == ["faults"]:
    finds_defects()
else:
    works()
    fails()
close()
