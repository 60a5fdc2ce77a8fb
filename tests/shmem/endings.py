#!/usr/bin/env python3
"""How SHMEM jobs end: shmem_global_exit from any PE and thread, with data in files' buffers, a PE killed (also behind a script that
stays, which the launcher sees instead), a PE that leaves main before finalize, handlers of the exit from before the start, _exit behind finalize.

usage: endings.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position

mpiexec, program = sys.argv[1:]
PES = 3
failed = 0


def check(true, words):
    global failed
    if not true:
        failed += 1
        print(words)


def end(how, pe, code, near, path):
    """The job's exit code, output, errors and seconds; `path`: for the file of the PE."""
    env = clean_env.environment()
    env.update(HOTLANE_CONF="", HOTLANE_NEAR=near)
    begin = time.monotonic()
    words = ["sh", "-c", '"$@"; exec sleep 100', "sh", program, "kill"] if how == "hidden" else [program, how]
    done = subprocess.run([mpiexec, "--oversubscribe", "-n", str(PES), "--timeout", "60", *words, str(pe), str(code), path], env=env,
                          capture_output=True, text=True, timeout=80)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin



folder = tempfile.TemporaryDirectory()
for near in "1", "0":
    for how, pe, code, expected in (("exit", 0, 3, 3), ("exit", 2, 0, 0), ("exit", 1, 255, 255), ("exit", 1, 256, 1), ("exit", 1, 259, 3),
                                    ("thread", 1, 7, 7), ("thread", 0, 0, 0), ("file", 0, 0, 0), ("file", 2, 7, 7), ("locked", 1, 4, 4),
                                    ("kill", 1, 0, 137), ("hidden", 1, 0, 1), ("leave", 1, 0, 0), ("return", 0, 5, 5),
                                    ("waits", 1, 0, 1), ("handler", 0, 0, 0), ("late", 0, 0, 1), ("skips", PES, 0, 0), ("skips", PES, 4, 4)):
        path = os.path.join(folder.name, f"{how}-{code}-{near}")
        got, out, err, seconds = end(how, pe, code, near, path)
        case = f"{how} {code} on PE {pe}, HOTLANE_NEAR={near}"
        check(got == expected, f"{case}: exit code {got}, not {expected}\n{err}")
        check(f"PE {pe % PES} of {PES} is here" in out, f"{case}: its last words are missing in {out!r}")
        check(bool(err) == (expected != 0), f"{case}: says {err!r}")
        check(code != 256 or "exit code 256: " in err, f"{case}: says {err!r}")
        check(how != "waits" or "shmem_finalize: 1 other thread is still in calls (shmem_long_wait_until), which" in err, f"{case}: says {err!r}")
        check(how != "late" or "shmem_my_pe: called after exit, which has ended OpenSHMEM" in err, f"{case}: says {err!r}")
        check(seconds < 20, f"{case}: took {seconds:.1f} s")
        if how in ("file", "locked"):
            with open(path, encoding="utf-8") as file:
                check(file.read() == f"PE {pe} wrote this\n", f"{case}: the file's data are lost")
    got, out, err, _ = end("child", 1, 4, near, "")
    check((got, err.count("ends; the job goes on")) == (0, 1), f"a child's end, HOTLANE_NEAR={near}: exit code {got}, says {err!r}")
    got, out, err, _ = end("children", 0, 0, near, "")
    check(got == 0 and "in a child:" not in out, f"calls in children, HOTLANE_NEAR={near}: exit code {got}, says {out!r}, {err!r}")
    calls = [int(line.split()[0]) for line in out.splitlines() if line.endswith(" calls in children")]
    check(len(calls) == PES and err.count("a forked child of a PE cannot use the library") == sum(calls),
          f"calls in children, HOTLANE_NEAR={near}: {calls} calls, says {err!r}")
sys.exit(failed != 0)
