#!/usr/bin/env python3
"""The hash sees an exchange that is wrong in a small way: an off-by-one in packing, one in the slot's parity."""
import stencil_test

GRID = ["--zones", "64,64", "--patch", "16", "--steps", "12"]


def hashes(stencil, transfer, plant, *more, grid=GRID):
    want = stencil.run(0, grid + ["--serial"])["hash"]
    have = stencil.run(2, grid + ["--threads", "2", "--transfer", transfer, "--plant", plant, *more])["hash"]
    return want, have


def test_packing_one_zone_beside_changes_the_hash(stencil):
    for transfer in ("put", "get"):
        want, have = hashes(stencil, transfer, "pack")
        assert want != have, transfer


def test_the_slot_of_the_other_parity_changes_the_hash(stencil):
    for transfer in ("put", "get"):
        want, have = hashes(stencil, transfer, "parity")
        assert want != have, transfer


def test_blocks_sent_with_their_flags_are_seen_as_well(stencil):
    if stencil.mpi == "hotlane":
        for plant in ("pack", "parity"):
            want, have = hashes(stencil, "put", plant, "--signal", "notify")
            assert want != have, plant


def test_faults_over_openshmem_are_seen_as_well(stencil):
    if "shmem" in stencil.apis():
        for transfer, signal in (("put", "put_signal"), ("put", "put"), ("get", "atomic")):
            for plant in ("pack", "parity"):
                want, have = hashes(stencil, transfer, plant, "--api", "shmem", "--signal", signal)
                assert want != have, (transfer, signal, plant)


def test_faults_in_three_dimensions_are_seen_as_well(stencil):
    grid = ["--problem", "blast", "--zones", "16,16,16", "--patch", "8", "--steps", "6"]
    for plant in ("pack", "parity"):
        want, have = hashes(stencil, "put", plant, grid=grid)
        assert want != have, plant


def test_without_a_fault_the_hash_is_the_serial_one(stencil):
    for transfer in ("put", "get"):
        want, have = hashes(stencil, transfer, "none")
        assert want == have, transfer


if __name__ == "__main__":
    stencil_test.main(globals())
