"""What the scripts about hotlane-info's answers share: expectations that are counted, and the closing line."""
import sys

failures = cases = 0


def expect(what, holds, *shown):
    global failures, cases
    cases += 1
    if not holds:
        failures += 1
        print(f"FAILED: {what}", *shown, sep="\n  ")


def close():
    """Ends the script: code 1 when an expectation failed."""
    print(f"{cases - failures} of {cases} hold")
    sys.exit(1 if failures else 0)
