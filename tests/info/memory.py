#!/usr/bin/env python3
"""hotlane-info --memory: kinds, nearest nodes, wishes, notes and a real trial; on this machine and on saved ones.

usage: memory.py PROGRAM SOURCE_ROOT
"""
import glob
import json
import os
import re
import subprocess
import sys

from expect import close, expect

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), sys.argv[2]
CLEAN = clean_env.environment()
CLEAN["HOTLANE_CONF"] = ""
NONE = "no fast memory found on this machine"


def run(*args, **env):
    done = subprocess.run([PROGRAM, "--memory", *args], env={**CLEAN, **env}, capture_output=True, text=True, timeout=60,
                          cwd=SOURCE)
    return done.returncode, done.stdout, done.stderr


def wish(kind=None, page=None, policy=None, **more):
    names = {"MPICH_ALLOC_MEM_AFFINITY": kind, "MPICH_ALLOC_MEM_PG_SZ": page, "MPICH_ALLOC_MEM_POLICY": policy}
    return {**{k: v for k, v in names.items() if v}, **more}


# A saved machine, what is wished, and the patterns that the report must have (not: those behind "!").
SAVED = [
    ("xeonmax-2s", wish(), ["0-7 +DDR +64.0 GiB each", "8-15 +fast +16.0 GiB each +bandwidth", "CPUs 14-27 +DDR node 1  fast node 9",
                            "nothing: base pages", "!asks for", "!Obtained", "!Notes", "!Pages", "!this thread"]),
    ("xeonmax-2s", wish("MCDRAM"), ["MPICH_ALLOC_MEM_AFFINITY=MCDRAM  .environment", "each thread asks for the fast node nearest"]),
    ("xeonmax-2s", wish("ddr"), ["each thread asks for the DDR node nearest"]),
    ("xeonmax-2s", wish("HBM", policy="I"), ["every thread asks for nodes 8-15"]),
    ("xeonmax-2s", wish(policy="I"), ["every thread asks for nodes 0-7"]),
    ("knl-flat", wish("FAST", "2M", "M"), ["every thread asks for node 1$", "!Notes"]),
    ("knl-flat", wish("FAST", policy="M"), ["on base pages policy M of these variables"]),
    ("knl-snc4", wish(), ["4-7 +fast .*Knights", "CPUs 48-63 +DDR node 3  fast node 7"]),
    ("restricted", wish("HBM"), ["8,10-15 +fast .* not allowed", "every thread asks for node 9",
                                 "keeps node 2-8,10-15 from this process: it may use node 0-1,9"]),
    ("ddr-cxl", wish("HBM", "2M", "M"), [NONE + ".*: requests fail", "1 +other"]),
    ("knl-nohmat-generic", wish("HBM"), [NONE + ".*no bandwidth data; node 1 has no CPUs.*HOTLANE_FASTMEM_NODES=1"
                                         ".*: requests get ordinary memory"]),
    ("knl-nohmat-generic", wish("HBM", HOTLANE_FASTMEM_NODES="1"), ["1 +fast .*HOTLANE_FASTMEM_NODES", "asks for node 1$", "!Notes"]),
    ("hbm-only", wish("HBM"), [NONE + ".*if all of it is HBM set HOTLANE_FASTMEM_NODES=all"]),
    ("hbm-only", wish("DDR", HOTLANE_FASTMEM_NODES="all"), ["0-3 +fast", "all memory of this machine is fast"]),
    ("node-64", wish(), ["1 node numbered 64 or higher is not used"]),
]
for name, env, patterns in SAVED:
    code, text, error = run("--machine", f"tests/data/{name}.xml", **env)
    expect(f"{name} {env} ends well", (code, error) == (0, ""), error)
    for p in patterns:
        found = re.search(p.lstrip("!"), text, re.M) is not None
        expect(f"{name} {env}: {p}", found != p.startswith("!"), text)

