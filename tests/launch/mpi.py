#!/usr/bin/env python3
"""The launcher's promises hold for MPI programs; the program is RANK. usage: mpi.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import harness
import stops
from harness import MPIEXEC, RANK, Job, Skip, environment_of, held, holds, in_time, refused, run, run_cases, same, sh, state_of, until


def both_paths(*args, step=None):
    """One run on shared memory, one with the network forced; step: variables of a batch system around them."""
    for near in ("1", "0"):
        job = run(*args, env={"HOTLANE_NEAR": near, **(step or {})})
        in_time(job.seconds, 5)
        yield job


class Foreign:
    """A launcher that is not ours, which speaks PMI-1 and starts two ranks; it kills those whose peer has left too early."""

    def __init__(self, *words):
        self.values, self.waiting, self.finalized, self.turn = {}, 0, set(), threading.Lock()
        pairs = [socket.socketpair() for _ in range(2)]
        ranks = [subprocess.Popen(words, env={**harness.outside(), "PMI_FD": str(theirs.fileno()), "PMI_RANK": str(r), "PMI_SIZE": "2"},
                                  pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for r, (_, theirs) in enumerate(pairs)]
        self.ends = [ours for ours, theirs in pairs if theirs.close() is None]
        servers = [threading.Thread(target=self.serve, args=(r, ranks[1 - r])) for r in range(2)]
        for server in servers:
            server.start()
        said = [rank.communicate(timeout=30) for rank in ranks]
        for server, end in zip(servers, self.ends):
            server.join()
            end.close()
        self.out, self.err, self.codes = said[0][0] + said[1][0], said[0][1] + said[1][1], [rank.returncode for rank in ranks]

    def serve(self, rank, other):
        for line in self.ends[rank].makefile():
            words = dict(word.split("=", 1) for word in line.split())
            with self.turn:
                self.ends[rank].sendall(self.answer(rank, words["cmd"], words).encode())
        if rank not in self.finalized:
            other.kill()

    def answer(self, rank, cmd, words):
        if cmd == "barrier_in":
            self.waiting = (self.waiting + 1) % 2
            if self.waiting:
                return ""
            self.ends[1 - rank].sendall(b"cmd=barrier_out rc=0\n")
        if cmd == "put":
            self.values[words["key"]] = words["value"]
        if cmd == "finalize":
            self.finalized.add(rank)
        found = self.values.get(words.get("key"))
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n", "get_my_kvsname": "cmd=my_kvsname kvsname=a rc=0\n",
                "put": "cmd=put_result rc=0\n", "finalize": "cmd=finalize_ack rc=0\n", "barrier_in": "cmd=barrier_out rc=0\n",
                "get": f"cmd=get_result rc={0 if found else -1} value={found}\n"}[cmd]


def who_leaves_without_finalize_fails_under_any_launcher():
    """Launchers of others may take exit code 0 for a success, so it becomes 1, after everything that may still finalize."""
    for mode, missing in (("exit", "MPI_Finalize"), ("return", "MPI_Finalize"), ("session-open", "MPI_Session_finalize")):
        job = Foreign(RANK, mode)
        assert 1 in job.codes and 0 not in job.codes, (mode, job.codes)
        holds(job.err, f"left without {missing}: its exit code 0 becomes 1; call {missing} before")
    for words in ([], ["handler"], ["children"], ["session", "0"]):
        job = Foreign(RANK, *words)
        same((words, job.codes, job.err), (words, [0, 0], ""))
    same(run("-n", 2, RANK, "exit").err.count("without MPI_Finalize"), 1)


def mpi_programs_end_well():
    for job in both_paths("-n", 3, RANK):
        same((job.code, job.err, job.out.count("finalized")), (0, "", 3))


def mpi_abort_keeps_the_last_words():
    for job in both_paths("-n", 3, RANK, "abort"):
        same((job.code, job.out), (7, "last words\n"))


def mpi_errors_and_deaths_end_the_job():
    for mode, code, words in (("exit", 1, "code 0 without MPI_Finalize"), ("return", 1, "code 0 without MPI_Finalize"), ("fail", 6, "code 6"),
                              ("kill", 137, "killed by signal 9"), ("error", None, "count -1")):
        for job in both_paths("-n", 3, RANK, mode):
            assert job.code == code or code is None and job.code, (mode, job.code)
            holds(job.err, words)


def the_initial_error_handler_is_chosen():
    for name in ("are_fatal", "abort", "return"):
        word = "handler " + name.split("_")[-1]
        job = run("-initial-errhandler", "mpi_errors_" + name, "-n", 2, RANK, "initial", env={"HOTLANE_INITIAL_ERRHANDLER": "mpi_errors_abort"})
        same((job.code, job.err, job.out.count(word)), (0, "", 2))
    holds(run("-n", 1, RANK, "initial").out, "handler fatal")
    job = run("-n", 1, RANK, "initial", env={"HOTLANE_INITIAL_ERRHANDLER": "return"})
    assert job.code != 0
    holds(job.err, "HOTLANE_INITIAL_ERRHANDLER", "mpi_errors_return")
    refused("-initial-errhandler", "return", "true", words=["mpi_errors_abort or mpi_errors_return"])


def any_thread_may_end_the_job_amidst_communication():
    """The line and the code name the cause, though the others see connections close at the same time."""
    for mode, code, words in (("thread-abort", 7, "rank 1 aborted the job with code 7"), ("threads-abort", 7, "rank 1 aborted the job"),
                              ("thread-exit", 1, "code 0 without MPI_Finalize"), ("thread-kill", 137, "killed by signal 9")):
        for job in both_paths("-n", 3, RANK, mode):
            same((mode, job.code), (mode, code))
            holds(job.err, words)


def children_of_mpi_programs_are_harmless():
    for job in both_paths("-n", 2, RANK, "children"):
        same((job.code, job.err, job.out.count("had a child"), job.out.count("finalized")), (0, "", 2, 2))


def errors_of_children_end_them_alone():
    job = run("-n", 2, RANK, "wrong-children")
    same((job.code, job.out.count("finalized")), (0, 2))
    same((job.err.count("; this process, a forked child, ends; the job goes on"), job.err.count("the job ends")), (2, 0))


def the_end_says_that_there_are_no_counters():
    for stats in ("1", "2", "json"):
        job = run("-n", 2, RANK, "abort", env={"HOTLANE_STATS": stats})
        same(job.code, 7)
        holds(job.err, f"HOTLANE_STATS={stats}: there are no counters, as this rank ended the job with code 7\n")


def programs_that_ranks_start_run_alone():
    for job in both_paths("-n", 2, RANK, "programs", step={"SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_ID": "0"}):
        same((job.code, job.err, job.out.count("rank 0 of 1 finalized"), job.out.count(" of 2 finalized")), (0, "", 4, 2))


def mpi_ranks_may_start_jobs():
    for job in both_paths("-n", 2, RANK, "job", MPIEXEC):
        same((job.code, job.err, job.out.count(" of 2 finalized")), (0, "", 6))


def children_that_stay_do_not_hold_up_the_end():
    """They have all that their rank had open, its launcher's socket, the node's and the network's."""
    for mode, code in (("orphan-kill", 137), ("orphan", 0)):
        for job in both_paths("-n", 2, RANK, mode):
            same((mode, job.code), (mode, code))
            in_time(job.seconds, 2)  # the start over the network included


