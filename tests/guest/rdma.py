"""Guests with soft RoCE: RDMA with its registration, keys and connections, on a machine that has no such card. What they run.

The programs are those of the build folder, under this machine's path."""
import functools
import os
import shlex
import subprocess
import sys
from pathlib import Path

from cases import Step

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "net"), str(HERE.parent)]
import drawn  # noqa: E402  pylint: disable=wrong-import-position
import fabrics  # noqa: E402  pylint: disable=wrong-import-position

# Few completion entries are what this device has; a heap of gigabytes would be memory that cannot be moved. Ranks of one machine
# are kept on its loopback interface if nobody names the network; in a file, as scripts run programs without HOTLANE_ variables.
# Who crashes leaves a core file, which step() tells of. TEST_LOCKED tells programs that what is registered here is locked, and so has
# its pages at once and keeps them.
ALL = """
export HOTLANE_NEAR=0 FI_UNIVERSE_SIZE=16 SHMEM_SYMMETRIC_SIZE=16M TEST_LOCKED=1
mkdir -p $HOME/.config && echo "HOTLANE_PROVIDER=verbs;ofi_rxm" >$HOME/.config/hotlane.conf
ulimit -c unlimited
echo '/tmp/core.%p.%E' >/proc/sys/kernel/core_pattern
"""
# One device, on an interface that leads nowhere.
ONE = ALL + """
ip link add dum0 type dummy && ip addr add 10.9.0.1/24 dev dum0 && ip link set dum0 up && rdma link add rxe0 type rxe netdev dum0
"""
# A device at each end of a cable. What one end's address sends to the other's goes through the cable, although both are here.
TWO = ALL + """
ip() { /usr/bin/env ip "$@"; } # busybox's knows no peers
ip rule add pref 100 lookup local && ip rule del pref 0
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
ip rule add pref 10 iif lo from 10.9.0.1 to 10.9.0.2 lookup 11
ip rule add pref 10 iif lo from 10.9.0.2 to 10.9.0.1 lookup 12
lead() {
    ip addr add $2/24 dev $1
    for word in accept_local=1 rp_filter=0 arp_ignore=1; do echo ${word#*=} >/proc/sys/net/ipv4/conf/$1/${word%=*}; done
    ip link set $1 up && ip route add $3 dev $1 table $4 && rdma link add $5 type rxe netdev $1
}
plug() { ip link add a0 type veth peer name b0 && lead a0 10.9.0.1 10.9.0.2 11 rxe0 && lead b0 10.9.0.2 10.9.0.1 12 rxe1; }
plug
"""
PEER_TIMEOUT = 5
TOLD_S = 25  # the time for a look or two, a connection that is tried, and an emulated machine
# Said by COUNT ranks within SECONDS from the moment at which rank 1's host is gone; only then its launcher sees it die. Who
# has said nothing leaves a core file.
CUT = TWO + f"export HOTLANE_PEER_TIMEOUT={PEER_TIMEOUT}" + """
cut_off() {
    said=/tmp/said words=$1 count=$2 seconds=$3 program=$4
    shift 4
    "$@" >$said 2>&1 &
    job=$! victim=
    while [ -z "$victim" ] && kill -0 $job 2>/dev/null; do sleep 0.2; victim=$(sed -n 's/^cut //p' $said); done
    ip link set b0 down
    begin=$(date +%s)
    while [ $(($(date +%s) - begin)) -lt $seconds ] && [ $(grep -c "$words" $said) -lt $count ]; do sleep 0.2; done
    told=$(grep -c "$words" $said)
    echo "$told of $count were told after $(($(date +%s) - begin)) s"
    [ $told = $count ] || kill -ABRT $(pidof $program)
    kill -9 $victim
    over $job $program
    code=$?
    cat $said
    rdma link delete rxe0 && rdma link delete rxe1 && ip link delete a0 && plug
    test $code = 137
}
over() { # the job's code; who does not come to an end leaves a core file
    waited=0
    while kill -0 $1 2>/dev/null && [ $waited -lt 100 ]; do sleep 0.2; waited=$((waited + 1)); done
    [ $waited -lt 100 ] || kill -ABRT $(pidof $2)
    wait $1
}
# stopped SECONDS PROGRAM COMMAND...: rank 1 does not run for so long, from when a line "cut" comes.
stopped() {
    seconds=$1 program=$2 said=/tmp/said
    shift 2
    "$@" >$said 2>&1 &
    job=$!
    while kill -0 $job 2>/dev/null && ! grep -q '^cut' $said; do sleep 0.2; done
    victim=
    for pid in $(pidof $program); do tr '\\0' '\\n' </proc/$pid/environ | grep -qx PMI_RANK=1 && victim=$pid; done
    echo "rank 1 is process $victim of $(pidof $program)"
    kill -STOP $victim && sleep $seconds && kill -CONT $victim
    over $job $program
    code=$?
    cat $said
    return $code
}
"""
USER = "chmod 666 /dev/infiniband/*; ulimit -l 8192; exec setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "
SENT = "/sys/class/infiniband/rxe%d/ports/1/hw_counters/sent_pkts"
BOOTS = {
    "rdma": dict(what="soft RoCE, one device: a few programs", prepare=ONE, seconds=580),
    "rdma-brief": dict(what="soft RoCE, one device: those of them that everybody runs", prepare=ONE, seconds=580),
    "rdma-hosts": dict(what="soft RoCE, two devices at one cable: programs of two hosts, and a rank's death", prepare=TWO, seconds=580),
    "rdma-cut": dict(what="soft RoCE, two devices: a host is gone, of which nobody tells; a process is stopped", prepare=CUT,
                     seconds=580),
    "rdma-kills": dict(what="soft RoCE, one device: random kills of the stencil", prepare=ONE, seconds=1780),
    "rdma-sweep": dict(what="soft RoCE, one device: the stencil, configured at random", prepare=ONE, seconds=3580),
    "rdma-gups": dict(what="soft RoCE, one device: random updates of OpenSHMEM", prepare=ONE, seconds=580),
    "rdma-acc": dict(what="soft RoCE, one device: accumulates again and again beside busy processes", prepare=ONE, seconds=7180),
}
PARTS = 2  # boots for the suites
DRAWN = 20  # rows of the suites that are there by chance, other ones each day (tests/drawn.py)
BOOTS |= {f"rdma-suite-{part}": dict(what=f"soft RoCE, one device: each program of several ranks, part {part} of {PARTS}", prepare=ONE,
                                     seconds=3580) for part in range(1, PARTS + 1)}
