"""Lists of what is known to be missed, and why: goals of the scripts beside it (missed.expect), and tests over other providers
(tests/net/fabrics.expect). A line of such a list: whose it is | its name, a pattern as a shell has them | why. A goal's line has one field
more, before the last: by how many times it may be missed. What is missed by more fails as if it were not listed."""
import fnmatch
import math


def times(value, goal, better="less"):
    """By how many times a value misses its goal; 1 or less: not at all."""
    worse, best = (value, goal) if better == "less" else (goal, value)
    return worse / best if best > 0 else math.inf if worse > best else 1


def read(path, whose=None):
    """[(name, how many times it may be missed, why)] of one script or fabric; of all: [(whose, name, times, why)]."""
    with open(path, encoding="utf-8") as file:
        rows = [list(map(str.strip, line.split("|"))) for line in file if line.strip() and not line.startswith("#")]
    rows = [(*row[:2], float(row[2]) if len(row) > 3 else math.inf, row[-1]) for row in rows]
    return [row[1:] for row in rows if row[0] == whose] if whose else rows


def judge(listed, found, others=(), missed="missed", reached="reached"):
    """Says what is listed, and what is missed and is not; returns how many are missed as known, how many others, and how many lines of
    the list name nothing. found: [(name, by how many times it is missed: 1 or less for not at all)]; others: names that could not be
    judged."""
    known = new = 0
    for name, gap in found:
        most, why = next(((most, why) for pattern, most, why in listed if fnmatch.fnmatchcase(name, pattern)), (0, None))
        known, new = known + (1 < gap <= most), new + (gap > max(1, most))
        if gap <= 1 and why is not None:
            print(f"{name}: {reached} here; listed as {missed}")
        elif gap > 1:
            print(f"{name}: {missed}, " + ("and not listed" if why is None else f"as known: {why}" if gap <= most else
                                           f"by {gap:.2f} times, and listed with at most {most:g}: {why}"))
    names = [name for name, _ in found] + list(others)
    stale = [pattern for pattern, _, _ in listed if not fnmatch.filter(names, pattern)]
    for pattern in stale:
        print(f"{pattern}: listed as {missed}, but nothing has this name here: correct the list, or give all of the row's options")
    return known, new, len(stale)
