"""Runs the stencil on Hotlane, MPICH or Open MPI for the scripts and tests beside it."""
import json

from peers import HERE, NAMES, Failed, Program, Unavailable, add_arguments

__all__ = ["HERE", "NAMES", "Failed", "Stencil", "Unavailable", "add_arguments"]


class Stencil(Program):
    """The program on one MPI. Close it (or use `with`) to remove what it compiled."""

    def __init__(self, mpi, build):
        # As perf/meson.build says: nothing may change an answer.
        super().__init__("stencil", mpi, build, "stencil_src",
                         ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"])

    def run(self, ranks, arguments, environment=None, timeout=120):
        """The results of a run as a dictionary; raises Failed."""
        out = self.output(ranks, list(arguments) + ["--quiet", "--json", "-"], environment, timeout)
        return json.loads(out[out.index("{"):])
