#!/usr/bin/env python3
"""Signals, kill -9 and what they leave behind. usage: endings.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import signal
import subprocess
import sys
import time

from harness import (MPIEXEC, PYTHON, RANK, RAW, Job, environment_of, holds, in_time, killed_but_traced, name_of, parent_of, run, run_cases, same, sh, sleepers,
                     state_of, until, without)


def a_user_signal_ends_the_job():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        job, _ = sleepers(2)
        job.process.send_signal(number)
        job.end(soon=True)
        same(job.code, 128 + number)
        same(job.err.split(": ", 1)[1:], [f"told to end by signal {int(number)} ({signal.strsignal(number)})\n"])
        job.must_leave_nothing()


def a_signal_that_was_ignored_at_the_start_stays_so():
    """As nohup does it, and a shell without job control for what it starts in the background."""
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        job = Job("-n", 1, *sh("echo up; read line; echo $line"), stdin=subprocess.PIPE,
                  preexec_fn=lambda number=ignored: signal.signal(number, signal.SIG_IGN))
        same(job.lines(1), ["up"])
        job.process.send_signal(ignored)
        job.end(b"goes on\n")
        same((job.code, job.out, job.err), (0, "goes on\n", ""))
        job.must_leave_nothing()


STUBBORN = "trap '' INT TERM; echo up; while :; do sleep 60; done"


def a_stubborn_rank_is_killed_after_one_signal_or_at_once_after_two():
    for times in (1, 2):
        job = Job("-n", 2, *sh(STUBBORN))
        job.lines(2)
        for _ in range(times):
            job.process.send_signal(signal.SIGINT)
        job.end(soon=True)
        same(job.code, 130)
        job.must_leave_nothing()


def a_death_takes_the_stubborn_along():
    job = run("-n", 2, *sh(f"test $PMI_RANK = 1 && exit 6; {STUBBORN}"))
    same(job.code, 6)
    in_time(job.seconds)


def a_stopped_rank_does_not_hold_up_the_end():
    job, pids = sleepers(2)
    os.kill(pids[0], signal.SIGSTOP)
    os.kill(pids[1], signal.SIGKILL)
    same(job.end(soon=True).code, 137)
    job.must_leave_nothing()


def killing_the_launcher_leaves_nothing():
    job = Job("-n", 3, *sh("sleep 60 & setsid sleep 60 & echo up; trap '' TERM; wait; sleep 60"))
    job.lines(3)
    job.process.kill()
    same(job.end().code, -9)
    job.must_leave_nothing()


CLOSE_RANGE = 436  # the number of the system call


def what_is_left_is_killed_where_close_range_is_refused():
    """As by sandboxes, and Linux before 5.9. A new guardian begins with all the launcher's descriptors."""
    for again in (False, True):
        job = Job("-n", 2, *sh("sleep 60 & setsid sleep 60 & echo up; trap '' TERM; wait; sleep 60"), preexec_fn=without(CLOSE_RANGE))
        job.lines(2)
        first, sockets = job.both_guardians(), job.sockets()
        if again:
            for pid in first:
                os.kill(pid, signal.SIGKILL)
            until(lambda dead=first: not set(dead) & set(job.left()), "the killed have gone")
            job.both_guardians()
        job.process.kill()
        same(job.end(soon=True).code, -9)
        job.must_leave_nothing(sockets)


def killing_the_guardian_changes_nothing():
    job = Job("-n", 2, *sh("sleep 60 & echo up; wait"))
    job.lines(2)
    for count in (1, 2):  # one of them, then both at once
        first = job.both_guardians()
        for pid in first[:count]:
            os.kill(pid, signal.SIGKILL)
        until(lambda dead=first[:count]: not set(dead) & set(job.left()), "the killed have gone")
        job.both_guardians()
    sockets = job.sockets()
    job.process.kill()
    job.end(soon=True)
    job.must_leave_nothing(sockets)


