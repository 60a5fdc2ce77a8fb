#!/usr/bin/env python3
"""What a run and the scripts around it leave: the picture, the trace, the results, the tables."""
import json
import os
import struct
import subprocess
import tempfile

import stencil_test

GRID = ["--zones", "64,32", "--patch", "8", "--steps", "6", "--threads", "2"]


def test_trace_has_a_row_for_each_thread(stencil):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        stencil.run(2, GRID + ["--profile", file])
        with open(file) as f:
            events = json.load(f)["traceEvents"]
    rows = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert rows == {(0, 0), (0, 1), (1, 0), (1, 1)}, rows
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["name"] for e in spans} >= {"compute", "pack", "put/get", "signal", "flush", "wait", "unpack", "sync"}
    for row in rows:
        mine = sorted((e["ts"], e["dur"]) for e in spans if (e["pid"], e["tid"]) == row)
        assert mine and all(a + d <= b + 0.01 for (a, d), (b, _) in zip(mine, mine[1:])), row


def test_picture_is_a_png(stencil):
    with tempfile.TemporaryDirectory() as folder:
        for problem, zones, least in (("orszag-tang", "64,32", 400), ("brio-wu", "64,32", 400), ("sedov", "16,16,16", 400)):
            file = os.path.join(folder, "a picture.png")
            code, _, err = stencil.call(0, ["--problem", problem, "--zones", zones, "--steps", "3", "--serial", "--quiet",
                                            "--picture", file])
            if code == 2 and "without cairo" in err:
                print("     (built without cairo: no picture)")
                return
            assert code == 0, err
            with open(file, "rb") as f:
                head = f.read(24)
            assert head[:8] == b"\x89PNG\r\n\x1a\n" and min(struct.unpack(">II", head[16:])) >= least


def test_the_picture_has_room_for_the_digits_of_its_numbers(stencil):
    widths = []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "picture.png")
        for end in (["--time", "1e-12"], ["--steps", "20"], ["--steps", "1"]):  # 1 but for roundings, 1.00002, 1.0000002
            code, _, err = stencil.call(0, ["--problem", "alfven", "--zones", "64,64", *end, "--serial", "--quiet", "--picture", file])
            if code == 2 and "without cairo" in err:
                return
            assert code == 0, (end, err)
            with open(file, "rb") as f:
                widths.append(struct.unpack(">I", f.read(24)[16:20])[0])
    assert widths == sorted(set(widths)), widths


def test_a_file_that_cannot_be_written_is_named_before_the_run(stencil):
    for option, serial in (("--json", []), ("--profile", []), ("--checkpoint", []), ("--json", ["--serial"]), ("--picture", ["--serial"])):
        code, out, err = stencil.call(0 if serial else 2, GRID + [*serial, option, "/nowhere/file"])
        if code == 2 and "without cairo" in err:
            continue
        assert code == 1 and err.count(f"stencil: {option} /nowhere/file: No such file or directory") == 1, (option, code, err)
        assert "zones" not in out + err, (option, out, err)
    code, _, err = stencil.call(2, GRID + ["--quiet", "--restart", "/nowhere/file"])
    assert code == 1 and err.count("/nowhere/file: no such file") == 1, (code, err)


def test_a_run_goes_on_from_a_checkpoint(stencil):
    for zones, patch, other in (("64,32", "8", "4"), ("16,16,16", "8", "4")):
        grid = ["--problem", "blast", "--zones", zones, "--threads", "2"]
        whole = stencil.run(2, grid + ["--patch", patch, "--steps", "5"])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "state")
            stencil.run(2, grid + ["--patch", patch, "--steps", "3", "--checkpoint", file])
            # On other ranks, with other patches.
            rest = stencil.run(3, grid + ["--patch", other, "--steps", "2", "--restart", file])
            assert rest["hash"] == whole["hash"] and rest["time"] == whole["time"], (zones, whole, rest)
            os.truncate(file, os.path.getsize(file) - 8)
            code, _, err = stencil.call(2, grid + ["--patch", patch, "--quiet", "--restart", file])
            assert code == 1 and f"{file}: ends too early" in err, err
            code, _, err = stencil.call(2, ["--zones", "32,32", "--patch", "8", "--quiet", "--restart", file])
            assert code == 1 and "no state of 32,32,1 zones" in err, err


def test_scripts_print_their_tables(stencil):
    if stencil.mpi != "hotlane":
        return
    perf = os.path.dirname(stencil_test.stencil_run.__file__)
    build = os.path.dirname(os.path.dirname(stencil.program))
    few = ["--build", build, "--zones", "64,64", "--steps", "4", "--rounds", "1", "--ours"]
    for name, words, wanted in (("stencil-share", [], "hotlane, network"), ("oversubscribe", ["--lanes", "", "--jobs", "8x2"], "8 × 2")):
        made = subprocess.run([os.path.join(perf, name)] + few + words, capture_output=True, text=True, timeout=200)
        assert made.returncode == 0 and wanted in made.stdout, (name, made)


if __name__ == "__main__":
    stencil_test.main(globals())
