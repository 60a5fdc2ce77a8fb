#!/usr/bin/env python3
"""Every variable of the table: bad values are refused at start with one line that names variable, value and what is allowed; good
ones at the bounds are taken; names that are nearly right are told with the right one.

usage: values.py bad|good|names|run HOTLANE_INFO JOB MPIEXEC
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "info"))
from expect import close, expect  # noqa: E402  pylint: disable=wrong-import-position

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

GROUP, (INFO, JOB, MPIEXEC) = sys.argv[1], [os.path.abspath(path) for path in sys.argv[2:5]]
CLEAN = clean_env.environment()
CLEAN["HOTLANE_CONF"] = ""


def run(*command, **env):
    done = subprocess.run(command, env={**CLEAN, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


ROWS = json.loads(run(INFO, "--json", "--no-network")[1])["variables"]

# Rows of any text: what is bad (with variables that make two ranks use it; with these words in the error), and what is good.
TEXTS = {
    "HOTLANE_PROVIDER": (["no-such-provider", ";", " tcp", "shm"], {"HOTLANE_NEAR": "0"}, "fi_info -l", ["", "tcp;ofi_rxm"]),
    "HOTLANE_CONF": (["/no/such/file", "no-such-file"], {}, "there is no such file", ["", "default"]),
    "HOTLANE_STATS_FILE": (["/no/such/folder/file", "/"], {"HOTLANE_STATS": "json"}, "name a file", ["", "statistics.json"]),
}
SIZES = ["", "x", "-1", "1e3", "0x10", "1KBB", "1Ki", " 1", "1 ", "9999999999T", "nan", "1,5M"]


def is_power(n):
    return n & (n - 1) == 0


def bad_ints(row):
    outside = [str(row["most"] + 1), "-1", "99999999999999999999"] + ([str(row["least"] - 1)] if row["least"] > 0 else [])
    unlike = [str(row["most"] - 1)] if row["choices"] else []
    return outside + unlike + ["", "x", "1.5", " 1", "1 ", "+1", "1K", "0x8"]


def bad_values(row):
    kind, words = row["kind"], row["choices"].split("|")
    if kind == "bool":
        return ["", "2", "ja", "1 ", "-1", "0x1", "truely"]
    if kind == "switch":
        return ["", "2", "ja", "1 ", "-1", "auto ", "automatic"]
    if kind == "int":
        return bad_ints(row)
    if kind == "size":
        return SIZES + ([str(row["most"] + 1)] if row["most"] else [])
    if kind == "page":
        return ["", "3M", "2MBB", "0", "-1", "4097K", "2M|4M", "x", "1T"]
    if kind == "choice" or (kind == "text" and row["choices"]):
        return ["", "nonsense", words[0] + "x", words[0][:-1] + "?", " " + words[0], "|".join(words[:2])]
    if kind == "nodes":
        return ["x", "1-", "64", "3-1", "-1", "all,1", "1,", "1 2", "99999999999999999999"]
    if kind == "heap":
        return ["", "x", "-1", "1e3", "K", "0x10", "99999999T", " 1"]
    if kind == "parts":
        return ["", "x", "size=", "size=x", "kind=F", "size=1M:kind=Q", "size=1M:policy=S", "size=1M:size=2M", "size=1M:pgsize=3K",
                "size=1M:", "size=1MBB"]
    return TEXTS[row["name"]][0] if kind == "text" else []


def good_values(row):
    kind, words = row["kind"], row["choices"].split("|")
    if kind == "bool":
        return ["1", "0", "yes", "no", "on", "off", "true", "FALSE"]
    if kind == "switch":
        return ["1", "0", "yes", "no", "on", "off", "true", "FALSE", "auto", "Auto"]
    if kind == "int":
        between = [str(n) for n in (row["least"] + 1, row["most"] // 2) if row["least"] <= n and (not row["choices"] or is_power(n))]
        return [str(row["least"]), str(row["most"])] + between
    if kind == "size":
        top = [str(row["most"])] if row["most"] else ["1M", "1.5g", "1T"]
        return [str(row["least"]), "1", "1k", "1KB"] + top + [w for w in words if w]
    if kind == "page":
        return words + ["4096", "2m", "2MB", "1GiB", "1073741824"]
    if kind == "choice" or (kind == "text" and row["choices"]):
        return words + [words[0].upper()]
    if kind == "nodes":
        return ["", "0", "63", "0-63", "1,3", "all", "All"]
    if kind == "heap":
        return ["auto", "0", "1", "20m", "3.1M", "1KB"]
    if kind == "flag":
        return ["", "0", "1", "any words"]
    if kind == "parts":
        return ["size=1M", "size=1.5g:kind=F:policy=M:pgsize=2M", "SIZE=20MB:Kind=fastmem:policy=I"]
    return TEXTS[row["name"]][3]


def names_of(row):
    """Settable names of a row: a family has one for each number."""
    return [row["name"].replace("<n>", "1")]


def bad():
    for row in ROWS:
        expect(f"{row['name']}: a test of its own for any text", row["kind"] != "text" or row["choices"] or row["name"] in TEXTS)
        values = bad_values(row)
        expect(f"{row['name']}: has bad values", values or row["kind"] == "flag")
        for name in names_of(row):
            for value in values:
                special = TEXTS.get(row["name"], ([], {}, "expected", []))
                start = (MPIEXEC, "-n", "2") if special[1] else ()
                code, out, error = run(*start, JOB, "start", **{**special[1], name: value})
                if start:
                    error = f"{error.splitlines()[0]}\n" if error else ""
                one = [line for line in error.splitlines() if f"{name}={value}" in line]
                expect(f"{name}={value!r} is refused", 0 < code < 128 and "done" not in out, code, out, error)
                allowed = special[2] if row["kind"] != "parts" else ""
                expect(f"{name}={value!r} is named, with what is allowed", len(one) == 1 and allowed in one[0], error)
                expect(f"{name}={value!r}: no other line", len(error.splitlines()) == 1, error)
    for name in ("SHMEM_SYMMETRIC_PARTITION0", "SHMEM_SYMMETRIC_PARTITION128", "SHMEM_SYMMETRIC_PARTITIONx"):
        code, _, error = run(JOB, "start", **{name: "size=1M"})
        expect(f"{name} is refused", 0 < code < 128 and name in error and "from 1 to 127" in error, error)
    bad_lines()
    late_ones()


def late_ones():
    """What can only be seen at the end is told then; the job was right."""
    code, out, error = run(JOB, "start", HOTLANE_STATS="json", HOTLANE_STATS_FILE="/dev/full")
    expect("a full device", code == 0 and "done" in out and len(error.splitlines()) == 1
           and "HOTLANE_STATS_FILE=/dev/full: No space left on device" in error, code, error)


def bad_lines():
    """The same in a file: the line is named too."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "settings")
        for row in ROWS:
            values = [v for v in bad_values(row) if v == v.strip() and v]
            if row["kind"] in ("flag", "text") and not row["choices"]:
                continue
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"# settings\n{names_of(row)[0]} = {values[0]}\n")
            code, _, error = run(INFO, "--env", HOTLANE_CONF=path)
            expect(f"{row['name']} in a file", code == 1 and f"{path}:2: {names_of(row)[0]}={values[0]}: " in error, error)


