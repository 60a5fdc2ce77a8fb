"""Lists of what is known to be missed, and why: goals of the scripts beside it (missed.expect), and tests over other providers
(tests/net/fabrics.expect). A line of such a list: whose it is | its name, a pattern as a shell has them | why."""
import fnmatch


def read(path, whose=None):
    """[(name, why)] of one script or fabric; of all: [(whose, name, why)]."""
    with open(path, encoding="utf-8") as file:
        rows = [tuple(map(str.strip, line.split("|"))) for line in file if line.strip() and not line.startswith("#")]
    return [row[1:] for row in rows if row[0] == whose] if whose else rows


def judge(listed, found, others=(), missed="missed", reached="reached"):
    """Says what is listed, and what is missed and is not; returns how many are missed as known, how many others, and how many lines of
    the list name nothing. found: [(name, is it reached?)]; others: names that could not be judged."""
    known = new = 0
    for name, right in found:
        why = next((why for pattern, why in listed if fnmatch.fnmatchcase(name, pattern)), None)
        known, new = known + (not right and why is not None), new + (not right and why is None)
        if right and why is not None:
            print(f"{name}: {reached} here; listed as {missed}")
        elif not right:
            print(f"{name}: {missed}, " + ("and not listed" if why is None else f"as known: {why}"))
    names = [name for name, _ in found] + list(others)
    stale = [pattern for pattern, _ in listed if not fnmatch.filter(names, pattern)]
    for pattern in stale:
        print(f"{pattern}: listed as {missed}, but nothing has this name here: correct the list, or give all of the row's options")
    return known, new, len(stale)