def killing_the_launcher_and_a_guardian_leaves_nothing():
    for order in (0, 1):
        job = Job("-n", 2, *sh("sleep 60 & setsid sleep 60 & echo up; trap '' TERM; wait; sleep 60"))
        job.lines(2)
        sockets, victims = job.sockets(), [job.process.pid, job.both_guardians()[order]]
        for pid in victims if order else victims[::-1]:
            os.kill(pid, signal.SIGKILL)
        same(job.end(soon=True).code, -9)
        job.must_leave_nothing(sockets)


def guardians_do_not_look_like_the_launcher():
    job = Job("-n", 1, *sh("echo up; sleep 60"), ":", "-n", 1, *sh("echo up; sleep 60"))
    job.lines(2)
    for pid in job.both_guardians():
        with open(f"/proc/{pid}/cmdline", encoding="ascii") as f:
            same(f.read().rstrip("\0"), "hotlane-guard")
    job.process.kill()
    job.end(soon=True)
    job.must_leave_nothing()


def a_job_within_a_rank_ends_with_the_outer_one():
    """The inner launcher and all it started, by the death of the outer launcher, of the rank, and by a signal."""
    inner = f"{MPIEXEC} --oversubscribe -n 2 sh -c 'setsid sleep 60 & echo up; trap : TERM; sleep 60; sleep 60'"
    for what in ("launcher", "rank", "signal"):
        job = Job("-n", 1, *sh(inner + "; exit 0"))
        job.lines(2)
        sockets = job.sockets()
        rank = [p for p in job.left() if b"PMI_RANK=" in environment_of(p) and parent_of(p) == job.process.pid]
        if what == "signal":
            job.process.terminate()
        else:
            os.kill(job.process.pid if what == "launcher" else rank[0], signal.SIGKILL)
        same(job.end(soon=True).code, {"launcher": -9, "rank": 137, "signal": 143}[what])
        job.must_leave_nothing(sockets)


def an_abort_in_answer_to_a_death_does_not_hide_it():
    """Rank 1 is killed, rank 0 notices and aborts, and both happen before the launcher has looked."""
    job = Job("-n", 2, PYTHON, "-c", RAW + """
import signal, time
def leave(*_):
    s.sendall(b"cmd=abort exitcode=5\\n")
    os._exit(5)
signal.signal(signal.SIGUSR1, leave)
ask("cmd=init pmi_version=1 pmi_subversion=1")
os.write(1, b"%d %d\\n" % (rank, os.getpid()))
time.sleep(60)
""")
    pids = dict(map(int, line.split()) for line in job.lines(2))
    job.process.send_signal(signal.SIGSTOP)
    os.kill(pids[1], signal.SIGKILL)
    os.kill(pids[0], signal.SIGUSR1)
    until(lambda: state_of(pids[0]) == state_of(pids[1]) == "Z", "both have died")
    job.process.send_signal(signal.SIGCONT)
    same(job.end(soon=True).code, 137)
    holds(job.err, "rank 1", "killed by signal 9")
    job.must_leave_nothing()


def who_dies_slowly_is_still_the_cause():
    """Rank 0 learns of the death by a closed connection long before the launcher can: a large process takes its time to end,
    and a busy machine takes more."""
    job = run("-n", 2, PYTHON, "-c", RAW + """
import signal, time
ask("cmd=init pmi_version=1 pmi_subversion=1")
ask("cmd=barrier_in")
if rank == 0:
    time.sleep(0.1)
    s.sendall(b"cmd=abort exitcode=58\\n")
    time.sleep(60)
s.close()
time.sleep(0.8)
os.kill(os.getpid(), signal.SIGKILL)
""")
    same(job.code, 137)
    holds(job.err, "rank 1", "killed by signal 9")


def killing_a_rank_ends_the_job():
    job, pids = sleepers(3)
    os.kill(pids[2], signal.SIGKILL)
    same(job.end(soon=True).code, 137)
    job.must_leave_nothing()


