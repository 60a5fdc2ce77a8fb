"""What is known of error classes, as a table in C for hotlane-info --explain."""
import os
import re


# What docs/MISUSE.md has no row of, as it takes another build.
OF_OTHER_BUILDS = {
    "MPI_ERR_RMA_CONFLICT": ["MPI_Put, in builds with -Dchecked_mode=true: bytes that another rank of the node has put, and no call has completed yet"],
}


# Words for what MPI_Error_string has none for, as no error handler sees it.
WORDS = {
    "MPI_SUCCESS": "the call has done what it was asked for",
    "MPI_T_ERR_CANNOT_INIT": "the tool interface cannot be opened",
    "MPI_T_ERR_NOT_ACCESSIBLE": "what is asked for cannot be used now",
    "MPI_T_ERR_NOT_INITIALIZED": "the tool interface is not open: MPI_T_init_thread was not called",
    "MPI_T_ERR_NOT_SUPPORTED": "the library does not do this",
    "MPI_T_ERR_MEMORY": "out of memory",
    "MPI_T_ERR_INVALID": "an argument is wrong",
    "MPI_T_ERR_INVALID_INDEX": "nothing has this index",
    "MPI_T_ERR_INVALID_ITEM": "the enumeration or event has no item of this number",
    "MPI_T_ERR_INVALID_SESSION": "this is no session of MPI_T_pvar_session_create",
    "MPI_T_ERR_INVALID_HANDLE": "this is no handle, or one that was freed",
    "MPI_T_ERR_INVALID_NAME": "nothing has this name",
    "MPI_T_ERR_OUT_OF_HANDLES": "there is no memory for another handle",
    "MPI_T_ERR_OUT_OF_SESSIONS": "there is no memory for another session",
    "MPI_T_ERR_CVAR_SET_NOT_NOW": "the variable cannot be set now",
    "MPI_T_ERR_CVAR_SET_NEVER": "the variable cannot be set, or not any more",
    "MPI_T_ERR_PVAR_NO_WRITE": "the counter cannot be written or reset",
    "MPI_T_ERR_PVAR_NO_STARTSTOP": "the counter always counts: it cannot be started or stopped",
    "MPI_T_ERR_PVAR_NO_ATOMIC": "the counter cannot be read and reset in one step",
    "MPI_ERR_LASTCODE": "no error: the last number of the standard's; classes and codes that programs add are above it",
}


def quoted(text):
    return '"' + text.replace("\u2026", "...").replace("\\", "\\\\").replace('"', '\\"') + '"'


def numbers(root):
    """{class: its number}."""
    with open(os.path.join(root, "include", "mpi.h"), encoding="ascii") as header:
        return dict(re.findall(r"\b(MPI_SUCCESS|MPI_(?:T_)?ERR_\w+) = (\d+)", header.read()))


def table(maker, made):
    """The text of the C file: a row a class, with calls that give it and what docs/MISUSE.md has of it."""
    lines = ["/* Made by docs/man/calls/generate.py: what is known of error classes. */", '#include "explain.h"', "",
             "const struct info_error info_errors[] = {"]
    for error, number in numbers(maker.root).items():
        rows = [row for row in maker.rows if row.error == error]
        calls = [page.names[0] for page in made if error in page.errors]
        calls += [call for call in dict.fromkeys(row.call for row in rows) if call not in calls]  # those whose pages are written by hand
        cases = [f"{row.call}: {row.what}" for row in rows] + OF_OTHER_BUILDS.get(error, [])
        lines.append(f"    {{{quoted(error)}, {number}, {quoted(maker.words.get(error) or WORDS[error])},")
        lines.append(f"     {quoted(', '.join(calls))},")
        lines.append("     " + ("\n     ".join(quoted(case + "\n").replace("\n", "\\n") for case in cases) if cases else '""') + "},")
    return "\n".join(lines + ["    {0},", "};", ""])