KEPT = ["rdma", "rdma-brief", *(f"rdma-suite-{part}" for part in range(1, PARTS + 1))]  # whose results docs/FABRICS.md has
SKIPPED = "exit_code_77"  # the last line of a row that says so
SLOW = 10  # times, which an emulated machine takes longer
# Valgrind does not see what a card writes, and finds fault with its libraries; a program's static objects are locked whole, a gigabyte.
UNLIKE = "valgrind", "statics"
RANKS = 4  # at most: a rank takes some megabytes of locked memory, and there are two CPUs


def job(build, ranks, program, *words):
    return shlex.join(["mpiexec", "-n", str(ranks), "--timeout", "100", os.path.join(build, program), *words])


def shell(text):
    """A command for the shell of this machine, which finds its programs: that of the guest has many of them inside."""
    return shlex.join(["/usr/bin/env", "sh", "-c", text])


PROVEN = ["verbs;ofi_rxm", "6 of 6 steps proven"]


def proof(*host):
    """What docs/FABRICS.md asks who has such a network for."""
    return shlex.join(["mpiexec", "-n", "2", "--timeout", "200", *host, "hotlane-info", "--prove", "--seconds", "1"])


def went(device, packets):
    sent = SENT % device
    return Step(f"it went by RDMA, device {device}", command=shell(f"cat {sent}; test $(cat {sent}) -gt {packets}"))


def few(build):
    """A look at everything, in the time that everybody's tests have."""
    stencil = os.path.join(build, "perf", "stencil")
    grid = f"{shlex.quote(stencil)} --zones 64,64 --patch 16 --steps 10"
    return [
        Step("the network", command="env HOTLANE_PROVIDER= hotlane-info", says=[r"network +verbs;ofi_rxm: best"]),
        Step("hello", command=job(build, 2, "tests/mpi/mpi_hello", "multiple"), needs="tests/mpi/mpi_hello", env={"HOTLANE_LOG": "info"},
             says=["network: verbs;ofi_rxm"]),
        Step("acc", command=job(build, 2, "tests/mpi/mpi_rma_acc"), needs="tests/mpi/mpi_rma_acc"),
        Step("an endpoint closes over messages", command=job(build, 1, "tests/net/net_closing"), needs="tests/net/net_closing"),
        Step("oracle", command=job(build, 2, "tests/mpi/mpi_rma_oracle", "--steps", "1000", "--threads", "2"),
             needs="tests/mpi/mpi_rma_oracle"),
        Step("threads", command=job(build, 2, "tests/mpi/mpi_rma_threads", "4"), needs="tests/mpi/mpi_rma_threads"),
        Step("memory mapped anew", command=job(build, 2, "tests/mpi/mpi_rma_remap", "50"), needs="tests/mpi/mpi_rma_remap"),
        Step("memory that may only be read", command=job(build, 2, "tests/mpi/mpi_rma_readonly", "origins"), needs="tests/mpi/mpi_rma_readonly"),
        Step("fork", command=job(build, 2, "tests/mpi/mpi_rma_fork", "5", "alone"), needs="tests/mpi/mpi_rma_fork"),
        Step("a user who may lock 8 MiB", command=shell(USER + shlex.quote(job(build, 2, "tests/mpi/mpi_rma_acc"))),
             says=["may lock 8M of memory", " 0 failed"], needs="tests/mpi/mpi_rma_acc"),
        Step("the automatic heap of such a user", needs="tests/shmem/shmem_smoke",
             command=shell(USER + shlex.quote("unset SHMEM_SYMMETRIC_SIZE; " + job(build, 2, "tests/shmem/shmem_smoke")))),
        Step("shmem", command=job(build, 2, "tests/shmem/shmem_smoke"), needs="tests/shmem/shmem_smoke"),
        Step("stencil", command=shell(f"mpiexec -n 2 --timeout 100 {grid} --threads 4 && "
                                      f"env -u HOTLANE_NEAR mpiexec -n 2 --timeout 100 {grid} --threads 4"),
             says=[r"(?s)hash (\w{16})\n.*hash \1\n"], needs="perf/stencil"),
        Step("hotlane-info --prove", command=proof(), says=PROVEN, needs="tools/hotlane-info"),
        went(0, 10000),
    ]


