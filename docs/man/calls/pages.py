"""Puts a page together: what headers, the table of Fortran's procedures, docs/MISUSE.md and the texts say of a call."""
import collections
import os
import re
import sys

import headers
import texts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fortran"))
import emit_f08  # noqa: E402
import table  # noqa: E402

Described = collections.namedtuple("Described", "name direction text error")
Row = collections.namedtuple("Row", "call what error")
OF_CHOICE = {"type", "pack", "address", "whole"}


class Page:
    """One page. `names`: its own first, then the aliases; `synopsis`: lines of C; `notes`: sentences below them."""

    def __init__(self, call, chapter):
        self.call, self.chapter, self.names, self.header = call, chapter, [], ""
        self.synopsis, self.notes, self.fortran, self.old_fortran = [], [], [], ""
        self.arguments, self.summary, self.paragraphs, self.errors = [], "", [], {}
        self.free = self.threads = self.result = self.standard = ""
        self.hotlane, self.see = [], []


def misuse(root):
    """The rows of docs/MISUSE.md; those of OpenSHMEM have no error class."""
    rows = []
    with open(os.path.join(root, "docs", "MISUSE.md"), encoding="utf-8") as page:
        for line in page:
            cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
            if len(cells) in (2, 3) and re.match(r"MPI|shmem_", cells[1]):
                rows.append(Row(cells[1], cells[0], cells[2] if len(cells) == 3 else ""))
    return rows


def error_words(root):
    """{class: the words that MPI_Error_string has for it}."""
    with open(os.path.join(root, "lib", "base", "err.h"), encoding="utf-8") as header:
        return {"MPI_ERR_" + name: words for name, words in re.findall(r'X\((\w+), \d+, "([^"]+)"\)', header.read())}