def what_ranks_leave_running_is_killed():
    job = run("-n", 2, *sh("sleep 60 & setsid sleep 60 & echo done"))
    same((job.code, job.out), (0, "done\ndone\n"))
    in_time(job.seconds)


def zombies_of_what_ranks_leave_do_not_pile_up():
    """Many deaths while the launcher does not look are one signal. A rank's own zombie stays."""
    job = Job("-n", 2, *sh("test $PMI_RANK = 1 && echo rank $$ && exit; for i in 1 2 3 4 5 6 7 8; do (sleep 60 & echo $!); done; sleep 60"))
    words = [line.split() for line in job.lines(9)]
    left, rank = [int(w[0]) for w in words if len(w) == 1], [int(w[1]) for w in words if len(w) == 2][0]
    until(lambda: all(parent_of(p) == job.process.pid for p in left), "they are the launcher's")
    job.process.send_signal(signal.SIGSTOP)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(state_of(p) == "Z" for p in left), "all have died")
    job.process.send_signal(signal.SIGCONT)
    until(lambda: not any(os.path.exists(f"/proc/{p}") for p in left), "the launcher has taken them")
    same(state_of(rank), "Z")
    job.process.terminate()
    same(job.end(soon=True).code, 143)
    job.must_leave_nothing()


def an_end_does_not_wait_until_all_are_started():
    """By a death, a signal of the user, the timeout. A line says the binding of each rank that is started."""
    for first, *options, code in (("exit 6", 6), ("kill $PPID", 143), ("sleep 60", "--timeout", "0.02", 124)):
        job = run("--report-bindings", *options, "-n", 1, *sh(first), ":", "-n", 500, "sleep", 60)
        same(job.code, code)
        started = job.err.count("bound")
        assert started < 501, f"all {started} ranks are started"


def who_is_slow_to_go_when_killed_is_waited_for():
    """As a process with much memory is."""
    job, _ = killed_but_traced(3)
    same((job.code, job.err), (143, "mpiexec: told to end by signal 15 (Terminated)\n"))
    job.must_leave_nothing()


def a_stop_and_a_continue_reach_the_ranks():
    job, pids = sleepers(2)
    job.process.send_signal(signal.SIGTSTP)
    until(lambda: all(state_of(p) == "T" for p in pids + [job.process.pid]), "all are stopped")
    job.process.send_signal(signal.SIGCONT)
    until(lambda: all(state_of(p) != "T" for p in pids + [job.process.pid]), "all go on")
    job.process.send_signal(signal.SIGTERM)
    same(job.end(soon=True).code, 143)


def user_defined_signals_are_passed_on():
    job = Job("-n", 2, *sh("trap 'echo got; exit 0' USR1; echo up; while :; do sleep 0.02; done"))
    same(job.lines(2), ["up", "up"])
    job.process.send_signal(signal.SIGUSR1)
    job.end(timeout=10)
    same((job.code, job.out), (0, "got\ngot\n"))


def the_timeout_ends_the_job_with_124():
    job = run("--timeout", "0.3", "-n", 2, RANK, "sleep")
    same(job.code, 124)
    holds(job.err, "longer than 0.3 s")
    in_time(job.seconds)


def the_timeout_does_not_wait_for_a_reader():
    job = Job("--timeout", "0.5", "-n", 1, *sh("yes"))
    until(lambda: job.process.poll() is not None, "the launcher ends while nobody reads its output", 20)
    same(job.end().code, 124)
    job.must_leave_nothing()


def the_timeout_holds_for_output_that_is_left_at_the_end():
    job = Job("--timeout", "0.5", "-n", 1, *sh("yes | head -c 200000"))
    until(lambda: job.process.poll() is not None, "the launcher ends while nobody reads the output of the dead", 20)
    same(job.end().code, 124)
    holds(job.err, "longer than 0.5 s")
    job.must_leave_nothing()


