#!/usr/bin/env python3
"""The launcher keeps its promises. usage: launch.py GROUP MPIEXEC LAUNCH_RANK [CPUS]"""
import contextlib
import ctypes
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import harness
import stops
from harness import MPIEXEC, RANK, Job, Skip, environment_of, holds, in_time, main, parent_of, run, same, state_of, until

PYTHON = sys.executable
CPUS = sys.argv[4] if len(sys.argv) > 4 else ""  # makes a launcher of eight CPUs
WALL = 0x40000000  # of waitpid: also what is traced and no child


def sh(text):
    return ["sh", "-c", text]


def wait_soon(job):
    """The code of a job that ends in time, while its descriptors are ours."""
    begin = time.monotonic()
    code = job.process.wait(30)
    in_time(time.monotonic() - begin)
    return code


# ---- codes: what the exit code and the one line say

def oshrun_speaks_of_pes():
    oshrun = os.path.join(os.path.dirname(MPIEXEC), "oshrun")
    if not os.path.exists(oshrun):
        raise Skip("OpenSHMEM is not built")
    job = run("-n", 2, RANK, "signal", 9, launcher=[oshrun])
    same(job.code, 137)
    holds(job.err, "oshrun: PE 1 (pid", "killed by signal 9")
    refuse = run("-n", 2, "-ranks", "true", launcher=[oshrun])
    holds(refuse.err, "oshrun: unknown option -ranks")  # words of the user stay
    with tempfile.TemporaryFile() as err:
        job = Job("-n", 2, "sleep", "600", launcher=[oshrun], stderr=err)
        pid = until(lambda: [p for p in job.left() if b"PMI_RANK=1\0" in environment_of(p)], "PE 1 is there")[0]
        os.kill(pid, signal.SIGSTOP)
        until(lambda: f"oshrun: PE 1 (pid {pid}) is stopped by signal" in stops.words(err), "the stop is said")
        job.process.terminate()
        job.end()
        assert "rank" not in stops.words(err), stops.words(err)
    job.must_leave_nothing()


def all_zero_is_zero():
    for n in (1, 3):
        job = run("-n", n, RANK, "facts")
        same((job.code, job.err), (0, ""))
        same(len(job.out.splitlines()), n)


def a_failing_rank_ends_the_job_with_its_code():
    job = run("-n", 3, RANK, "exit", 3)
    same(job.code, 3)
    holds(job.err, "rank 1", "code 3", "ending the job")
    same(len(job.err.splitlines()), 1)
    in_time(job.seconds)


def the_first_failure_wins():
    job = run("-n", 2, RANK, "late")
    same(job.code, 5)
    in_time(job.seconds)


def signals_are_128_plus():
    ends = [s for s in signal.valid_signals() if s < signal.SIGRTMIN and
            s not in (signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG,
                      signal.SIGWINCH)]
    for number in ends:
        job = run("-n", 2, RANK, "signal", int(number))
        same(job.code, 128 + number)
        in_time(job.seconds)
        holds(job.err, f"killed by signal {int(number)}")
        same(len(job.err.splitlines()), 1)


def leaving_without_finalize_ends_the_job():
    job = run("-n", 3, RANK, "exit", 0)
    same(job.code, 1)
    holds(job.err, "rank 1", "left without finalize")
    same(len(job.err.splitlines()), 1)
    in_time(job.seconds)


def who_never_spoke_pmi_is_judged_by_its_code():
    same(run("-n", 3, "true").code, 0)
    same(run("-n", 3, "false").code, 1)
    same(run("-n", 3, *sh("exit $((PMI_RANK == 2 ? 9 : 0))")).code, 9)


def a_program_that_is_not_there_is_127():
    job = run("-n", 4, "./no/such/program")
    same(job.code, 127)
    same(job.err.count("cannot run"), 1)


def a_program_of_this_folder_needs_its_folder():
    with tempfile.NamedTemporaryFile(dir=".") as f:
        job = run("-n", 2, os.path.basename(f.name))
    same(job.code, 127)
    same(job.err.count(f"it is not on PATH; ./{os.path.basename(f.name)} is here"), 1)


def a_program_that_cannot_run_is_126():
    with tempfile.NamedTemporaryFile(mode="w") as f:
        job = run("-n", 2, f.name)
    same(job.code, 126)
    same(run("-n", 2, "/").code, 126)
    with tempfile.TemporaryDirectory() as folder:
        for name, head, code, words in (("cut", b"\177ELF\2\1\1", 126, "Exec format error"), ("script", b"exit 3\n", 3, "code 3"),
                                        ("lost", b"#!/no/such/shell\n", 127, "interpreter")):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(head)
            os.chmod(path, 0o755)
            job = run("-n", 2, path)
            same(job.code, code)
            holds(job.err, words)


def abort_kills_all_with_its_code():
    for code, want in ((7, 7), (0, 1), (256, 1), (255, 255)):
        job = run("-n", 3, RANK, "abort", code)
        same(job.code, want)
        holds(job.err, "rank 1 aborted the job")
        in_time(job.seconds)


def a_code_after_finalize_is_kept_and_ends_nobody():
    job = run("-n", 3, RANK, "finalexit", 4)
    same(job.code, 4)
    assert "ending" not in job.err, job.err
    same(job.err.count("with code 4 after finalize"), 1)
    same(job.err.count("ranks exited"), 0)
    job = run("-n", 3, *sh(f"{RANK} all; exit 4"))
    same((job.code, job.err.count("with code 4 after finalize")), (4, 1))
    holds(job.err, "3 of 3 ranks exited with a code other than 0 after finalize")
    same(run("-n", 1, *sh(f"{RANK} all; exit 4")).err, "")
    for last in (0, 1):  # whoever ends last is told of, too
        job = run("-n", 2, *sh(f"{RANK} all; test $PMI_RANK = {last} || exit 0; sleep 0.3; exit 5"))
        same(job.code, 5)
        holds(job.err, f"rank {last} (pid")


def a_forked_childs_abort_ends_only_the_child():
    same(run("-n", 2, RANK, "fork").code, 0)


def waiting_for_who_has_left_ends_the_job():
    job = run("-n", 1, RANK, "all", ":", "-n", 1, "true")
    same(job.code, 1)
    holds(job.err, "rank 1 has left")


def keep_going_ends_only_the_dead():
    job = run("--keep-going", "-n", 3, RANK, "survive")
    same(job.code, 137)
    holds(job.out, "rank 0: 1 died with 137, fence told", "rank 2: 1 died with 137, fence told")
    holds(job.err, "the job goes on")


