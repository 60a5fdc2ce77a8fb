#!/usr/bin/env python3
"""The programs and commands of a page do what the page says.

usage: book.py [--without WRAPPER ...] [--with VARIABLE=VALUE ...] SOURCE BUILD PAGE ...

A block of a page stands between fences or is indented by four columns. It is a program when the paragraph before it ends
with a file's name, as in "As `first.c`:". It is commands when a line begins with "$ ": each is run by the shell, in a
folder that holds the programs of this page and those before it, and `build`, `include` and `tests` of the source, with the build's wrappers on PATH, and prints the lines that follow, in any order
and with any spaces; "..." stands for lines that the page leaves out, "(n1)" behind a rank for the name of any host. Other blocks are not looked at. --with sets a
variable for all commands; --without names a wrapper that this build has not: blocks that call it are left out.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

BLOCK = re.compile(r"^```(\w*)[^\n]*\n(?P<fenced>.*?)^```$|(?:^    [^\n]*\n|^\n(?=    ))+", re.M | re.S)
HOST = re.compile(r"^(hotlane: (?:rank|PE) \d+ )\([^)]*\)")
NAMED = re.compile(r"`([\w-]+\.(?:c|cpp|f90))`:\s*\Z")


def blocks(text):
    """Of each block in turn: the name of the file that it is (None: no program), and its text."""
    for match in BLOCK.finditer(text):
        body = match["fenced"]
        if body is None:
            body = re.sub(r"^    ", "", match[0].strip("\n"), flags=re.M) + "\n"
        name = NAMED.search(text[:match.start()])
        yield name[1] if name else None, body


def commands(body):
    """Of each command of a block: the command, and the lines that it prints."""
    for part in re.split(r"^ *\$ ", body, flags=re.M)[1:]:
        command, *wanted = part.strip("\n").split("\n")
        yield command, wanted


def same(said, wanted):
    """Are these the lines that the page shows? Ranks and threads speak in any order."""
    said, shown = ([" ".join(line.split()) for line in lines] for lines in (said, wanted))
    said = [HOST.sub(r"\1(n1)", line) for line in said]
    if "..." in shown:
        return all(said.count(line) >= shown.count(line) for line in shown if line != "...")
    return sorted(said) == sorted(shown)


def run(command, env, folder):
    """Exit code and lines of both streams. Programs of a page compile without a warning, and end."""
    command = re.sub(r"\b(mpicc|mpifort|oshcc) ", r"\1 -Wall -Werror ", command)
    command = re.sub(r"\b(mpiexec|oshrun) ", r"\1 --timeout 60 ", command)
    out = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return out.returncode, out.stdout.splitlines()


def check(text, env, folder, without):
    """Of a page: how many commands were run, how many blocks left out, and what does not hold."""
    ran, left, wrong, idle = 0, 0, [], set()
    for name, body in blocks(text):
        if name:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(body)
            idle.add(name)
            continue
        idle -= {name for name in idle if re.search(rf"^ *\$ .*{re.escape(name)}", body, re.M)}
        if any(re.search(rf"^ *\$ .*\b{wrapper}\b", body, re.M) for wrapper in without):
            left += 1
            continue
        for command, wanted in commands(body):
            ran += 1
            code, said = run(command, env, folder)
            if code != 0 or not same(said, wanted):
                wrong.append("\n".join([f"$ {command}\nends with {code} and prints:"] + said + ["instead of:"] + wanted))
    return ran, left, wrong + [f"no command of the page compiles {name}" for name in sorted(idle)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", metavar="WRAPPER", action="append", default=[])
    parser.add_argument("--with", metavar="VARIABLE=VALUE", action="append", default=[], dest="variables")
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("pages", metavar="PAGE", nargs="+")
    options = parser.parse_args()
    tools = os.path.join(os.path.abspath(options.build), "tools")
    clean = clean_env.environment("FI_")  # libfabric's are told of, too
    env = {**clean, "HOTLANE_CONF": "", "PATH": tools + ":" + os.environ["PATH"], **dict(v.split("=", 1) for v in options.variables)}
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(options.build), os.path.join(folder, "build"))
        for name in ("include", "tests"):
            os.symlink(os.path.abspath(os.path.join(options.source, name)), os.path.join(folder, name))
        for page in options.pages:
            with open(os.path.join(options.source, page), encoding="utf-8") as f:
                text = f.read()
            ran, left, wrong = check(text, env, folder, options.without)
            print("\n\n".join(wrong + [f"{page}: {ran} commands were run, {len(wrong)} things are wrong, {left} blocks left out"]))
            bad = bad or bool(wrong) or ran + left == 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
