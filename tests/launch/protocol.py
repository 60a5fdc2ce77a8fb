#!/usr/bin/env python3
"""What a rank may do to the launcher's server. usage: protocol.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import sys

import harness
from harness import MPIEXEC, RANK, groups, holds, in_time, raw, run, run_cases, same, sh


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


def a_request_for_more_processes_is_refused():
    """MPI_Comm_spawn of another MPI: one request of many lines, in one part for each program; the job goes on."""
    part = "mcmd=spawn\\nnprocs=2\\nexecname=./a=b\\ntotspawns={0}\\nspawnssofar={1}\\nargcnt=0\\npreput_num=0\\ninfo_num=0\\nendcmd"
    for parts in (1, 3):
        request = "\\n".join(part.format(parts, i + 1) for i in range(parts))
        job = raw(f"print(ask('{request}')); print(ask('{request}')); print(ask('cmd=finalize'))")
        same((job.code, job.out.splitlines()), (0, ["cmd=spawn_result rc=-1 msg=not_supported"] * 2 + ["cmd=finalize_ack rc=0"]))
        same(len(job.err.splitlines()), 1)
        holds(job.err, "rank 0 asks for more processes (MPI_Comm_spawn)", "start all at once")
    job = raw("s.sendall(b'mcmd=spawn\\nnprocs=1\\n'); print(ask('cmd=get_appnum'))")  # who asked has gone, another one speaks
    same((job.code, job.out, job.err), (0, "cmd=appnum appnum=0 rc=0\n", ""))
    holds(raw("s.sendall(b'mcmd=other\\n'); s.recv(1)").err, "broke the PMI protocol")


def an_abort_is_no_success_unless_its_code_is_0():
    """Other PMI-1 programs send any number: an exit code holds its low 8 bits, and those may be 0."""
    for code, seen in (("0", 0), ("7", 7), ("300", 44), ("256", 1), ("-512", 1), ("", 1), ("seven", 1)):
        job = raw(f"ask('cmd=init pmi_version=1 pmi_subversion=1'); s.sendall(b'cmd=abort exitcode={code}\\n'); s.recv(1)")
        same((code, job.code, "rank 0 aborted the job" in job.err), (code, seen, code != "0"))


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


CASES = [the_conversation_is_pmi_1, lines_may_come_in_pieces_or_together, nonsense_ends_the_job_with_a_line,
         a_request_for_more_processes_is_refused, an_abort_is_no_success_unless_its_code_is_0,
         a_rank_that_never_reads_is_ended, the_secret_is_told_to_ranks_only, a_shell_may_start_one_program_after_the_other, two_programs_at_once_on_one_socket_are_refused,
         two_programs_of_a_rank_at_once_are_refused, a_rank_may_start_a_job_of_its_own, a_job_within_a_batch_step_is_a_job]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