OTHER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int other_init(void);
int main(int n, char **word)
{
    %s
    puts("rank 0 of 1");
    fflush(stdout);
    while (n > 1 && access(word[1], F_OK)) { usleep(1000); }
    return 0;
}
"""


def compiled(folder, name, text, *more):
    path = os.path.join(folder, name)
    done = subprocess.run(["cc", "-x", "c", "-", "-x", "none", "-o", path, *more], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise Skip(f"no compiler: {done.stderr.decode()[:200]}")
    return path


def told_of(job, program, library):
    """One line, which names both."""
    same((job.code, len(job.err.splitlines())), (0, 1))
    holds(job.err, f"mpiexec: {program} did not speak to this launcher and loads ", library, "MPI_Init is number 0 of 1", "Hotlane's mpicc")


def programs_of_another_mpi_are_told():
    """Linked with it, or found at work: a script's, or one that opens the library while it runs."""
    with tempfile.TemporaryDirectory() as d:
        library = os.path.realpath(compiled(d, "libmpi.so.40", "int other_init(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40"))
        linked = compiled(d, "linked", OTHER % "other_init();", library, f"-Wl,-rpath,{d}")
        opened = compiled(d, "opened", OTHER % f'dlopen("{library}", RTLD_NOW);', "-ldl")
        told_of(run("-n", 2, linked), linked, library)
        told_of(run("-wdir", d, "-n", 2, "./linked"), "./linked", library)
        told_of(run("-n", 2, "linked", env={"PATH": f"/no/such:{d}:{os.environ['PATH']}"}), "linked", library)
        told_of(run("-n", 2, "true", ":", "-n", 2, linked), linked, library)
        for program, words in ((opened, [opened]), ("sh", sh(f'"{linked}" "$1"; true') + ["sh"])):
            gate = os.path.join(d, f"gate-{os.path.basename(program)}")
            job = Job("-n", 2, *words, gate)
            same(job.lines(2), ["rank 0 of 1"] * 2)
            write(gate, "")
            told_of(job.end(), program, library)
        for words in (["-n", 1, linked], ["-n", 1, opened], ["-n", 3, "hostname"], ["-n", 2, *sh("echo; exit 0")], ["-n", 2, RANK, "all"]):
            same((words[-1], run(*words).err), (words[-1], ""))
        oshrun = os.path.join(os.path.dirname(MPIEXEC), "oshrun")
        if os.path.exists(oshrun):
            job = run("-n", 2, linked, launcher=[oshrun])
            holds(job.err, f"oshrun: {linked} did not speak", "each PE that calls shmem_init", "Hotlane's oshcc")


def programs_of_ours_that_do_not_begin_are_no_others():
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(MPIEXEC))), "lib")
    if not os.path.exists(f"{lib}/libmpi_abi.so.1") or "asan" in subprocess.run(["ldd", MPIEXEC], text=True, capture_output=True, check=False).stdout:
        raise Skip("the library is not built, or needs a sanitizer's")
    with tempfile.TemporaryDirectory() as d:
        program = compiled(d, "ours", OTHER % "", "-Wl,--no-as-needed", f"{lib}/libmpi_abi.so.1", f"-Wl,-rpath-link,{lib}")
        job = run("-n", 2, program)
        same((job.code, job.err, job.out), (0, "", "rank 0 of 1\n" * 2))


def programs_of_open_mpi_are_told():
    if not shutil.which("mpicc.openmpi"):
        raise Skip("Debian's Open MPI is not installed")
    with tempfile.TemporaryDirectory() as d:
        program = os.path.join(d, "hello")
        source = "#include <mpi.h>\nint main(int n, char **v) { return MPI_Init(&n, &v) || MPI_Finalize(); }"
        if subprocess.run(["mpicc.openmpi", "-x", "c", "-", "-o", program], input=source.encode(), capture_output=True, check=False).returncode != 0:
            raise Skip("Debian's libopenmpi-dev is not installed")
        told_of(run("-n", 2, program), program, "libmpi.so.40")


# ---- endings: signals, kill -9, leftovers

def sleepers(n, *options):
    job = Job(*options, "-n", n, RANK, "sleep")
    pids = [int(line.split()[3]) for line in job.lines(n)]
    return job, pids


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


def held(pid):
    """Holds a process as a debugger does; the function that lets it go on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    attach, detach = 16, 17
    if libc.ptrace(attach, pid, None, None) != 0:
        raise Skip(f"no right to trace: {os.strerror(ctypes.get_errno())}")
    until(lambda: state_of(pid) == "t", "it is held")

    def release():
        os.waitpid(pid, WALL)
        libc.ptrace(detach, pid, None, None)
    return release


def killed_but_traced(seconds):
    """A job one of whose ranks was killed `seconds` ago at least. It is traced: the launcher sees its end when its tracer, we, has."""
    job, pids = sleepers(2)
    held(pids[1])
    os.waitpid(pids[1], WALL)
    for _ in range(2):  # the second signal kills at once
        job.process.terminate()
        until(lambda: state_of(pids[0]) == "Z", "one is gone")
    until(lambda: state_of(pids[1]) == "Z", "the other is killed")
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.process.wait(seconds)
    os.waitpid(pids[1], WALL)
    return job.end(), pids[1]


def who_is_slow_to_go_when_killed_is_waited_for():
    """As a process with much memory is."""
    job, _ = killed_but_traced(3)
    same((job.code, job.err), (143, "mpiexec: told to end by signal 15 (Terminated)\n"))
    job.must_leave_nothing()


def who_does_not_go_when_killed_is_named():
    job, pid = killed_but_traced(30)
    same((job.code, len(job.err.splitlines())), (143, 2))
    holds(job.err, "mpiexec: rank ", f" (pid {pid}) cannot be killed and is left behind")
    assert 5 <= job.seconds < 20, job.seconds
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


def the_timeout_does_not_touch_a_job_in_time():
    same(run("--timeout=60", "-n", 2, RANK, "facts").code, 0)


# ---- output

TALK = """
import os, sys, random
r = int(os.environ["PMI_RANK"]); random.seed(r)
for i in range(%d):
    out = sys.stderr if %d and i %% 3 == 0 else sys.stdout
    out.write("%%d %%d %%s\\n" %% (r, i, "x" * random.randrange(200)))
    if i %% 7 == 0: out.flush()
