"""Jobs that mostly wait, some at a time."""
import concurrent.futures


def run(job, rows, at_once=3):
    """Prints what job(*row) returns as (text, is it right?) of each row, in their order; returns how many were not right."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(job, *row) for row in rows]:
            text, right = future.result()
            print(text, flush=True)
            failed += not right
    return failed
