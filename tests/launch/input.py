#!/usr/bin/env python3
"""What ranks read: rank 0 alone, also from a terminal. usage: input.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import select
import subprocess
import sys
import tempfile
import time

from harness import MPIEXEC, Job, in_time, on_terminal, rest_of, run, run_cases, same, sh, wait_soon


def rank_0_gets_all_input_the_others_none():
    data = b"line\n" * 50000
    job = run("-n", 3, *sh("echo $PMI_RANK $(wc -c)"), stdin=data)
    same(sorted(job.out.splitlines()), ["0 250000", "1 0", "2 0"])


def input_that_rank_0_does_not_take_is_left():
    command = [MPIEXEC, "-n", "2", *sh("test $PMI_RANK = 1 || { read x; echo took $x; }")]
    with tempfile.TemporaryFile() as f:
        f.write(b"one\ntwo\n")
        f.seek(0)
        out = subprocess.run(["sh", "-c", '"$@"; cat', "sh", *command], stdin=f, capture_output=True, timeout=20, check=False)
    same(out.stdout, b"took one\ntwo\n")


def read_until(fd, word, times=1):
    text = b""
    while text.count(word) < times:
        assert select.select([fd], [], [], 10)[0], f"{word} did not come {times} times, only {text}"
        text += os.read(fd, 4096)


def typed_lines_reach_rank_0():
    job, tty = on_terminal("-n", 2, *sh("echo up$PMI_RANK; test $PMI_RANK = 1 || cat; echo end$PMI_RANK"))
    read_until(tty, b"up0")
    os.write(tty, b"typed\n")
    read_until(tty, b"typed\r\n", 2)  # echo and answer
    os.write(tty, b"\x04")
    read_until(tty, b"end0")
    same(job.process.wait(10), 0)
    os.close(tty)


def a_question_of_rank_0_is_shown_before_the_answer():
    """On either stream; lines of the others come whole, as ever."""
    for to, label in ((1, []), (2, []), (1, ["-l"])):
        job, tty = on_terminal(*label, "-n", 2, *sh(f"test $PMI_RANK = 1 && exit; printf 'name? ' >&{to}; read x; echo hi $x"))
        read_until(tty, b"name? ")
        os.write(tty, b"you\n")
        read_until(tty, b"hi you\r\n")
        same(job.process.wait(10), 0)
        os.close(tty)
    job = Job("-n", 2, *sh("printf $PMI_RANK; sleep 0.3; echo $PMI_RANK"))
    same(sorted(job.lines(2)), ["00", "11"])
    job.end()


def control_c_on_the_terminal_ends_the_job():
    job, tty = on_terminal("-n", 2, *sh("echo up; sleep 60"))
    read_until(tty, b"up", 2)
    os.write(tty, b"\x03")
    same(wait_soon(job), 130)
    assert b"signal" not in rest_of(tty)  # who has typed it knows
    os.close(tty)
    job.must_leave_nothing()


def typing_to_a_stopped_rank_blocks_nothing():
    job, tty = on_terminal("--timeout", "0.5", "-n", 1, *sh("echo up; kill -STOP $$"))
    read_until(tty, b"up")
    os.set_blocking(tty, False)
    while job.process.poll() is None and time.monotonic() < job.begin + 30:
        try:
            os.write(tty, b"x" * 2000 + b"\n")
            os.read(tty, 65536)
        except OSError:
            pass
    in_time(time.monotonic() - job.begin)
    same(job.process.poll(), 124)
    os.close(tty)
    job.must_leave_nothing()


def a_terminal_that_hangs_up_ends_the_input():
    """Also where nobody is told of it: the job runs on, as without a launcher."""
    deaf = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", MPIEXEC]
    job, tty = on_terminal("-n", 1, *sh("echo up; cat >/dev/null; exit 7"), launcher=deaf)
    read_until(tty, b"up")
    os.close(tty)
    same(wait_soon(job), 7)


CASES = [rank_0_gets_all_input_the_others_none, input_that_rank_0_does_not_take_is_left, typed_lines_reach_rank_0,
         a_question_of_rank_0_is_shown_before_the_answer, control_c_on_the_terminal_ends_the_job, typing_to_a_stopped_rank_blocks_nothing,
         a_terminal_that_hangs_up_ends_the_input]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
