"""What is known of error classes, as a table in C for hotlane-info --explain."""
import os
import re


# What docs/MISUSE.md has no row of, as it takes another build.
OF_OTHER_BUILDS = {
    "MPI_ERR_RMA_CONFLICT": ["MPI_Put, in builds with -Dchecked_mode=true: bytes that another rank of the node has put, and no call has completed yet"],
}


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
        rows = [row for row in maker.rows if row.error == error]
        calls = [page.names[0] for page in made if error in page.errors]
        calls += [call for call in dict.fromkeys(row.call for row in rows) if call not in calls]  # those whose pages are written by hand
        cases = [f"{row.call}: {row.what}" for row in rows] + OF_OTHER_BUILDS.get(error, [])
        lines.append(f"    {{{quoted(error)}, {number}, {quoted(maker.words.get(error, ''))},")
        lines.append(f"     {quoted(', '.join(calls))},")
        lines.append("     " + ("\n     ".join(quoted(case + "\n").replace("\n", "\\n") for case in cases) if cases else '""') + "},")
    return "\n".join(lines + ["    {0},", "};", ""])