"""


def check_talk(text, ranks, lines):
    """Every line whole, and in order for each rank."""
    seen = [0] * ranks
    for line in text.splitlines():
        match = re.fullmatch(r"(\d+) (\d+) x*", line)
        assert match, f"a cut line: {line[:80]!r}"
        rank, number = int(match[1]), int(match[2])
        same(number, seen[rank])
        seen[rank] += 1
    same(seen, [lines] * ranks)


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


# ---- input

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


def on_terminal(*args, **more):
    """A job whose three descriptors are a terminal of its own session; returns (job, our end)."""
    ours, theirs = pty.openpty()
    job = Job(*args, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
              preexec_fn=lambda: __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0), **more)
    os.close(theirs)
    return job, ours


def read_until(fd, word, times=1):
    text = b""
    while text.count(word) < times:
        assert select.select([fd], [], [], 10)[0], f"{word} did not come {times} times, only {text}"
        text += os.read(fd, 4096)


def rest_of(tty):
    """What is left to read when nobody has the other end."""
    text = b""
    with contextlib.suppress(OSError):
        while more := os.read(tty, 4096):
            text += more
    return text


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


# ---- options

def refused(*args, words, **more):
    job = run(*args, **more)
    same((job.code, job.out), (2, ""))
    same(len(job.err.splitlines()), 1)
    holds(job.err, *words)


def variables_are_set_and_the_part_wins():
    job = run("-genv", "A", "all", "-genv", "B", "all", "-n", 1, "-env", "B", "one", "-x", "C=c=c", *sh("echo $A $B $C"),
              ":", "-n", 1, "-x", "A", *sh("echo $A $B $C"))
    same(sorted(job.out.splitlines()), ["all all", "all one c=c"])
    job = run("-genv", "A=1", "--genv=B=2=2", "-env", "C=", *sh("echo $A $B ${C-unset}"), env={"C": "outer"})
    same((job.code, job.out, job.err), (0, "1 2=2\n", ""))


def an_outer_launchers_variables_do_not_get_in():
    job = run("-n", 1, *sh("env"), env={"PMI_RANK": "7", "PMI_PORT": "x:1", "PMIX_RANK": "7", "OMPI_COMM_WORLD_SIZE": "9"})
    holds(job.out, "PMI_RANK=0\n", "PMI_SIZE=1\n", "MPI_LOCALRANKID=0\n", "MPI_LOCALNRANKS=1\n")
    for word in ("PMI_PORT", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE"):
        assert word not in job.out, job.out


def the_launchers_own_variables_are_refused():
    for args in (["-env", "PMI_SIZE", "9"], ["-genv", "HL_JOB", "x"], ["-x", "MPI_LOCALRANKID=3"], ["-x=PMI_FD=3"]):
        refused(*args, "true", words=[args[0].split("=")[0], "is set by this launcher"])


def the_launchers_libraries_are_found_last():
    """Behind what the user has set, once, and not where that is unwanted."""
    folder = os.path.realpath(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(MPIEXEC))), "lib"))
    if not os.path.exists(f"{folder}/libmpi_abi.so.1"):
        raise Skip("the library is not built")
    for words, had, want in (([], None, folder), ([], "/a:/b", f"/a:/b:{folder}"), ([], f"/a:{folder}:/b", f"/a:{folder}:/b"),
                             (["-env", "LD_LIBRARY_PATH", "/c"], "/a", f"/c:{folder}"), ([], f"{folder}x", f"{folder}x:{folder}"),
                             (["-genv", "LD_LIBRARY_PATH="], "/a", folder), (["--no-library-path"], "/a", "/a")):
        job = run(*words, *sh("echo $LD_LIBRARY_PATH"), env={"LD_LIBRARY_PATH": had} if had else {"LD_LIBRARY_PATH": ""})
        same((job.code, job.out, job.err), (0, f"{want}\n", ""))


def the_working_directory_is_set():
    job = run("-wdir", "/usr", "-n", 1, "pwd", ":", "--wdir=/etc", "pwd")
    same(sorted(job.out.splitlines()), ["/etc", "/usr"])
    job = run("-wdir", "/no/such", "-n", 2, "pwd")
    same(job.code, 1)
    holds(job.err, "/no/such")


def parts_share_one_numbering():
    job = run("-n", 2, *sh("echo a $PMI_RANK $PMI_SIZE"), ":", "-np", 1, *sh("echo b $PMI_RANK $PMI_SIZE"))
    same(sorted(job.out.splitlines()), ["a 0 3", "a 1 3", "b 2 3"])
    same(run("-n", 2, RANK, "all", ":", "-n", 3, RANK, "all").code, 0)


def the_nearest_option_is_named():
    for wrong, near in (("--tag-outptu", "--tag-output"), ("-nn", "-n"), ("--bindto", "--bind-to"), ("--tiemout", "--timeout"),
                        ("-wdr", "--wdir")):
        refused(wrong, "x", words=[wrong, f"nearest is {near}"])
    for args, words in ((["-configfile", "x"], "`:` between"), (["--app", "x"], "`:` between"), (["-bind-to-core", "x"], "--bind-to core"),
                        (["--ntasks=4", "x"], "write -n N"), (["-genvnone", "x"], "env -i")):
        refused(*args, words=[args[0], words])
    for wrong in ("-profile", "--xyzxyz", "-z"):
        refused(wrong, "x", words=[f"unknown option {wrong} (--help lists all)"])


def impossible_values_are_refused():
    for n in ("0", "-1", "x", "1x", "", "99999999999"):
        refused("-n", n, "true", words=["number of ranks"])
    refused("--timeout", "0", "true", words=["above 0"])
    refused("-n", words=["missing"])
    refused("-env", "A", words=["missing"])
    refused("-genv", "=B", "true", words=["NAME VALUE"])
    refused("-genv=A", "B", "true", words=["NAME VALUE"])
    refused("--mca=a", "b", "true", words=["two values, KEY VALUE"])
    refused("--mca", "a", words=["KEY VALUE is missing"])
    refused("-n", 2, words=["no program"])
    refused("-n", 2, "true", ":", words=["no program"])
    refused(words=["no program"])
    refused("--tag-output=yes", "true", words=["no value"])


def other_machines_are_refused_with_the_reason():
    here = socket.gethostname()
    same(run("-hosts", f"localhost,{here},127.0.0.1:4,LocalHost,{here.upper()}", "-n", 2, "true").code, 0)
    refused("-hosts", "localhost,far.example", "true", words=["far.example", "this machine only", "srun"])
    refused("-hostfile", "/", "true", words=["-hostfile /: Is a directory"])
    with tempfile.NamedTemporaryFile(mode="w") as f:
        f.write(f"# nodes\nlocalhost slots=4{' ' * 2000}\n{here}:2 # {'long ' * 500}\n")
        f.flush()
        same(run("-machinefile", f.name, "true").code, 0)
        f.write("far7 slots=2\n")
        f.flush()
        refused("--hostfile", f.name, "true", words=["far7"])
    refused("-f", "/no/such", "true", words=["No such file"])


def slots_are_added_up_and_too_few_are_told():
    with tempfile.NamedTemporaryFile(mode="w") as f:
        f.write("localhost slots=2 max_slots=9 # two\n127.0.0.1:1\n")
        f.flush()
        for hosts, n, lines in ((("-hostfile", f.name), 4, ["max_slots=9", "4 ranks for 3 slots"]),
                                (("-hostfile", f.name), 3, ["max_slots=9"]),
                                (("-H", "localhost:1"), 2, ["2 ranks for 1 slot of"]),
                                (("-H", "localhost:1,localhost:1"), 2, []),
                                (("-H", "localhost:1,localhost"), 4, [])):
            job = run("-v", *hosts, "-n", n, *sh("echo $PMI_RANK"), share=False)
            same((job.code, sorted(job.out.split())), (0, [str(r) for r in range(n)]))
            told = [line for line in job.err.splitlines() if "take turns" not in line]
            same(len(told), len(lines))
            for line, words in zip(told, lines):
                holds(line, words)
        for share in (True, False):  # --oversubscribe; nobody looks on
            same(run("-H", "localhost:1", "-n", 2, "true", share=share).err, "")
        job = run("-v", "-H", "localhost:1", "-n", 1, "true", ":", "-H", "localhost:1", "-n", 1, "true", share=False)
        assert "slots" not in job.err, job.err
        f.write("localhost slots=none\n")
        f.flush()
        refused("-H", "localhost:0", "true", words=["localhost", "slots must be 1 to"])
        same(run("--machinefile", f.name, "true").code, 2)


def what_has_no_effect_is_accepted_with_one_line():
    """All of them in one line, however many."""
    words = ["--allow-run-as-root", "--mca", "btl", "self,vader", "-mca", "pml", "ob1", "-iface", "ib0", "-rr", "-bootstrap", "ssh", "-envall",
             "--rank-by", "core", "--display=map", "-genvlist", "A,B"]
    job = run(*words, "-n", 2, *sh("echo $PMI_SIZE"))
    same((job.code, job.out, len(job.err.splitlines())), (0, "2\n2\n", 1))
    holds(job.err, "accepted, without effect here: --allow-run-as-root, --mca btl, -mca pml, -iface ib0, -rr, -bootstrap ssh, -envall, "
          "--rank-by core, --display=map, -genvlist A,B (")
    same(run("-q", *words, "true").err, "")
    refused("--rank-by", "socket", "true", words=["numbered as they are placed"])


def ranks_of_each_machine_are_the_ranks():
    for words, n, noted in ((["-ppn", 2], 2, ""), (["-N", 3], 3, ""), (["--map-by", "ppr:2:node"], 2, ""), (["-npernode=2", "-n", 2], 2, ""),
                            (["-n", 2, "-perhost", 4], 2, ""), (["-n", 4, "-ppn", 2], 4, "-ppn 2"), (["--map-by", "ppr:1:node", "-n", 2], 2, "--map-by")):
        job = run(*words, *sh("echo $PMI_SIZE"))
        same((job.code, job.out), (0, f"{n}\n" * n))
        same(len(job.err.splitlines()), 1 if noted else 0)
        holds(job.err, noted)
    refused("-ppn", "0", "true", words=["number of ranks"])
    refused("--map-by", "ppr:2:socket", "true", words=["for each node only"])
    refused("--map-by", "ppr:x:node", "true", words=["number of ranks"])


def job_scripts_of_others_run():
    """What users of Hydra and Open MPI type: either it starts the same job, or one line says what to write."""
    here = socket.gethostname()
    with tempfile.NamedTemporaryFile(mode="w") as f:
        f.write(f"{here} slots=4\n")
        f.flush()
        for text in ("-genv A=1 -np 2", "-genv A 1 -n 2 -envall", f"-machinefile {f.name} -ppn 2 -genv A 1 -n 2", "-n 2 -env A=1 -iface lo -l",
                     "-bootstrap ssh -rr -genv A=1 -genvall -n 2", f"-f {f.name} -hosts localhost -bind-to none -np 2 -genv A=1",
                     "--mca btl self,vader --mca pml ob1 -x A=1 -np 2 --oversubscribe", "--map-by core --bind-to none -x A=1 -n 2",
                     "--map-by socket:OVERSUBSCRIBE --bind-to none -x A=1 -n 2", "--map-by node -x A=1 -n 2 --report-bindings",
                     f"--hostfile {f.name} --host {here}:4 -x A=1 -np 2", "-x A=1 --npernode 2 --display-map", "--tag-output -x A=1 -np 2",
                     "--output tag --prtemca a b --map-by ppr:2:node --runtime-opions", "-print-all-exitcodes -genv A=1 -n 2 -verbose",
                     "--bind-to core:overload-allowed --map-by :OVERSUBSCRIBE -x A=1 -n 2 --rank-by slot"):
            job = run(*text.split(), *sh("echo A is $A of $PMI_SIZE"))
            if "opions" in text:  # a slip is one anywhere
                same((job.code, len(job.err.splitlines())), (2, 1))
                continue
            same((text, job.code, job.out.count("A is 1 of 2")), (text, 0, 2))
            assert "nearest" not in job.err, job.err


def output(command):
    return subprocess.run(command, capture_output=True, check=True, timeout=10).stdout.decode()


def help_and_version_go_to_standard_output():
    job = run("--help")
    same((job.code, job.err), (0, ""))
    holds(job.out, "--keep-going", "-genv", "usage: mpiexec")
    job = run("--version")
    same((job.code, job.err), (0, ""))
    holds(job.out, "Hotlane")
    oshrun = os.path.join(os.path.dirname(MPIEXEC), "oshrun")
    if os.path.exists(oshrun):
        holds(output([oshrun, "--version"]), "oshrun (Hotlane)")
        holds(output([oshrun, "--help"]), "usage: oshrun", "number of PEs")


def cpus_of(rank_text="import os; print(os.environ['PMI_RANK'], sorted(os.sched_getaffinity(0)))"):
    return [PYTHON, "-c", rank_text]


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs")
    return cpus[:2]


def ranks_are_bound_to_cores_nodes_and_sockets():
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b})}  # where there are more, ranks are spread over all
    with tempfile.TemporaryDirectory() as d:
        for node, cpu in ((0, a), (3, b)):
            os.makedirs(f"{d}/devices/system/node/node{node}")
            with open(f"{d}/devices/system/node/node{node}/cpulist", "w", encoding="ascii") as f:
                f.write(f"{cpu},100000\n")
        job = run("--sysfs", d, "--bind-to", "numa", "--report-bindings", "-n", 4, *cpus_of(), **both)
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{a}]", f"2 [{b}]", f"3 [{b}]"])
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to NUMA node {3 * (r // 2)}, CPU {(a, b)[r // 2]}, shared with 1 other"
                                    for r in range(4)])
        job = run("--sysfs", d, "--bind-to", "core", "-n", 2, *cpus_of(), **both)  # no topology: each CPU is a core
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{b}]"])
        os.makedirs(f"{d}/devices/system/cpu/cpu{a}/topology")
        with open(f"{d}/devices/system/cpu/cpu{a}/topology/thread_siblings_list", "w", encoding="ascii") as f:
            f.write(f"{a}-{b}\n")
        job = run("--sysfs", d, "--bind-to", "core", "-n", 1, *cpus_of(), **both)
        holds(job.out, f"{a}, {b}")
        for cpu, text in ((a, a), (b, f"{b},100000")):
            os.makedirs(f"{d}/devices/system/cpu/cpu{cpu}/topology", exist_ok=True)
            with open(f"{d}/devices/system/cpu/cpu{cpu}/topology/package_cpus_list", "w", encoding="ascii") as f:
                f.write(f"{text}\n")
        job = run("--sysfs", d, "--bind-to", "socket", "--report-bindings", "-n", 2, *cpus_of(), **both)
        same(sorted(job.out.splitlines()), [f"0 [{a}]", f"1 [{b}]"])
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to socket {r}, CPU {(a, b)[r]}" for r in range(2)])
    job = run("--bind-to", "none", "--report-bindings", *cpus_of(), **both)
    holds(job.err, "rank 0: not bound, CPUs")
    same(len(job.err.splitlines()), 1)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def eight_cpus(folder):
    """Four cores of two threads, three of them on socket 0; NUMA nodes of two cores."""
    for cpu in range(8):
        core = cpu % 4
        at = f"{folder}/devices/system/cpu/cpu{cpu}/topology"
        write(f"{at}/core_cpus_list", f"{core},{core + 4}\n")
        write(f"{at}/package_cpus_list", "3,7\n" if core == 3 else "0-2,4-6\n")
    for node in (0, 1):
        write(f"{folder}/devices/system/node/node{node}/cpulist", f"{2 * node}-{2 * node + 1},{2 * node + 4}-{2 * node + 5}\n")


def the_order_of_ranks_is_chosen():
    """By --map-by, or by the variable that Cray's users set; without a binding neither has a meaning."""
    if not CPUS:
        raise Skip("a sanitizer must be loaded first")
    core = lambda r: f"{r},{r + 4}"  # noqa: E731
    nodes, cores = ["0-1,4-5", "2-3,6-7"], [core(r) for r in range(4)]
    sockets = ["0-2,4-6", "3,7"]
    with tempfile.TemporaryDirectory() as d:
        eight_cpus(d)
        for words, method, got in (("--bind-to numa", None, [0, 0, 1, 1]), ("--bind-to numa --map-by numa", None, [0, 1, 0, 1]),
                                   ("--bind-to numa", "0", [0, 1, 0, 1]), ("--bind-to numa", "1", [0, 0, 1, 1]),
                                   ("--bind-to numa", "2", [0, 1, 1, 0]), ("--bind-to numa --map-by slot", "0", [0, 0, 1, 1]),
                                   ("--bind-to socket --map-by socket", None, [0, 1, 0, 1]), ("--bind-to package --map-by core", None, [0, 0, 1, 1]),
                                   ("--bind-to core", None, [0, 1, 2, 3]), ("--bind-to core --map-by numa", None, [0, 2, 1, 3]),
                                   ("--bind-to core", "2", [0, 2, 3, 1]), ("--bind-to core --map-by socket", None, [0, 3, 1, 2])):
            place = cores if "core " in words + " " and "package" not in words else sockets if "socket" in words or "package" in words else nodes
            env = {"LD_PRELOAD": CPUS, **({"MPICH_RANK_REORDER_METHOD": method} if method else {})}
            job = run("--sysfs", d, *words.split(), "--report-bindings", "-n", 4, "true", env=env)
            at = [line.split("CPUs ")[1].split(", shared")[0] for line in job.err.splitlines()]
            same((words, method, job.code, at), (words, method, 0, [place[i] for i in got]))
        env = {"LD_PRELOAD": CPUS}
        job = run("--sysfs", d, "--bind-to", "hwthread", "--report-bindings", "-n", 3, "true", env=env)
        same(job.err.splitlines(), [f"mpiexec: rank {r}: bound to one hwthread, CPU {r}" for r in range(3)])
        job = run("--sysfs", d, "--bind-to", "core", "--map-by", "numa", "--report-bindings", "-n", 6, "true", env=env)
        same([line.split("CPUs ")[1].split(", shared")[0] for line in job.err.splitlines()], [cores[i] for i in (0, 2, 1, 3, 0, 2)])
        refused("--bind-to", "core", "true", env={"MPICH_RANK_REORDER_METHOD": "3"}, words=["MPICH_RANK_REORDER_METHOD=3", "must be 0, 1 or 2", "--bind-to 0-3"])
        same(run("true", env={"MPICH_RANK_REORDER_METHOD": "3"}).err, "")
        holds(run("--map-by", "numa", "true").err, "without effect here: --map-by without --bind-to (")
    for wrong in ("core:2", "socket:x"):
        refused("--bind-to", wrong, "true", words=[f"--bind-to {wrong}", "a set of CPUs for each, as in 0-3:4-7"])
    refused("--map-by", "slot:PE=4", "true", words=["no PE=4 here", "--bind-to 0-3:4-7"])
    refused("--map-by", "l3cache", "true", words=["must be slot, core"])


