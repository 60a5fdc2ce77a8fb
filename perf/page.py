"""The page of perf/report: one file with everything in it, light and dark, wide and narrow."""
import html

import figures
import harness
import svg

CSS = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2329;--soft:#5a6772;--edge:#d9dfe4;--card:#f6f8fa;--link:#0b5f86}
@media(prefers-color-scheme:dark){:root{--bg:#14181c;--fg:#dde3e8;--soft:#98a5b0;--edge:#333c44;--card:#1c2228;--link:#6cc4ee}}
*{box-sizing:border-box}body{margin:0 auto;padding:1.2rem;max-width:84rem;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:.2rem 0}h2{font-size:1.3rem;margin:2.6rem 0 .6rem;border-bottom:2px solid var(--edge);padding-bottom:.3rem}
h3{font-size:1.1rem;margin:0 0 .6rem}a{color:var(--link)}small,.soft{color:var(--soft)}
dl{margin:0}dt{font-weight:600;margin-top:.7rem}dt:first-child{margin-top:0}dd{margin:.1rem 0 0;overflow-wrap:anywhere}dd ul{margin:.1rem 0;padding-left:1.1rem;font-size:.92rem}
nav ul{columns:2 20rem;padding-left:1.2rem;margin:.4rem 0}
.machine{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;background:var(--card);padding:.8rem 1rem;border-radius:.5rem}
.machine dt{margin:0;font-weight:400;color:var(--soft)}
section{border:1px solid var(--edge);border-radius:.6rem;padding:1rem;margin:1rem 0}
.pair{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.5rem}
figure{margin:0}.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:1rem}.plots>div{max-width:36rem}
.plot{width:100%;height:auto;display:block}.plots p{margin:0;font-size:.9rem;font-weight:600}
figcaption{margin-top:.7rem;font-size:.9rem;color:var(--soft)}
code,pre{font:.82rem/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;background:var(--card);padding:.5rem;border-radius:.4rem}
.numbers{overflow-x:auto}table{border-collapse:collapse;font-size:.82rem;margin:.3rem 0 1rem}th,td{padding:.15rem .6rem;text-align:right;white-space:nowrap;
border-bottom:1px solid var(--edge)}th:first-child,td:first-child{text-align:left}summary{cursor:pointer;margin-top:.8rem}
.bad{color:#c0392b;font-weight:600}@media(prefers-color-scheme:dark){.bad{color:#ff8a7a}}
@media(max-width:60rem){.pair{grid-template-columns:minmax(0,1fr)}}
@media(max-width:34rem){body{padding:.7rem}section{padding:.7rem}.machine{grid-template-columns:1fr}.machine dd{margin-bottom:.4rem}}
"""


def _e(words):
    return html.escape(str(words))


def _left_out(table):
    """{row: why it is not drawn}."""
    return {**{r["name"]: r["mark"] for r in table["rows"] if harness.NO_PATH in r["mark"]}, **{n: "failed" for n in table["failed"]}}


def _plot(table):
    """The picture of one table."""
    left = _left_out(table)
    rows = [r for r in table["rows"] if r["name"] not in left and any(r["cells"])]
    some = {**table, "rows": rows}
    unit = table["unit"]
    parts = [f"<div><p>{_e(table['title'])}</p>"]
    if table["x"] and len(table["keys"]) > 1 and any(p[1] > 0 for points in harness.series(some).values() for p in points):
        parts.append(svg.curves_text(table["title"], table["x"], unit, harness.series(some)))
    elif any(v > 0 for r in rows for c in r["cells"] for v in c):
        groups = {f"{k} {table['x']}".strip(): {r["name"]: (harness.middle(r["cells"][n]), min(r["cells"][n]), max(r["cells"][n]))
                                                for r in rows if r["cells"][n]} for n, k in enumerate(table["keys"])}
        parts.append(svg.dots_text(table["title"], unit, {g: cells for g, cells in groups.items() if cells}))
    else:
        parts.append("<p>Nothing to draw.</p>")
    if left:
        parts.append("<small>Not drawn: " + ", ".join(f"{_e(n)} ({_e(why)})" for n, why in left.items()) + ".</small>")
    return "".join(parts) + "</div>"


def _numbers(table):
    head = "".join(f"<th>{_e(k)}</th>" for k in table["keys"])
    rows = "".join(f"<tr><td>{_e(r['name'])}{' <small>' + _e(r['mark']) + '</small>' if r['mark'] else ''}</td>"
                   + "".join(f"<td>{_e(harness.spread(c)) if c else '–'}</td>" for c in r["cells"]) + "</tr>" for r in table["rows"])
    return (f'<p><b>{_e(table["title"])}</b>: {_e(table["unit"])}</p><div class="numbers"><table><tr><th>{_e(table["x"])}</th>{head}</tr>'
            f"{rows}</table></div>")


def _caption(entry, tables):
    rounds = sorted({t["rounds"] for t in tables}) or [0]
    turns = "–".join(map(str, sorted({rounds[0], rounds[-1]})))
    return (f"{_e(entry['title'])}. Dots are medians of {turns} run{'s' * (rounds[-1] != 1)} of each, in turns; bars reach from the least to the most. "
            f"Measured {_e(entry['began'])}, in {entry['took_s']:.0f} s, while the load of the machine was {entry['load']:.1f}.")


def _section(entry):
    figure = figures.find(entry["id"])
    tables = [t for t in entry["tables"] if t["drawn"]]
    plots = "".join(_plot(t) for t in tables) or '<p class="bad">There is nothing to draw.</p>'
    trouble = f'<dt class="bad">It failed</dt><dd><pre>{_e(entry["trouble"])}</pre></dd>' if entry["trouble"] else ""
    told = "<ul>" + "".join(f"<li>{_e(s)}</li>" for s in entry["seen"] or ["Nothing can be said."]) + "</ul>"
    before = f"<dt>Against {_e(entry['old'])}</dt><dd>{_e(entry['against'])}</dd>" if entry.get("against") else ""
    paper = "The paper shows" if figure.paper != "beyond" else "What is asked"
    lines = "".join(f"{_e(line)}\n" for line in entry["lines"])
    return f"""<section id="{entry['id']}"><h3>{_e(entry['title'])} <small>({_e(figure.number)}, <code>{entry['id']}</code>)</small></h3>
<div class="pair"><figure><div class="plots">{plots}</div><figcaption>{_caption(entry, entry['tables'])}</figcaption></figure>
<dl>{trouble}<dt>{paper}</dt><dd>{_e(figure.shows)}</dd><dt>Seen here</dt><dd>{told}</dd>{before}
<dt>Why it differs</dt><dd>{_e(entry['why'])}</dd><dt>The command</dt><dd><pre>{_e(entry['command'])}</pre></dd></dl></div>
<details><summary>Numbers: median (least–most)</summary>{''.join(map(_numbers, entry['tables']))}{'<pre>' + lines + '</pre>' if lines else ''}</details></section>"""


def _missing(entries):
    """What is not measured, and what the report cannot do."""
    there = {e["id"] for e in entries}
    left = "".join(f"<li><code>{f.id}</code>: {_e(f.title)}</li>" for f in figures.FIGURES if f.id not in there)
    never = "".join(f"<li>{_e(what)}: {_e(instead)}</li>" for what, instead in figures.NOT_YET.items())
    return ((f"<h2>Not measured here</h2><p><code>perf/report --only FIGURE</code> measures one of them.</p><ul>{left}</ul>" if left else "")
            + f"<h2>Not part of the report yet</h2><ul>{never}</ul>")


def whole(machine, entries):
    """The page, of what was measured (entries)."""
    links, body = [], []
    for paper, words in figures.PAPERS.items():
        mine = [e for e in entries if figures.find(e["id"]).paper == paper]
        if mine:
            links += [f'<li><a href="#{e["id"]}">{_e(e["title"])}</a>{" <b class=bad>failed</b>" if e["trouble"] else ""}</li>' for e in mine]
            body.append(f"<h2>{_e(words)}</h2>" + "".join(map(_section, mine)))
    known = "".join(f"<dt>{_e(k)}</dt><dd>{_e(v)}</dd>" for k, v in machine.items())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Hotlane: report of the figures</title><link rel="icon" href="data:,"><style>{CSS}{svg.STYLE}</style></head><body>
<h1>Hotlane: report of the figures</h1>
<p class="soft">{len(entries)} of {len(figures.FIGURES)} figures. Each row is a library or a way of Hotlane; all rows of a figure ran in turns on this machine. Of times and
rates only ratios within one figure are worth anything.</p>
<dl class="machine">{known}</dl><nav><ul>{''.join(links)}</ul></nav>
{''.join(body)}{_missing(entries)}</body></html>
"""
