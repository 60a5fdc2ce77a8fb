"""Rates measured at points, (bytes, threads), as tables and pictures for the scripts beside it. The scripts' options say
which points: sizes, threads, rounds."""
import collections
import statistics

import peers
import svg

Row = collections.namedtuple("Row", "name program environment arguments", defaults=[[]])


def short(size):
    for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= limit:
            return f"{size // limit} {unit}"
    return f"{size} B"


def measure(rows, arguments, options):
    """Runs the rows in turns with 4 ranks. Returns {row: {(bytes, threads): [rates]}}, and
    {row: why} of those that failed."""
    rates, failed = {r.name: collections.defaultdict(list) for r in rows}, {}
    for _ in range(options.rounds):
        for row in rows:
            if row.name in failed:
                continue
            try:
                for line in row.program.output(4, row.arguments + arguments, row.environment, options.timeout).splitlines():
                    words = line.split()
                    if words[:1] == ["point"]:
                        rates[row.name][int(words[1]), int(words[2])].append(float(words[3]))
            except peers.Failed as error:
                failed[row.name] = str(error)
    return rates, failed


def table(title, rates, failed, options, marks):
    """Prints {row: {point: [rates]}}, and {row: why} of rows that failed; marks: {row: a word behind its lines}."""
    print(f"\n{title}: thousand operations/s, median (least-most of {options.rounds})")
    for size in options.sizes:
        print(f"{short(size):22}" + "".join(f"{str(t) + ' threads' * (t == options.threads[0]):>26}" for t in options.threads))
        for name, points in rates.items():
            cells = [points.get((size, t)) for t in options.threads]
            if any(cells):
                print(f"  {name:20}" + "".join(
                    f"{statistics.median(c) / 1e3:>12.1f} ({min(c) / 1e3:.0f}-{max(c) / 1e3:.0f})".rjust(26) if c else f"{'-':>26}"
                    for c in cells) + ("  " + marks[name] if name in marks else ""))
    for name, why in failed.items():
        print(f"  {name}: {why}")


def draw(prefix, title, rates, options):
    """Two pictures: over the threads at the smallest size, over the sizes with most threads."""
    def middle(points, key):
        return statistics.median(points[key]) if points.get(key) else 0
    smallest, most = options.sizes[0], options.threads[-1]
    pictures = [(f"{prefix}-threads.svg", f"{title}, {short(smallest)}", "threads",
                 {n: [(t, middle(p, (smallest, t))) for t in options.threads] for n, p in rates.items()}),
                (f"{prefix}-sizes.svg", f"{title}, {most} threads", "bytes",
                 {n: [(s, middle(p, (s, most))) for s in options.sizes] for n, p in rates.items()})]
    for path, words, axis, series in pictures:
        series = {n: points for n, points in series.items() if any(y for _, y in points)}
        if series:
            svg.curves(path, words, axis, "operations/s", series)
            print(f"  {path}")
