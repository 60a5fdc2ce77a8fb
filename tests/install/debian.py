#!/usr/bin/env python3
"""Debian's packages of packaging/debian: built in a bare Debian, installed beside mpich, used, and removed without a trace.

usage: debian.py SOURCE_ROOT

Skipped (77) where no bare Debian can be made (bare.py)."""
import os
import re
import shutil
import sys

import bare

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_library_version(version, &n);
    printf("%d ranks of %.7s\n", ranks, version);
    MPI_Finalize();
    return 0;
}
"""
HELLO_FORTRAN = """
program hello
    use mpi
    integer :: ranks, err
    call MPI_Init(err)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
    print '(i0, a)', ranks, " ranks in Fortran"
    call MPI_Finalize(err)
end program
"""
HELLO_SHMEM = r"""
#include <shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    printf("%d PEs\n", shmem_n_pes());
    shmem_finalize();
    return 0;
}
"""
PROGRAMS = {"hello.c": HELLO, "hello.f90": HELLO_FORTRAN, "pes.c": HELLO_SHMEM}
# What packages may leave: caches that the next use makes anew.
CACHES = re.compile(r"/etc/ld\.so\.cache|/var/|/usr/share/info/dir|.*\.pyc|.*__pycache__")


def files_of(machine):
    """Every name outside of caches, and where it leads when it is a link."""
    found = {}
    for folder in ("etc", "usr"):
        for place, folders, names in os.walk(os.path.join(machine.root, folder)):
            for name in folders + names:
                path = os.path.join(place, name)
                inside = path[len(machine.root):]
                if not CACHES.match(inside):
                    found[inside] = os.readlink(path) if os.path.islink(path) else ""
    return found


def build(machine, source):
    target = bare.copy_source(machine, source)
    shutil.copytree(os.path.join(source, "packaging", "debian"), os.path.join(target, "debian"))
    machine.run("apt-get -q update")
    machine.install("dpkg-dev", "debhelper", "build-essential")
    machine.run("cd /source/hotlane && apt-get -q -y build-dep --no-install-recommends ./")
    said = machine.run("cd /source/hotlane && dpkg-buildpackage -b -us -uc")
    # dpkg-shlibdeps warns of libraries that use nothing of what they name: names of one library are so on purpose.
    wrong = [line for line in said.split("\n") if re.search(r"^dh_(install|missing|make|link|strip).*warning|: error:", line)]
    if wrong:
        print("FAILED: the helpers complain:\n" + "\n".join(wrong))
        sys.exit(1)
    print("ok: packages are built: " + machine.run("cd /source && ls *.deb").replace("\n", " "))


def use(machine):
    """Beside mpich: found by names of its own; by everybody's once the administrator says so."""
    machine.install("mpich", "libmpich-dev", "gfortran", "pkg-config")
    before = files_of(machine)
    machine.run("dpkg -i /source/hotlane_*.deb /source/hotlane-dev_*.deb")
    machine.install("libfabric1", "libpmix2", "libmemkind0")
    os.makedirs(os.path.join(machine.root, "work"))
    for name, text in PROGRAMS.items():
        with open(os.path.join(machine.root, "work", name), "w", encoding="utf-8") as f:
            f.write(text)
    machine.expect("mpicc -show", "mpich")
    machine.expect("cd /work && mpicc.hotlane hello.c -o hello && mpirun.hotlane -n 2 ./hello", "2 ranks of Hotlane")
    machine.expect("cd /work && mpifort.hotlane hello.f90 -o hello && mpirun.hotlane -n 2 ./hello", "2 ranks in Fortran")
    machine.expect("cd /work && oshcc.hotlane pes.c -o pes && oshrun.hotlane -n 2 ./pes", "2 PEs")
    machine.expect("cd /work && mpicc hello.c -o hello && mpirun -n 2 ./hello", "ranks of MPICH")
    print("ok: beside mpich, by names of its own")
    alternative = machine.run("update-alternatives --get-selections | awk '$1 ~ /^mpi-/ {print $1}'").strip()
    home = machine.run("ls -d /usr/lib/*/hotlane").strip()
    machine.run("update-alternatives --set mpi /usr/bin/mpicc.hotlane && update-alternatives --set mpirun /usr/bin/mpirun.hotlane && "
                f"update-alternatives --set {alternative} {home}/include")
    machine.expect("cd /work && mpicc hello.c -o hello && mpirun -n 2 ./hello", "2 ranks of Hotlane")
    machine.expect("cd /work && mpif90 hello.f90 -o hello && mpiexec -n 2 ./hello", "2 ranks in Fortran")
    machine.expect("cd /work && gcc hello.c $(pkg-config --cflags --libs mpi) -o hello && mpiexec -n 2 ./hello", "2 ranks of Hotlane")
    machine.expect(f"cd /work && gcc -I/usr/include/{alternative[4:]}/mpi hello.c -lmpi -o hello && mpiexec -n 2 ./hello",
                   "2 ranks of Hotlane")
    print("ok: as the alternative mpi, mpirun and " + alternative)
    machine.run("dpkg --purge hotlane-dev hotlane")
    machine.expect("mpicc -show", "mpich")
    after = files_of(machine)
    left = {name: to for name, to in after.items() if "hotlane" in name + to or ("alternatives" in name and before.get(name) != to)}
    gone = {name: to for name, to in before.items() if "alternatives" in to and after.get(name) != to}
    if left or gone:
        print(f"FAILED: removal leaves {left}, and takes away {gone}")
        sys.exit(1)
    print("ok: removed without a trace")


def steps(machine, source):
    build(machine, source)
    use(machine)


if __name__ == "__main__":
    bare.test(sys.argv[1], steps)