def ranks_are_bound_to_the_sets_of_a_list():
    a, b = two_cpus()
    job = run("--bind-to", f"{b}:{a},{b}:{a}", "--report-bindings", "-n", 2, *cpus_of(), ":", *cpus_of())
    same(sorted(job.out.splitlines()), [f"0 [{b}]", f"1 [{a}, {b}]", f"2 [{a}]"])
    holds(job.err, f"rank 0: bound, CPU {b}\n", f"rank 2: bound, CPU {a}\n")
    for text in ("", "x", "0-", "1-0", "0::1", "0,", "0:", "cores", "-1"):
        refused(f"--bind-to={text}", "-n", 2, "true", words=["none, core, hwthread, numa, socket, or a set of CPUs for each rank"])
    refused("--bind-to", f"{a}:{b}", "-n", 3, "true", words=["2 sets of CPUs for 3 ranks"])
    refused("--bind-to", f"{a}:1023", "-n", 2, "true", words=["set 2 is CPU 1023", "this launcher may use"])
    every_other = ",".join(str(cpu) for cpu in range(0, 1024, 2))  # the longest of sets is said whole
    refused("--bind-to", every_other, "true", words=[f"--bind-to {every_other}: set 1 is CPUs {every_other}, but this launcher may use"])


def only(cpu):
    return lambda: os.sched_setaffinity(0, {cpu})


