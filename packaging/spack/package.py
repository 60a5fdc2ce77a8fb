# Spack's recipe, tried with 0.23. Put this folder as `hotlane` into the `packages` of a repository of yours, or use it in place:
#     spack repo create hotlane-repo && mkdir hotlane-repo/packages/hotlane && cp package.py hotlane-repo/packages/hotlane
#     spack repo add hotlane-repo && spack dev-build --source-path SOURCE hotlane@main
from spack.package import *

try:  # Spack 1.0 and newer
    from spack_repo.builtin.build_systems.meson import MesonPackage
except ImportError:
    pass


class Hotlane(MesonPackage):
    """MPI and OpenSHMEM with thread-hot one-sided communication."""

    license("BSD-3-Clause")

    version("main")

    variant("fortran", default=True, description="The Fortran interface: modules mpi_f08 and mpi, mpif.h")
    variant("memkind", default=True, description="Small pieces of fast memory are cut by memkind")
    variant("pmix", default=True, description="Start under PMIx launchers: Open MPI, PRRTE, srun --mpi=pmix")

    provides("mpi@:4.1")
    provides("shmem")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("libfabric@1.17:", type=("build", "link", "run"))
    depends_on("hwloc@2.9:")
    depends_on("numactl")
    depends_on("memkind", when="+memkind")
    depends_on("pmix@4:", when="+pmix")

    conflicts("platform=darwin", msg="Hotlane needs Linux: futexes, memory policies and /proc")

    def meson_args(self):
        options = [f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}" for name in ("fortran", "memkind", "pmix")]
        return options + ["-Dtests=disabled", "-Dperf=disabled"]

    # The wrappers call the compiler itself, and not Spack's wrapper of it, which works while Spack builds only.
    filter_compiler_wrappers("mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif90", "mpif77", "oshcc", "oshcxx", "oshc++", "oshCC",
                             relative_root="bin")

    # libfabric, memkind and PMIx are opened when they are needed.
    def setup_run_environment(self, env):
        env.set("MPICC", self.prefix.bin.mpicc)
        env.set("MPICXX", self.prefix.bin.mpicxx)
        for name in ("MPIF77", "MPIF90", "MPIFC"):
            env.set(name, self.prefix.bin.mpifort)
        for library in ("libfabric",) + tuple(name for name in ("memkind", "pmix") if self.spec.satisfies("+" + name)):
            env.prepend_path("LD_LIBRARY_PATH", self.spec[library].prefix.lib)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpif77 = self.spec.mpifc = self.prefix.bin.mpifort
