"""A page as a manual page, in the macros of man(7)."""
import re
import textwrap

BOLD = re.compile(r"\b(?:(?:P?MPIX?|HOTLANE|SHMEM|SMA|MPICH)_\w+|p?shmemx?_\w+|hotlane-info)\b(?:=\w+)?")
WIDTH = 76


def plain(text):
    """Escapes what roff would read."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("\u2026", "...")


def marked(text):
    """Words between asterisks in italics, names of the library in bold."""
    parts = re.split(r"(?<![\w*])\*(\S(?:[^*]*\S)?|\S)\*(?!\w)", text)
    done = ""
    for i, part in enumerate(parts):
        if i % 2:
            done += f"\\fI{plain(part)}\\fR"
        else:
            done += BOLD.sub(lambda m: f"\0{m[0]}\1", part).replace("\\", "\\e").replace("-", "\\-").replace("\u2026", "...")
    return guarded(done.replace("\0", "\\fB").replace("\1", "\\fR"))


def guarded(line):
    return "\\&" + line if line[:1] in (".", "'") else line


def sentences(text):
    """A sentence a line, which is where roff looks for its end."""
    return [guarded(s) for s in re.sub(r"(?<=[a-z0-9)RI\"][.:]) (?=[A-Z\\])", "\n", marked(text)).split("\n")]


def wrapped(lines):
    """Code in lines that fit, with a type beside its name."""
    for line in lines:
        line = re.sub(r"(?<=\bconst) |(?<=\w) (?=\**\w+[,)\[])", "\0", line)
        for part in textwrap.wrap(line, WIDTH, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False):
            yield part.replace("\0", " ")


def code(lines):
    return [".nf"] + ["\\fB" + plain(part) + "\\fR" for part in wrapped(lines)] + [".fi"]


def synopsis(page):
    out = ['.SH "SYNOPSIS"'] + code([f"#include <{page.header}>", *page.synopsis])
    if page.fortran or page.old_fortran:
        out += [".PP", "Fortran 2008:"] if page.fortran else []
        out += code(["use mpi_f08", *page.fortran]) if page.fortran else []
        out += [".PP", "Fortran with module mpi or mpif.h, where handles are INTEGER:"] + code([page.old_fortran])
    for note in page.notes:
        out += [".PP"] + sentences(note)
    return out


def body(page, words):
    out = []
    if page.arguments:
        out.append('.SH "ARGUMENTS"')
        for a in page.arguments:
            out += [".TP", f"\\fI{plain(a.name)}\\fR ({a.direction})"] + sentences(a.text)
    out += ['.SH "DESCRIPTION"']
    for i, paragraph in enumerate(page.paragraphs):
        out += [".PP"] * (i > 0) + sentences(paragraph)
    for title, text in (("BUFFERS", page.free), ("RETURN VALUE", page.result)):
        out += [f'.SH "{title}"'] + sentences(text) if text else []
    if page.errors:
        out.append('.SH "ERRORS"')
        for error, whys in page.errors.items():
            out += [".TP", f"\\fB{error}\\fR" + (f" ({plain(words[error])})" if error in words else "")] if error else []
            for n, why in enumerate(whys):
                out += ([".br"] if error and n else [".PP"] if not error and n else []) + sentences(why)
    out += ['.SH "THREADS"'] + sentences(page.threads) if page.threads else []
    if page.hotlane:
        out.append('.SH "HOTLANE"')
        for i, text in enumerate(page.hotlane):
            out += [".PP"] * (i > 0) + sentences(text)
    return out


def page(page, words, version):
    out = [f'.TH "{page.names[0]}" "3" "" "Hotlane {version}" "Hotlane Manual"', '.SH "NAME"',
           ", ".join(plain(n) for n in name_line(page)) + " \\- " + plain(page.summary)]
    out += synopsis(page) + body(page, words)
    out += ['.SH "STANDARD"'] + sentences(page.standard + ".")
    others = [f"\\fB{plain(n)}\\fR(3)" for n in page.see] + ["\\fBhotlane\\fR(7)"]
    out += ['.SH "SEE ALSO"'] + [o + "," for o in others[:-1]] + others[-1:]
    return "\n".join(out) + "\n"


def name_line(page):
    """The names that a reader looks for; all others of a long list have a page that leads here."""
    return page.names if len(page.names) <= 4 else page.names[:1]


def alias(page):
    return f".so man3/{page.names[0]}.3\n"
