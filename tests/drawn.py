#!/usr/bin/env python3
"""Draws a sample of what only the longest tier runs whole, by the date: another one each day, the same one all day. TEST_DATE is that
date where it is set; what was drawn is printed with it, so that a failure can be repeated.

usage: drawn.py NAME,NAME,... SCRIPT WORD...   runs the script with one name before its words; with the next one if it skips (77)"""
import datetime
import os
import random
import subprocess
import sys


def draw(things, count, name=str):
    """`count` of the things, in the order drawn; name(thing): what is printed of it."""
    given = os.environ.get("TEST_DATE", "")
    try:
        day = (datetime.date.fromisoformat(given) if given else datetime.datetime.now(datetime.timezone.utc).date()).isoformat()
    except ValueError:
        sys.exit(f"TEST_DATE={given}: expected a date such as 2026-01-31")
    some = random.Random(day).sample(things, min(count, len(things)))
    print(f"TEST_DATE={day} draws {', '.join(map(name, some))} of {len(things)}", flush=True)
    return some


def main():
    code = 77
    names = sys.argv[1].split(",")
    for name in draw(names, len(names)):
        print(f"{name}:", flush=True)
        code = subprocess.run([sys.executable, sys.argv[2], name, *sys.argv[3:]], check=False).returncode
        if code != 77:
            break
    return code


if __name__ == "__main__":
    sys.exit(main())
