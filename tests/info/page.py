#!/usr/bin/env python3
"""Examples of a page of the documentation are what the commands in them print.

usage: page.py [--write] BUILD PAGE

A fenced block of kind `console` holds a command behind `$ ` and its output. Plain ones run here, with BUILD's
hotlane-info, in the source folder; --write puts in what they print now. Those with `guest=LAYOUT` run in tests/guest
(guest.py compares them with the layout's other steps, and writes them with --page), with huge pages as in `pools=NODE:PAGES,...`.
"""
import argparse
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

BLOCK = re.compile(r"^```console ?(.*)\n\$ (.*)\n((?:.*\n)*?)```$", re.M)
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Block:
    """One example: `guest` (None: here), `pools` (node -> huge pages), `command`, its variables `env`, `output`."""

    def __init__(self, match):
        options = dict(word.split("=") for word in match[1].split())
        self.guest = options.get("guest")
        self.pools = {int(n): int(p) for n, p in (one.split(":") for one in options.get("pools", "").split(",") if one)}
        self.line, self.output = match[2], match[3]
        words = self.line.split()
        self.env = dict(w.split("=") for w in words if "=" in w)
        self.command = " ".join(w for w in words if "=" not in w)

    def same(self, output):
        """The sizes of a guest's nodes are its kernel's business."""
        def compared(text):
            return text if self.guest is None else re.sub(r"(  [\d,-]+ +(DDR|fast|other) +)[\d-]+ MiB( each)? +", r"\1", text)
        return compared(self.of_page(output)) == compared(self.output)

    def of_page(self, output):
        """Which CPU a thread came to run on is chance, but for those that a guest's command binds."""
        return output if "taskset" in self.command else re.sub(r"  \(this thread: CPU \d+\)", "", output)


def blocks(page):
    with open(page, encoding="utf-8") as file:
        return [Block(m) for m in BLOCK.finditer(file.read())]


def write(page, outputs):
    """Puts outputs, a list as long as that of the blocks, into the page; None leaves a block as it is."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    left = iter(outputs)

    def one(match):
        output = next(left)
        return match[0] if output is None else \
            match[0][:match.start(3) - match.start(0)] + Block(match).of_page(output) + match[0][match.end(3) - match.start(0):]
    with open(page, "w", encoding="utf-8") as file:
        file.write(BLOCK.sub(one, text))


def run(block, build):
    clean = clean_env.environment()
    env = {**clean, "HOTLANE_CONF": "", **block.env, "PATH": os.path.join(build, "tools") + ":" + os.environ["PATH"]}
    return subprocess.run(block.command.split(), cwd=SOURCE, env=env, timeout=60, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("build")
    parser.add_argument("page")
    options = parser.parse_args()
    examples = blocks(options.page)
    outputs = [run(b, os.path.abspath(options.build)) if b.guest is None else None for b in examples]
    if options.write:
        write(options.page, outputs)
        return 0
    compared = [(b, o) for b, o in zip(examples, outputs) if o is not None]
    bad = [(b, o) for b, o in compared if not b.same(o)]
    for block, output in bad:
        print(f"$ {block.line}\nprints now (page.py --write puts it into the page):\n{output}")
    print(f"{len(compared) - len(bad)} of {len(compared)} examples hold; {len(examples) - len(compared)} are a guest's")
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