def good():
    for row in ROWS:
        for value in good_values(row):
            name = names_of(row)[0]
            code, out, error = run(INFO, "--json", "--no-network", **{name: value})
            expect(f"{name}={value!r} is taken", code == 0, error)
            shown = [v for v in json.loads(out)["variables"] if v["name"] == row["name"]][0]
            expect(f"{name}={value!r} is in force", value in shown["value"] and shown["origin"] == "environment", shown)


def slips(name):
    """What fingers make of a name: the nearest name is still this one."""
    at = len(name) - 3
    return [name[:at] + name[at + 1:], name[:at] + name[at + 1] + name[at] + name[at + 2:], name + "S", name[:at] + "_" + name[at:]]


def names():
    known = {row["name"] for row in ROWS}
    for row in ROWS:
        name = row["name"]
        if name.startswith(("HOTLANE_", "MPICH_ALLOC_")):
            for slip in (s for s in set(slips(name)) - known if s.startswith(("HOTLANE_", "MPICH_ALLOC_"))):
                notes = json.loads(run(INFO, "--json", "--no-network", **{slip: "1"})[1])["notes"]
                expect(f"{slip} is told", len(notes) == 1 and slip in notes[0] and "has no effect" in notes[0], notes)
                meant = re.search(r"did you mean (\S+)\?", notes[0] if notes else "")
                expect(f"{slip}: a known name is proposed", meant is not None and meant[1] in known, notes)
                expect(f"{slip}: {name} or as near", meant is None or meant[1] == name or abs(len(meant[1]) - len(slip)) < 3, notes)
    for slip, name in (("SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"), ("MPICH_ALOC_MEM_PG_SZ", "MPICH_ALLOC_MEM_PG_SZ")):
        notes = json.loads(run(INFO, "--json", "--no-network", **{slip: "1G", "SHMEM_DEBUG": "1", "MPICH_RANK_REORDER_METHOD": "1"})[1])["notes"]
        expect(f"{slip} is told, other's names are not", len(notes) == 1 and f"did you mean {name}?" in notes[0], notes)
    code, out, error = run(JOB, "start", HOTLANE_LANE="1", HOTLANE_NONSENSE_OF_MINE="1", HOTLANE_FC="gfortran")
    expect("a program goes on", code == 0 and "done" in out, error)
    expect("and says it", len(error.splitlines()) == 2 and "did you mean HOTLANE_LANES?" in error
           and "HOTLANE_NONSENSE_OF_MINE is not a variable" in error, error)


# Good for others, or so large that they mean another job.
NOT_RUN = {("HOTLANE_BOOT", "pmi1"), ("HOTLANE_BOOT", "pmix"), ("HOTLANE_BOOT", "self"), ("HOTLANE_BOOT", "AUTO")}


def run_all():
    for row in ROWS:
        for value in good_values(row):
            for near in ("1", "0"):
                name = names_of(row)[0]
                if (name, value) not in NOT_RUN and not (name == "HOTLANE_NEAR" and near == "0"):
                    env = {"HOTLANE_NEAR": near, name: value}
                    code, out, error = run(MPIEXEC, "-n", "2", JOB, "mpi", **env)
                    expect(f"a job runs with {env}", code == 0 and "done" in out, code, error)


{"bad": bad, "good": good, "names": names, "run": run_all}[GROUP]()
close()
