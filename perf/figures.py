"""The table of figures of perf/report: which script draws each with which arguments, what the papers show, what is seen.

What is said of the papers is in our words; their own numbers stand in them. What is seen is computed from the tables of a run
(harness.Book) by the functions below, each of which returns sentences."""
import collections
import os

import harness

DOTS = "Dots are medians of {turns} of each, in turns; bars reach from the least to the most."
ONCE = "Dots are one run of each, in turns: what they vary by is not known."  # instead of these words
EXACT = "Counted exactly, not timed: the same in every run."

# id: its name for --only; paper: a key of PAPERS; number: the paper's own name of it; seconds: how long it takes, quick and
# whole; quick, whole, tiny: arguments of the script (quick None: not in a quick report); shows: what the paper shows; seen: functions of
# the tables; why: why that may differ here ({cores}: of this machine); how: what is said below the pictures; build: the kind of build
# that it needs (builds.py); takes: which options of the report the script has.
Figure = collections.namedtuple("Figure", "id title paper number script seconds quick whole tiny shows seen why how build takes",
                                defaults=[DOTS, "", ("--ours", "--within")])

PAPERS = {
    "balaji": "P. Balaji et al.: Fine-Grained Multithreading Support for Hybrid Threaded MPI Programming (2010)",
    "hoefler": "T. Hoefler et al.: matched probe, messages of unknown length with many threads (EuroMPI 2010)",
    "kandalla": "K. Kandalla et al.: Cray MPI and SHMEM with many threads on Knights Landing (CUG 2016)",
    "beyond": "Beyond the papers",
}

# Scripts that are no part of it, and why.
NO_PARTS = {
    "install-peers": "measures nothing: it installs other MPIs",
    "lanes": "a picture of leases over time, for who changes how lanes are chosen",
    "pieces": "instructions of shmem_malloc by how many pieces live, which no paper and no other library has",
    "race": "sorts what it measured by how Hotlane stands against the best of the others",
    "ranks": "what a job of many ranks costs this node, for who changes the start; many-ranks and starting have it for fewer",
    "report": "makes it",
    "rma-oracle": "a test: it looks whether answers are right",
    "stencil-sweep": "a test: it looks whether answers are right",
    "timeline": "a picture of a few steps of the stencil, thread by thread, to look for what a rank waits for",
}


def words_of(figure, size):
    """The arguments of its script for a size of the report; None: left out there."""
    words = getattr(figure, size)
    return None if words is None else list(words)


def _tables(tables):
    return [t for t in tables if t["drawn"] and t["rows"]]


def _by_count(tables):
    """Those over numbers of threads, ranks or workers, not over sizes."""
    return [t for t in _tables(tables) if t["x"] and not t["x"].startswith("bytes")]


def _cells(table, name):
    """{key: values} of a row."""
    row = next((r for r in table["rows"] if r["name"] == name), None)
    return {k: c for k, c in zip(table["keys"], row["cells"]) if c} if row else {}


