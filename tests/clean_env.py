"""The environment that scripts give to what they test: without what a user has set for this library, or carries along for
others, which is told of in a line of its own."""
import os

OF_OTHERS = ("MPICH_", "MPIR_", "OMPI_", "I_MPI_", "UCX_", "MV2_", "SMA_", "SHMEM_", "XT_")


def environment(*more):
    """A copy, also without names that begin with one of `more`."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("HOTLANE_", "XDG_CONFIG") + OF_OTHERS + more)}
