#!/usr/bin/env python3
"""What the library says about memory: values that do not parse, old names, requests that were not fully met, refusals on
one rank and on all. Lines are compared by the words that matter here, with ... for those that unit tests look at. Texts that need a pool of a known size are looked at when root runs this.

usage: mem_words.py MPIEXEC MEM_ASK
"""
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

MPIEXEC, PROGRAM = sys.argv[1:]
CLEAN = clean_env.environment()
CLEAN["HOTLANE_CONF"] = ""
POOLS = "/sys/kernel/mm/hugepages"
POOL = POOLS + "/hugepages-2048kB/"
M8 = str(8 << 20)
PAGES, KINDS, POLICIES = "4K|2M|...", "SYS_DEFAULT|DDR|...", "P|Preferred|..."
ENDS = "; the job ends (MPI_ERRORS_ARE_FATAL)"
NO_FAST = "no fast memory found on this machine (1 node...HOTLANE_FASTMEM_NODES=all)"
failures = cases = 0


def run(ranks, *words, **env):
    """(code, standard output's lines, the library's lines without the host's name), both sorted."""
    done = subprocess.run([MPIEXEC, "-n", str(ranks), "--timeout", "50", PROGRAM, *words], env={**CLEAN, **env},
                          capture_output=True, text=True, timeout=60)
    lines = [re.sub(r"^(hotlane: rank \d+) \([^)]*\)", r"\1", line) for line in done.stderr.splitlines()]
    return done.returncode, sorted(done.stdout.splitlines()), sorted(line for line in lines if line.startswith("hotlane:"))


def alike(got, wanted):
    """Whether both are the same; ... in a wanted text stands for any words."""
    if isinstance(wanted, str):
        return isinstance(got, str) and re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), got) is not None
    if isinstance(wanted, (list, tuple)):
        return type(got) is type(wanted) and len(got) == len(wanted) and all(map(alike, got, wanted))
    return got == wanted


def expect(what, got, wanted):
    global failures, cases
    cases += 1
    if not alike(got, wanted):
        failures += 1
        print(f"FAILED: {what}\n  got    {got}\n  wanted {wanted}")


def expect_any(what, got, wanted):
    """For a job that one rank ends: which of the ranks speak before is not known, but each line is one of `wanted`."""
    expect(what, bool(got) and all(any(alike(line, one) for one in wanted) for line in got) or got, True)


def values_that_do_not_parse():
    for name, value, allowed in (("AFFINITY", "HBM3", KINDS), ("PG_SZ", "3M", PAGES), ("PG_SZ", "", PAGES),
                                 ("POLICY", "Bind", POLICIES), ("HUGE_PG_SZ", "2", PAGES)):
        code, out, lines = run(2, "alloc", M8, **{"MPICH_ALLOC_MEM_" + name: value})
        wanted = f"hotlane: MPI_Init: MPICH_ALLOC_MEM_{name}={value}: expected one of {allowed}; the job ends"
        expect(f"{name}={value} ends the job", (code != 0, out), (True, []))
        expect_any(f"{name}={value}", lines, [wanted])
    code, out, lines = run(1, "alloc", M8, HOTLANE_FASTMEM_NODES="1-")
    expect_any("a node list", lines, ["hotlane: MPI_Init: HOTLANE_FASTMEM_NODES=1-: expected node numbers...; the job ends"])


def names():
    code, out, lines = run(2, "alloc", "100", MPICH_ALLOC_MEM_HUGE_PAGES="1", MPICH_ALLOC_MEM_PG_SZ="4K")
    expect("an old name", (code, out, lines),
           (0, ["rank 0: done", "rank 1: done"], ["hotlane: rank 0: MPICH_ALLOC_MEM_HUGE_PAGES is an old name: "
                                                  "MPICH_ALLOC_MEM_PG_SZ=4K ...wins"]))
    others = {"MPICH_ASYNC_PROGRESS": "1", "MPICH_RMA_SCALABLE": "2"}
    expect("others' variables", run(2, "alloc", "100", HOTLANE_ENV_NOTICE="0", **others)[2], [])