def a_code_after_mpi_finalize_is_the_jobs():
    same(run("-n", 3, RANK, "after").code, 4)


def a_child_that_stays_hides_no_death():
    """It keeps the connections of the dead rank open; the survivors are told all the same."""
    for near in ("1", "0"):
        job = run("--keep-going", "-n", 3, RANK, "orphan-kill", env={"HOTLANE_NEAR": near})
        same(job.code, 137)
        holds(job.err, "the job goes on", "rank 1 of the job has ended")
        in_time(job.seconds, 2)


def an_abort_within_malloc_ends_the_job():
    if "asan" in subprocess.run(["ldd", RANK], text=True, capture_output=True, check=False).stdout:
        raise Skip("AddressSanitizer notices it before the C library")
    for job in both_paths("-n", 2, RANK, "heap"):
        same(job.code, 7)


def exit_ends_a_rank_that_waits_in_finalize():
    """By another thread or within a signal's handler, while the others are not there yet."""
    for mode in ("end-thread", "end-signal"):
        for job in both_paths("-n", 2, RANK, mode):
            same((mode, job.code), (mode, 3))
            holds(job.err, "code 3")


def exit_with_an_error_after_the_last_session_ends_the_job():
    for code in (3, 0):
        for job in both_paths("-n", 3, RANK, "session", code):
            same((job.code, job.out.count("exits")), (code, 1 if code else 3))
            holds(job.err, "code 3; ending the job" if code else "")


