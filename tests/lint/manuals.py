#!/usr/bin/env python3
"""The manual pages of calls say something about each public function and each of its arguments, and about nothing else.

Compares include/*.h, the texts of docs/man/calls, the pages that are written by hand, and what the build has made, as manual pages and as
HTML. Where groff and lexgrog
(man-db) are there, the pages must be clean to the one and give a name and a summary to the other, which is what apropos shows.

usage: manuals.py SOURCE_ROOT BUILD_ROOT MPI_ONLY
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys

root, build = (os.path.abspath(a) for a in sys.argv[1:3])
sys.path.insert(0, os.path.join(root, "docs", "man", "calls"))
import pages  # noqa: E402

NAMES = re.compile(r"\b(?:MPIX?_[A-Za-z]\w*|shmemx?_\w+|(?:HOTLANE|MPICH|SHMEM|SMA)_[A-Z]\w*)")


def read(*path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def judge_coverage(maker, made, missing):
    """One page a function, and no page without."""
    wrong = [f"{len(missing)} functions have no text in docs/man/calls: {' '.join(missing[:20])}"] if missing else []
    public = {**maker.functions, **maker.shmem}
    seen = {}
    for page in made:
        for name in page.names:
            if name in seen or name in maker.by_hand:
                wrong.append(f"{name} has two pages: {page.names[0]}.3 and {seen.get(name, 'one by hand')}")
            seen[name] = page.names[0] + ".3"
    made_of = {page.call.name for page in made}
    for call in maker.texts.calls.values():
        if maker.shmem or call.name.startswith("MPI"):
            wrong += [f"{call.place}: {name} is no function of the headers" for name in call.names
                      if name not in public and name not in made_of]
            wrong += [f"{call.place}: {name} has a page by hand" for name in call.names if name in maker.by_hand]
    return wrong


def judge_arguments(maker, made):
    wrong, classes = [], set(re.findall(r"\bMPI_(?:T_)?ERR_\w+", read("include", "mpi.h")))
    for page in made:
        wrong += [f"{page.call.place}: {page.names[0]}: nothing is said of {a.name}" for a in page.arguments if not a.text]
        own = {a.name for a in page.arguments}
        wrong += [f"{page.call.place}: {page.names[0]} has no argument {name}" for name in page.call.args if name not in own]
        wrong += [f"{page.call.place}: {page.names[0]}: {a.error} of {a.name} is no error class" for a in page.arguments
                  if a.error and a.error not in classes]
    if maker.shmem:
        shared = {**maker.texts.families, **maker.texts.chapters}
        wrong += [f"{record.place}: {name} is an argument of no call" for record in shared.values() for name in record.args
                  if (record.name, name) not in maker.used]
    return wrong


def judge_texts(maker, made):
    """Summaries, sections, and names that are spoken of."""
    known = set(re.findall(r"\bP?MPIX?_\w+", read("include", "mpi.h") + read("include", "hotlane.h")))
    known |= set(re.findall(r"\b(?:HOTLANE|MPICH|SHMEM|SMA)_\w+", read("docs", "ENVIRONMENT.md").replace("\\", "")))
    for header in pages.headers.SHMEM_HEADERS + ["shmem/generic.h"]:
        known |= set(re.findall(r"\b(?:shmem|SHMEM)\w+", read("include", header)))
    there = {name for page in made for name in page.names} | maker.by_hand
    wrong = []
    for page in made:
        at = f"{page.call.place}: {page.names[0]}"
        if not re.match(r"[a-z].{8,78}[A-Za-z0-9)]$", page.summary):
            wrong.append(f"{at}: the summary '{page.summary}' is no phrase of 10 to 80 characters in small letters")
        if not page.call.section and not page.call.name.startswith("shmemx") or re.search(r"section (?!\d+(\.\d+)*$)", page.standard):
            wrong.append(f"{at}: '{page.standard}' is no section of a standard")
        if not page.paragraphs or not all(p.endswith(".") for p in page.paragraphs):
            wrong.append(f"{at}: no description, or one that does not end with a full stop")
        text = " ".join(page.paragraphs + page.hotlane + [page.free, page.threads, page.result] + [a.text for a in page.arguments]
                        + [w for why in page.errors.values() for w in why])
        wrong += [f"{at}: speaks of {word}, which is not there" for word in set(NAMES.findall(text))
                  if word.rstrip("_") not in known | there and not word.endswith("_")]
        wrong += [f"{at}: {error} is no error class" for error in page.errors if error and error not in maker.words and error not in known]
        wrong += [f"{at}: see also {name}, which has no page" for name in page.see if name not in there]
    return wrong


def judge_files(made):
    """What lies in the build."""
    folder, wrong = os.path.join(build, "docs"), []
    for page in made:
        for name in page.names:
            path = os.path.join(folder, name + ".3")
            text = open(path, encoding="ascii").read() if os.path.exists(path) else ""
            want = f'.TH "{name}" "3"' if name == page.names[0] else f".so man3/{page.names[0]}.3\n"
            if not text.startswith(want):
                wrong.append(f"{path} does not begin with {want.strip()}")
    paths = [os.path.join(folder, page.names[0] + ".3") for page in made]
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *paths], capture_output=True, text=True)
        wrong += [f"groff: {line}" for line in done.stderr.split("\n")[:20] if line]
    else:
        print("groff is not installed: its judgement is left out")
    if shutil.which("lexgrog"):
        done = subprocess.run(["lexgrog", *paths], capture_output=True, text=True)
        for page, path in zip(made, paths):
            if f'{path}: "{page.names[0]} - {page.summary}"' not in done.stdout:
                wrong.append(f"lexgrog does not read name and summary of {path}")
    else:
        print("lexgrog (man-db) is not installed: its judgement is left out")
    return wrong


class Places(html.parser.HTMLParser):
    """What a file has places for, where its links go, and tags that are not closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.open, self.wrong = [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        self.open += [] if tag == "meta" else [tag]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def judge_html(made):
    """Each name has a place, each link leads to one, and the index has each page."""
    files = {name for page in made for name in [page.chapter.name + ".html"]} | {"index.html"}
    places = {name: Places(read(os.path.join(build, "docs", name))) for name in sorted(files)}
    there = set(files) | {f"{name}#{at}" for name, found in places.items() for at in found.ids}
    wrong = [f"{name}: <{tag}> is not closed in its place" for name, found in places.items() for tag in found.wrong[:3]]
    wrong += [f"{name}: {link} leads nowhere" for name, found in places.items() for link in found.links if link not in there]
    for page in made:
        at = page.chapter.name + ".html"
        wrong += [f"{at} has {places[at].ids.count(name)} places for {name}" for name in page.names if places[at].ids.count(name) != 1]
        if f"{at}#{page.names[0]}" not in places["index.html"].links:
            wrong.append(f"index.html has no link to {page.names[0]}")
    return wrong


def main():
    maker = pages.Maker(root, sys.argv[3] != "1")
    made, missing = maker.pages()
    wrong = judge_coverage(maker, made, missing) + judge_arguments(maker, made) + judge_texts(maker, made) + judge_files(made) + judge_html(made)
    print("\n".join(wrong[:60]))
    print(f"{len(made)} pages, {sum(len(p.names) for p in made)} names; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
