#!/usr/bin/env python3
"""What a job's exit code and its one line say. usage: codes.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import stops
from harness import MPIEXEC, RANK, Job, Skip, environment_of, holds, in_time, run, run_cases, same, sh, until, write


def oshrun_speaks_of_pes():
    oshrun = os.path.join(os.path.dirname(MPIEXEC), "oshrun")
    if not os.path.exists(oshrun):
        raise Skip("OpenSHMEM is not built")
    job = run("-n", 2, RANK, "signal", 9, launcher=[oshrun])
    same(job.code, 137)
    holds(job.err, "oshrun: PE 1 (pid", "killed by signal 9")
    refuse = run("-n", 2, "-ranks", "true", launcher=[oshrun])
    holds(refuse.err, "oshrun: unknown option -ranks")  # words of the user stay
    holds(run("-n", 2, RANK, "exit", 0, launcher=[oshrun]).err, "exited with code 0 without shmem_finalize, which every PE must call")
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


def the_last_end_is_not_waited_behind():
    """The least of ten runs: a launcher that goes on waiting takes the 0.2 s that it allows for late output in each of them."""
    least = min(run("-n", 1, "true").seconds for _ in range(10))
    assert least < 0.2, f"each of ten runs of `true` took {least:.2f} s or more"


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
    holds(job.err, "rank 1", "exited with code 0 without MPI_Finalize (OpenSHMEM: shmem_finalize), which every rank must call; ending the job")
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
    job = run("-n", 2, "no_such_program")
    same((job.code, job.err), (127, "mpiexec: cannot run no_such_program: it is not on PATH\n"))


def a_program_of_this_folder_needs_its_folder():
    with tempfile.NamedTemporaryFile(dir=".") as f:
        job = run("-n", 2, os.path.basename(f.name))
    same(job.code, 127)
    same(job.err.count(f"it is not on PATH; ./{os.path.basename(f.name)} is here"), 1)


def a_program_that_cannot_run_is_126():
    with tempfile.NamedTemporaryFile(mode="w") as f:
        job = run("-n", 2, f.name)
        same((job.code, job.err), (126, f"mpiexec: cannot run {f.name}: it is not executable (chmod +x makes it so)\n"))
    job = run("-n", 2, "/")
    same((job.code, job.err), (126, "mpiexec: cannot run /: it is a folder\n"))
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


def whose_interpreter_is_missing_is_told_its_name():
    with tempfile.TemporaryDirectory() as folder:
        for name, head in (("lost_script", b"#! /no/such/shell -e\n"), ("lost_crlf", b"#!/no/such/shell\r\n")):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(head)
            os.chmod(path, 0o755)
            want = f"{path} is there, but not the interpreter that its first line names: /no/such/shell"
            env = {"PATH": f"/no/such/folder:{folder}:{os.environ['PATH']}"}
            for job in (run("-n", 2, path), run("-n", 2, name, env=env), run("-n", 2, "-wdir", folder, "./" + name)):
                same(job.code, 127)
                same(job.err.count("\n"), 1)
                assert "is not on PATH" not in job.err, job.err
                holds(job.err.replace("/./", "/"), want)


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


CASES = [oshrun_speaks_of_pes, all_zero_is_zero, the_last_end_is_not_waited_behind, a_failing_rank_ends_the_job_with_its_code, the_first_failure_wins,
         signals_are_128_plus, leaving_without_finalize_ends_the_job, who_never_spoke_pmi_is_judged_by_its_code, a_program_that_is_not_there_is_127,
         a_program_of_this_folder_needs_its_folder, a_program_that_cannot_run_is_126, whose_interpreter_is_missing_is_told_its_name, programs_of_another_mpi_are_told,
         programs_of_ours_that_do_not_begin_are_no_others, programs_of_open_mpi_are_told, abort_kills_all_with_its_code,
         a_code_after_finalize_is_kept_and_ends_nobody, a_forked_childs_abort_ends_only_the_child, waiting_for_who_has_left_ends_the_job,
         keep_going_ends_only_the_dead]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