def survivors_may_finalize():
    job = run("--keep-going", "-n", 3, RANK, "kill", "alone")
    same((job.code, job.out.count("finalized")), (137, 2))
    same(len(job.err.splitlines()), 1)


def deaths_behind_a_script_are_seen_by_who_waits():
    """The launcher sees a shell that lives on; the others wait in a collective, all threads in messages and windows, or at the end."""
    for mode in ("kill", "thread-kill", "exit alone", "fail alone"):
        job = Job("-n", 3, *sh(f"{RANK} {mode}; exec sleep 100")).end()
        same((mode, job.code), (mode, 58))
        holds(job.err, "rank 1 (pid", "is gone: its process has ended")
        same(job.err.count("is gone"), 1)
        job.must_leave_nothing()
    near_and_far = Job("-n", 4, *sh(f"{RANK} kill; exec sleep 100"), env={"HOTLANE_CLIQUES": "2"}).end()
    same(near_and_far.code, 58)
    near_and_far.must_leave_nothing()


def survivors_meet_once_the_launcher_knows():
    """They have seen the death before, and wait in MPI_Finalize for the end of the script."""
    job = Job("--keep-going", "-n", 3, *sh(f"{RANK} kill alone; code=$?; test $PMI_RANK != 1 || sleep 5; exit $code")).end()
    same((job.code, job.out.count("finalized")), (137, 2))
    same(job.err.count("is gone"), 1)
    job.must_leave_nothing()


def scripts_that_stay_hide_no_good_end():
    job = Job("-n", 3, *sh(f"{RANK} late; sleep 4")).end()
    same((job.code, job.err, job.out.count("finalized")), (0, "", 3))
    job.must_leave_nothing()


def a_stopped_rank_is_said_once():
    """By the launcher that has started it; of what a script starts by who waits for it."""
    def direct(n, *words, **more):
        return Job("-n", n, *words, **more)

    def by_script(n, *words, **more):
        return Job("-n", n, *sh(" ".join(words) + "; exit $?"), **more)

    stops.play(direct, RANK, stops.BY_MPIEXEC)
    stops.play(by_script, RANK, stops.BY_PEERS)


def rank_1_of(job):
    return until(lambda: [p for p in job.left() if b"PMI_RANK=1\0" in environment_of(p)], "rank 1 is there")[0]


def a_stopped_pe_is_said_as_such():
    """By the others of its node, as of a script's programs the launcher knows nothing."""
    oshcc, oshrun = (os.path.join(os.path.dirname(MPIEXEC), name) for name in ("oshcc", "oshrun"))
    if not os.path.exists(oshcc) or "asan" in subprocess.run(["ldd", RANK], text=True, capture_output=True, check=False).stdout:
        raise Skip("OpenSHMEM is not built, or needs a sanitizer's library")
    source = """#include <shmem.h>
        #include <signal.h>
        int main(void) { shmem_init(); if (shmem_my_pe() == 1) { raise(SIGSTOP); } shmem_barrier_all(); shmem_finalize(); return 0; }"""
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryFile() as err:
        program = os.path.join(d, "stops")
        done = subprocess.run([oshcc, "-x", "c", "-", "-x", "none", "-o", program], input=source.encode(), capture_output=True, check=False)
        if done.returncode:
            raise Skip(f"no compiler: {done.stderr.decode()[:200]}")
        job = Job("-n", 2, *sh(f'"{program}"; exit $?'), launcher=[oshrun, "--oversubscribe"], stderr=err)
        until(lambda: stops.words(err).count("is stopped (a debugger, Ctrl-Z, a suspended job)") == 1, "the stop is said", stops.LIMIT)
        line = stops.words(err).splitlines()[0]
        found = re.fullmatch(r"hotlane: PE 0 \(.*\): PE 1 \(pid (\d+)\) on this node is stopped .*", line)
        assert found, line
        os.kill(int(found[1]), signal.SIGCONT)
        same(job.end().code, 0)
    job.must_leave_nothing()


