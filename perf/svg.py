"""Small pictures for the scripts beside it: curves over logarithmic axes and bars of time, written as SVG."""
import math

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50
COLOURS = ["#0b6e99", "#d1495b", "#3c8d40", "#edae49", "#6a4c93", "#8a6d3b", "#444444", "#00a6a6", "#c06090"]


def _text(x, y, words, size=12, anchor="middle", turn=""):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{turn}>{words}</text>'


def _short(value):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def _ticks(low, high):
    """Powers of two or ten between two positive numbers."""
    base = 2 if high / low <= 300 else 10
    first = math.ceil(math.log(low, base) - 1e-9)
    last = math.floor(math.log(high, base) + 1e-9)
    return [base ** k for k in range(first, last + 1)]


def _page(title, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
                      'font-family="sans-serif">', '<rect width="100%" height="100%" fill="white"/>',
                      _text(LEFT, 24, title, 15, "start")] + parts + ["</svg>", ""])


def curves(path, title, x_name, y_name, series):
    """Writes {name: [(x, y), …]} as lines over two logarithmic axes; points that are not positive are left out."""
    series = {n: sorted((x, y) for x, y in points if x > 0 and y > 0) for n, points in series.items()}
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    x0, x1, y0, y1 = min(xs), max(max(xs), min(xs) * 1.01), min(ys) / 1.2, max(ys) * 1.2

    def at(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x0) / math.log(x1 / x0),
                HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y0) / math.log(y1 / y0))

    parts = []
    for x in _ticks(x0, x1):
        px, _ = at(x, y0)
        parts += [f'<path d="M{px:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>', _text(px, HEIGHT - BOTTOM + 16, _short(x))]
    for y in _ticks(y0, y1):
        _, py = at(x0, y)
        parts += [f'<path d="M{LEFT} {py:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>', _text(LEFT - 6, py + 4, _short(y), 12, "end")]
    for k, (name, points) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        places = [at(x, y) for x, y in points]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                     + " ".join(f"{px:.1f},{py:.1f}" for px, py in places) + '"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="{colour}"/>' for px, py in places]
        parts += [f'<path d="M{WIDTH - RIGHT + 14} {TOP + 14 + 20 * k}h22" stroke="{colour}" stroke-width="3"/>',
                  _text(WIDTH - RIGHT + 42, TOP + 18 + 20 * k, name, 12, "start")]
    parts += [_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_name),
              _text(18, (TOP + HEIGHT - BOTTOM) / 2, y_name, 12, "middle",
                    f' transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2})"')]
    with open(path, "w", encoding="utf-8") as out:
        out.write(_page(title, parts))


def spans(path, title, rows, kinds):
    """Writes {row: [(begin, end, kind), …]} in seconds as bars over time, a row below the other; kinds: {kind: words}."""
    last = max(end for spans_ in rows.values() for _, end, _ in spans_)
    first = min(begin for spans_ in rows.values() for begin, _, _ in spans_)
    step = (HEIGHT - TOP - BOTTOM) / len(rows)
    colours = {kind: COLOURS[k % len(COLOURS)] for k, kind in enumerate(kinds)}

    def at(t):
        return LEFT + (WIDTH - LEFT - RIGHT) * (t - first) / (last - first)

    parts = []
    for k, (row, spans_) in enumerate(rows.items()):
        parts.append(_text(LEFT - 6, TOP + (k + 0.7) * step, row, 11, "end"))
        parts += [f'<rect x="{at(b):.2f}" y="{TOP + k * step:.1f}" width="{max(at(e) - at(b), 0.2):.2f}" '
                  f'height="{step * 0.9:.1f}" fill="{colours[kind]}"/>' for b, e, kind in spans_]
    for k in range(5):
        t = first + (last - first) * k / 4
        parts.append(_text(at(t), HEIGHT - BOTTOM + 16, f"{(t - first) * 1e3:.2f} ms"))
    for k, (kind, words) in enumerate(kinds.items()):
        parts += [f'<rect x="{WIDTH - RIGHT + 14}" y="{TOP + 6 + 20 * k}" width="22" height="12" fill="{colours[kind]}"/>',
                  _text(WIDTH - RIGHT + 42, TOP + 17 + 20 * k, words, 12, "start")]
    with open(path, "w", encoding="utf-8") as out:
        out.write(_page(title, parts))
