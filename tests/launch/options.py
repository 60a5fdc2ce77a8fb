#!/usr/bin/env python3
"""Options, job scripts of others, and refusals. usage: options.py all|CASE[,CASE] MPIEXEC PROGRAM"""
import os
import socket
import subprocess
import sys
import tempfile

from harness import MPIEXEC, RANK, Skip, holds, refused, run, run_cases, same, sh


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
    with tempfile.TemporaryDirectory() as d:
        d = os.path.realpath(d)
        os.mkdir(f"{d}/sub")
        os.symlink("sub", f"{d}/link")
        for words, env, pwd in ((["-wdir", d], {"PWD": "/usr"}, d), (["-wdir", "sub"], {"PWD": "/usr"}, f"{d}/sub"), (["-wdir", f"{d}/link"], {}, f"{d}/sub"),
                                (["-wdir", "sub/.."], {}, d), ([], {"PWD": "/usr"}, "/usr"), (["-genv", "PWD=/etc", "-wdir", "sub"], {}, "/etc"),
                                (["-env", "PWD=/etc", "-wdir", "sub"], {}, "/etc")):
            job = run(*words, "-n", 2, "env", env=env, cwd=d, launcher=[os.path.abspath(MPIEXEC), "--oversubscribe"])
            same((words, job.code, [line for line in job.out.splitlines() if line.startswith("PWD=")]), (words, 0, [f"PWD={pwd}"] * 2))
    job = run("-wdir", "/no/such", "-n", 2, "pwd")
    same(job.code, 1)
    holds(job.err, "/no/such")
    for program, line in (("./no_such", "cannot run ./no_such in /usr (--wdir): No such file or directory"),
                          ("no/such", "cannot run no/such in /usr (--wdir): No such file or directory"),
                          ("./bin", "cannot run ./bin in /usr (--wdir): it is a folder"),
                          ("/no/such", "cannot run /no/such: No such file or directory"),
                          ("no_such_program", "cannot run no_such_program: it is not on PATH")):
        job = run("-wdir", "/usr", "-n", 2, program)
        same((job.code, job.err), (126 if program == "./bin" else 127, f"mpiexec: {line}\n"))


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
    refused("--mca", "a", words=["--mca a: its VALUE is missing"])
    for option, first in (("-env", "A"), ("--genv", "A"), ("--mca", "a"), ("-gmca", "a")):
        named, taken = ("KEY", "") if "mca" in option else ("NAME", "; NAME=VALUE in one word takes any value")
        refused(option, "-n", 1, "true", words=[f"{option}: its {named} is missing (-n follows)"])
        refused(option, first, "--bind-to=none", "true", words=[f"{option} {first}: its VALUE is missing (--bind-to=none follows{taken})"])
        refused(option, first, words=[f"{option} {first}: its VALUE is missing\n"])
    for option in ("-x", "-n", "--timeout", "--wdir", "--tmpdir", "-hostfile", "--map-by", "--initial-errhandler", "--am"):
        refused(option, "-l", "true", words=[f"{option}: its value is missing (-l follows)"])
        refused(option, words=[f"{option}: its value is missing\n"])
    for words in (["-env", "A", "-1"], ["-genv", "A", "-O2"], ["-env", "A=-n"], ["-x", "A=-l"]):
        same(run(*words, *sh("echo is $A")).out, f"is {words[-1].split('=')[-1]}\n")
    refused("-env", "-A", "1", "true", words=["-env -A: not the name of a variable"])
    refused("-x", "-A=1", "true", words=["-x -A=1: a variable's name is missing"])
    refused("-n", 2, words=["no program"])
    refused("-n", 2, "true", ":", words=["no program"])
    refused(words=["no program"])
    refused("--tag-output=yes", "true", words=["no value"])


