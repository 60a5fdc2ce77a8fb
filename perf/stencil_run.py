"""Runs the stencil on Hotlane, MPICH or Open MPI for the scripts and tests beside it."""
import contextlib
import json

from peers import HERE, NAMES, Failed, Program, Unavailable, add_arguments

__all__ = ["HERE", "NAMES", "Failed", "Stencil", "Unavailable", "add_arguments", "stencils"]


class Stencil(Program):
    """The program on one MPI. Close it (or use `with`) to remove what it compiled."""

    def __init__(self, mpi, build):
        # As perf/meson.build says: nothing may change an answer.
        super().__init__("stencil", mpi, build, "stencil_src",
                         ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"])

    def apis(self):
        """The words for --api that this program was built with."""
        few = ["--serial", "--zones", "8,8", "--patch", "8", "--steps", "1", "--quiet"]
        return [api for api in ("mpi", "shmem") if self.call(0, few + ["--api", api])[0] == 0]

    def run(self, ranks, arguments, environment=None, timeout=120):
        """The results of a run as a dictionary; raises Failed."""
        out = self.output(ranks, list(arguments) + ["--quiet", "--json", "-"], environment, timeout)
        return json.loads(out[out.index("{"):])


@contextlib.contextmanager
def stencils(options):
    """The stencil on Hotlane and, but with --ours, on every other MPI that is here. Raises Unavailable without Hotlane."""
    with contextlib.ExitStack() as opened:
        found = []
        for name in ["hotlane"] if options.ours else NAMES:
            try:
                found.append(opened.enter_context(Stencil(name, options.build)))
            except Unavailable as reason:
                if name == "hotlane":
                    raise
                print(f"{name}: {reason}")
        yield found