BRIEF = {"the network", "hello", "acc", "oracle", "threads", "shmem", "stencil", "hotlane-info --prove"}


def brief(build):
    """What everybody runs (suite `full`): 90 seconds of one CPU."""
    return [step for step in few(build) if step.name in BRIEF] + [went(0, 10000)]


def on_hosts(build, ranks, program, *words, options=()):
    return shlex.join(["mpiexec", "-n", str(ranks), "--timeout", "100", *options, str(HERE / "host"), os.path.join(build, program),
                       *words])


def hosts(build):
    kill = "tests/launch/mpi_rma_kill"
    stencil = "--zones 64,64 --patch 16 --steps 10 --threads 2"
    on_two = functools.partial(on_hosts, build)
    dies = on_two(2, kill, "1", "500", "2", options=["--keep-going"])
    return [
        Step("acc of two hosts", command=on_two(2, "tests/mpi/mpi_rma_acc"), needs="tests/mpi/mpi_rma_acc"),
        Step("oracle of two hosts", command=on_two(2, "tests/mpi/mpi_rma_oracle", "--steps", "1000"),
             needs="tests/mpi/mpi_rma_oracle"),
        Step("messages of two hosts", command=on_two(2, "tests/mpi/mpi_p2p_order"), needs="tests/mpi/mpi_p2p_order"),
        Step("shmem of two hosts", command=on_two(2, "tests/shmem/shmem_smoke"), needs="tests/shmem/shmem_smoke"),
        Step("stencil of two hosts", command=shell(f"stencil=$PWD/perf/stencil; $stencil {stencil} --serial && "
                                                   + on_two(2, "perf/stencil", *stencil.split())),
             says=[r"(?s)hash (\w{16})\n.*hash \1\n"], needs="perf/stencil"),
        Step("hotlane-info --prove of two hosts", command=proof(str(HERE / "host")), says=PROVEN, needs="tools/hotlane-info"),
        went(0, 2000), went(1, 2000),
        Step("a rank dies", command=shell(f"{dies}; test $? = 137"), says=["rank 0: 2 threads told after"], needs=kill),
    ]


def cut(build):
    """Rank 1 lives on; its host answers nothing any more."""
    def cut_off(what, words, ranks, program, *arguments):
        command = on_hosts(build, ranks, program, *arguments, "cut", options=["--keep-going"])
        return Step(what, command=shlex.join(["cut_off", words, str(ranks - 1), str(TOLD_S), os.path.basename(program)]) + " " + command,
                    says=[f"{ranks - 1} of {ranks - 1} were told"], needs=program)
    kill, messages = "tests/launch/mpi_rma_kill", "tests/mpi/mpi_p2p_kill"
    return [
        cut_off("one-sided operations", "2 threads told", 3, kill, "1", "500", "2"),
        *(cut_off(scene, "is through", 3, messages, scene) for scene in ("ssend", "receive", "receive_any", "barrier")),
        *(Step(f"a stopped rank, {what}", says=says,
               command=shlex.join(["stopped", "20", "hosts_waits"]) + " " + on_hosts(build, 2, "tests/hosts/hosts_waits", *what.split()),
               needs="tests/hosts/hosts_waits") for what, says in
          (("receive 3", ["rank 1 has not answered for 1. s, but its host does", "rank 1 answers again"]),
           ("put 14", []))),  # cards do without the process
    ]