def the_timeout_does_not_touch_a_job_in_time():
    same(run("--timeout=60", "-n", 2, RANK, "facts").code, 0)


def an_abort_does_not_wait_for_who_has_died_meanwhile():
    """Rank 1 leaves within the grace of rank 0's abort. The least of three runs, since it may leave too late."""
    jobs = [Job("-n", 3, PYTHON, "-c", RAW + """
import time
ask("cmd=init pmi_version=1 pmi_subversion=1")
if rank == 0:
    time.sleep(0.3) # the others are there
    s.sendall(b"cmd=abort exitcode=3\\n")
    os._exit(3)
time.sleep(0.31 if rank == 1 else 60)
os._exit(4)
""").end() for _ in range(3)]
    assert {job.code for job in jobs} <= {3, 4}  # 4: rank 1 was first
    assert min((job.seconds for job in jobs if job.code == 3), default=0) < 1.5, [job.seconds for job in jobs]


def left_with_output():
    """A job whose rank has ended, with output that nobody has read yet."""
    job = Job("-n", 1, *sh("yes | head -c 200000"))
    until(lambda: not [pid for pid in job.left() if name_of(pid) in ("sh", "yes", "head")], "the rank has ended")
    time.sleep(0.4) # the launcher has seen it
    return job


def a_signal_while_the_rest_of_output_leaves_is_told():
    job = left_with_output()
    job.process.terminate()
    until(lambda: job.process.poll() is not None, "the launcher ends", 20)
    same(job.end().code, 143)
    holds(job.err, "told to end by signal 15", "the rest is left out")
    job.must_leave_nothing()


def a_stop_while_the_rest_of_output_leaves_is_one():
    job = left_with_output()
    job.process.send_signal(signal.SIGTSTP)
    until(lambda: state_of(job.process.pid) == "T", "the launcher stops")
    job.process.send_signal(signal.SIGCONT)
    job.end()
    same((job.code, job.err, len(job.out)), (0, "", 200000))


def what_ranks_leave_does_not_put_off_the_end():
    """A rank that takes long to go, and has left a process in a session of its own that holds its output."""
    job = Job("-n", 2, *sh('test $PMI_RANK = 1 && sleep 0.5 && exit 7; trap "sleep 0.2; exit 0" TERM; setsid sleep 60 & sleep 60 & wait')).end()
    same(job.code, 7)
    assert job.seconds < 4, job.seconds
    job.must_leave_nothing()


CASES = [a_user_signal_ends_the_job, a_signal_that_was_ignored_at_the_start_stays_so,
         a_stubborn_rank_is_killed_after_one_signal_or_at_once_after_two, a_death_takes_the_stubborn_along, a_stopped_rank_does_not_hold_up_the_end,
         killing_the_launcher_leaves_nothing, what_is_left_is_killed_where_close_range_is_refused, killing_the_guardian_changes_nothing,
         killing_the_launcher_and_a_guardian_leaves_nothing,
         guardians_do_not_look_like_the_launcher, a_job_within_a_rank_ends_with_the_outer_one, an_abort_in_answer_to_a_death_does_not_hide_it,
         who_dies_slowly_is_still_the_cause, killing_a_rank_ends_the_job, what_ranks_leave_running_is_killed,
         zombies_of_what_ranks_leave_do_not_pile_up, an_end_does_not_wait_until_all_are_started,
         who_is_slow_to_go_when_killed_is_waited_for, a_stop_and_a_continue_reach_the_ranks, user_defined_signals_are_passed_on,
         the_timeout_ends_the_job_with_124, the_timeout_does_not_wait_for_a_reader, the_timeout_holds_for_output_that_is_left_at_the_end,
         the_timeout_does_not_touch_a_job_in_time, an_abort_does_not_wait_for_who_has_died_meanwhile,
         a_signal_while_the_rest_of_output_leaves_is_told, a_stop_while_the_rest_of_output_leaves_is_one, what_ranks_leave_does_not_put_off_the_end]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
