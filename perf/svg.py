"""Pictures for the scripts beside it and for perf/report, as SVG: curves over logarithmic axes, dots with their spread, bars of
time. Each exists as text without size or colours, for a page that has STYLE, and as a file of its own."""
import math

WIDTH, HEIGHT = 460, 320
LEFT, RIGHT, TOP, BOTTOM = 66, 12, 12, 40
LINE = 17  # the height of a line of the legend
COLOURS = ["#0b6e99", "#d1495b", "#3c8d40", "#b87900", "#6a4c93", "#8a6d3b", "#555555", "#008f8f", "#c06090"]
IN_THE_DARK = ["#5ec2f0", "#ff8593", "#7fd184", "#f2bd4b", "#b79ae6", "#cdb07a", "#bbbbbb", "#3fd6d6", "#f09ac4"]
DASHES = ["", "6 3", "2 3", "9 3 2 3"]


def _colours(names):
    return "".join(f".plot .s{k}{{color:{colour}}}" for k, colour in enumerate(names))


# currentColor is the page's, and of curves and dots that of their class. Renderers that know no variables and no dark pages show the same.
STYLE = (".plot text{fill:currentColor;font:12px sans-serif}.plot .grid{stroke:currentColor;opacity:.17}.plot .line{fill:none;"
         "stroke:currentColor;stroke-width:2}.plot .dot,.plot .bar{fill:currentColor}.plot .dots{fill:none;stroke:currentColor;stroke-width:6;stroke-linecap:round}"
         ".plot .spread{stroke:currentColor;stroke-width:1.3;fill:none}.plot .m{text-anchor:middle}.plot .e{text-anchor:end}"
         + _colours(COLOURS) + "@media(prefers-color-scheme:dark){" + _colours(IN_THE_DARK) + "}")
# A file of its own has no page around it.
_ALONE = STYLE + "svg{background:#fff;color:#222}@media(prefers-color-scheme:dark){svg{background:#14181c;color:#ddd}}"


def _at(value):
    """A place as short as it can be written."""
    return f"{value:.1f}".removesuffix(".0")


def _text(x, y, words, anchor="middle", more=""):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    side = "" if anchor == "start" else f' class="{anchor[0]}"'
    return f'<text x="{_at(x)}" y="{_at(y)}"{side}{more}>{words}</text>'


def short(value):
    """A number of an axis with at most three digits."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def _place(x, name):
    """A number below the picture; bytes by units of 1024."""
    for limit, unit in ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")):
        if name.startswith("bytes") and x >= limit and x % limit == 0:
            return f"{x // limit:.0f} {unit}"
    return short(x)


def _ticks(low, high, most=8):
    """At most so many round numbers between two positive ones: powers of ten with 2 and 5 between them, powers of ten, or those of
    a hundred and so on; both ends where there is none."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for step, between in ((1, (1, 2, 5)), (1, (1, 3)), (1, (1,)), (2, (1,)), (3, (1,)), (6, (1,))):
        found = [m * 10.0 ** k for k in decades if k % step == 0 for m in between if low * 0.999 <= m * 10.0 ** k <= high * 1.001]
        if len(found) <= most:
            return found if len(found) > 1 else [float(f"{v:.2g}") for v in (low * 1.08, high / 1.08)]
    return [low, high]


def _plot(title, parts, height=HEIGHT):
    title = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return "\n".join([f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
                      f'aria-label="{title}">'] + parts + ["</svg>", ""])


