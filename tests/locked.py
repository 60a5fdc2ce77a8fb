"""A folder of what is fetched once, which several tests share."""
import contextlib
import fcntl
import os


@contextlib.contextmanager
def locked(folder):
    """Alone in a folder among those who fetch there; made if it is not there."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