def a_stop_that_follows_another_at_once_is_said():
    """The launcher has not run in between."""
    with tempfile.TemporaryFile() as err:
        job = Job("-n", 2, "sleep", "600", stderr=err)
        pid = rank_1_of(job)
        said = lambda n: until(lambda: stops.words(err).count(f"rank 1 (pid {pid}) {stops.BY_MPIEXEC}") == n, f"stop {n} is said")  # noqa: E731
        os.kill(pid, signal.SIGSTOP)
        said(1)
        try:
            release = held(job.process.pid)
            for sig, stopped in ((signal.SIGCONT, False), (signal.SIGSTOP, True)):
                os.kill(pid, sig)
                until(lambda want=stopped: (state_of(pid) == "T") == want, f"rank 1 obeys signal {sig}")
            release()
            said(2)
        finally:
            job.process.terminate()
            job.end()
    job.must_leave_nothing()


def a_rank_in_a_debugger_is_said_once():
    """The launcher does not hear of it: the kernel tells the debugger alone."""
    with tempfile.TemporaryFile() as err:
        job = Job("-n", 3, RANK, "late", stderr=err)
        pid = rank_1_of(job)
        time.sleep(1)
        try:
            release = held(pid)
        except Skip:
            job.end()
            raise
        until(lambda: stops.words(err).count(f"rank 1 (pid {pid}) {stops.BY_PEERS}"), "it is said", stops.LIMIT)
        time.sleep(stops.NO_SECOND)
        release()
        same((job.end().code, stops.words(err).count("is stopped")), (0, 1))
    job.must_leave_nothing()


def numbers_of_other_namespaces_are_not_believed():
    """Rank 1 has a PID namespace of its own, and there the number that a stopped process has outside: nobody mistakes it."""
    inside = "unshare --fork --pid --mount-proc sh -c"
    if subprocess.run(["sh", "-c", f"{inside} 'echo 100 >/proc/sys/kernel/ns_last_pid'"], capture_output=True, check=False).returncode:
        raise Skip("no right to make PID namespaces")
    with subprocess.Popen(["sleep", "100"]) as other:
        os.kill(other.pid, signal.SIGSTOP)
        number = f"echo {other.pid - 1} >/proc/sys/kernel/ns_last_pid"
        job = Job("-n", 3, *sh(f"test $PMI_RANK = 1 && {inside} '{number}; {RANK} stops; true' || {RANK} stops; exit 0"))
        for _ in range(2):
            same(job.lines(1), [f"pid {other.pid}"])
            stopped = lambda: [p for p in job.left() if state_of(p) == "T"]  # noqa: E731
            until(stopped, "rank 1 is stopped")
            time.sleep(4)
            os.kill(stopped()[0], signal.SIGCONT)
        other.kill()
    same((job.end().code, job.err), (0, ""))
    job.must_leave_nothing()


CASES = [mpi_programs_end_well, mpi_abort_keeps_the_last_words, mpi_errors_and_deaths_end_the_job, the_initial_error_handler_is_chosen,
         who_leaves_without_finalize_fails_under_any_launcher, any_thread_may_end_the_job_amidst_communication,
         children_of_mpi_programs_are_harmless, errors_of_children_end_them_alone, the_end_says_that_there_are_no_counters,
         programs_that_ranks_start_run_alone, mpi_ranks_may_start_jobs, children_that_stay_do_not_hold_up_the_end, a_child_that_stays_hides_no_death,
         a_code_after_mpi_finalize_is_the_jobs, an_abort_within_malloc_ends_the_job, exit_ends_a_rank_that_waits_in_finalize,
         exit_with_an_error_after_the_last_session_ends_the_job, survivors_may_finalize, deaths_behind_a_script_are_seen_by_who_waits,
         survivors_meet_once_the_launcher_knows, scripts_that_stay_hide_no_good_end, a_stopped_rank_is_said_once, a_stopped_pe_is_said_as_such,
         a_stop_that_follows_another_at_once_is_said, a_rank_in_a_debugger_is_said_once, numbers_of_other_namespaces_are_not_believed]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
