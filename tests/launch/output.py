#!/usr/bin/env python3
"""What ranks write arrives. usage: output.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import re
import subprocess
import sys
import tempfile
import time

from harness import MPIEXEC, PYTHON, TALK, Job, check_talk, in_time, run, run_cases, same, sh, state_of, until, wait_soon


def lines_are_never_cut():
    job = run("-n", 4, PYTHON, "-c", TALK % (3000, 0))
    same(job.code, 0)
    check_talk(job.out, 4, 3000)


def lines_to_a_file_are_never_cut():
    with tempfile.TemporaryFile() as f:
        same(run("-n", 3, PYTHON, "-c", TALK % (3000, 0), stdout=f, stderr=f).code, 0)
        f.seek(0)
        check_talk(f.read().decode(), 3, 3000)


def lines_of_both_streams_share_a_pipe():
    job = run("-n", 3, PYTHON, "-c", TALK % (3000, 1), stderr=subprocess.STDOUT)
    same(job.code, 0)
    for line in job.out.splitlines():
        assert re.fullmatch(r"\d+ \d+ x*", line), line
    same(len(job.out.splitlines()), 9000)


def streams_stay_apart():
    job = run("-n", 2, *sh("echo to out; echo to err >&2"))
    same((job.out, job.err), ("to out\n" * 2, "to err\n" * 2))


def labels_name_the_rank():
    for option in ("-l", "--tag-output", "--prepend-rank"):
        job = run(option, "-n", 3, *sh("printf 'a\\nb\\nr%s' $PMI_RANK; echo e >&2"))
        same(sorted(job.out.splitlines()), sorted(f"[{r}] {t}" for r in range(3) for t in ("a", "b", f"r{r}")))
        same(sorted(job.err.splitlines()), [f"[{r}] e" for r in range(3)])


def unfinished_lines_do_not_mix():
    job = run("-n", 3, *sh("printf 'r%s-' $PMI_RANK; sleep 0.0$PMI_RANK; printf b"))
    same(sorted(job.out.splitlines()), ["r0-b", "r1-b", "r2-b"])


def a_single_rank_is_passed_on_as_it_is():
    same(run("-n", 1, "printf", "no end").out, "no end")


def a_prompt_of_a_single_rank_comes_at_once():
    job = Job("-n", 1, *sh("printf 'name? '; read x; echo hello $x"), stdin=subprocess.PIPE)
    same(job.process.stdout.read(6), b"name? ")
    same(job.end(b"you\n").out, "hello you\n")


def a_very_long_line_arrives():
    job = run("-n", 2, PYTHON, "-c", "import os; print(os.environ['PMI_RANK'] * 900000)")
    same(sorted(job.out.splitlines()), ["0" * 900000, "1" * 900000])


def a_slow_reader_loses_nothing():
    job = Job("-n", 2, PYTHON, "-c", TALK % (30000, 0))
    until(lambda: all(state_of(p) == "S" for p in job.left()), "ranks and launcher wait for the reader")
    job.end()
    same(job.code, 0)
    check_talk(job.out, 2, 30000)


def the_last_lines_of_the_dead_arrive():
    """Twenty thousand lines and a death; the reader comes when all but the launcher has gone."""
    for way, code in (("os.kill(os.getpid(), 11)", 139), ("os._exit(4)", 4)):
        with tempfile.TemporaryDirectory() as d:
            job = Job("-n", 2, PYTHON, "-c", f"""