class Maker:
    """Everything that pages are made from."""

    def __init__(self, root, with_shmem):
        self.root, self.texts = root, texts.Texts(os.path.dirname(os.path.abspath(__file__)))
        self.functions = headers.mpi(root)
        self.shmem = headers.shmem(root) if with_shmem else {}
        self.generic = headers.generic(root)
        self.procedures = {p.name: p for p in table.read(os.path.join(root, "fortran", "procedures.tsv"))[0]}
        self.rows, self.words = misuse(root), error_words(root)
        self.usual = self.texts.families.pop("arguments", texts.Record("arguments", None, "")).args
        folder = os.path.join(root, "docs", "man")
        self.by_hand = {name[:-2] for name in os.listdir(folder) if name.endswith(".3")}
        self.used = set()

    def groups(self):
        """{page's name: [functions]}: large-count forms with the small ones, OpenSHMEM's by what they do."""
        found = collections.OrderedDict()
        for name, function in list(self.functions.items()) + list(self.shmem.items()):
            small = name[:-2] if name.endswith("_c") and name[:-2] in self.functions else name
            page = headers.shmem_parts(name)[0] if name in self.shmem else small
            page = self.texts.owner[page].name if page in self.texts.owner else page
            if name not in self.by_hand:
                found.setdefault(page, []).append(function)
        return found

    def pages(self):
        """All pages that there are a text for, and the names of functions without."""
        made, missing = [], []
        for name, functions in self.groups().items():
            if name in self.texts.calls:
                made.append(self.page(self.texts.calls[name], functions))
            else:
                missing += [f.name for f in functions]
        return made, missing

    def page(self, call, functions):
        chain = self.texts.chain(call)
        page = Page(call, call.chapter)
        page.names = list(dict.fromkeys([call.name] + [f.name for f in functions]))
        page.header = "mpi.h" if call.name.startswith("MPI") else "shmemx.h" if functions[0].header == "shmemx.h" else "shmem.h"
        page.summary = self.summary(call, chain)
        page.paragraphs = [self.filled(call, r.text) for r in chain if r.text]
        if call.name.startswith("MPI"):
            self.c(page, functions)
            self.fortran(page)
        else:
            self.c_shmem(page, functions)
        self.arguments(page, chain, functions)
        self.errors(page, chain)
        first = {key: next((r.keys[key] for r in chain if key in r.keys), "") for key in texts.ONCE}
        page.free, page.threads, page.result = (self.filled(call, first[k]) for k in ("free", "threads", "return"))
        page.standard = first["standard"] or f"{call.chapter.section}, section {call.section}"
        page.hotlane = [self.filled(call, r.keys["hotlane"]) for r in chain if "hotlane" in r.keys]
        names = [n for r in chain for n in r.keys.get("see", "").split()] + ([call.base] if call.base else [])
        page.see = sorted(dict.fromkeys(n for n in names if n not in page.names))
        return page

    def summary(self, call, chain):
        if call.summary:
            return call.summary
        form = next((r.summary for r in chain if r.summary and r is not call and r in self.texts.families.values()), "{summary}")
        return form.replace("{summary}", self.texts.calls[call.base].summary if call.base else "")

    def filled(self, call, text):
        """The text with {name}, {base} and families' fragments {family} filled in."""
        def fill(found):
            word = found[1]
            if word in ("name", "base"):
                return call.name if word == "name" else call.base or call.name
            if word not in self.texts.families:
                raise texts.TextError(f"{call.place}: {{{word}}} is nothing that there is")
            return self.texts.families[word].text
        return re.sub(r"\{(\w+)\}", fill, text)

    def c(self, page, functions):
        first, others = functions[0], functions[1:]
        page.synopsis = [prototype(first)]
        for other in others:
            wide = collections.OrderedDict()
            for a, b in zip(first.arguments, other.arguments):
                if a.type != b.type:
                    wide.setdefault(b.type, []).append(b.name)
            said = "; ".join(f"{listed(names)} {'is' if len(names) == 1 else 'are'} *{kind}*" for kind, names in wide.items())
            if len(first.arguments) == len(other.arguments):
                page.notes.append(f"{other.name} is the same for large counts: {said}.")
            else:
                page.synopsis.append(prototype(other))

    def fortran(self, page):
        procedure = self.procedures.get(page.call.name)
        if procedure is None:
            page.notes.append("Fortran has no such procedure.")
            return
        form = procedure.form(False)
        ends = ["ierror"] if procedure.result == "-" else []
        names = [a.name for a in form.arguments] + ends
        if procedure.kind != "old":
            page.fortran.append(f"{page.call.name}({', '.join(names)})")
            page.fortran += grouped([emit_f08.declaration(a) for a in form.arguments])
            page.fortran += ["    integer, optional, intent(out) :: ierror"] if ends else []
            if procedure.kind == "large":
                page.notes.append("In mpi_f08 the same name takes counts of INTEGER(MPI_COUNT_KIND).")
        page.old_fortran = f"{page.call.name.upper()}({', '.join(n.upper() for n in names)})"

    def c_shmem(self, page, functions):
        forms = collections.OrderedDict()
        for f in functions:
            _, form, kind, size = headers.shmem_parts(f.name)
            forms.setdefault(form, []).append((f, kind, size))
        for form, members in forms.items():
            # A type that no other argument has tells which arguments are of the type.
            f, kind, size = next((m for m in members if m[1] in ("uint", "longlong", "ushort", "short")), members[0])
            page.synopsis.append(prototype(f, form, headers.SHMEM_TYPES[kind] if kind else None))
            kinds = [k for _, k, _ in members if k]
            sizes = [s for _, _, s in members if s]
            what = f"TYPENAME is one of {', '.join(kinds)}" if kinds else f"SIZE is one of {', '.join(sizes)} bits" if sizes else ""
            if what and not any(note.endswith(what + ".") for note in page.notes):
                page.notes.append(f"In {form} {what}.")
        if page.call.name in self.generic:
            page.notes.append(f"In C11 {page.names[0]} chooses the function by the type of its arguments.")

    def arguments(self, page, chain, functions):
        procedure = self.procedures.get(page.call.name)
        intents = {a.name: a for a in procedure.arguments} if procedure else {}
        shown = collections.OrderedDict((a.name, a) for f in functions for a in f.arguments)
        for name, a in shown.items():
            text = next((r.args[name] for r in chain if name in r.args), self.usual.get(name, ""))
            for r in chain:
                if name in r.args:
                    self.used.add((r.name, name))
                    break
            said = re.match(r"\((in|out|inout)\) ", text)
            text = text[said.end():] if said else text
            body, error = re.match(r"(.*?)(?: \| (MPI_\w+|-))?$", text).groups()
            direction = said[1] if said else direction_of(a, intents.get(name))
            page.arguments.append(Described(name, direction, self.filled(page.call, body) if body else "", error if error not in (None, "-") else ""))

    def errors(self, page, chain):
        """{class: [sentences]}."""
        found = collections.OrderedDict()
        for a in page.arguments:
            if a.error:
                found.setdefault(a.error, []).append(f"*{a.name}*")
        said = collections.OrderedDict((error, [f"{names[0]} is wrong." if len(names) == 1 else f"One of {', '.join(names)} is wrong."])
                                       for error, names in found.items())
        for record in chain:
            for part in filter(None, record.keys.get("errors", "").split("; ")):
                error, _, why = ("", "", part[2:]) if part.startswith("- ") else part.partition(" ")
                said.setdefault(error, []).append(self.filled(page.call, why[:1].upper() + why[1:].rstrip(".") + "."))
        calls = set(page.names) | {n for r in chain for n in r.keys.get("misuse", "").split()}
        for row in self.rows:
            if row.call in calls:
                text = row.what[:1].upper() + row.what[1:] + "."
                if text not in said.setdefault(row.error, []):
                    said[row.error].append(text)
        page.errors = said


def listed(names):
    """a, b and c, marked."""
    names = [f"*{n}*" for n in names]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def grouped(declarations):
    """Declarations of neighbours with the same type in one line."""
    lines = []
    for declaration in declarations:
        kind, _, name = declaration.partition(" :: ")
        if lines and lines[-1][0] == kind:
            lines[-1][1].append(name)
        else:
            lines.append((kind, [name]))
    return [f"    {kind} :: {', '.join(names)}" for kind, names in lines]


def prototype(function, form=None, kind=None):
    """A prototype; with `kind`, that C type is TYPE."""
    words = []
    for a in function.arguments:
        if a.name == "...":
            words.append("...")
            continue
        base, bracket, shape = a.type.partition("[")
        word = base.strip() + ("" if base.strip().endswith("*") else " ") + a.name + bracket + shape
        words.append(re.sub(rf"^(const )?{re.escape(kind)}(?= )", r"\1TYPE", word) if kind else word)
    result = "TYPE" if kind and function.result == kind else function.result
    space = "" if result.endswith("*") else " "
    return f"{result}{space}{form or function.name}({', '.join(words) or 'void'});"


def direction_of(argument, fortran):
    """in, out or inout: what Fortran's table says, else what the prototype lets a call do."""
    if fortran is not None and fortran.intent != "-":
        return fortran.intent
    if argument.type.startswith("const ") or argument.type == "..." or not re.search(r"[*\[]", argument.type):
        return "in"
    return "in" if re.search(r"_(function|fn)\w* \*$", argument.type) else "out"