def only_the_launchers_own_cpus_are_given():
    """As taskset, a control group or a batch system's step leave them."""
    a, b = two_cpus()
    for place in ("core", "numa", "socket", str(b)):
        job = run("--bind-to", place, "-n", 1, *cpus_of(), preexec_fn=only(b))
        same((job.code, job.out), (0, f"0 [{b}]\n"))
    job = run("--report-bindings", "-n", 1, "true", preexec_fn=only(b))
    holds(job.err, f"rank 0: not bound, CPU {b}\n")
    refused("--bind-to", str(a), "-n", 1, "true", words=[f"set 1 is CPU {a}, but this launcher may use CPU {b} only"], preexec_fn=only(b))
    refused("--bind-to", "core", "-n", 2, "true", words=["2 ranks, but this launcher may use 1 core (CPU", "--oversubscribe"],
            preexec_fn=only(b), share=False)
    job = run("--bind-to", "core", "-n", 2, *cpus_of(), preexec_fn=only(b))
    same(sorted(job.out.splitlines()), [f"0 [{b}]", f"1 [{b}]"])


def threads_that_take_turns_are_told_in_one_line():
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b}), "share": False}
    for words, env, line in ((["-n", 2, "true"], {}, ""),
                             (["-n", 3, "true"], {}, "3 ranks have 3 threads, which take turns on 2 CPUs"),
                             (["-n", 1, "true"], {"OMP_NUM_THREADS": "2"}, ""),
                             (["-n", 2, "true"], {"OMP_NUM_THREADS": "2,4"}, "2 ranks have 4 threads (OMP_NUM_THREADS), which"),
                             (["-n", 2, "true"], {"OMP_NUM_THREADS": "nonsense"}, ""),
                             (["-genv", "OMP_NUM_THREADS", 1, "-n", 2, "true"], {"OMP_NUM_THREADS": "2"}, ""),
                             (["-n", 1, "true", ":", "-x", "OMP_NUM_THREADS=7", "true"], {}, "2 ranks have 8 threads"),
                             (["--bind-to", "core", "-n", 2, "true"], {"OMP_NUM_THREADS": "2"}, f"bound to CPU {a} have 2 threads"),
                             (["--bind-to", f"{a}:{a}", "-n", 2, "true"], {}, f"bound to CPU {a} have 2 threads"),
                             (["--oversubscribe", "-n", 9, "true"], {}, "")):
        job = run("-v", *words, env=env, **both)
        same((job.code, len(job.err.splitlines())), (0, 1 if line else 0))
        holds(job.err, line)
        same(run(*words, env=env, **both).err, "")  # suites that compare output are not disturbed
    many = len(os.sched_getaffinity(0)) + 1
    job, tty = on_terminal("-n", many, "true", share=False)
    holds(rest_of(tty).decode(), f"{many} ranks have {many} threads, which take turns")
    same(job.end().code, 0)


def counted(*words, env=None, **more):
    """The CPUs that each rank says its node has."""
    job = run(*words, RANK, "cpus", env=env, **more)
    same(job.code, 0)
    return [int(line.split()[-2]) for line in job.out.splitlines()]


def ranks_count_the_cpus_that_they_may_use():
    """All of a node's ranks together: a rank with a core of its own still shares nothing."""
    a, b = two_cpus()
    both = {"preexec_fn": lambda: os.sched_setaffinity(0, {a, b})}
    for words, each in ((["-n", 3], [2] * 3), (["--bind-to", f"{a}:{b}", "-n", 2], [2] * 2), (["--bind-to", f"{a}:{a}", "-n", 2], [1] * 2),
                        (["--bind-to", f"{a}:{a},{b}:{a}", "-n", 3], [2] * 3), (["-n", 1], [2])):
        same(counted(*words, **both), each)
    same(counted("--bind-to", f"{a}:{b}", "-n", 2, env={"HOTLANE_NEAR": "0"}, **both), [1, 1])
    same(counted("--bind-to", f"{a}:{b}:{a}:{b}", "-n", 4, env={"HOTLANE_CLIQUES": "2"}, **both), [1] * 4)


def make_group(folder, cpu):
    """A control group that has this CPU alone, of version 2 or 1; OSError where it cannot be had."""
    above = os.path.dirname(folder)
    first = os.path.exists(f"{above}/cpuset.mems")
    if not first:
        with open(f"{above}/cgroup.subtree_control", encoding="ascii") as f:
            if "cpuset" not in f.read().split():
                raise OSError("control groups of version 2 give no cpuset here")
    os.mkdir(folder)
    with open(f"{folder}/cpuset.cpus", "w", encoding="ascii") as f:
        f.write(str(cpu))
    if first:
        with open(f"{above}/cpuset.mems", encoding="ascii") as f, open(f"{folder}/cpuset.mems", "w", encoding="ascii") as g:
            g.write(f.read())


@contextlib.contextmanager
def control_group(cpu):
    """A preexec_fn that enters a group which has this CPU alone."""
    tried = []
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"):
        folder = f"{root}/hotlane-{os.getpid()}"
        try:
            make_group(folder, cpu)
            break
        except OSError as reason:
            tried.append(str(reason))
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    else:
        raise Skip("; ".join(tried))

    def members(mode="r", text=""):
        with open(f"{folder}/cgroup.procs", mode, encoding="ascii") as f:
            return f.write(text) if text else f.read()

    try:
        yield lambda: members("w", "0")
    finally:
        until(lambda: not members(), "the group is empty")
        os.rmdir(folder)