def _legend(names, top):
    """Below the picture, in two columns."""
    parts = []
    for k, name in enumerate(names):
        x, y = LEFT + k % 2 * (WIDTH - LEFT) / 2, top + LINE * (k // 2)
        parts += [f'<path class="line s{k % len(COLOURS)}" d="M{_at(x)} {_at(y - 4)}h20"{_dash(k)}/>',
                  _text(x + 26, y, name, "start")]
    return parts


def _dash(k):
    dash = DASHES[k // len(COLOURS) % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _lines(series, at, y_name):
    """Curves with their dots and spread: three paths each, since a page of all figures has thousands of dots. Where there are more
    curves than colours, who points at one sees its name."""
    parts = []
    for k, (name, points) in enumerate(series.items()):
        places = [at(*p[:2]) for p in points]
        bars = ""
        for (x, _, *ends), (px, _) in zip(points, places):
            if ends and (ends[0] > 0 or is_linear(y_name)):
                low, high = (round(at(x, end)[1]) for end in ends[:2])
                bars += f"M{px:.0f} {low}V{high}" if low != high else ""
        title = name.replace("&", "&amp;").replace("<", "&lt;")
        title = f"<title>{title}</title>" if len(series) > len(COLOURS) else ""
        parts.append(f'<g class="s{k % len(COLOURS)}">{title}<path class="line"{_dash(k)} d="M'
                     + "L".join(f"{px:.0f} {py:.0f}" for px, py in places) + '"/>' + (f'<path class="spread" d="{bars}"/>' if bars else "")
                     + '<path class="dots" d="' + "".join(f"M{px:.0f} {py:.0f}h0" for px, py in places) + '"/></g>')
    return parts


def is_linear(y_name):
    """Shares stand over an axis that has 0."""
    return y_name.startswith("percent")


def curves_text(title, x_name, y_name, series):
    """{name: [(x, y) or (x, y, least, most), …]} as lines over two logarithmic axes, one of y with 0 for shares; points that are not
    positive are left out of the former."""
    linear = is_linear(y_name)
    series = {n: sorted(p for p in points if p[0] > 0 and (p[1] > 0 or linear)) for n, points in series.items()}
    series = {n: points for n, points in series.items() if points}
    xs = [p[0] for points in series.values() for p in points]
    ys = [y for points in series.values() for p in points for y in p[1:] if y > 0 or linear]
    x0, x1, y0, y1 = min(xs), max(max(xs), min(xs) * 1.01), min(0, min(ys) * 1.1) if linear else min(ys) / 1.2, max(0, max(ys) * 1.2) or 1

    def at(x, y):
        share = (y - y0) / (y1 - y0) if linear else math.log(y / y0) / math.log(y1 / y0)
        return (LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * math.log(x / x0) / math.log(x1 / x0), HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share)

    parts, places, grid = [], sorted(set(xs)), ""
    for x in places if len(places) <= 8 else _ticks(x0, x1):
        px, _ = at(x, y0)
        grid += f"M{_at(px)} {TOP}V{HEIGHT - BOTTOM}"
        parts.append(_text(px, HEIGHT - BOTTOM + 15, _place(x, x_name)))
    step = float(f"{(y1 - y0) / 5:.1g}")
    for y in [k * step for k in range(math.ceil(y0 / step), math.floor(y1 / step) + 1)] if linear else _ticks(y0, y1):
        _, py = at(x0, y)
        grid += f"M{LEFT} {_at(py)}H{WIDTH - RIGHT}"
        parts.append(_text(LEFT - 6, py + 4, short(y), "end"))
    parts.insert(0, f'<path class="grid" d="{grid}"/>')
    y = (TOP + HEIGHT - BOTTOM) / 2  # the middle of the axis
    parts += _lines(series, at, y_name) + [
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_name), _text(13, y, y_name, "middle", f' transform="rotate(-90 13 {y})"')]
    return _plot(title, parts + _legend(series, HEIGHT + 14), HEIGHT + 8 + LINE * (-(-len(series) // 2)))


def dots_text(title, unit, groups):
    """{group: {name: (median, least, most)}}: for each a dot with its spread over a logarithmic axis, groups below each other."""
    names = list(dict.fromkeys(n for cells in groups.values() for n in cells))
    ends = [v for cells in groups.values() for values in cells.values() for v in values if v > 0]
    low, high, left = min(ends) / 1.15, max(ends) * 1.15, max(90, min(WIDTH / 2, 20 + 6.2 * max(map(len, names))))
    step, bottom = 16, TOP + sum(20 + 16 * len(cells) for cells in groups.values())

    def at(value):
        return left + (WIDTH - left - 60) * math.log(max(value, low) / low) / math.log(high / low)

    parts, y = [], TOP
    for tick in _ticks(low, high, 6):
        parts += [f'<path class="grid" d="M{_at(at(tick))} {TOP}V{bottom}"/>', _text(at(tick), bottom + 15, short(tick))]
    for group, cells in groups.items():
        y += 14
        parts.append(_text(4, y, group, "start", ' font-weight="bold"'))
        y += 6
        for name, (value, least, most) in cells.items():
            parts += [_text(left - 8, y + 12, name, "end"), f'<g class="s{names.index(name) % len(COLOURS)}">'
                      f'<path class="spread" d="M{_at(at(least))} {y + 8}H{_at(at(most))}"/><circle class="dot" cx="{_at(at(value))}" cy="{y + 8}" r="4"/></g>',
                      _text(max(at(value), at(most)) + 8, y + 12, short(value), "start")]
            y += step
    return _plot(title, parts + [_text((left + WIDTH) / 2, bottom + 32, unit)], bottom + 38)


def spans_text(title, rows, kinds):
    """{row: [(begin, end, kind), …]} in seconds as bars over time, a row below the other; kinds: {kind: words}."""
    last = max(end for spans_ in rows.values() for _, end, _ in spans_)
    first = min(begin for spans_ in rows.values() for begin, _, _ in spans_)
    left, step = LEFT + 10, (HEIGHT - TOP - BOTTOM) / len(rows)
    order = list(kinds)

    def at(t):
        return left + (WIDTH - left - RIGHT) * (t - first) / (last - first)

    parts = []
    for k, (row, spans_) in enumerate(rows.items()):
        parts.append(_text(left - 6, TOP + (k + 0.7) * step, row, "end"))
        parts += [f'<g class="s{order.index(kind) % len(COLOURS)}"><rect class="bar" x="{at(b):.2f}" y="{TOP + k * step:.1f}" '
                  f'width="{max(at(e) - at(b), 0.2):.2f}" height="{step * 0.9:.1f}"/></g>' for b, e, kind in spans_]
    for k in range(5):
        t = first + (last - first) * k / 4
        parts.append(_text(at(t), HEIGHT - BOTTOM + 16, f"{(t - first) * 1e3:.3g}", ("start", "middle", "end")[(k > 0) + (k > 3)]))
    parts.append(_text((left + WIDTH) / 2, HEIGHT - 8, "ms"))
    return _plot(title, parts + _legend(kinds.values(), HEIGHT + 14), HEIGHT + 8 + LINE * (-(-len(kinds) // 2)))


def _file(path, title, text):
    """Writes a picture as a file of its own, its title above it."""
    head, _, rest = text.partition(">\n")
    height = float(head.split('viewBox="0 0 ')[1].split()[1].rstrip('"')) + 30
    head = (head.replace(f'viewBox="0 0 {WIDTH} {height - 30:.0f}"', f'viewBox="0 -30 {WIDTH} {height:.0f}"')
            + f' width="{WIDTH * 1.6:.0f}" height="{height * 1.6:.0f}"')
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"{head}>\n<style>{_ALONE}</style>\n" + _text(LEFT, -10, title, "start", ' font-weight="bold"') + "\n" + rest)


def curves(path, title, x_name, y_name, series):
    """Writes curves_text as a file."""
    _file(path, title, curves_text(title, x_name, y_name, series))


def spans(path, title, rows, kinds):
    """Writes spans_text as a file."""
    _file(path, title, spans_text(title, rows, kinds))