def the_timeout_may_be_a_variable():
    """The option goes before it; nonsense is refused as the option's; an empty one is none."""
    job = run("-n", 2, "sleep", 60, env={"MPIEXEC_TIMEOUT": "0.3"})
    same(job.code, 124)
    holds(job.err, "longer than 0.3 s")
    for words, value in ((["--timeout", "600"], "0.01"), (["--timeout", "600"], "x"), ([], "")):
        job = run(*words, "-n", 1, *sh("sleep 0.3; echo up"), env={"MPIEXEC_TIMEOUT": value})
        same((job.code, job.out, job.err), (0, "up\n", ""))
    for value in ("0", "-1", "2x", "soon", "1e10", "nan"):
        refused("true", env={"MPIEXEC_TIMEOUT": value}, words=[f"MPIEXEC_TIMEOUT={value}: a number of seconds above 0"])


def other_machines_are_refused_with_the_reason():
    here = socket.gethostname()
    same(run("-hosts", f"localhost,{here},127.0.0.1:4,LocalHost,{here.upper()}", "-n", 2, "true").code, 0)
    same(run("-hosts", f"me@localhost:1,root@{here},me@127.0.0.1:4,me@::1", "-n", 2, "true").code, 0)
    refused("-hosts", "localhost@far.example", "true", words=["localhost@far.example is not this machine"])
    refused("-H", "me@", "true", words=["me@ is not this machine"])
    refused("-hosts", "localhost,far.example", "true", words=["far.example", "this machine only", "srun"])
    refused("-hostfile", "/", "true", words=["-hostfile /: Is a directory"])
    for words, named in ((["-H", ""], "-H ''"), (["-hosts", " ,"], "-hosts ' ,'"), (["-hostfile", "/dev/null"], "-hostfile '/dev/null'")):
        job = run(*words, "-n", 2, *sh("echo up"))
        same((job.code, job.out, job.err), (0, "up\n" * 2, f"mpiexec: {named}: names no machine; ranks start on this one\n"))
    with tempfile.NamedTemporaryFile(mode="w") as f:
        f.write("# no host\n\n")
        f.flush()
        same(run("-hostfile", f.name, "true").err, f"mpiexec: -hostfile '{f.name}': names no machine; ranks start on this one\n")
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


def more_ranks_than_slots_are_refused_where_that_is_asked():
    """The last of the two words counts; where there are no slots there is nothing to refuse."""
    for words in (["--nooversubscribe"], ["-nooversubscribe", "-v"], ["--map-by", "slot:nooversubscribe"], ["--map-by", ":OVERSUBSCRIBE,NoOversubscribe"],
                  ["--oversubscribe", "--nooversubscribe"]):
        refused(*words, "-H", "localhost:2", "-n", 4, "true", share=False,
                words=["4 ranks for 2 slots of the hosts named", "--nooversubscribe refuses", "write -n 2", "localhost:4"])
        same(run(*words, "-H", "localhost:1,localhost:1", "-n", 2, *sh("echo up"), share=False).out, "up\nup\n")
    for words in (["--nooversubscribe", "--oversubscribe"], ["--map-by", "slot:nooversubscribe:oversubscribe"], []):
        job = run(*words, "-H", "localhost:2", "-n", 4, *sh("echo up"), share=False)
        same((job.code, job.out, job.err), (0, "up\n" * 4, ""))
    for hosts in ([], ["-H", "localhost"], ["-H", "localhost:1,localhost"]):
        job = run("--nooversubscribe", *hosts, "-n", 4, *sh("echo up"), share=False)
        same((job.code, job.out, job.err), (0, "up\n" * 4, ""))
    refused("--nooversubscribe", "-H", "localhost:1", "-n", 1, "true", ":", "-n", 1, "true", share=False, words=["2 ranks for 1 slot of"])


