"""What is known of error classes, as a table in C for hotlane-info --explain."""
import os
import re


def quoted(text):
    return '"' + text.replace("\u2026", "...").replace("\\", "\\\\").replace('"', '\\"') + '"'


def numbers(root):
    """{class: its number}."""
    with open(os.path.join(root, "include", "mpi.h"), encoding="ascii") as header:
        return dict(re.findall(r"\b(MPI_(?:T_)?ERR_\w+) = (\d+)", header.read()))


def table(maker, made):
    """The text of the C file: a row a class, with calls that give it and what docs/MISUSE.md has of it."""
    lines = ["/* Made by docs/man/calls/generate.py: what is known of error classes. */", '#include "explain.h"', "",
             "const struct info_error info_errors[] = {"]
    for error, number in numbers(maker.root).items():
        calls = [page.names[0] for page in made if error in page.errors]
        cases = [f"{row.call}: {row.what}: {row.message.removeprefix(maker.words.get(error, '') + ': ')}"
                 for row in maker.rows if row.error == error]
        lines.append(f"    {{{quoted(error)}, {number}, {quoted(maker.words.get(error, ''))},")
        lines.append(f"     {quoted(', '.join(calls))},")
        lines.append("     " + ("\n     ".join(quoted(case + "\n").replace("\n", "\\n") for case in cases) if cases else '""') + "},")
    return "\n".join(lines + ["    {0},", "};", ""])
