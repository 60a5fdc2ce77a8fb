#!/usr/bin/env python3
"""The launcher's manual page and its --help tell of the same options.

usage: page.py [--write] MPIEXEC MPIEXEC.1

Both follow the table in tools/mpiexec/options.c. What is honoured the page describes in words of its own: the names are
compared. Its lists of what is accepted without effect and of what is refused are that of --help; --write makes them anew."""
import os
import re
import subprocess
import sys

GROUPS = ("for each part", "for the whole job", "accepted without effect", "refused")
SECTIONS = ("For each part", "For the whole job", "Accepted without effect", "Refused")
TEXT_AT = 28


def rows_of_help(mpiexec):
    """For each group a list of (spellings with their values, text)."""
    text = subprocess.run([mpiexec, "--help"], capture_output=True, text=True, check=True).stdout
    groups = {}
    for line in text.split("\n\n", 1)[1].split("\n\n")[0].splitlines():
        if not line.startswith(" "):
            rows = groups.setdefault(next(g for g in GROUPS if line.startswith(g)), [])
            continue
        left, right = (line, "") if line[TEXT_AT - 2:TEXT_AT].strip() else (line[:TEXT_AT], line[TEXT_AT:].strip())
        left = left.strip()
        if left and not (rows and rows[-1][0].endswith(",")):
            rows.append([left, right])
        else:
            rows[-1] = [f"{rows[-1][0]} {left}".strip(), f"{rows[-1][1]} {right}".strip()]
    return groups


def names(spellings):
    return {word.lstrip("-") for one in spellings.split(", ") for word in one.split()[:1]}


def names_of_page(section):
    """What follows Fl."""
    found = set()
    for line in section.splitlines():
        flag = False
        for word in line.split():
            flag = word == "Fl" or word == ".Fl" or flag and (word in (",", ")", "(") or not re.fullmatch(r"\.?[A-Z][a-z]", word))
            if flag and re.fullmatch(r"-?[A-Za-z][\w-]*", word) and word != "Fl":
                found.add(word.lstrip("-"))
    return found


def roff(text):
    return re.sub(r"(?<![\w-])--?(?=\w)", lambda m: m[0].replace("-", r"\-"), text)


def list_of(rows):
    """The rows as a list of mdoc: the first spelling is its tag, the others stand in front of the text."""
    out = [".Bl -tag -width Ds"]
    for left, text in rows:
        first, *more = left.split(", ")
        dash = lambda w: w[1:] if w.startswith("--") else w.lstrip("-")  # noqa: E731
        macro = lambda one: " Ar ".join([dash(one.split(" ", 1)[0])] + one.split(" ", 1)[1:])  # noqa: E731
        out.append(".It Fl " + macro(first))
        if more:
            out += ["Also"] + [f".Fl {macro(one)}{' ,' if one != more[-1] else ' :'}" for one in more]
        out.append(("" if more else "\\&") + roff(text if more else text[0].upper() + text[1:]) + ".")
    return "\n".join(out + [".El"]) + "\n"


def main():
    words = sys.argv[1:]
    write = words[0] == "--write"
    mpiexec, path = words[write:]
    with open(path, encoding="utf-8") as f:
        page = f.read()
    groups, wrong, new = rows_of_help(mpiexec), [], page
    for group, title in zip(GROUPS, SECTIONS):
        section = re.search(rf"^\.Ss {title}.*\n((?:.*\n)*?)(?=^\.S[sh] )", page, re.M)[1]
        wanted = set().union(*(names(left) for left, _ in groups[group]))
        if group in GROUPS[2:]:
            lists = re.search(r"^\.Bl(?:.*\n)*?\.El\n", section, re.M)[0]
            new = new.replace(section, section.replace(lists, list_of(groups[group])))
            wrong += [f"{title}: the list is not that of --help"] if lists != list_of(groups[group]) else []
        elif names_of_page(section) != wanted:
            got = names_of_page(section)
            wrong.append(f"{title}: only in --help: {sorted(wanted - got)}; only in the page: {sorted(got - wanted)}")
    if write:
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)
        return 0
    print("\n".join(wrong + [f"{os.path.relpath(__file__)} --write MPIEXEC PAGE makes the lists anew"] if wrong else
                    [f"{sum(map(len, groups.values()))} rows of options are the same in both"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