def one_rank_is_told_where_open_mpi_starts_more():
    """Without a number of ranks; by the rules of the other such lines."""
    with tempfile.NamedTemporaryFile(mode="w") as f:
        f.write("localhost slots=2\nlocalhost slots=1\n")
        f.flush()
        for words, env, others in ((["-H", "localhost:2"], {}, 2), (["-hostfile", f.name], {}, 3), ([], {"SLURM_NTASKS": "4"}, 4),
                                   (["-H", "localhost:2"], {"SLURM_NTASKS": "4"}, 2), (["-H", "localhost:1"], {}, 0), (["-H", "localhost"], {}, 0),
                                   (["-H", "localhost"], {"SLURM_NTASKS": "4"}, 0), (["-H", "localhost:2", "-n", 1], {}, 0),
                                   (["-H", "localhost:2", "-ppn", 1], {}, 0), ([], {"SLURM_NTASKS": "1"}, 0), ([], {"SLURM_NTASKS": "x"}, 0)):
            job = run("-v", *words, *sh("echo $PMI_SIZE"), env=env, share=False)
            line = f"mpiexec: 1 rank starts: write -n N (Open MPI would start {others} here)\n" if others else ""
            same((words, env, job.code, job.out, "".join(text for text in job.err.splitlines(True) if "take turns" not in text)), (words, env, 0, "1\n", line))
    for words, share in (([], False), (["-v"], True)):
        same(run(*words, "-H", "localhost:2", "true", share=share).err, "")
    same(run("-v", "-H", "localhost:2", "true", ":", "true", share=False).code, 0)


def files_of_hosts_may_be_spelled_as_others_do():
    """What Open MPI and Hydra read. Words that limit or describe the machine get a line; what nobody knows is refused with its place."""
    with tempfile.NamedTemporaryFile(mode="w") as f:
        def hosts(text):
            f.seek(0)
            f.truncate()
            f.write(text)
            f.flush()
            return ["-v", "-hostfile", f.name]

        for text, slots in (("localhost slots = 4\n", 4), ("localhost slots= 3 # three\r\n127.0.0.1:1# one", 4), ("localhost\tcpu =\t2 // two\n", 2),
                            ("# all\n\n   localhost   count=1  \n", 1), ("localhost:4   # as in Hydra's\n", 4), ("localhost slots =2\n" * 2, 4),
                            ("root@localhost slots=2\nme@127.0.0.1:1\n", 3)):
            for n in (slots, slots + 1):
                job = run(*hosts(text), "-n", n, "true", share=False)
                told = [line for line in job.err.splitlines() if "take turns" not in line]
                same((text, job.code, len(told)), (text, 0, n - slots))
                holds("".join(told), f"{n} ranks for {slots} slot" if n > slots else "")
        for word in ("max_slots=8", "max-slots = 8", "slots_max=8", "slots-max= 8", "cpu_max=8", "user=me", "user-name=me", "port=22", "ifname=ib0",
                     "sockets=2", "cores-per-socket=4"):
            job = run(*hosts(f"localhost slots=1 {word}\n"), "-n", 1, "true")
            same((job.code, len(job.err.splitlines())), (0, 1))
            holds(job.err, f"{f.name}, line 1: localhost: {word.replace(' ', '')}: accepted, it has no effect here")
        for text, words in (("localhost slotz = 4\n", ["line 1: localhost: unknown word slotz; the nearest is slots"]),
                            ("localhost:1\n# two\nlocalhost gpus=2\n", ["line 3: localhost: unknown word gpus ("]),
                            ("localhost slots 4\n", ["line 1: localhost: slots has no value"]), ("localhost 4\n", ["line 1", "unknown word 4"]),
                            ("localhost slots = # 4\n", ["line 1: localhost: the slots must be 1 to 100000, not nothing"]),
                            ("localhost slots = 4x\n", ["line 1: localhost: the slots must be 1 to 100000, not 4x"]),
                            ("localhost\nfar7 slots=2\n", ["line 2: far7 is not this machine"])):
            refused(*hosts(text), "true", words=[f"-hostfile {f.name}", *words])


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
    words = ["--show-progress", "--hetero-nodes", "--tmpdir", "/tmp/x", "--max-restarts", "3", "--preload-binary", "--report-state-on-timeout",
             "--forward-signals", "SIGUSR1,usr2,SIGCONT"]
    job = run(*words, "-n", 1, *sh("echo up"))
    same((job.code, job.out), (0, "up\n"))
    same(job.err, "mpiexec: accepted, without effect here: --show-progress, --hetero-nodes, --tmpdir /tmp/x, --max-restarts 3, --preload-binary, "
         "--report-state-on-timeout, --forward-signals SIGUSR1,usr2,SIGCONT (--help says why)\n")
    for signals in ("10,12", "none", "SIGTERM,15"):
        same(run("-q", "--forward-signals", signals, "true").code, 0)
    for signals, wrong in (("SIGUSR1,SIGWINCH", "SIGWINCH"), ("17", "17"), ("USR", "USR"), ("12x", "12x")):
        refused("--forward-signals", signals, "true", words=[f"--forward-signals {signals}: {wrong} is not passed to the ranks; INT, TERM"])