report = json.loads(run("--json", "--machine", "tests/data/restricted.xml", **wish("HBM", policy="I"))[1])
expect("--json: nodes", [m["node"] for m in report["memory"] if m["allowed"]] == [0, 1, 9])
expect("--json: nearest", report["nearest"][1] == {"cpus": "14-27", "ddr": 1, "fast": 9, "wanted": [9]}, report["nearest"])
expect("--json: a saved machine is not tried", report["obtained"] == {"tried": False} and report["pages"] == [])
expect("--json: asked", report["asked"]["MPICH_ALLOC_MEM_POLICY"] == "I" and len(report["notes"]) == 1)
expect("--json before --memory", subprocess.run([PROGRAM, "--json", "--memory"], env=CLEAN, capture_output=True, text=True,
                                                timeout=60).stdout.startswith('{\n  "machine": ""'))

# This machine: what the kernel says.
code, text, error = run()
expect("this machine", (code, error) == (0, ""), error)
expect("this thread's CPU", len(re.findall(r"this thread: CPU \d+", text)) == 1, text)
expect("a piece of base pages was obtained", re.search(r"Obtained\n  1 MiB: pages of \d+ KiB, nodes ([\d:,MK]+|unknown: .+)$", text, re.M), text)
base = os.sysconf("SC_PAGESIZE")
report = json.loads(run("--json")[1])
expect("base pages, on nodes that are there", report["obtained"]["page"] == base and
       {int(n) for n in re.findall(r"(\d+):", report["obtained"]["nodes"])} <= {m["node"] for m in report["memory"]}, report)


def pools():
    """Files of the kernel's pools of huge pages, by path."""
    out = {}
    for path in sorted(glob.glob("/sys/devices/system/node/node*/hugepages/hugepages-*kB/*_hugepages") +
                       glob.glob("/sys/kernel/mm/hugepages/hugepages-*kB/*_hugepages")):
        with open(path, encoding="ascii") as file:
            out[path] = int(file.read())
    return out


def quiet(*args, **env):
    """A run during which nobody else changed the pools, and the pools; None: never."""
    for _ in range(20):
        before, done = pools(), run(*args, **env)
        if pools() == before:
            return done, before
    return None


found = quiet("--json")
for page in json.loads(found[0][1])["pages"][1:] if found else ():
    for node in page["nodes"]:
        folder = f"/sys/devices/system/node/node{node['node']}/hugepages/hugepages-{page['bytes'] // 1024}kB/"
        expect(f"pool of node {node['node']}",
               [found[1][folder + f] for f in ("nr_hugepages", "free_hugepages")] == [node["pool"], node["free"]], page)
    expect("pools of nodes make up the pool", sum(n["pool"] for n in page["nodes"]) == page["pool"] or not page["nodes"], page)
found = quiet(**wish(page="2M"))
there = [found[1].get("/sys/kernel/mm/hugepages/hugepages-2048kB/" + f) for f in ("free_hugepages", "nr_overcommit_hugepages")] \
    if found else []
if there == [0, 0]:
    expect("an empty pool is told, with the command", re.search(r"no page of 2 MiB is free.*echo \d+ > \S+", found[0][1]), found)

code, text, error = run(**wish("DDR"))
expect("DDR is obtained on a DDR node", code == 0 and all(
    m["kind"] == "DDR" for m in json.loads(run("--json", **wish("DDR"))[1])["memory"]
    if str(m["node"]) in re.findall(r"(\d+):\d", text)), text)
if not any(m["kind"] == "fast" for m in report["memory"]):
    code, text, error = run(**wish("MCDRAM"))
    expect("no fast memory, P: the system's, and a note", code == 0 and NONE in text, text)
code, text, error = run(**wish(page="3M"))
expect("a size that is none is refused", code == 1 and "MPICH_ALLOC_MEM_PG_SZ=3M" in error and "4K|2M" in error, error)
code, text, error = run("--machine", "/nonexistent")
expect("a machine that is not there", code == 2 and "/nonexistent" in error)

close()
