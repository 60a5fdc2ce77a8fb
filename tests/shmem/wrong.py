"""What the tests of wrong calls share: jobs in a clean environment, and cases that end the job with certain words."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import clean_env  # noqa: E402  pylint: disable=wrong-import-position


def run(mpiexec, *words, seconds=30, **env):
    """A job of these words, ended by its launcher after that time; no settings but `env`."""
    clean = clean_env.environment()
    return subprocess.run([mpiexec, "--timeout", str(seconds), *words], env={**clean, "HOTLANE_CONF": "", **env}, capture_output=True,
                          text=True, timeout=seconds + 20, stdin=subprocess.DEVNULL, check=False)


def main(cases, pes, nears=("1",)):
    """`cases`: the program's word for each, and what is said when that has ended the job with code 1. usage: X MPIEXEC PROGRAM"""
    mpiexec, program = sys.argv[1:]
    failed = 0
    for near, case in [(near, case) for near in nears for case in cases]:
        done = run(mpiexec, "-n", str(pes), program, case, HOTLANE_NEAR=near)
        if done.returncode != 1 or not re.search(cases[case], done.stderr):
            failed += 1
            print(f"{case}, HOTLANE_NEAR={near}: exit code {done.returncode}, says\n{done.stderr}")
    return failed != 0