def hints():
    code, out, lines = run(1, "alloc", M8, "hotlane_page_size=3M", "hotlane_mem_kind=tape", "mpi_minimum_memory_alignment=3")
    expect("hints of MPI_Alloc_mem", (code, out, lines), (0, ["rank 0: done"], [
        "hotlane: rank 0: MPI_Alloc_mem: hint is not honoured: hotlane_mem_kind=tape: expected one of " + KINDS,
        "hotlane: rank 0: MPI_Alloc_mem: hint is not honoured: hotlane_page_size=3M: expected one of " + PAGES,
        "hotlane: rank 0: MPI_Alloc_mem: hint is not honoured: mpi_minimum_memory_alignment=3: expected a power of two"]))
    code, out, lines = run(2, "window", M8, "hotlane_mem_policy=maybe", "mpich_buf_type=gpu")
    expect("hints of a window", (code, [line.split(": ", 3)[3] for line in lines], all("window" in line for line in lines)), (0, [
        "hotlane_mem_policy=maybe: expected one of " + POLICIES, "mpich_buf_type=gpu: expected one of ddr|hbm"], True))
    wrong = {"no_locks=maybe": "expected one of true|false", "accumulate_ordering=rar,none": "expected none, or some, between commas, of rar|raw|war|waw",
             "mpi_accumulate_granularity=8k": "expected a number that is not negative", "mpi_minimum_memory_alignment=3": "expected a power of two",
             "mpi_assert_memory_alloc_kinds=gpu": "expected some, between commas, of "
             "system|mpi|mpi:alloc_mem|mpi:win_allocate|mpi:win_allocate_shared", f"hotlane_mem_kind={'h' * 300}": "expected a shorter value"}
    code, out, lines = run(2, "window", M8, *wrong)
    expect("other hints of a window", (code, sorted(lines)), (0, sorted(
        f"hotlane: rank 0: window hint {hint[:17 + 255]} is not honoured: {why}" for hint, why in wrong.items())))
    none = "no such key, expected one of hotlane_symmetric|hotlane_mem_kind|hotlane_page_size|hotlane_mem_policy"
    expect("keys that are misspelt", run(2, "window", M8, "hotlane_pagesize=2M", "hotlane_nodes=48M", "no_lock=true", "other_pagesize=2M"),
           (0, ["rank 0: 4K SYS_DEFAULT P", "rank 1: 4K SYS_DEFAULT P"],
            [f"hotlane: rank 0: window hint hotlane_pagesize=2M is not honoured: {none}"]))


def nothing_asked():
    expect("no lines", run(2, "window", M8), (0, ["rank 0: 4K SYS_DEFAULT P", "rank 1: 4K SYS_DEFAULT P"], []))
    line = "MPI_Win_allocate 8M: asked 4K P; got 4K pages, placed when touched, aligned "
    for setting in ({"HOTLANE_MEM_REPORT": "2"}, {"MPICH_ENV_DISPLAY": "1"}):
        lines = [re.sub(r"aligned \d+[KMG]$", "aligned ", text) for text in run(2, "window", M8, **setting)[2]]
        expect(f"a line each {setting}", lines, [f"hotlane: rank {r}: {line}" for r in (0, 1)])


def base_pages():
    code, out, lines = run(2, "window", M8, MPICH_ALLOC_MEM_AFFINITY="ddr", MPICH_ALLOC_MEM_POLICY="M")
    wanted = "hotlane: rank 0: MPI_Win_allocate 8M: asked DDR 4K M; got 4K pages, node0 8M, aligned ; policy M is not applied..."
    expect("M by variable and base pages", (code, out, [re.sub(r"aligned \d+[KMG]", "aligned ", text) for text in lines]),
           (0, ["rank 0: 4K DDR P", "rank 1: 4K DDR P"], [wanted]))
    expect("M by key and base pages", run(2, "window", M8, "hotlane_mem_kind=ddr", "hotlane_mem_policy=M"),
           (0, ["rank 0: 4K DDR M", "rank 1: 4K DDR M"], []))


def no_fast_memory():
    code, out, lines = run(2, "window", M8, MPICH_ALLOC_MEM_AFFINITY="hbm")
    expect("P without fast memory", (code, [re.sub(r"aligned \d+[KMG]", "aligned ", text) for text in lines]),
           (0, ["hotlane: rank 0: MPI_Win_allocate 8M: asked MCDRAM 4K P; got 4K pages, placed when touched, aligned ; " + NO_FAST]))
    for call, loser, func in (("window", 1, "MPI_Win_allocate"), ("shared", 0, "MPI_Win_allocate_shared")):
        why, where = f"policy M on fast memory: {NO_FAST}{ENDS}", f"{func} on communicator MPI_COMM_WORLD"
        code, out, lines = run(3, call, M8, f"{loser}:mpich_buf_type=hbm", f"{loser}:hotlane_mem_policy=M")
        expect(f"{call}: M without fast memory ends the job", (code != 0, out), (True, []))
        expect_any(f"{call}: M without fast memory", lines,
                   [f"hotlane: rank {loser}: {where}: {why}"] +
                   [f"hotlane: rank {r}: {where}: rank {loser} could not make its part of the window: {why}"
                    for r in range(3) if r != loser])