def _times(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _listed(things):
    """Names in a row; those of rows may have commas themselves."""
    return ("; " if any("," in thing for thing in things) else ", ").join(things)


def _way(ratio):
    if ratio == 0:
        return "falls to nothing"
    return f"grows {_times(ratio)} times" if ratio > 1.05 else f"falls to {ratio:.2g} of it" if ratio < 0.95 else "stays"


def growth(*names):
    """How much the rows (none named: Hotlane's) change from the first key to the last."""
    def sentence(tables):
        said = []
        for table in _by_count(tables):
            found = {}  # {(first key, last key): what is said}
            for row in table["rows"]:
                cells = _cells(table, row["name"])
                keys = list(cells)
                if (row["name"] in names or not names and row["ours"]) and len(keys) > 1 and harness.middle(cells[keys[0]]) > 0:
                    ratio = harness.middle(cells[keys[-1]]) / harness.middle(cells[keys[0]])
                    found.setdefault((keys[0], keys[-1]), []).append(f"{row['name']} {_way(ratio)}")
            said += [f"{table['title']}: from {first} to {last} {table['x']} {_listed(words)}." for (first, last), words in found.items()]
        return said
    return sentence


def in_order(*names):
    """Whether the medians at the last key stand in this order, the best first, and how sure that is."""
    def sentence(tables):
        said = []
        for table in _by_count(tables):
            key = next((k for k in reversed(table["keys"]) if all(_cells(table, n).get(k) for n in names)), None)
            if key is None:
                continue
            sign = -1 if table["better"] == "more" else 1
            cells = [_cells(table, n)[key] for n in names]
            medians = [harness.middle(c) for c in cells]
            right = all(sign * a <= sign * b for a, b in zip(medians, medians[1:]))
            apart = all(min(a) > max(b) if sign < 0 else max(a) < min(b) for a, b in zip(cells, cells[1:]))
            order = sorted(zip(names, medians), key=lambda pair: sign * pair[1])
            said.append(f"{table['title']}, {key} {table['x']}, {table['unit']}: from the best to the worst "
                        + _listed([f"{n} ({harness.number(v)})" for n, v in order])
                        + (": the paper's order" if right else ": not the paper's order")
                        + (", by one run of each" if all(len(c) == 1 for c in cells) else "" if apart or not right else ", though some ranges overlap") + ".")
        return said
    return sentence


def against_others(row, unlike=()):
    """How many times as good as the best other library the row is; rows that did not use the network, or failed, are named instead."""
    def sentence(tables):
        said, left = [], set()
        for table in _tables(tables):
            left |= {f"{r['name']} ({r['mark']})" for r in table["rows"] if harness.NO_PATH in r["mark"]} | {f"{n} (failed)" for n in table["failed"]}
            if table["drawn"] == "relative":
                continue
            values = values_of(table, unlike)
            ratios = [harness.ratio(values, k, row, table["better"]) for k in table["keys"]]
            ratios = [r for r in ratios if r]
            if ratios:
                low, high = min(r for r, _ in ratios), max(r for r, _ in ratios)
                words = _times(low) if len(ratios) == 1 else f"{_times(low)} to {_times(high)}"
                said.append(f"{table['title']}, {table['unit']}: {row} is {words} times as good as the best of the others "
                            f"({_listed(sorted({name for _, name in ratios}))}).")
        if left:
            said.append("Not compared: " + _listed(sorted(left)) + ".")
        return said if said else ["No other library ran here to compare with."]
    return sentence


def beside(row, *limits):
    """How many times a yardstick that is no library the row reaches."""
    def sentence(tables):
        said = []
        for table in _tables(tables):
            own = {key: harness.middle(cell) for key, cell in _cells(table, row).items()}
            for limit in limits:
                found = [own[key] / harness.middle(cell) for key, cell in _cells(table, limit).items() if own.get(key) and harness.middle(cell)]
                if found:
                    words = dict.fromkeys([_times(min(found)), _times(max(found))])
                    said.append(f"{table['title']}, {table['unit']}: {row} reaches {' to '.join(words)} times {limit}.")
        return said
    return sentence


def percents(words):
    """The medians of relative tables in percent, key by key; words: what the paper has."""
    def sentence(tables):
        return [f"{table['title']}: " + "; ".join(f"{row['name']} " + ", ".join(f"{harness.middle(c):.0f} % on {k} {table['x']}" for k, c in
                                                                                 _cells(table, row["name"]).items()) for row in table["rows"]) + f". {words}"
                for table in _tables(tables) if table["drawn"] == "relative" and table["unit"] == "percent"]
    return sentence


def marked(tables):
    """Libraries whose flush returned before the data were there."""
    names = sorted({r["name"] for t in tables for r in t["rows"] if "early" in r["mark"]})
    return [f"Flushes returned before their data were there: {', '.join(names)}."] if names else []


def as_in_paper(tables):
    """How many of the numbers that a paper's table has are the same here, and which are not."""
    found = [(f"{row['name']}, {key}: {harness.number(harness.middle(cell))}, the paper {paper}", harness.middle(cell) == paper)
             for table in _tables(tables) for row in table["rows"] for key, cell, paper in zip(table["keys"], row["cells"], row["paper"])
             if paper is not None and cell]
    unlike = [words for words, same in found if not same]
    return [f"{len(found) - len(unlike)} of {len(found)} numbers are the paper's" + (": not " + "; ".join(unlike) if unlike else "") + "."] if found else []


def most(tables):
    """The most of each of Hotlane's rows, over all its columns."""
    said = []
    for table in (t for t in _tables(tables) if t["better"] == "less"):
        ends = {row["name"]: max(harness.middle(c) for c in row["cells"] if c) for row in table["rows"] if row["ours"]}
        free = [name for name, value in ends.items() if not value]
        said.append(f"{table['title']}: " + "; ".join([f"at most {harness.number(v)} of {n}" for n, v in ends.items() if v]
                                                       + [f"none of {', '.join(free)}"] * bool(free)) + ".")
    return said


def slowest(tables):
    """The longest single value of a table."""
    return [f"{table['title']}: the longest took {harness.number(max(v for r in table['rows'] for c in r['cells'] for v in c))} {table['unit']}."
            for table in _tables(tables)]


def ends(tables):
    """Which ways end the listing."""
    said = []
    for table in tables:
        for row in table["rows"]:
            cells = _cells(table, row["name"])
            said.append(f"{row['name']}: " + ", ".join(f"{way} {'ends' if c[0] else 'waits for ever'}" for way, c in cells.items()) + ".")
    return said


def extremes(tables):
    """From the least to the most of each of Hotlane's rows, over names."""
    said = []
    for table in (t for t in _tables(tables) if not t["x"]):
        found = []
        for row in (r for r in table["rows"] if r["ours"]):
            cells = {k: harness.middle(c) for k, c in _cells(table, row["name"]).items()}
            if len(cells) > 1:
                low, high = min(cells, key=cells.get), max(cells, key=cells.get)
                found.append(f"{row['name']} from {harness.number(cells[low])} ({low}) to {harness.number(cells[high])} ({high})")
        if found:
            said.append(f"{table['title']}, {table['unit']}: " + "; ".join(found) + ".")
    return said


def values_of(table, unlike=()):
    """The rows of a table, of a script or of a report.json, as harness.Values; rows whose names end with one of `unlike` are left out."""
    values = harness.Values([])
    for row in table["rows"]:
        if not row["name"].endswith(tuple(unlike) or ("\0",)):
            values[row["name"]] = {k: c for k, c in zip(table["keys"], row["cells"]) if c}
            values.marks[row["name"]] = row.get("mark", "")
            if row.get("ours"):
                values.ours.add(row["name"])
    return values


_CORES = "This machine has {cores} cores; where more threads than that run, the kernel's scheduler is measured as well. "
_ONE_LOCK = ("One lock for the process (global) is lowest as soon as threads are added, a lock held briefly comes next; a lock for each "
             "object, pools of each thread and atomic counts gain; no locks come nearest to as many processes (none, processes).")
_BALAJI_WHY = ("The paper had eight cores and a machine for the receivers; this machine has {cores} for both. A lock that nobody wants costs "
               "little, so where senders do not run at the same time the designs lie together.")

_ISEND_WHY = (" Of the eight locks that a nonblocking send and its wait take with a lock for each object, five belong to objects that all threads "
              "share here: two to the pool of requests, two to the count of the communicator, one to progress. Threads that "
              "run at the same time wait for each other there; pools of each thread (+tlp) take two of the five away, atomic counts (+atomic) two more.")


def _threads(few):
    """Of a quick run: a few numbers of threads, and more where half of the cores are as many."""
    half = len(os.sched_getaffinity(0)) // 2
    return ",".join([few] + [str(n) for n in (4, 8) if int(few[-1]) < n <= half])


def _balaji(test, title, words, seconds):
    few = _threads("1,2,4" if test == "burst" else "1,2")
    shared = test == "isend"
    return Figure(f"balaji-{words}", title, "balaji", "of Figures 3 to 8", "msgrate", seconds,
                  ["--tests", test, "--threads", few, "--milliseconds", "30", "--rounds", "3", "--timeout", "10"],
                  ["--tests", test, "--milliseconds", "200", "--rounds", "3", "--timeout", "60"],
                  ["--tests", test, "--threads", "1,2", "--messages", "2000", "--milliseconds", "2", "--modes", "global,lockfree", "--rounds", "2"],
                  _ONE_LOCK, [in_order("lockfree", "object", "global"), growth("lockfree", "object", "brief", "global", "processes")]
                  + [growth("object+atomic", "object+tlp", "object+tlp+atomic")] * shared, _BALAJI_WHY + _ISEND_WHY * shared)


def _kandalla_5(call, letter):
    quick = ["--calls", call, "--threads", _threads("1,4"), "--sizes", "8,4096,262144", "--outer", "16384", "--milliseconds", "60", "--rounds", "3",
             "--early", "100", "--timeout", "10"]
    return Figure(f"kandalla-5{letter}", f"{call.capitalize()}s by many threads on one window, all sizes", "kandalla", f"Figure 5 {letter}", "rma_mt",
                  (34, 600), quick, ["--calls", call, "--milliseconds", "60", "--rounds", "3", "--early", "500", "--timeout", "120"],
                  ["--calls", call, "--threads", "1,2", "--sizes", "8,512", "--outer", "16", "--milliseconds", "20", "--rounds", "2", "--early", "5"],
                  "One rank with 1 to 32 threads, three target ranks, 128 operations and a flush in each turn. Threads that are thread-hot "
                  "are compared with a library that takes one lock for the process.",
                  [in_order("hot", "global"), against_others("hot"), growth("hot", "hot, default lanes", "global"), marked],
                  _CORES + "The paper's network was a Cray's; here it is TCP through the loopback device, or the memory of the node.",
                  DOTS + " At every size, turns that would begin more than 60 ms after the first one are left out; kandalla-5-turns leaves out none.")


def _stencil(number, what, title, shows):
    return Figure(f"kandalla-{number}", title, "kandalla", f"Figure {number}", "stencil-scaling", (18, 150),
                  ["--what", what, "--side", "64", "--steps", "200", "--threads", _threads("1,2,4"), "--rounds", "3", "--timeout", "10"],
                  ["--what", what, "--side", "128", "--steps", "100", "--rounds", "3", "--timeout", "60"],
                  ["--what", what, "--side", "16", "--patch", "8", "--steps", "4", "--threads", "1,2", "--ranks", "1,2", "--rounds", "2"],
                  shows, [growth(), against_others("hotlane")],
                  _CORES + "The paper's runs took up to 34,848 cores and its program was WOMBAT; the stencil here communicates in the same way.")


FIGURES = [
    _balaji("null", "Sends to MPI_PROC_NULL by many threads", "nobody", (14, 60)),
    _balaji("send", "MPI_Send of empty messages by many threads", "send", (18, 80)),
    _balaji("isend", "MPI_Isend of empty messages by many threads", "isend", (18, 80)),
    _balaji("burst", "MPI_Send by many threads, receivers asleep", "asleep", (12, 80)),
    Figure("balaji-waits", "Time that sending threads wait for locks", "balaji", "of Figures 3 to 8", "msgrate", (12, 150),
           ["--what", "waits", "--threads", _threads("1,2"), "--milliseconds", "30", "--rounds", "3", "--timeout", "10"],
           ["--what", "waits", "--milliseconds", "200", "--rounds", "3", "--timeout", "60"],
           ["--what", "waits", "--tests", "null,burst", "--threads", "1,2", "--messages", "2000", "--modes", "global,object", "--rounds", "2"],
           "Why the designs differ: with one lock for the process most of the threads' time goes into waiting for it as threads are added, with a lock "
           "held briefly less, with a lock for each object next to none.", [most],
           _BALAJI_WHY + " Processes instead of threads have no row: each has one thread, which takes no lock and waits for none.", takes=("--within",)),
    Figure("balaji-locks", "Locks of one call", "balaji", "Table 1", "locks", (5, 5), [], [], ["--modes", "global,object"],
           "What finer locks cost where nobody waits: a send takes one lock in every design that has any; a nonblocking send and its wait take eight "
           "where objects have their own, two fewer with pools of each thread, and two in all with counts that need no lock either.", [as_in_paper],
           "Counts of locks are no matter of the machine. Hotlane's own design (lockfree) takes none.", EXACT, takes=()),
    Figure("hoefler-2", "Messages of unknown length, received by many threads", "hoefler", "Figure 2", "mprobe", (26, 100),
           ["--what", "rate", "--threads", _threads("1,2"), "--messages", "1000000", "--milliseconds", "20", "--rounds", "2", "--timeout", "10"],
           ["--what", "rate,rate-processes", "--messages", "1000000", "--milliseconds", "100", "--timeout", "30"],
           ["--what", "rate", "--targets", "directed", "--threads", "1,2", "--messages", "200", "--milliseconds", "2", "--rounds", "2"],
           "Messages per second of threads that do not know how long the next message is: matched probe is first, before locks for pairs of "
           "source and tag around a polled probe and before matching outside of MPI. It alone needs one probe and no lock for a message.",
           [in_order("hotlane, matched probe", "hotlane, locks"), in_order("hotlane, matched probe", "hotlane, map of locks"),
            in_order("hotlane, matched probe", "hotlane, outside"),
            against_others("hotlane, matched probe")],
           _CORES + "Senders and receivers share the machine."),
    Figure("hoefler-sizes", "Messages of unknown length, by their length", "hoefler", "size of messages", "mprobe", (26, 80),
           ["--what", "sizes", "--threads", "2", "--sizes", "8,4096,262144", "--messages", "1000000", "--milliseconds", "20", "--rounds", "2", "--timeout", "10"],
           ["--what", "sizes", "--messages", "1000000", "--milliseconds", "100", "--timeout", "30"],
           ["--what", "sizes", "--targets", "directed", "--threads", "2", "--sizes", "8,32768", "--messages", "200", "--milliseconds", "2", "--rounds", "2"],
           "How fast messages of one length are received; a probe and a receive with nothing around them, which match wrongly where lengths differ, "
           "show what right matching costs.", [against_others("hotlane, matched probe")],
           _CORES + "Long messages cost their copies whoever matches them."),
    Figure("hoefler-3", "Round trips of messages of unknown length, each thread its own", "hoefler", "Figure 3", "mprobe", (20, 80),
           ["--what", "trip", "--threads", _threads("1,2"), "--messages", "1000000", "--milliseconds", "20", "--rounds", "2", "--timeout", "10"], ["--what", "trip", "--messages", "1000000", "--milliseconds", "100", "--timeout", "30"],
           ["--what", "trip", "--targets", "directed", "--threads", "1,2", "--messages", "200", "--milliseconds", "2", "--rounds", "2"],
           "Matched probe is quickest; matching outside of MPI pays a hand-over to another thread in every round trip.",
           [in_order("hotlane, matched probe", "hotlane, locks", "hotlane, outside"), against_others("hotlane, matched probe")],
           _CORES + "There, threads that poll take the cores from those that they wait for."),
    Figure("hoefler-listings", "The listing that must end, and the lock that must not", "hoefler", "Listings", "mprobe", (8, 20),
           ["--what", "listing"], ["--what", "listing"], ["--what", "listing"],
           "A thread that waits for a message from anybody must not keep a thread from waiting that knows its source. With matched probe, with "
           "the polling lock and with matching outside that ends; with a lock that is held while waiting it never does.",
           [ends], "It is not to differ: whether a program ends is no matter of speed.",
           "Each way once; one that has not ended within 30 s, or 3 s with the lock that is held while waiting, counts as one that waits for ever."),
    Figure("kandalla-2", "Variables for kinds of memory, page sizes and policies", "kandalla", "Figure 2", "memory_kinds", (2, 2),
           ["--what", "mpi"], ["--what", "mpi"], ["--what", "mpi"],
           "Three variables by which a program's windows and MPI_Alloc_mem come to lie in DDR or MCDRAM, on pages of 4 KiB to 512 MiB, and what is done "
           "where that is not there.", [],
           "What is met depends on the kinds of memory here and on the huge pages that are reserved; hotlane-info --memory says how to reserve some. "
           "Without a kind the system's placement holds, where the figure has DDR.", "As hotlane-info answers.", takes=()),
    Figure("kandalla-3", "Partitions of the symmetric heap", "kandalla", "Figure 3", "memory_kinds", (4, 4),
           ["--what", "shmem"], ["--what", "shmem"], ["--what", "shmem"],
           "A variable for each partition of the symmetric heap, with its size, kind of memory, policy and page size.", [],
           "What is met depends on the kinds of memory here and on the huge pages that are reserved.",
           "As hotlane-info answers, and an OpenSHMEM program with SHMEM_MEMINFO_DISPLAY.", takes=()),
    _kandalla_5("put", "a"),
    _kandalla_5("get", "b"),
    Figure("kandalla-5-turns", "All 4096 turns of 1 MiB", "kandalla", "Figure 5 a", "rma_mt", (0, 250), None,
           ["--calls", "put", "--paths", "node", "--modes", "hot", "--threads", "1,2", "--sizes", "1048576", "--milliseconds", "0", "--rounds", "1",
            "--early", "0", "--timeout", "300"],
           ["--calls", "put", "--paths", "node", "--modes", "hot", "--threads", "1", "--sizes", "1048576", "--outer", "8", "--milliseconds", "0",
            "--rounds", "1", "--early", "0"],
           "The paper's loop has 4096 turns at every size; of 1 MiB they carry 512 GiB.", [growth("hot"), against_others("hot")],
           "kandalla-5a leaves out turns that would begin after 60 ms. This one leaves out none: whether the limit changes the rate "
           "shows beside its 1 MiB. A single row of 512 GiB takes minutes, so gets, the network, more threads and the other modes are not repeated here.",
           "Run once, all turns, on the node.", takes=("--ours",)),
    Figure("kandalla-6", "Alltoall by many threads, each on a communicator of its own", "kandalla", "Figure 6", "alltoall_mt", (24, 150),
           ["--ranks", "2", "--threads", _threads("1,2,4"), "--sizes", "8,1024,65536", "--milliseconds", "20", "--rounds", "3", "--timeout", "10"],
           ["--milliseconds", "40", "--rounds", "3", "--timeout", "60"],
           ["--ranks", "2", "--threads", "1,2", "--sizes", "8,1024", "--milliseconds", "5", "--rounds", "2"],
           "Each thread calls MPI_Alltoall on a duplicate of MPI_COMM_WORLD; what goes to each peer is divided by the threads. Thread-hot is "
           "quicker than a lock for each object, and than one for the process.",
           [in_order("hot, by messages", "object", "global"), against_others("hot", [", persistent"])],
           _CORES + "The rows object and global go by messages, as in the designs that they stand for. The paper's order is judged on hot by "
           "messages, from which they differ by their locks alone; hot itself uses mailboxes on the node. The longer the blocks, the more of the "
           "time is their copying, which no lock changes."),
    _stencil("7", "strong", "Strong scaling: more threads on the same grid", "How the time of the same problem falls with more threads of a rank."),
    _stencil("8a", "weak", "Weak scaling: more ranks, each with the same grid", "How well the work of each rank keeps its speed as ranks are added."),
    _stencil("8b", "equal", "Threads against ranks, the same number in all", "At equal cores, few ranks of many threads against many ranks of few."),
    Figure("kandalla-8c", "Thread-hot against one lock in the stencil", "kandalla", "Figure 8 c", "stencil-modes", (14, 150),
           ["--zones", "64,64", "--steps", "300", "--threads", _threads("1,2,4"), "--rounds", "3", "--timeout", "20"], ["--steps", "200", "--rounds", "3", "--timeout", "60"],
           ["--zones", "16,16", "--steps", "4", "--threads", "1,2", "--rounds", "2"],
           "Time in communication that thread-hot needs less than one lock for the process: 18 % and 40 % in the paper.",
           [percents("The paper has 18 % and 40 %."), in_order("hot", "global"), growth("hot", "global", "enqueue")],
           _CORES + "Two ranks share them, with their receive threads. Where that leaves one core for each rank, two threads of one rank hardly ever "
           "run at the same time, and a lock that nobody else wants costs nothing; with more cores for each they meet at the lock."),
    Figure("tail", "A put and its flush beside threads that burst", "beyond", "flush tail", "flush_tail", (18, 120),
           ["--seconds", "1", "--bursters", "0,3", "--rounds", "1", "--timeout", "15"], ["--seconds", "1", "--rounds", "3", "--timeout", "30"], ["--seconds", "1", "--bursters", "0,1", "--rounds", "1"],
           "Whether one thread waits in its flush for what other threads go on putting. Goal: the 99th percentile beside a bursting thread is at "
           "most 4 times that alone.", [against_others("hotlane")],
           "With more threads than cores ({cores} here) the longest waits are the scheduler's slices of time."),
    Figure("threads-processes", "Threads of one process against as many processes", "beyond", "threads", "thread_process", (16, 120),
           ["--workers", _threads("1,2,4"), "--milliseconds", "60", "--rounds", "3", "--timeout", "10"], ["--milliseconds", "150", "--rounds", "3", "--timeout", "30"],
           ["--workers", "1,2", "--milliseconds", "20", "--rounds", "2"],
           "Whether threads put into a window as fast as processes without threads do. Goal: 0.95 times.", [growth(), against_others("hotlane")],
           "The workers and the target share {cores} cores."),
    Figure("computing-target", "One-sided operations on a target that computes", "beyond", "passive target", "passive", (15, 80),
           ["--milliseconds", "200", "--phases", "2"], ["--milliseconds", "500", "--phases", "3"], ["--milliseconds", "200", "--phases", "1"],
           "Whether operations need the target's help: those on a target that computes take at most 1.2 times as long on the node and 2 times over the "
           "network as those on one that sleeps.", [extremes, against_others("hotlane")],
           "Over the network the target's computing and what receives for it share {cores} cores."),
    Figure("rates", "Rates of small one-sided operations", "beyond", "rates", "rates", (24, 150),
           ["--milliseconds", "50", "--rounds", "3", "--timeout", "8"], ["--milliseconds", "150", "--rounds", "3", "--timeout", "30"], ["--milliseconds", "20", "--rounds", "2"],
           "Puts, gets, a put with its flush, a fetch_and_op with its flush, on the node and over the network, beside the best of the others.",
           [against_others("hotlane")], "Rows of more threads than the {cores} cores here measure the scheduler as well."),
    Figure("messages", "Messages between two ranks", "beyond", "messages", "message", (30, 200),
           ["--milliseconds", "50", "--rounds", "2", "--sizes", "4096,65536,1048576", "--unexpected", "1000", "--timeout", "8"], ["--milliseconds", "150", "--rounds", "3", "--timeout", "30"],
           ["--milliseconds", "20", "--rounds", "2", "--sizes", "1024,65536", "--unexpected", "1000"],
           "Rates, latency and bandwidth of messages, beside memcpy and a plain TCP stream.",
           [against_others("hotlane", [", out of a window", "memcpy", "a TCP stream"]), beside("hotlane", "memcpy", "a TCP stream")],
           "How long a short message takes on the node depends on how far the two ranks' cores, of {cores} here, are from each other."),
    Figure("collectives", "Collectives of the ranks of one node", "beyond", "collectives", "collectives", (20, 150),
           ["--ranks", "2", "--operations", "barrier,bcast,allreduce", "--milliseconds", "20", "--rounds", "3", "--timeout", "15"], ["--milliseconds", "50", "--rounds", "3", "--timeout", "60"],
           ["--ranks", "2", "--operations", "barrier,bcast", "--milliseconds", "5", "--rounds", "2"],
           "Barrier, broadcast and reductions by size, through shared memory and by messages. Goal: barrier, broadcast of 1 KiB and allreduce of 8 B "
           "take at most 0.7 times as long as the best of the others.", [against_others("hotlane")],
           "With more ranks than cores ({cores} here) a small call is turns of the scheduler."),
    Figure("wake-ups", "Sleepers woken", "beyond", "wake-ups", "wakeup", (10, 40), ["--rounds", "20"], [], ["--rounds", "3"],
           "How long after its cause a rank goes on that sleeps in a blocking call, beside a futex, an eventfd and a byte over TCP between the same "
           "two processes.", [extremes], "Over the network two wake-ups follow each other, one of them TCP's."),
    Figure("shmem", "OpenSHMEM by many threads of one PE", "beyond", "OpenSHMEM", "shmem_mt", (20, 300),
           ["--threads", _threads("1,4"), "--sizes", "8,32768", "--outer", "16384", "--milliseconds", "60", "--rounds", "2", "--pairs", "0", "--timeout", "10"], ["--milliseconds", "60", "--rounds", "3", "--pairs", "3", "--timeout", "60"],
           ["--threads", "1,2", "--sizes", "8", "--calls", "put", "--outer", "16", "--milliseconds", "20", "--rounds", "2", "--pairs", "0"],
           "Puts, gets and atomics on the default context and on private ones, with one partition of the symmetric heap and with seven.",
           [growth(), against_others("hotlane, default")], "Blocks of many KiB are copied at the speed of memory by all."),
    Figure("updates", "Random updates of OpenSHMEM", "beyond", "GUPS", "gups", (12, 100),
           ["--words", "16", "--updates", "50000", "--threads", _threads("1,4"), "--rounds", "3", "--timeout", "10"], ["--rounds", "3", "--timeout", "60"],
           ["--words", "10", "--updates", "1000", "--threads", "1,2", "--rounds", "2"],
           "Random words of a table on all PEs changed by atomic exclusive-or, every run verified twice.",
           [growth(), against_others("hotlane")], "Over the network each update waits for no other, so chains of them decide."),
    Figure("starting", "A job that starts and ends", "beyond", "starting", "startup", (14, 120),
           ["--ranks", "2,16", "--network", "--rounds", "3"], ["--ranks", "2,16,64", "--network", "--rounds", "5"], ["--ranks", "2", "--rounds", "2"],
           "MPI_Init and MPI_Finalize of all ranks, beside as many fork + exec of an empty program. Goal: 2.5 times that with 64 ranks on the node.",
           [growth()], "{cores} cores start all the processes."),
    Figure("more-than-cores", "More ranks and threads than cores", "beyond", "oversubscribed", "oversubscribe", (24, 300),
           ["--milliseconds", "100", "--times", "1,4,16", "--jobs", "4x1,8x4", "--patches", "16", "--steps", "200", "--rounds", "2", "--timeout", "10"], ["--milliseconds", "200", "--rounds", "3", "--timeout", "60"],
           ["--milliseconds", "20", "--times", "1,4", "--lanes", "2", "--jobs", "4x1", "--patches", "8", "--zones", "16,16", "--steps", "4", "--rounds", "2"],
           "Puts by more threads than lanes, and the stencil by more ranks and threads than cores. Goals: 4 threads for each lane put 0.9 times as fast as "
           "one; the stencil takes 2 times a serial run with 4 × 1 and 3 times with 8 × 4.", [extremes, against_others("hotlane")],
           "All of them share {cores} cores; where these are no fewer than the threads, the stencil's rows show no turns of the scheduler."),
    Figure("stencil-share", "What communication costs the stencil", "beyond", "stencil", "stencil-share", (20, 150),
           ["--steps", "60", "--rounds", "2", "--timeout", "10"], ["--steps", "100", "--rounds", "3", "--timeout", "60"],
           ["--zones", "16,16", "--patches", "8", "--steps", "4", "--jobs", "2x1,2x2", "--rounds", "2"],
           "Time against a serial run, and the share of communication, by the division into ranks and threads. Goal: 3 % with 2 × 1 and patches of 8.",
           [extremes, against_others("hotlane")], "With more threads than the {cores} cores here, what a rank waits for its neighbours is partly turns of the scheduler."),
    Figure("pages", "Page sizes of a window's memory", "beyond", "page sizes", "mem_page", (22, 200),
           ["--mib", "64,256", "--rounds", "5"], ["--mib", "256,1024", "--rounds", "11"], ["--mib", "32", "--pages", "4K,thp", "--operations", "65536", "--rounds", "2"],
           "Random operations on a peer's window beside a bare mapping of the same pages. Goals: 1.03 times the mapping's time; 2M pages 2.5 times as "
           "fast as 4K pages in the largest window.", [growth()],
           "Which pages there are is the machine's matter; where it is a virtual one, its pages lie on pages of the host."),
    Figure("fabrics", "Providers of libfabric beside each other", "beyond", "fabrics", "fabrics", (20, 120),
           ["--fabrics", "tcp;ofi_rxm@system", "--milliseconds", "100", "--rounds", "3"], ["--milliseconds", "200", "--rounds", "3"],
           ["--fabrics", "tcp;ofi_rxm@system", "--milliseconds", "20", "--rounds", "2"],
           "The same operations over each provider, a start, and the memory that lanes take.", [extremes],
           "Both ranks and both receive threads share {cores} cores."),
    Figure("instructions", "Instructions of one call", "beyond", "exact counts", "icount", (0, 240), None, [], ["--what", "calls,flushes"],
           "User instructions of calls with THREAD_MULTIPLE and checks of arguments, on the node (near), linked statically, and over the network "
           "operation by operation (direct) and chained. Goals: 60 for a put, 30 for an idle flush, 90 for a fetch_and_op with its flush on the node.",
           [against_others("near")], "The compiler's version moves counts by a few; the C library's memcpy is another one on each make of CPU.",
           EXACT + " What the caller needs for a call, and a wait off the node, are included.", "release", ("--ours",)),
    Figure("cache-lines", "Cache lines that travel between threads", "beyond", "exact counts", "coherence", (0, 330), None,
           ["--calls", "put,get,put_flush,fetch_own,fetch_shared,rput_wait,shmem_p,message,message_pair,far_put,far_flush,far_one_lane,far_locked,"
            "near_hot,near_global,far_hot,far_global,alltoall,alltoall_object",
            "--threads", "1,2,8,32,128", "--lines", "3", "--seconds", "60"],
           ["--calls", "put,fetch_shared,far_put", "--threads", "1,2", "--lines", "2"],
           "How many lines of 64 bytes an operation moves from one core's cache to another's, for more cores than this machine has: a call turn by turn, "
           "and all threads at once by a model's clock. Goals: none for puts and flushes on the node, 7 for a message, 0.3 for a chained put of 8 threads.",
           [most], "The library is built with every access to memory counted; caches hold all, and lines are equally far. Rates are those of a "
           "machine with 150 ns for a line, 20 ns for an atomic operation and 5 ns for a block of code.", EXACT, "lines", ()),
    Figure("many-ranks", "Calls of jobs of up to a million ranks", "beyond", "played", "scale", (15, 240),
           ["--ranks", "1e3,1e4", "--check", "2,4", "--rounds", "1"], [], ["--ranks", "64,1000", "--check", "2", "--rounds", "1", "--calls", "50"],
           "The library's own schedules of all ranks, played without data in LogGP time by the constants of this machine: how what a call takes grows "
           "with the ranks.", [growth()],
           "Of this machine is only what a message costs between two processes that share {cores} cores; how far the model is from real runs of few ranks "
           "stands among the numbers.", "Played once, with constants that are medians of real runs.", takes=()),
    Figure("ends", "The end after a kill", "beyond", "ends", "kill-test", (10, 60), ["12"], ["100"], ["2", "--ways", "near,net"],
           "Ranks, launchers and guardians of a running stencil are killed at random moments: how long until every process is gone, the exit code names "
           "the cause, and nothing is left. Goal: one second.", [slowest],
           "The kernel ends a process with much memory more slowly, and those that outnumber the {cores} cores one after the other.",
           "Dots are medians of the kills of that kind ({turns} in all); bars reach from the least to the most.", takes=()),
]


def find(name):
    return next((f for f in FIGURES if f.id == name), None)
