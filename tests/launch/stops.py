"""What codes.py, mpi.py and foreign.py share: a rank that is stopped while others wait for it is said in one line for each stop."""
import os
import signal
import tempfile
import time

from harness import same, state_of, until

BY_PEERS = "on this node is stopped"
BY_MPIEXEC = "is stopped by signal"
LIMIT = 60     # seconds for a line: a wait is long after one, the next look comes a second later
NO_SECOND = 2.5   # seconds in which another line would come


def words(err):
    """What is in a file to which others still write, at an offset that they share with us, so that it must not move."""
    return os.pread(err.fileno(), os.fstat(err.fileno()).st_size, 0).decode(errors="replace")


def play(start, program, line, ranks=3):
    """Rank 1 stops while the others wait for it in a collective, and again when they wait in MPI_Finalize.
    `start`: as Launcher.start. `line`: BY_PEERS or BY_MPIEXEC; the other one is never said."""
    with tempfile.TemporaryFile() as err:
        job = start(ranks, program, "stops", stderr=err)
        for stop in (1, 2):
            pid = int(job.lines(1)[0].split()[-1])
            until(lambda p=pid: state_of(p) == "T", "rank 1 is stopped")
            until(lambda n=stop: words(err).count(line) >= n, f"stop {stop} is said", LIMIT)
            time.sleep(NO_SECOND)
            same((words(err).count("is stopped"), words(err).count(f"rank 1 (pid {pid}) {line}")), (stop, stop))
            os.kill(pid, signal.SIGCONT)
        job.end(timeout=60)
        same((job.code, words(err).count("is stopped")), (0, 2))
    job.must_leave_nothing()
