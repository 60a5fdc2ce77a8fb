#!/usr/bin/env python3
"""Makes the manual pages of all public functions, and the same text as HTML. texts.py says what the texts look like, pages.py
what else a page is made from.

usage: generate.py --names SOURCE_ROOT MPI_ONLY [FILE ...]  prints the files that there will be (FILE: for Meson, which looks
                                                            whether they have changed)
       generate.py --make SOURCE_ROOT MPI_ONLY VERSION OUT  writes them into OUT

MPI_ONLY is 1 for a build without OpenSHMEM, else 0.
"""
import os
import sys

import pages
import roff
import texts


def files(made):
    """{name: text} of the pages' files; a function that makes the text."""
    found = {}
    for page in made:
        found[page.names[0] + ".3"] = lambda p=page, v="", w=None: roff.page(p, w, header(p), v)
        for name in page.names[1:]:
            found[name + ".3"] = lambda p=page, v="", w=None: roff.alias(p)
    return found


def header(page):
    if page.names[0].startswith("MPI"):
        return "mpi.h"
    return "shmemx.h" if page.names[0].startswith("shmemx") else "shmem.h"


def main(how, root, mpi_only, version="", out=""):
    try:
        maker = pages.Maker(root, mpi_only != "1")
        made, _ = maker.pages()
    except (texts.TextError, pages.table.TableError) as error:
        sys.exit(f"generate.py: {error}")
    found = files(made)
    if how == "--names":
        print("\n".join(found))
        return
    for name, make in found.items():
        with open(os.path.join(out, name), "w", encoding="ascii") as file:
            file.write(make(v=version, w=maker.words))


if __name__ == "__main__":
    if sys.argv[1:2] not in (["--names"], ["--make"]) or len(sys.argv) < (4 if sys.argv[1] == "--names" else 6):
        sys.exit(__doc__)
    main(*sys.argv[1:4 if sys.argv[1] == "--names" else 6])
