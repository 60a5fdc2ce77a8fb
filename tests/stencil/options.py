#!/usr/bin/env python3
"""Impossible inputs are refused with a line that names what was asked and what would do."""
import os
import re
import subprocess

import stencil_test

REFUSED = [
    (["--problem", "sod"], ["--problem sod", "orszag-tang", "brio-wu", "alfven", "blast", "sedov"]),
    (["--zones", "100"], ["--zones 100", "NX,NY"]),
    (["--zones", "64,64,0"], ["--zones 64,64,0", "NX,NY,NZ"]),
    (["--zones", "32,32,20", "--patch", "8"], ["--zones 32,32,20", "--patch 8", "--patch 4"]),
    (["--problem", "sedov", "--zones", "32,32"], ["--problem sedov --zones 32,32", "--zones 32,32,32"]),
    (["--zones", "100,100", "--patch", "16"], ["--zones 100,100", "--patch 16", "--patch 20"]),
    (["--zones", "7,5", "--patch", "3"], ["--zones 7,5", "divides them"]),
    (["--patch", "1"], ["--patch 1", "2 ghost zones"]),
    (["--api", "tcp"], ["--api tcp", "mpi, shmem"]),
    (["--api", "shmem", "--signal", "notify"], ["--api shmem", "use --"]),  # words of both kinds of builds
    (["--signal", "flag"], ["--signal flag", "put, accumulate, fetch_op, notify"]),
    (["--signal", "put_signal"], ["--api mpi --signal put_signal", "is of --api shmem", "--signal put"]),
    (["--transfer", "send"], ["--transfer send", "put, get"]),
    (["--api", "shmem", "--checkpoint", "f"], ["--checkpoint", "use --api mpi"]),
    (["--flush", "never"], ["--flush never", "patch, batch, all, nonblocking"]),
    (["--api", "shmem", "--flush", "nonblocking"], ["--api shmem", "use --"]),  # words of both kinds of builds
    (["--boundary", "wall"], ["--boundary wall", "periodic, outflow"]),
    (["--steps", "0"], ["--steps 0", "from 1"]),
    (["--time", "-1"], ["--time -1", "above 0"]),
    (["--steps", "5", "--time", "1"], ["--steps 5", "--time 1", "one of them"]),
    (["--threads", "many"], ["--threads many", "whole number"]),
    (["--patch"], ["--patch", "needs a value"]),
    (["--quiet=no"], ["--quiet=no", "takes no value"]),
    (["--serial", "--profile", "f"], ["--serial --profile f", "leave one out"]),
    (["--frobnicate"], ["--frobnicate", "--help"]),
]


def test_impossible_inputs_are_refused(stencil):
    for arguments, words in REFUSED:
        for more in ([], ["--serial"]):
            if more and arguments[0] == "--patch" or more and "--patch" in arguments:
                continue  # the serial run has no patches
            code, out, err = stencil.call(0, arguments + more)
            assert code == 2, f"{arguments}: exit code {code}\n{out}{err}"
            assert err.startswith("stencil: ") and err.count("\n") == 1, f"{arguments}: {err}"
            for word in words:
                assert word in err, f"{arguments}: no {word!r} in {err}"


def test_one_rank_speaks_for_all(stencil):
    code, _, err = stencil.call(2, ["--patch", "7"])
    assert code == 2 and err.count("--patch 7") == 1, f"exit code {code}\n{err}"


def test_a_serial_run_is_refused_to_several_ranks(stencil):
    grid = ["--serial", "--zones", "16,16", "--steps", "1", "--quiet"]
    code, _, err = stencil.call(2, grid)
    assert code == 2 and err.count("--serial: 2 ranks") == 1, f"exit code {code}\n{err}"
    assert stencil.call(1, grid)[0] == 0


def test_more_ranks_than_patches_are_refused(stencil):
    code, _, err = stencil.call(3, ["--zones", "16,8", "--patch", "8", "--steps", "1"])
    assert code == 1, f"exit code {code}\n{err}"
    for word in ["2 patches cannot", "by 3 ranks", "at most 2 ranks"]:
        assert err.count(word) == 1, err
    code, _, err = stencil.call(2, ["--zones", "8,8", "--patch", "8", "--steps", "1"])
    assert code == 1 and err.count("1 patch cannot be shared by 2 ranks; use 1 rank, or") == 1, f"exit code {code}\n{err}"


def test_help_names_every_option(stencil):
    code, out, _ = stencil.call(0, ["--help"])
    assert code == 0
    for word in ("problem zones boundary api threads patch steps time transfer signal flush overlap picture profile json checkpoint "
                 "restart serial help").split():
        assert f"--{word}" in out, word


def test_scripts_explain_themselves(_):
    perf = os.path.dirname(stencil_test.stencil_run.__file__)
    for name in ("stencil-sweep", "stencil-share", "install-peers", os.path.join("..", "tools", "demo")):
        made = subprocess.run([os.path.join(perf, name), "--help"], capture_output=True, text=True)
        assert made.returncode == 0 and "usage: " in made.stdout, (name, made)


def test_scripts_refuse_senseless_numbers(_):
    perf = os.path.dirname(stencil_test.stencil_run.__file__)
    for name, option in (("passive", "--phases"), ("lanes", "--milliseconds"), ("mem_page", "--rounds"), ("msgrate", "--rounds"),
                         ("stencil-sweep", "")):
        for number in ("0", "-3", "x"):
            made = subprocess.run([os.path.join(perf, name), f"{option}={number}" if option else number], capture_output=True, text=True)
            assert made.returncode == 2 and f"{number}: expected a whole number from 1" in made.stderr, (name, made)


def test_serial_and_parallel_agree(stencil):
    grid = ["--zones", "32,32", "--patch", "8", "--steps", "5"]
    serial = stencil.run(0, grid + ["--serial"])
    parallel = stencil.run(2, grid + ["--threads", "2"])
    alone = stencil.run(0, grid + ["--threads", "2"])
    assert serial["hash"] == parallel["hash"] == alone["hash"], (serial, parallel, alone)
    assert serial["communication_share"] is None and 0 <= parallel["communication_share"] <= 1
    assert (parallel["ranks"], parallel["threads"], parallel["steps"], parallel["patch"]) == (2, 2, 5, 8), parallel
    for key in "problem zones seconds zones_per_s mean_energy rho_min rho_max max_divb lanes leases_contended".split():
        assert key in serial and key in parallel, key


def test_openshmem_gives_the_same_answer(stencil):
    grid = ["--problem", "blast", "--zones", "16,16,16", "--patch", "8", "--steps", "5"]
    if "shmem" not in stencil.apis():
        print("     (built without OpenSHMEM)")
        return
    hashes = {stencil.run(2, grid + ["--threads", "2", "--api", "shmem", "--signal", "put_signal"], way)["hash"]
              for way in ({}, {"HOTLANE_NEAR": "0"})}
    assert hashes == {stencil.run(0, grid + ["--serial"])["hash"]}, hashes


def test_closing_table_says_where_windows_live(stencil):
    code, out, err = stencil.call(2, ["--zones", "32,32", "--patch", "8", "--steps", "3", "--threads", "2"])
    rows = re.findall(r"^  windows? of ranks? .*: pages of \w+, on nodes (?:\d+:\w+,?)+$", out, re.M)
    assert code == 0 and bool(rows) == (stencil.mpi == "hotlane"), out + err


if __name__ == "__main__":
    stencil_test.main(globals())
