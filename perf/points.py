"""Rates measured at points, (bytes, threads), as tables and pictures for the scripts beside it. The scripts' options say
which points: sizes, threads, rounds."""
import harness

INNER = 128  # operations for each flush


def short(size):
    for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= limit:
            return f"{size // limit} {unit}"
    return f"{size} B"


def arguments(call, options):
    """What the programs take behind their call."""
    return ([call] if call else []) + [",".join(map(str, options.threads)), ",".join(map(str, options.sizes)), options.outer,
                                       options.milliseconds]


def measure(rows, words, options, interface=("self", "lo")):
    """Runs the rows in turns with 4 ranks. Returns harness.Values of operations/s by (bytes, threads)."""
    def run(row, _):
        out = row.program.output(4, row.arguments + words, row.environment, options.timeout)
        lines = [line.split() for line in out.splitlines() if line.startswith("point ")]
        return {(int(w[1]), int(w[2])): float(w[3]) for w in lines if float(w[3]) > 0}  # 0: no turn began in time

    def payload(_, key, rate):
        return key[0] * min(options.outer * INNER, rate * options.milliseconds / 1e3 or options.outer * INNER)

    return harness.in_turns(rows, [None], run, options, payload, interface)


def tables(book, prefix, title, values, options):
    """Over the threads at each size, over the sizes with one and with most threads, and as bandwidth."""
    sizes, threads = options.sizes, options.threads
    for n, size in enumerate(sizes):
        book.table(f"{title}, {short(size)}", "operations/s", values.pick({(size, t): t for t in threads}), "threads", threads,
                   stem=f"{prefix}-threads" if n == 0 else None, drawn=n in (0, len(sizes) // 2))
    if len(sizes) > 1:
        for t in sorted({threads[0], threads[-1]}):
            many = f"{t} thread{'s' * (t > 1)}"
            book.table(f"{title}, {many}", "bytes/s", values.pick({(s, t): s for s in sizes}, lambda rate, key: rate * key[0]), "bytes", sizes,
                       stem=f"{prefix}-sizes" if t == threads[-1] else None)