def what_has_a_counterpart_is_refused_with_it():
    files = "write -l, which tells ranks apart, and >FILE; or the program as sh -c 'exec ./prog >out.$PMI_RANK'"
    for words, text in ((["--output-filename", "out"], files), (["--output", "directory=out"], files), (["--output=file=out"], files),
                        (["--output", "tag,dir=out,merge"], files), (["--output", "xml"], files), (["--output", "tag,merge"], "write 2>&1 to merge"),
                        (["--get-stack-traces"], "write HOTLANE_WATCHDOG=SECONDS before"), (["--report-uri", "-"], "write nothing: no other program connects"),
                        (["--report-pid", "-"], "write `sh -c 'echo $$ >FILE; exec mpiexec ...'`")):
        refused(*words, "true", words=[words[0].split("=")[0], text])


def ranks_of_each_machine_are_the_ranks():
    for words, n, noted in ((["-ppn", 2], 2, ""), (["-N", 3], 3, ""), (["--map-by", "ppr:2:node"], 2, ""), (["-npernode=2", "-n", 2], 2, ""),
                            (["-n", 2, "-perhost", 4], 2, ""), (["-n", 4, "-ppn", 2], 4, "-ppn 2"), (["--map-by", "ppr:1:node", "-n", 2], 2, "--map-by")):
        job = run(*words, *sh("echo $PMI_SIZE"))
        same((job.code, job.out), (0, f"{n}\n" * n))
        same(len(job.err.splitlines()), 1 if noted else 0)
        holds(job.err, noted)
    refused("-ppn", "0", "true", words=["number of ranks"])
    refused("--map-by", "ppr:2:socket", "true", words=["for each node only"])
    refused("--map-by", "ppr:x:node", "true", words=["--map-by ppr:x:node: the number of ranks must be 1 to"])


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


CASES = [variables_are_set_and_the_part_wins, an_outer_launchers_variables_do_not_get_in, the_launchers_own_variables_are_refused,
         the_launchers_libraries_are_found_last, the_working_directory_is_set, parts_share_one_numbering, the_nearest_option_is_named,
         impossible_values_are_refused, the_timeout_may_be_a_variable, other_machines_are_refused_with_the_reason, slots_are_added_up_and_too_few_are_told,
         more_ranks_than_slots_are_refused_where_that_is_asked, one_rank_is_told_where_open_mpi_starts_more,
         files_of_hosts_may_be_spelled_as_others_do, what_has_no_effect_is_accepted_with_one_line,
         what_has_a_counterpart_is_refused_with_it, ranks_of_each_machine_are_the_ranks, job_scripts_of_others_run,
         help_and_version_go_to_standard_output]

if __name__ == "__main__":
    sys.exit(run_cases(CASES, sys.argv[1]))
