#!/usr/bin/env python3
"""Puts the defects of planted.py into copies of the library's sources.

usage: seams.py --files                       prints the sources that have a change, one a line
       seams.py --copy ROOT FILE SOURCE COPY  writes the copy of ROOT/FILE; messages and debuggers shall know it as SOURCE
       seams.py --names COPY                  writes the defects' names as C
       seams.py --check ROOT                  puts all changes in, and writes nothing

Ends with an error when a text does not stand in its file once, so that the table follows the sources.
"""
import os
import re
import sys

from planted import OF_MESSAGES, OF_OPERATIONS, SWITCH


class Rotten(Exception):
    """A row that does not fit the sources."""


def rows():
    """(name of the defect, file, text, text of the fault build) of every change."""
    for name, (_, *changes) in {**OF_OPERATIONS, **OF_MESSAGES}.items():
        for file, old, new in changes:
            asked = set(re.findall(r"HL_FAULT\((\w+)\)", new))
            if asked - {name}:
                raise Rotten(f"{name}: the text for {file} asks for {', '.join(sorted(asked - {name}))}")
            yield name, file, old, new
        if not any(f"HL_FAULT({name})" in new for _, _, new in changes):
            raise Rotten(f"{name}: no text asks HL_FAULT({name})")
    for file, old, new in SWITCH:
        yield "SWITCH", file, old, new


def plant(file, text, source):
    """The text of `file` with its changes, which is known as `source`."""
    places = []
    for name, where, old, new in rows():
        if where == file:
            found = text.count(old)
            if found != 1:
                raise Rotten(f"{name}: this text stands in {file} {found} times, not once; tests/faults/planted.py has to follow the source:\n{old}")
            places.append((text.index(old), name, old, new))
    done, moved, out = 0, True, '#include "fault.h"\n'
    for begin, name, old, new in [*sorted(places), (len(text), "", "", "")]:
        if begin < done:
            raise Rotten(f"{name}: this text stands in {file} over that of another row:\n{old}")
        kept = text[done:begin]
        # Where lines have moved the next one that is kept says which it is.
        at = 0 if out.endswith("\n") else kept.find("\n") + 1
        if moved and (at > 0 or out.endswith("\n")):
            line = text.count("\n", 0, done + at) + 1
            kept, moved = f'{kept[:at]}#line {line} "{source}"\n{kept[at:]}', False
        out += kept + new
        done, moved = begin + len(old), moved or new.count("\n") != old.count("\n")
    return out


def read(root, file):
    try:
        with open(os.path.join(root, file), encoding="utf-8") as f:
            return f.read()
    except OSError as error:
        raise Rotten(f"{file}: {error.strerror}; tests/faults/planted.py names it") from error


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(what, *words):
    files = sorted({file for _, file, _, _ in rows()})
    if what == "--files":
        print("\n".join(files))
    elif what == "--copy":
        write(words[3], plant(words[1], read(words[0], words[1]), words[2]))
    elif what == "--names":
        names = "".join(f'    "{name}",\n' for name in (*OF_OPERATIONS, *OF_MESSAGES))
        write(words[0], f'#include "fault.h"\n\nconst char *const hl_fault_names[] = {{\n{names}    NULL,\n}};\n')
    else:
        for file in files:
            plant(file, read(words[0], file), file)
        print(f"{len(OF_OPERATIONS) + len(OF_MESSAGES)} defects, {sum(1 for _ in rows())} changes in {len(files)} files")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Rotten as rotten:
        sys.exit(f"seams.py: {rotten}")