def ranks_of(row):
    return int(row[1][row[1].index("-n") + 1])


def chosen(build):
    """Of Meson's rows that force the network: each program once, with the fewest ranks, all without chains, and some of the others.

    All would be nearly twice as many, and these have up to two hours of an emulated machine. What RDMA does in another way (keys,
    registration, connections, direct operations) every program meets; how else the same program is run is above the provider."""
    rows = [row for row in fabrics.rows(Path(build), "full") if ranks_of(row) <= RANKS and not any(word in row[0] for word in UNLIKE)]
    first = {}
    for row in sorted(rows, key=lambda row: (not row[0].endswith(", net"), ranks_of(row))):
        first.setdefault(next(word for word in row[1][1:] if "/" in word), row)
    names = {row[0] for row in first.values()} | {row[0] for row in rows if row[0].endswith(", direct")}
    names |= {row[0] for row in drawn.draw([row for row in rows if row[0] not in names], DRAWN, lambda row: row[0])}
    return [row for row in rows if row[0] in names]


def suite(part, build):
    """Every so-manyth of the chosen rows. The programs find the library by themselves; files that they make are this machine's."""
    found = []
    for name, command, env, _ in chosen(build)[part - 1::PARTS]:
        if command[-1].endswith("rma_fork"):
            command = [*command, "5", "alone"]  # under emulation one thread forks
        there = [os.path.join(build, word) for word in command]
        words = [path if "/" in word and os.path.exists(path) else word for word, path in zip(command, there)]
        if "--timeout" in words:
            at = words.index("--timeout") + 1
            words[at] = str(SLOW * int(words[at]))
        env = {key: value for key, value in env.items() if key != "LD_LIBRARY_PATH"}
        found.append(Step(name, command=shell(f"cd /tmp; {shlex.join(words)}; code=$?; test $code = 77 || exit $code; echo {SKIPPED}"),
                          env=env, needs="tools/mpiexec"))
    return found


def keep(name, build, texts, failed):
    """The result of a boot for docs/FABRICS.md. `texts`: what each step printed; `failed`: what is wrong, of steps that are not right."""
    if name not in KEPT:
        return
    told = texts.get("the network", "")
    if not told:  # a suite: a guest has the libfabric of this machine
        told = subprocess.run([os.path.join(build, "tools", "hotlane-info")], capture_output=True, text=True).stdout
    skipped = {step: SKIPPED for step, text in texts.items() if step not in failed and text.endswith(SKIPPED + "\n")}
    fabrics.keep(Path(build), f"verbs;ofi_rxm@guest {name}", {
        "provider": "verbs;ofi_rxm", "source": "in a guest", "version": fabrics.version_of(told),
        "offer": fabrics.offer_of(texts.get("the network", "")), "rows": name, "what": BOOTS[name]["what"],
        "passed": len(texts.keys() - failed.keys() - skipped.keys()), "skipped": skipped, "failed": failed})


def script(name, build, *words):
    """One of perf/, over the network. It may write beside itself, and those that it kills leave no files."""
    line = shlex.join([str(HERE.parents[1] / "perf" / name), "--build", build, *words])
    return [Step(name, command=shell(f"cd /tmp && ulimit -c 0 && {line}"), needs="perf/stencil")]


def many(build):
    """Accumulates beside as many busy processes as there are CPUs: a crash on verbs was seen once in five runs under load."""
    run = job(build, 2, "tests/mpi/mpi_rma_acc")
    return [Step("200 runs of acc", needs="tests/mpi/mpi_rma_acc", says=["all 200 runs are right"], command=shell(f"""
        for cpu in $(seq $(nproc)); do (while :; do :; done) & busy="$busy $!"; done
        for i in $(seq 200); do
            {run} >/tmp/acc.said 2>&1 || {{ code=$?; cat /tmp/acc.said; dmesg | tail -5; break; }}
            test $((i % 20)) = 0 && echo $i runs after $(cut -d. -f1 /proc/uptime) s
        done
        kill $busy
        test ${{code:-0}} = 0 && echo all $i runs are right"""))]


def steps(name, build):
    if name.startswith("rdma-suite-"):
        return suite(int(name.rpartition("-")[2]), build)
    return {"rdma": few, "rdma-brief": brief, "rdma-hosts": hosts, "rdma-cut": cut, "rdma-acc": many,
            "rdma-kills": lambda build: script("kill-test", build, "20", "--ways", "net"),
            "rdma-sweep": lambda build: script("stencil-sweep", build, "50", "--timeout", "300"),
            "rdma-gups": lambda build: script("gups", build, "--ours", "--threads", "1,4", "--words", "12", "--updates", "20000",
                                              "--rounds", "1")}[name](build)
