"""The page of perf/report: one file with everything in it, light and dark, wide and narrow."""
import html

import builds
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
border-bottom:1px solid var(--edge)}th:first-child,td:first-child{text-align:left}
.words{width:100%}.words th,.words td{text-align:left;white-space:normal;vertical-align:top;overflow-wrap:break-word;min-width:5rem}.numbers th{white-space:normal;vertical-align:bottom}.title{margin:0;font-size:.9rem}
summary{cursor:pointer;margin-top:.8rem}
.bad{color:#c0392b;font-weight:600}@media(prefers-color-scheme:dark){.bad{color:#ff8a7a}}
@media(max-width:60rem){.pair{grid-template-columns:minmax(0,1fr)}}
@media(max-width:34rem){.words tr{display:block;padding:.3rem 0;border-bottom:1px solid var(--edge)}.words th{display:none}.words td{display:block;
border:0;padding:0}.words td:not(:first-child)::before{content:attr(data-head)": ";color:var(--soft)}.words td:empty{display:none}body{padding:.7rem}section{padding:.7rem}.machine{grid-template-columns:1fr}.machine dd{margin-bottom:.4rem}}
"""


def _e(words):
    return html.escape(str(words))


def _left_out(table):
    """{row: why it is not drawn}."""
    return {**{r["name"]: r["mark"] for r in table["rows"] if harness.NO_PATH in r["mark"]}, **{n: "failed" for n in table["failed"]}}


def _plot(table):
    """The picture of one table."""
    left = _left_out(table)
    if not svg.is_linear(table["unit"]):
        left.update({r["name"]: "0 throughout" for r in table["rows"] if any(r["cells"]) and not any(v for c in r["cells"] for v in c)})
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
        return f"<div>{_numbers(table)}</div>"  # nothing but 0
    if left:
        parts.append("<small>Not drawn: " + ", ".join(f"{_e(n)} ({_e(why)})" for n, why in left.items()) + ".</small>")
    return "".join(parts) + "</div>"


def _numbers(table):
    """All its numbers, of what is not drawn the medians; names that are longer than numbers stand below each other."""
    rows, keys = table["rows"], [_e(k) for k in table["keys"]]
    show = harness.spread if table["drawn"] else lambda values: harness.number(harness.middle(values))
    names = [_e(r["name"]) + (f" <small>{_e(r['mark'])}</small>" if r["mark"] else "") for r in rows]
    cells = [[_e(harness.cell(r, n, show)) for n in range(len(keys))] for r in rows]
    if not table["x"]:
        names, keys, cells = keys, names, [list(column) for column in zip(*cells)]
    # HTML needs no ends of cells and rows, of which a page has thousands.
    body = "".join(f"<tr><td>{name}" + "".join(f"<td>{c}" for c in some) for name, some in zip(names, cells))
    return (f'<p class="title"><b>{_e(table["title"])}</b>: {_e(table["unit"])}</p><div class="numbers"><table><tr><th>{_e(table["x"])}'
            + "".join(f"<th>{k}" for k in keys) + f"{body}</table></div>")


def _words(told):
    """A table of words."""
    head = "".join(f"<th>{_e(word)}</th>" for word in told["head"])
    rows = "".join("<tr>" + "".join(f'<td data-head="{_e(name)}">{_e(word).replace("_", "_<wbr>")}</td>' for name, word in zip(told["head"], row)) + "</tr>"
                   for row in told["rows"])
    return f'<p class="title"><b>{_e(told["title"])}</b></p><table class="words"><tr>{head}</tr>{rows}</table>'


def _caption(entry, tables):
    rounds = sorted({t["rounds"] for t in tables}) or [0]
    turns = "–".join(map(str, sorted({rounds[0], rounds[-1]})))
    how = figures.find(entry["id"]).how
    how = (how.replace(figures.DOTS, figures.ONCE) if rounds[-1] == 1 else how).format(turns=f"{turns} run{'s' * (rounds[-1] != 1)}")
    return (f"{_e(entry['title'])}. {_e(how)} Measured {_e(entry['began'])}, in {entry['took_s']:.0f} s; before it the load of the machine was {entry['load']:.1f}.")


def _section(entry):
    figure = figures.find(entry["id"])
    plots = "".join(_plot(t) for t in entry["tables"] if t["drawn"] and t["drawn"] != "table")
    shown = ([f'<div class="plots">{plots}</div>'] if plots else []) + [_numbers(t) for t in entry["tables"] if t["drawn"] == "table"]
    shown = "".join(shown + [_words(told) for told in entry["lists"]]) or '<p class="bad">There is nothing to draw.</p>'
    trouble = f'<dt class="bad">It failed</dt><dd><pre>{_e(entry["trouble"])}</pre></dd>' if entry["trouble"] else ""
    told = "<ul>" + "".join(f"<li>{_e(s)}</li>" for s in entry["seen"] or ["Nothing can be said."]) + "</ul>"
    before = f"<dt>Against {_e(entry['old'])}</dt><dd>{_e(entry['against'])}</dd>" if entry.get("against") else ""
    paper = "The paper shows" if figure.paper != "beyond" else "What is asked"
    lines = "".join(f"{_e(line)}\n" for line in entry["lines"])
    numbers = f"{''.join(_numbers(t) for t in entry['tables'] if t['drawn'] != 'table')}{'<pre>' + lines + '</pre>' if lines else ''}"
    command = entry["command"] + (f" --build BUILD\n{' '.join(builds.setup(figure.build, 'BUILD'))}" if figure.build else "")
    numbers = f"<details><summary>Numbers: median (least–most); of what is not drawn, the median</summary>{numbers}</details>" if numbers else ""
    return f"""<section id="{entry['id']}"><h3>{_e(entry['title'])} <small>({_e(figure.number)}, <code>{entry['id']}</code>)</small></h3>
<div class="pair"><figure>{shown}<figcaption>{_caption(entry, entry['tables'])}</figcaption></figure>
<dl>{trouble}<dt>{paper}</dt><dd>{_e(figure.shows)}</dd><dt>Seen here</dt><dd>{told}</dd>{before}
<dt>Why it differs</dt><dd>{_e(entry['why'])}</dd><dt>The command</dt><dd><pre>{_e(command)}</pre></dd></dl></div>
{numbers}</section>"""


def _missing(entries, skipped):
    """What is not measured, and what the report cannot do."""
    there, why = {e["id"] for e in entries}, {e["id"]: f": {_e(e['skipped'])}" for e in skipped}
    left = "".join(f"<li><code>{f.id}</code>: {_e(f.title)}{why.get(f.id, ' (takes too long for --quick)' * (f.quick is None))}</li>"
                   for f in figures.FIGURES if f.id not in there)
    never = "".join(f"<li><code>perf/{script}</code>: {_e(reason)}</li>" for script, reason in figures.NO_PARTS.items())
    return ((f"<h2>Not measured here</h2><p><code>perf/report --only FIGURE</code> measures one of them.</p><ul>{left}</ul>" if left else "")
            + f"<h2>No part of the report</h2><ul>{never}</ul>")


def whole(machine, entries):
    """The page, of what was measured (entries)."""
    links, body, skipped = [], [], [e for e in entries if e["skipped"]]
    entries = [e for e in entries if not e["skipped"]]
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
{''.join(body)}{_missing(entries, skipped)}</body></html>
"""
