#!/usr/bin/env python3
"""Kills a target of one-sided operations at random moments: usage kills.py N MPIEXEC RMA_KILL [SEED].

Near, network and both; with --keep-going every thread of the survivors must be told and go on (tests/mpi/rma_kill.c sees to
that), without it the job must end; nothing may be left behind."""
import os
import random
import sys

N, SEED = int(sys.argv[1]), int(sys.argv[4] if len(sys.argv) > 4 else os.environ.get("TEST_SEED", random.SystemRandom().randrange(1 << 32)))

import harness  # noqa: E402  (reads its own part of the command line)

LIMIT = 5.0  # seconds from the death to the end of the job, or until everybody was told


def kill_one(rng):
    ranks, threads, delay = rng.randint(2, 4), rng.choice([1, 2, 4]), rng.randint(0, 300)
    victim, keep = rng.randrange(ranks), rng.random() < 0.5
    way = rng.choice([{}, {"HOTLANE_NEAR": "0"}, {"HOTLANE_NEAR": "0"}, {"HOTLANE_CLIQUES": "2"}])
    words = ["--keep-going"] * keep + ["-n", ranks, harness.RANK, victim, delay, threads]
    job = harness.run(*words, env=way)
    told = [float(line.split()[-2]) for line in job.out.splitlines() if "told after" in line]
    what = f"{way} {' '.join(map(str, words))}\n{job.out}{job.err}"
    assert job.code == 137, f"code {job.code}: {what}"
    assert "error" not in job.out + job.err.replace("errors", ""), what
    if keep:
        assert len(told) == ranks - 1, f"told: {told}: {what}"
    harness.in_time(max(told, default=0), LIMIT)
    harness.in_time(job.seconds - delay / 1000, LIMIT + 2)


def targets_die_at_random_moments():
    for k in range(N):
        for tries in range(harness.TRIES, 0, -1):
            try:
                kill_one(random.Random(f"{SEED} {k}"))
                break
            except AssertionError as reason:
                if tries == 1 or not isinstance(reason, harness.Late):
                    raise AssertionError(f"kill {k + 1} of {N}, seed {SEED}: {reason}") from None
                print(f"late: kill {k + 1}: {reason}; once more")


if __name__ == "__main__":
    print(f"seed {SEED}")
    sys.argv[1] = "kills"
    sys.exit(harness.main({"kills": [targets_die_at_random_moments]}))
