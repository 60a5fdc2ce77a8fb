#!/usr/bin/env python3
"""Each planted defect of messages must fail a test: usage p2p_faults.py MPIEXEC FOLDER [N], with a build of -Dfaults=true; N: so many of
them and of the deaths, drawn by the date."""
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import drawn  # noqa: E402

TIGHT = {"HOTLANE_RING": "8"}
# defect: environment, launcher's words, program and its words. The same passes without the defect.
FOUND_BY = {
    "port_wander": ({"HOTLANE_NEAR": "0", "HOTLANE_PORTS": "4"}, "-n 2", "p2p_random 20 4"),
    "poll_one": ({"HOTLANE_INBOXES": "4"}, "-n 4", "p2p_waits"),
    "overtake": (TIGHT, "-n 2", "p2p_random 20 2"),
    "newest_first": ({}, "-n 2", "p2p_random 20 2"),
    "xoff_ignored": ({"HOTLANE_NEAR": "0"}, "-n 2", "p2p_pressure 64 4"),
    "isend_waits": ({}, "-n 2", "p2p_waits"),
    "command_order": ({"HOTLANE_INBOXES": "1"}, "-n 1", "p2p_random 60 8"),
    "deaths_untold": ({}, "--keep-going -n 3", "p2p_kill receive"),
}

# Not a defect, but a death or a refusal at the worst moment: the same must go on as without.
WORST = {"die_claimed": ({}, "--keep-going -n 3", "p2p_kill receive_on"),
         "die_helping": ({}, "--keep-going -n 3", "p2p_kill receive_both"),
         "help_fails": ({}, "-n 2", "p2p_both 20"),
         "port_full": ({"HOTLANE_NEAR": "0"}, "-n 2", "p2p_both 4")}


def run(fault, seconds):
    environment, options, program = {**FOUND_BY, **WORST}[fault]
    name, *words = program.split()
    command = [sys.argv[1], *options.split(), "--timeout", str(seconds), os.path.join(sys.argv[2], "mpi_" + name), *words]
    job = subprocess.run(command, text=True, timeout=seconds + 10, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, **environment, "HOTLANE_FAULT": fault if seconds < 60 else ""})
    return job.returncode == 0 or "went on, told" in job.stdout, job.stdout


if __name__ == "__main__":
    lost, every = 0, [*FOUND_BY, *WORST]
    wanted = drawn.draw(every, int(sys.argv[3])) if len(sys.argv) > 3 else every
    for defect in filter(FOUND_BY.get, wanted):
        right, out = run(defect, 60)
        wrong, _ = run(defect, 15)
        found = right and not wrong
        print(f"{defect}: {'found' if found else 'NOT FOUND' if right else 'fails without it: ' + out}", flush=True)
        lost += not found
    for death in filter(WORST.get, wanted):
        right, out = run(death, 15)
        print(f"{death}: {'survived' if right else 'NOT SURVIVED: ' + out}", flush=True)
        lost += not right
    sys.exit(lost != 0)