import os, sys, time
if os.environ["PMI_RANK"] == "1": time.sleep(60)
open("{d}/begun", "w").close()
for i in range(20000): print(i)
sys.stdout.flush(); {way}
""")
            until(lambda: os.path.exists(f"{d}/begun"), "the ranks are there")
            until(lambda j=job: len(j.left()) == 3, "there are only the launcher and its guardians")
            time.sleep(0.5)  # longer than the launcher waits for anything else
            job.end()
        same((job.code, len(job.out.split())), (code, 20000))
        same(job.out.split()[-1], "19999")
        job.must_leave_nothing()


def a_reader_of_a_few_lines_ends_the_job():
    begin = time.monotonic()
    done = subprocess.run(["bash", "-c", '"$0" -n 2 sh -c "while :; do echo y; done" | head -n 3; echo ${PIPESTATUS[0]}', MPIEXEC],
                          capture_output=True, timeout=20, check=True)
    same(done.stdout, b"y\ny\ny\n141\n")
    in_time(time.monotonic() - begin)


def a_reader_that_leaves_ends_the_job():
    job = Job("-n", 2, *sh("while :; do echo y; done"))
    job.lines(1)
    job.process.stdout.close()
    same(wait_soon(job), 141)
    job.must_leave_nothing()


def output_that_cannot_be_written_ends_the_job():
    with open("/dev/full", "wb") as full:
        for text in ("echo x", "while :; do echo x; done"):
            job = run("-n", 2, *sh(text), stdout=full)
            same((job.code, job.err.split(": ", 1)[1:]),
                 (1, ["cannot write standard output: No space left on device; ending the job\n"]))
            same(run("-n", 2, *sh(text), stdout=full, stderr=full).code, 1)
        same(run("-n", 2, *sh("echo x >&2"), stderr=full).code, 0)


def ranks_may_close_their_output():
    job = run("-n", 2, *sh("echo x; exec >&- 2>&-; sleep 0.05; exit 0"))
    same((job.code, job.out), (0, "x\nx\n"))


def descriptors_are_open_in_every_rank():
    text = "import os; [os.fstat(i) for i in range(3)]; open(os.environ['F'] + os.environ['PMI_RANK'], 'w').write('fine')"
    with tempfile.TemporaryDirectory() as d:
        command = [MPIEXEC, "-n", "2", PYTHON, "-c", text]
        subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], check=True, timeout=20,
                       env={**os.environ, "F": d + "/"})
        same([open(f"{d}/{i}", encoding="ascii").read() for i in range(2)], ["fine", "fine"])


def closed_output_is_said():
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", MPIEXEC, "-n", "2", "echo", "x"], stderr=subprocess.PIPE, text=True,
                          timeout=20, check=False)
    same((done.returncode, done.stderr), (0, "mpiexec: standard output is closed: what the ranks print there is lost\n"))


def no_descriptor_of_the_launcher_reaches_a_rank():
    job = run("-n", 2, PYTHON, "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:5], os.environ['PMI_FD'])",
              close_fds=True)
    same(job.out, "[0, 1, 2, 3, 4] 3\n" * 2)  # 4: the folder being listed


def the_launchers_descriptors_are_not_copied_to_each_rank():
    job = run("-n", 120, "grep", "FDSize", "/proc/self/status", close_fds=True)  # places in the table that a rank began with
    same((job.code, len(set(job.out.splitlines()))), (0, 1))


def what_was_open_before_reaches_all_ranks():
    with tempfile.TemporaryFile() as f:
        number = os.dup2(f.fileno(), 300)
        job = run("-n", 2, PYTHON, "-c", "import os; print(os.fstat(300).st_ino)", pass_fds=[number])
        os.close(number)
        same(job.out, f"{os.fstat(f.fileno()).st_ino}\n" * 2)


CASES = [lines_are_never_cut, lines_to_a_file_are_never_cut, lines_of_both_streams_share_a_pipe, streams_stay_apart, labels_name_the_rank,
         unfinished_lines_do_not_mix, a_single_rank_is_passed_on_as_it_is, a_prompt_of_a_single_rank_comes_at_once, a_very_long_line_arrives,
         a_slow_reader_loses_nothing, the_last_lines_of_the_dead_arrive, a_reader_of_a_few_lines_ends_the_job, a_reader_that_leaves_ends_the_job,
         output_that_cannot_be_written_ends_the_job, ranks_may_close_their_output, descriptors_are_open_in_every_rank,
         no_descriptor_of_the_launcher_reaches_a_rank, the_launchers_descriptors_are_not_copied_to_each_rank, what_was_open_before_reaches_all_ranks,
         closed_output_is_said]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