def confined_to_one_cpu(cpu, enter):
    confined = {"preexec_fn": enter, "share": False}
    holds(run("--report-bindings", "-n", 1, "true", **confined).err, f"rank 0: not bound, CPU {cpu}\n")
    for place in ("core", "numa", "socket"):
        same(run("--bind-to", place, "-n", 1, *cpus_of(), **confined).out, f"0 [{cpu}]\n")
    refused("--bind-to", "core", "-n", 2, "true", words=["2 ranks, but this launcher may use 1 core (CPU"], **confined)
    holds(run("-v", "-n", 2, "true", **confined).err, "2 ranks have 2 threads, which take turns on 1 CPU (")
    same(run("-n", 1, "true", **confined).err, "")
    same(counted("-n", 2, preexec_fn=enter), [1, 1])


def a_launcher_that_is_confined_counts_what_it_may_use():
    _, b = two_cpus()
    confined_to_one_cpu(b, only(b))


def a_control_group_confines_as_well():
    _, b = two_cpus()
    with control_group(b) as enter:
        confined_to_one_cpu(b, enter)


# ---- protocol: what a rank may do to the server

RAW = """
import os, socket, sys
s = socket.socket(fileno=int(os.environ["PMI_FD"])); rank = int(os.environ["PMI_RANK"])
def ask(line):
    s.sendall(line if isinstance(line, bytes) else line.encode() + b"\\n")
    text = b""
    while not text.endswith(b"\\n"):
        got = s.recv(1)
        if not got: sys.exit(77)
        text += got
    return text.decode().rstrip("\\n")
"""


def raw(text, n=1, **more):
    return run("-n", n, PYTHON, "-c", RAW + text, **more)


def the_conversation_is_pmi_1():
    job = raw("""
for line in ["cmd=init pmi_version=1 pmi_subversion=1", "cmd=get_maxes", "cmd=get_universe_size", "cmd=get_appnum",
             "cmd=put kvsname=x key=k value=a b=c", "cmd=get kvsname=x key=k", "cmd=get kvsname=x key=none",
             "cmd=get kvsname=x key=PMI_process_mapping", "cmd=put key=k value=" + "v" * 2000, "cmd=put key= value=v",
             "cmd=spawn", "cmd=init pmi_version=9", "cmd=barrier_in", "cmd=finalize"]: print(ask(line))
""")
    want = ["cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0",
            "cmd=universe_size size=1 rc=0", "cmd=appnum appnum=0 rc=0", "cmd=put_result rc=0 msg=success",
            "cmd=get_result rc=0 msg=success value=a b=c", "cmd=get_result rc=-1 msg=key_not_found value=unknown",
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))", "cmd=put_result rc=-1 msg=bad_key_or_value",
            "cmd=put_result rc=-1 msg=bad_key_or_value", "cmd=spawn_result rc=-1 msg=not_supported",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1", "cmd=barrier_out rc=0", "cmd=finalize_ack rc=0"]
    same((job.code, job.out.splitlines()), (0, want))


def lines_may_come_in_pieces_or_together():
    job = raw("""
for c in b"cmd=get_appnum": s.sendall(bytes([c]))
print(ask(b"\\n"))
print(ask("cmd=get_appnum\\ncmd=get_universe_size")); print(ask(b""))
""")
    same(job.out.splitlines(), ["cmd=appnum appnum=0 rc=0"] * 2 + ["cmd=universe_size size=1 rc=0"])


def nonsense_ends_the_job_with_a_line():
    for text in ("b'hello\\n'", "b'x' * 100000", "b'cmd=get key=\\0\\n'"):
        job = raw(f"\ns.sendall({text}); s.recv(1); s.recv(1)\nimport time; time.sleep(60)", n=2)
        same(job.code, 1)
        holds(job.err, "broke the PMI protocol")
        in_time(job.seconds)


def a_rank_that_never_reads_is_ended():
    job = raw("""
s.setblocking(False); line = b"cmd=get key=PMI_process_mapping\\n" * 1000
import select
while True:
    select.select([], [s], [])
    try: s.send(line)
    except BlockingIOError: pass
""")
    same(job.code, 1 if "broke" in job.err else job.code)
    holds(job.err, "does not read its answers")


def the_secret_is_told_to_ranks_only():
    job = raw("""
import re
import resource
import select
secret = re.search("value=([0-9a-f]{32})", ask("cmd=get key=hotlane_secret"))[1]
name = ask("cmd=get_my_kvsname")
for pid in ("self", os.getppid()):
    for f in ("cmdline", "environ"):
        assert secret not in open(f"/proc/{pid}/{f}").read(), f
assert secret not in name
print(secret, name)
""", n=2)
    same(job.code, 0)
    first, second = job.out.splitlines()
    same(first, second)
    assert first.split()[0] != raw("print(ask('cmd=get key=hotlane_secret'))").out


def a_shell_may_start_one_program_after_the_other():
    job = run("-n", 2, *sh(f"{RANK} facts && {RANK} facts"))
    same((job.code, len(job.out.splitlines())), (0, 4))


def two_programs_at_once_on_one_socket_are_refused():
    """What a rank starts before it has initialized MPI finds its socket. That program never runs on by itself, not even
    when it lives until SIGKILL."""
    job = raw(f"""
import signal, subprocess
ask("cmd=init pmi_version=1 pmi_subversion=1")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.run(["{RANK}", "facts"], close_fds=False)
""")
    same((job.code, job.out), (1, ""))
    holds(job.err, "rank 0 broke the PMI protocol", "a second program began on its socket", "after MPI_Init")


def two_programs_of_a_rank_at_once_are_refused():
    harness.two_programs_at_once(lambda *words: run("-n", 2, *words))