def lock(path, seconds=60):
    """One program of the machine changes the pools at a time; it ends when the descriptor is closed."""
    guard, end = os.open(path, os.O_RDONLY), time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return guard
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(guard)
                raise
            time.sleep(0.2)


@contextlib.contextmanager
def pool(pages):
    """The pool of 2M pages has just `pages`; False when it cannot be set."""
    def write(name, text):
        with open(POOL + name, "w", encoding="ascii") as file:
            file.write(text)

    def read(name):
        with open(POOL + name, encoding="ascii") as file:
            return file.read()

    try:
        guard = lock(POOLS)
        before = {name: read(name) for name in ("nr_overcommit_hugepages", "nr_hugepages")}
        try:
            write("nr_overcommit_hugepages", "0")
            write("nr_hugepages", str(pages))
            yield int(read("nr_hugepages")) == int(read("free_hugepages")) == pages
        finally:
            for name, text in before.items():
                write(name, text)
            os.close(guard)
    except OSError as error:
        print(f"texts with pools are not looked at: {error}")
        yield False


def an_empty_pool():
    why = "4 x 2M pages on any node: 0 free of 0,...echo 4 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    code, out, lines = run(2, "alloc", M8, MPICH_ALLOC_MEM_PG_SZ="4M")
    lines = [re.sub(r"aligned \d+[KMG]|\(\d+ % joined to huge ones\), |node0 8M, ", "", text) for text in lines]
    expect("P: one line", (code, out, lines), (0, ["rank 0: done", "rank 1: done"], [
        f"hotlane: rank 0: MPI_Alloc_mem 8M: asked 4M P; got 4K pages ; {why}"]))
    expect("P: no line when nobody wants one", run(2, "alloc", M8, MPICH_ALLOC_MEM_PG_SZ="4M", HOTLANE_MEM_REPORT="0")[2], [])
    code, out, lines = run(2, "alloc", M8, MPICH_ALLOC_MEM_PG_SZ="4M", MPICH_ALLOC_MEM_POLICY="M")
    expect("M ends the job", (code != 0, out), (True, []))
    expect_any("M", lines, [f"hotlane: rank {r}: MPI_Alloc_mem: 8M, policy M: {why}, or policy P{ENDS}" for r in (0, 1)])
    code, out, lines = run(2, "window", M8, "1:hotlane_page_size=4M", "1:hotlane_mem_policy=M")
    where = "MPI_Win_allocate on communicator MPI_COMM_WORLD"
    expect_any("M on one rank", lines, [
        f"hotlane: rank 1: {where}: 8M, policy M: {why}, or policy P{ENDS}",
        f"hotlane: rank 0: {where}: rank 1 could not make its part of the window: 8M, policy M: {why}, or policy P{ENDS}"])


def a_pool_with_pages():
    expect("2M pages for one of two ranks", run(2, "window", M8, "1:hotlane_page_size=2M", "1:hotlane_mem_policy=M"),
           (0, ["rank 0: 4K SYS_DEFAULT P", "rank 1: 2M SYS_DEFAULT M"], []))
    expect("for all", run(2, "window", M8, MPICH_ALLOC_MEM_PG_SZ="2M", MPICH_ALLOC_MEM_POLICY="M"),
           (0, ["rank 0: 2M SYS_DEFAULT M", "rank 1: 2M SYS_DEFAULT M"], []))
    expect("by an old name", run(2, "shared", M8, MPICH_ALLOC_MEM_HUGE_PAGES="1")[:2],
           (0, ["rank 0: 2M SYS_DEFAULT P", "rank 1: 2M SYS_DEFAULT P"]))
    expect("all pages are free again", open(POOL + "free_hugepages", encoding="ascii").read(), "8\n")


def main():
    for group in (values_that_do_not_parse, names, hints, nothing_asked):
        group()
    if os.path.exists("/sys/devices/system/node/node1"):
        print("the texts of machines with one node are not looked at: this one has several")
    else:
        base_pages()
        no_fast_memory()
        for pages, group in ((0, an_empty_pool), (8, a_pool_with_pages)):
            with pool(pages) as there:
                if there:
                    group()
    print(f"{cases - failures} of {cases} hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
