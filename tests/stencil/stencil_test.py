"""What the stencil's tests share: the runner of perf/ and a small harness."""
import argparse
import os
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "perf"))
import stencil_run  # noqa: E402


def main(tests):
    """Runs the functions of a module named test_… with a Stencil; exit code 77 when the MPI is not here."""
    parser = argparse.ArgumentParser()
    stencil_run.add_arguments(parser)
    options = parser.parse_args()
    bad = 0
    try:
        with stencil_run.Stencil(options.mpi, options.build) as stencil:
            for name, test in tests.items():
                if not name.startswith("test_"):
                    continue
                try:
                    test(stencil)
                    print(f"ok   {name[5:].replace('_', ' ')}", flush=True)
                except (AssertionError, stencil_run.Failed):
                    bad += 1
                    print(f"FAIL {name[5:].replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
    except stencil_run.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    sys.exit(1 if bad else 0)


def near(value, wanted, tolerance):
    assert abs(value - wanted) <= tolerance, f"{value} is not {wanted} within {tolerance}"