def a_job_within_a_batch_step_is_a_job():
    """Under `srun -n 4 --mpi=... mpiexec`, whichever way that step would serve its own tasks."""
    step = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "2"}
    for more in ({}, {"PMI_FD": "99", "PMI_RANK": "2", "PMI_SIZE": "4"}, {"PMIX_NAMESPACE": "slurm.pmix.7.0", "PMIX_RANK": "2"},
                 {"PMI_PORT": "host:1", "PMI_ID": "2"}, {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2"}):
        same(groups(run("-n", 2, RANK, "all", env={**step, **more})), ["0,1"] * 2)


def a_rank_may_start_a_job_of_its_own():
    job = run("-n", 2, *sh(f"{MPIEXEC} -n 2 {RANK} facts"))
    same((job.code, len(job.out.splitlines())), (0, 4))


# ---- node: who shares memory

def groups(job):
    same((job.code, job.err), (0, ""))
    return sorted(line.split(": ")[1] for line in job.out.splitlines())


def everything_works_at_any_size():
    for n in (1, 2, 5, 16):
        same(groups(run("-n", n, RANK, "all")), [",".join(map(str, range(n)))] * n)


def near_0_gives_groups_of_one():
    for value in ("0", "none"):
        same(groups(run("-n", 3, RANK, "all", env={"HOTLANE_NEAR": value})), ["0", "1", "2"])


def cliques_split_the_node():
    same(groups(run("-n", 5, RANK, "all", env={"HOTLANE_CLIQUES": "2"})), ["0,2,4"] * 3 + ["1,3"] * 2)
    same(groups(run("-n", 2, RANK, "all", env={"HOTLANE_CLIQUES": "7"})), ["0", "1"])


def counts_of(job):
    """What ranks asked of the launcher, and what they found in their nodes' caches."""
    same(job.code, 0)
    return [sum(int(line.split()[at]) for line in job.out.splitlines()) for at in (3, 5)]


def a_node_asks_for_each_value_once():
    """Values of 1500 bytes are three pieces in PMI-1."""
    for ranks, nodes in ((4, 2), (8, 2), (9, 3)):
        far = ranks * (nodes - 1)  # each value is fetched once by each node but its own
        same(counts_of(run("-n", ranks, RANK, "kvs_cache", env={"HOTLANE_CLIQUES": str(nodes)})), [3 * far, ranks * ranks - far])
    same(counts_of(run("-n", 3, RANK, "kvs_cache", env={"HOTLANE_NEAR": "0"})), [3 * 9, 0])


def ranks_of_different_networks_do_not_share():
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        raise Skip("no right to make network namespaces")
    same(groups(run("-n", 4, *sh(f"test $PMI_RANK = 2 && exec unshare -n {RANK} all; exec {RANK} all"))),
         ["0,1,3"] * 3 + ["2"])


def names_in_public():
    return {n for folder in ("/dev/shm", "/tmp") for n in os.listdir(folder) if "hotlane" in n}


def nothing_gets_a_name():
    for _ in range(5):  # others' tests may make a file meanwhile; ours would make one each time
        before = names_in_public()
        job, _ = sleepers(3)
        with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
            assert "@hotlane/" in f.read()
        new = names_in_public() - before
        job.process.kill()
        job.end()
        job.must_leave_nothing()
        if not new:
            break
    same(new, set())


def strangers_on_the_socket_are_ignored():
    job, _ = sleepers(2)
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        rows = [line.split() for line in f]
    own = job.sockets()  # others' jobs may come and go meanwhile
    names = [row[7][1:] for row in rows if row[6] in own and re.fullmatch(r"@hotlane/\S+/rank/\d+", row[-1])]
    same(len(names), 2)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for name in names:
        s.sendto(b"junk", "\0" + name)
    job.process.send_signal(signal.SIGTERM)
    same(job.end(soon=True).code, 143)


def alone(variables):
    """A rank without launcher in an environment that has these variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI_", "HOTLANE_", "SLURM_", "PALS_"))}
    return subprocess.run([RANK, "facts"], env={**kept, **variables}, capture_output=True, timeout=20, check=False)


def a_launcher_without_server_is_refused():
    for variables in ({"SLURM_STEP_NUM_TASKS": "2"}, {"PMI_SIZE": "2", "PMI_FD": "999", "PMI_RANK": "0"},
                      {"OMPI_COMM_WORLD_SIZE": "2"}, {"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0"}, {"PMI_PORT": "host:1"},
                      {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "gone", "PMIX_RANK": "1"}, {"PALS_RANKID": "0"},
                      {"HOTLANE_BOOT": "pmi1"}, {"HOTLANE_BOOT": "pmix"}):
        done = alone(variables)
        same(done.returncode, 42)
        holds(done.stderr.decode(), "refused", "mpiexec", next(iter(variables)))


def a_batch_script_is_no_launcher():
    for variables in ({"SLURM_NTASKS": "64", "SLURM_JOB_ID": "1"}, {"SLURM_STEP_NUM_TASKS": "1"}, {"OMPI_COMM_WORLD_SIZE": "1"},
                      {"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
                      {"OMPI_COMM_WORLD_SIZE": "2", "HOTLANE_BOOT": "self"}):
        done = alone(variables)
        same((done.returncode, done.stdout), (0, b"rank 0 of 1 by self node 0 of 1: 0\n"))


def what_a_rank_starts_runs_alone():
    job = run("-n", 2, PYTHON, "-c", f"""
import os, subprocess
os.environ["HL_INSIDE_RANK"] = ":2:::::"
for v in ("PMI_FD", "PMI_RANK", "PMI_SIZE"): del os.environ[v]
subprocess.run(["{RANK}", "facts"])""", env={"SLURM_STEP_NUM_TASKS": "2"})
    same(job.out, "rank 0 of 1 by self node 0 of 1: 0\n" * 2)


def the_override_makes_singletons():
    same(run("-n", 2, RANK, "facts", env={"HOTLANE_BOOT": "self"}).out, "rank 0 of 1 by self node 0 of 1: 0\n" * 2)


def foreign_launchers_serve_as_well():
    hydra = shutil.which("mpiexec.hydra")
    if not hydra:
        raise Skip("mpiexec.hydra is not installed")
    done = subprocess.run([hydra, "-n", "4", RANK, "all"], capture_output=True, timeout=30, check=False)
    same((done.returncode, len(done.stdout.splitlines())), (0, 4))


HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int rank, sum;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\\n", sum);
    return MPI_Finalize();
}
"""


def programs_of_mpich_start_under_our_launcher():
    if not shutil.which("mpicc.mpich"):
        raise Skip("mpicc.mpich is not installed")
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/hello.c", "w", encoding="ascii") as f:
            f.write(HELLO)
        made = subprocess.run(["mpicc.mpich", f"{d}/hello.c", "-o", f"{d}/hello"], check=False, capture_output=True, timeout=60)
        if b"mpi.h" in made.stderr:
            raise Skip("libmpich-dev is not installed")
        same((made.returncode, made.stderr), (0, b""))
        job = run("-n", 3, f"{d}/hello")
    same((job.code, job.out), (0, "sum 3\n" * 3))


# ---- mpi: the same promises for MPI programs; the program is RANK

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
        holds(job.err, f"left without {missing}: its exit code 0 becomes 1\n")
    for words in ([], ["handler"], ["children"], ["session", "0"]):
        job = Foreign(RANK, *words)
        same((words, job.codes, job.err), (words, [0, 0], ""))
    same(run("-n", 2, RANK, "exit").err.count("left without"), 1)


def mpi_programs_end_well():
    for job in both_paths("-n", 3, RANK):
        same((job.code, job.err, job.out.count("finalized")), (0, "", 3))


def mpi_abort_keeps_the_last_words():
    for job in both_paths("-n", 3, RANK, "abort"):
        same((job.code, job.out), (7, "last words\n"))


def mpi_errors_and_deaths_end_the_job():
    for mode, code, words in (("exit", 1, "left without finalize"), ("return", 1, "left without finalize"), ("fail", 6, "code 6"),
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
                              ("thread-exit", 1, "left without finalize"), ("thread-kill", 137, "killed by signal 9")):
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
        holds(job.err, f"HOTLANE_STATS={stats}: no counters, the job was ended by this rank with code 7\n")


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
        until(lambda: stops.words(err).count("is stopped (a debugger, Ctrl-Z, a suspended job)") == 1, "the stop is said", stops.PATIENCE)
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
        until(lambda: stops.words(err).count(f"rank 1 (pid {pid}) {stops.BY_PEERS}"), "it is said", stops.PATIENCE)
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


# ---- crowds

def floods_of_node_messages_lose_none():
    for n, count in ((2, 5000), (16, 100)):
        same(run("-n", n, RANK, "flood", count).code, 0)



def many_ranks_meet():
    for n in (64, 200):
        same(groups(run("-n", n, RANK, "all")), [",".join(map(str, range(n)))] * n)


def many_ranks_talk():
    job = run("-n", 32, PYTHON, "-c", TALK % (1000, 0))
    check_talk(job.out, 32, 1000)


def too_many_ranks_are_refused_before_the_start():
    job = run("-n", 30, *sh("exit 9"), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
    same(job.code, 1)
    holds(job.err, "122 descriptors", "100")


def a_low_soft_limit_of_descriptors_is_raised():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for soft in (5, 8):
        job = run("-n", 2, *sh("ulimit -n"), preexec_fn=lambda n=soft: resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard)))
        same((job.code, job.out), (0, f"{soft}\n" * 2))


def deaths_in_a_crowd_leave_nothing():
    for mode, arg, code in (("signal", 9, 137), ("abort", 3, 3), ("exit", 0, 1)):
        same(run("-n", 48, RANK, mode, arg).code, code)


def killing_the_launcher_at_any_moment_leaves_nothing():
    for delay in range(0, 60, 3):
        job = Job("-n", 8, RANK, "all")
        try:
            job.process.wait(delay / 1000)
        except subprocess.TimeoutExpired:
            pass
        job.process.kill()
        job.end()
        job.must_leave_nothing()


def random_talk_never_breaks_the_server():
    text = r"""
import random, time
random.seed(%d + rank)
words = [b"init pmi_version=1", b"get ", b"put ", b"barrier_in", b"get_maxes", b" ", b"\ncmd=", b"\ncmd=", b" key=", b" value=",
         b" kvsname=", b"k", b"=", b"x" * 70, b"y" * 1100, b"\xff", b"get key=k\ncmd=", b"get_appnum\ncmd=", b"finalize\ncmd="]
s.sendall(b"cmd="); s.setblocking(False)
for i in range(3000):
    try: s.send(random.choice(words)); s.recv(65536)
    except OSError: pass
"""
    ends = set()
    for seed in range(0, 24, 2):
        job = raw(text % seed, n=1 + seed % 4 // 2)
        assert 0 <= job.code < 128, job.code
        ends.add(job.err.strip().split(": ", 1)[-1])
    print(f"    {len(ends)} different ends: {ends}")


GROUPS = {
    "codes": [oshrun_speaks_of_pes, all_zero_is_zero, a_failing_rank_ends_the_job_with_its_code, the_first_failure_wins, signals_are_128_plus,
              leaving_without_finalize_ends_the_job, who_never_spoke_pmi_is_judged_by_its_code,
              a_program_that_is_not_there_is_127, a_program_of_this_folder_needs_its_folder, a_program_that_cannot_run_is_126,
              programs_of_another_mpi_are_told, programs_of_ours_that_do_not_begin_are_no_others, programs_of_open_mpi_are_told, abort_kills_all_with_its_code,
              a_code_after_finalize_is_kept_and_ends_nobody, a_forked_childs_abort_ends_only_the_child,
              waiting_for_who_has_left_ends_the_job, keep_going_ends_only_the_dead],
    "endings": [a_user_signal_ends_the_job, a_signal_that_was_ignored_at_the_start_stays_so,
                a_stubborn_rank_is_killed_after_one_signal_or_at_once_after_two,
                a_death_takes_the_stubborn_along, a_stopped_rank_does_not_hold_up_the_end, killing_the_launcher_leaves_nothing,
                killing_the_guardian_changes_nothing,
                killing_the_launcher_and_a_guardian_leaves_nothing, guardians_do_not_look_like_the_launcher,
                a_job_within_a_rank_ends_with_the_outer_one, an_abort_in_answer_to_a_death_does_not_hide_it, who_dies_slowly_is_still_the_cause,
                killing_a_rank_ends_the_job, what_ranks_leave_running_is_killed, who_is_slow_to_go_when_killed_is_waited_for,
                a_stop_and_a_continue_reach_the_ranks, user_defined_signals_are_passed_on, the_timeout_ends_the_job_with_124, the_timeout_does_not_wait_for_a_reader,
                the_timeout_does_not_touch_a_job_in_time],
    "output": [lines_are_never_cut, lines_to_a_file_are_never_cut, lines_of_both_streams_share_a_pipe, streams_stay_apart,
               labels_name_the_rank, unfinished_lines_do_not_mix, a_single_rank_is_passed_on_as_it_is,
               a_prompt_of_a_single_rank_comes_at_once, a_very_long_line_arrives, a_slow_reader_loses_nothing, the_last_lines_of_the_dead_arrive, a_reader_of_a_few_lines_ends_the_job,
               a_reader_that_leaves_ends_the_job, output_that_cannot_be_written_ends_the_job, ranks_may_close_their_output, descriptors_are_open_in_every_rank,
               no_descriptor_of_the_launcher_reaches_a_rank, the_launchers_descriptors_are_not_copied_to_each_rank,
               what_was_open_before_reaches_all_ranks],
    "input": [rank_0_gets_all_input_the_others_none, input_that_rank_0_does_not_take_is_left, typed_lines_reach_rank_0,
              a_question_of_rank_0_is_shown_before_the_answer,
              control_c_on_the_terminal_ends_the_job, typing_to_a_stopped_rank_blocks_nothing],
    "options": [variables_are_set_and_the_part_wins, an_outer_launchers_variables_do_not_get_in,
                the_launchers_own_variables_are_refused, the_launchers_libraries_are_found_last,
                the_working_directory_is_set,
                parts_share_one_numbering, the_nearest_option_is_named, impossible_values_are_refused,
                other_machines_are_refused_with_the_reason, slots_are_added_up_and_too_few_are_told,
                what_has_no_effect_is_accepted_with_one_line, ranks_of_each_machine_are_the_ranks,
                job_scripts_of_others_run, help_and_version_go_to_standard_output, ranks_are_bound_to_cores_nodes_and_sockets,
                ranks_are_bound_to_the_sets_of_a_list, the_order_of_ranks_is_chosen, only_the_launchers_own_cpus_are_given,
                threads_that_take_turns_are_told_in_one_line, ranks_count_the_cpus_that_they_may_use,
                a_launcher_that_is_confined_counts_what_it_may_use, a_control_group_confines_as_well],
    "protocol": [the_conversation_is_pmi_1, lines_may_come_in_pieces_or_together, nonsense_ends_the_job_with_a_line,
                 a_rank_that_never_reads_is_ended, the_secret_is_told_to_ranks_only,
                 a_shell_may_start_one_program_after_the_other, two_programs_at_once_on_one_socket_are_refused,
                 two_programs_of_a_rank_at_once_are_refused,
                 a_rank_may_start_a_job_of_its_own, a_job_within_a_batch_step_is_a_job],
    "node": [everything_works_at_any_size, near_0_gives_groups_of_one, cliques_split_the_node, a_node_asks_for_each_value_once,
             ranks_of_different_networks_do_not_share, nothing_gets_a_name, strangers_on_the_socket_are_ignored,
             a_launcher_without_server_is_refused, a_batch_script_is_no_launcher, what_a_rank_starts_runs_alone, the_override_makes_singletons,
             foreign_launchers_serve_as_well],
    "mpi": [mpi_programs_end_well, mpi_abort_keeps_the_last_words, mpi_errors_and_deaths_end_the_job,
            the_initial_error_handler_is_chosen, who_leaves_without_finalize_fails_under_any_launcher,
            any_thread_may_end_the_job_amidst_communication, children_of_mpi_programs_are_harmless,
            errors_of_children_end_them_alone, the_end_says_that_there_are_no_counters,
            programs_that_ranks_start_run_alone, mpi_ranks_may_start_jobs, children_that_stay_do_not_hold_up_the_end,
            a_child_that_stays_hides_no_death, a_code_after_mpi_finalize_is_the_jobs,
            an_abort_within_malloc_ends_the_job, exit_ends_a_rank_that_waits_in_finalize,
            exit_with_an_error_after_the_last_session_ends_the_job, survivors_may_finalize, deaths_behind_a_script_are_seen_by_who_waits,
            survivors_meet_once_the_launcher_knows, scripts_that_stay_hide_no_good_end,
            a_stopped_rank_is_said_once, a_stopped_pe_is_said_as_such, a_stop_that_follows_another_at_once_is_said, a_rank_in_a_debugger_is_said_once,
            numbers_of_other_namespaces_are_not_believed],
    "crowds": [floods_of_node_messages_lose_none,
               programs_of_mpich_start_under_our_launcher, random_talk_never_breaks_the_server, too_many_ranks_are_refused_before_the_start,
               a_low_soft_limit_of_descriptors_is_raised, many_ranks_meet, many_ranks_talk, deaths_in_a_crowd_leave_nothing,
               killing_the_launcher_at_any_moment_leaves_nothing, who_does_not_go_when_killed_is_named],
}

if __name__ == "__main__":
    sys.exit(main(GROUPS))
