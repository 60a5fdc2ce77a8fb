#!/usr/bin/env python3
"""Makes the manual pages of all public functions, and the same text as HTML, and the table of hotlane-info --explain. texts.py says what the texts look like, pages.py
what else a page is made from.

usage: generate.py --names SOURCE_ROOT MPI_ONLY [FILE ...]  prints the files that there will be (FILE: for Meson, which looks
                                                            whether they have changed)
       generate.py --make SOURCE_ROOT MPI_ONLY VERSION OUT  writes them into OUT
       generate.py --explain SOURCE_ROOT MPI_ONLY FILE      writes what is known of error classes as C into FILE

MPI_ONLY is 1 for a build without OpenSHMEM, else 0.
"""
import os
import sys

import explain
import hyper
import pages
import roff
import texts


def names(made):
    """The files: pages, aliases, HTML."""
    return [name + ".3" for page in made for name in page.names] + [*hyper.chapters(made), "index.html"]


def texts_of(made, words, version):
    """{file: its text}."""
    found = hyper.files(made, words, version)
    for page in made:
        found[page.names[0] + ".3"] = roff.page(page, words, version)
        found.update({name + ".3": roff.alias(page) for name in page.names[1:]})
    return found


def main(how, root, mpi_only, *more):
    try:
        maker = pages.Maker(root, mpi_only != "1")
        made, _ = maker.pages()
    except (texts.TextError, pages.table.TableError) as error:
        sys.exit(f"generate.py: {error}")
    if how == "--names":
        print("\n".join(names(made)))
        return
    if how == "--explain":
        with open(more[0], "w", encoding="ascii") as file:
            file.write(explain.table(maker, made))
        return
    version, out = more
    for name, text in texts_of(made, maker.words, version).items():
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    wanted = {"--names": 3, "--explain": 4, "--make": 5}.get("".join(sys.argv[1:2]), 0)
    if wanted == 0 or len(sys.argv) <= wanted:
        sys.exit(__doc__)
    main(*sys.argv[1:wanted + 1])
