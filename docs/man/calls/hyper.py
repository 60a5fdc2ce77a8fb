"""The pages as HTML: an index, and a file for each chapter with a place for each call."""
import html
import re

import roff

STYLE = """body{max-width:52em;margin:1em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#222;background:#fff}
pre{background:#f3f3f3;padding:.6em;overflow-x:auto}h2{border-top:1px solid #bbb;padding-top:.6em}h3{font-size:1em;margin-bottom:0}
dd{margin-bottom:.3em}a{color:#0645ad}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}a{color:#8ab4f8}}"""


def marked(text, where):
    """Words between asterisks in italics; names of calls lead to their places."""
    parts = re.split(r"(?<![\w*])\*(\S(?:[^*]*\S)?|\S)\*(?!\w)", text)

    def link(found):
        name = found[0]
        return f'<a href="{where[name]}#{name}">{name}</a>' if name in where else f"<b>{html.escape(name)}</b>"
    return "".join(f"<i>{html.escape(part)}</i>" if i % 2 else roff.BOLD.sub(link, html.escape(part, quote=False))
                   for i, part in enumerate(parts))


def whole(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n")


def file_of(page):
    return page.chapter.name + ".html"


def code(lines):
    return "<pre>" + "\n".join(html.escape(part, quote=False) for part in roff.wrapped(lines)) + "</pre>"


def part(page, words, where):
    """One call."""
    names = "".join(f'<a id="{n}"></a>' for n in page.names[1:])
    out = [f'<h2 id="{page.names[0]}">{page.names[0]}{names}</h2>', f"<p>{marked(page.summary, where)}</p>",
           code([f"#include <{page.header}>", *page.synopsis])]
    out += [code(["use mpi_f08", *page.fortran])] if page.fortran else []
    out += [f"<p>{marked(note, where)}</p>" for note in page.notes + page.paragraphs]
    if page.arguments:
        out += ["<h3>Arguments</h3><dl>"] + [f"<dt><i>{a.name}</i> ({a.direction})</dt><dd>{marked(a.text, where)}</dd>"
                                             for a in page.arguments] + ["</dl>"]
    for title, text in (("Buffers", page.free), ("Return value", page.result)):
        out += [f"<h3>{title}</h3><p>{marked(text, where)}</p>"] if text else []
    if page.errors:
        out.append("<h3>Errors</h3><dl>")
        for error, whys in page.errors.items():
            out += [f"<dt><b>{error}</b>{' (' + html.escape(words[error]) + ')' if error in words else ''}</dt>"] if error else []
            out += [f"<dd>{marked(why, where)}</dd>" for why in whys]
        out.append("</dl>")
    out += [f"<h3>Threads</h3><p>{marked(page.threads, where)}</p>"] if page.threads else []
    out += ["<h3>Hotlane</h3>"] + [f"<p>{marked(text, where)}</p>" for text in page.hotlane] if page.hotlane else []
    return out + [f"<p>{html.escape(page.standard)}. See also: {', '.join(marked(n, where) for n in page.see) or '-'}</p>"]


def chapters(pages):
    """{file: pages}, in the order of the pages."""
    found = {}
    for page in pages:
        found.setdefault(file_of(page), []).append(page)
    return found


def files(pages, words, version):
    """{file: its text}."""
    where = {name: file_of(page) for page in pages for name in page.names}
    found, index = {}, [f"<h1>Hotlane {html.escape(version)}: all calls</h1>"]
    for name, members in chapters(pages).items():
        title = members[0].chapter.summary
        body = [f'<p><a href="index.html">All calls</a></p><h1>{html.escape(title)}</h1>']
        for page in members:
            body += part(page, words, where)
        found[name] = whole(title, body)
        index += [f"<h2>{html.escape(title)}</h2><dl>"]
        index += [f'<dt><a href="{name}#{p.names[0]}">{p.names[0]}</a></dt><dd>{html.escape(p.summary)}</dd>' for p in members] + ["</dl>"]
    found["index.html"] = whole("Hotlane: all calls", index)
    return found
