#!/usr/bin/env python3
"""Every public function is found by its name: by grep, cscope and ctags, at its row or in a comment over the row that makes it.

usage: names.py SOURCE_ROOT BUILD_ROOT [--write]

The rows that make functions are asked of the preprocessor. One that spells its function (HL_API(MPI_Put);) needs nothing; over
any other stands a comment "Defines:" with the names that it makes, which `--write` writes anew. Then universal-ctags reads
the tree by .ctags.d and must find each function that the library exports once, at that row or comment.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict

FOLDERS = ("lib/", "rma/", "shmem/")
WIDTH = 110
WEAK = re.compile(r'"\.weak "\s*"(\w+)"')
ROW = re.compile(r"(?:HL_API|HL_SHMEM_API|HL_SHMEM_OLD)\((\w+)\);|(?:HL_SHMEM_OLD_API|HL_SHMEM_(?:OLD_)?CALL|HL_CALL_[A-Z]+)\((\w+),")

def preprocessed(entry):
    """What the compiler makes of a file's macros, by the command that compiles it."""
    words = shlex.split(entry["command"])
    words = words[os.path.basename(words[0]) == "ccache":]
    kept = []
    for i, word in enumerate(words):
        if word not in ("-c", "-o", "-MD", "-MQ", "-MF") and not (i and words[i - 1] in ("-o", "-MQ", "-MF")):
            kept.append(word)
    done = subprocess.run(kept + ["-E"], cwd=entry["directory"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cannot preprocess {entry['file']}:\n{done.stderr[-2000:]}")
    return done.stdout

def rows(root, build):
    """{(file, line): names in order} of the lines outside of macros that make public functions."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = defaultdict(list)
    for entry in commands:
        path = os.path.relpath(os.path.normpath(os.path.join(entry["directory"], entry["file"])), root)
        if not path.startswith(FOLDERS) or not path.endswith(".c"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            if not re.search(r"\bHL_(API|SHMEM_API|SHMEM_CALL|CALL_\w+)\(", f.read()):
                continue
        name, line = path, 0
        for text in preprocessed(entry).split("\n"):
            marker = re.match(r'# (\d+) "([^"]+)"', text)
            if marker:
                name = os.path.relpath(os.path.normpath(os.path.join(entry["directory"], marker[2])), root)
                line = int(marker[1])
                continue
            for public in WEAK.findall(text):
                if public not in found[name, line]:
                    found[name, line].append(public)
            line += 1
    return found

def comment(names):
    """The comment that spells `names`, as lines."""
    lines, line = [], "/* Defines:"
    for i, name in enumerate(names):
        if len(line) + 1 + len(name) + (3 if i == len(names) - 1 else 0) > WIDTH:
            lines.append(line)
            line = " *"
        line += " " + name
    return lines + [line + " */"]

def spelled(text, line):
    """Lines (first, and the one after the last, from 0) of the comment "Defines:" right above a row; nothing if it has none."""
    first = end = line - 1
    while first > 0 and (first == end and text[first - 1].endswith("*/") or first < end and not text[first].startswith("/*")):
        first -= 1
    return (first, end) if text[first].startswith("/* Defines:") else (end, end)

def judge(root, found, write):
    """Compares, or writes, the comments; returns {name: (file, first line, last line)} and what is wrong with them."""
    places, wrong = {}, []
    for name in sorted({f for f, _ in found}):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            text = f.read().split("\n")
        for line in sorted((n for f, n in found if f == name), reverse=True):
            names = found[name, line]
            own = ROW.match(text[line - 1])
            if own and names == [own[1] or own[2]]:
                places[names[0]] = (name, line, line)
                continue
            first, end = spelled(text, line)
            places.update({n: (name, first + 1, end) for n in names})
            if text[first:end] != comment(names):
                wrong.append(f"{name}:{line} has no comment that spells what it makes: {' '.join(names)[:200]}")
                text[first:end] = comment(names)
        if write:
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write("\n".join(text))
    return places, wrong

def tags(root):
    """{name: [(file, line), ...]} of the functions that ctags finds in the library."""
    done = subprocess.run(["ctags", "-R", "--languages=C", "--kinds-C=f", "--fields=n", "--excmd=number", "-f", "-"] +
                          [f for f in FOLDERS if os.path.isdir(os.path.join(root, f))], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ctags failed:\n{done.stderr[-2000:]}")
    found = defaultdict(list)
    for row in done.stdout.split("\n"):
        fields = row.split("\t")
        if len(fields) > 2:
            found[fields[0]].append((fields[1], int(fields[2].rstrip(';"'))))
    return found

def exported(build):
    """The public functions of the library: of MPI and OpenSHMEM, without the names that a profiler calls."""
    library = os.path.join(build, "lib", "libhotlane.so")
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {row.split()[-1].split("@")[0] for row in done.stdout.split("\n") if len(row.split()) == 3 and row.split()[1] in "TWi"}
    # The linker's __start_ and __stop_ of a section are hidden, and nm shows them all the same in builds without link-time optimization.
    return {n for n in names if not re.match(r"PMPIX?_|pshmemx?_|p?mpix?_|_init$|_fini$|__start_|__stop_", n)}

def main():
    root, build = (os.path.abspath(a) for a in sys.argv[1:3])
    found = rows(root, build)
    places, wrong = judge(root, found, "--write" in sys.argv)
    if "--write" in sys.argv:
        return 0
    public = exported(build)
    wrong += [f"{n} has a row and is not exported" for n in sorted(set(places) - public)]
    if shutil.which("ctags") is None or "Universal" not in subprocess.run(["ctags", "--version"], capture_output=True, text=True).stdout:
        print("universal-ctags is not installed")
        return 1 if wrong else 77
    seen = tags(root)
    for name in sorted(public):
        at = seen.get(name, [])
        place, first, last = places.get(name, (*(at or [(None, 0)])[0], 0))  # hotlane_counter has a definition alone
        last = last or first
        row = [t for t in at if t[0] == place and first <= t[1] <= last]
        # A definition that has no second name stands right below its row.
        if len(row) != 1 or [t for t in at if t not in row and t != (place, last + 1)]:
            wrong.append(f"ctags finds {name} at {at or 'no place'}, and not once at {place}:{first}")
    print("\n".join(wrong[:40]))
    mpi = sum(n.startswith("MPI") for n in public)
    print(f"{len(public)} public functions, {mpi} of MPI; {len(wrong)} wrong")
    return 1 if wrong else 0

if __name__ == "__main__":
    sys.exit(main())
