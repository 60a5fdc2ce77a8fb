#!/usr/bin/env python3
"""Builds programs as users do where another MPI is installed too: nothing of that one may be taken. It is made here, or Debian's
Open MPI or MPICH. CMake, Meson's dependency('mpi') and Autoconf with C, C++ and Fortran,
by PATH alone (CMake, Autoconf) and with what the environment module sets; where the Fortran interface was not built, Fortran must be refused.

usage: beside.py made|openmpi|mpich SOURCE_ROOT BUILD_ROOT

Exit code 77: skipped, as something is not installed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import install

REFUSES = "Hotlane has no Fortran interface"
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(hello {languages})
find_package(MPI REQUIRED)
add_executable(hello_c hello.c)
target_link_libraries(hello_c MPI::MPI_C)
add_executable(hello_cxx hello.cpp)
target_link_libraries(hello_cxx MPI::MPI_CXX)
{more}
"""
CMAKE_FORTRAN = """add_executable(hello_fortran hello.f90)
target_link_libraries(hello_fortran MPI::MPI_Fortran)
"""
MESON = """project('hello', {languages})
executable('hello_c', 'hello.c', dependencies: dependency('mpi', language: 'c'))
executable('hello_cxx', 'hello.cpp', dependencies: dependency('mpi', language: 'cpp'))
{more}
"""
FORTRAN = "executable('hello_fortran', 'hello.f90', dependencies: dependency('mpi', language: 'fortran'))"
# As Autoconf's macros for MPI do: the wrappers are the compilers, and MPI_Init needs no more libraries.
CONFIGURE = """AC_INIT([hello], [1])
AC_PROG_CC([mpicc])
AC_PROG_CXX([mpicxx])
AC_SEARCH_LIBS([MPI_Init], [mpi mpich], [], [AC_MSG_ERROR([there is no MPI])])
{more}
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
CONFIGURE_FORTRAN = """AC_PROG_FC([mpifort])
AC_LANG([Fortran])
AC_FC_SRCEXT([f90])
AC_LINK_IFELSE([AC_LANG_SOURCE([[program test
use mpi_f08
call MPI_Init()
end program]])], [], [AC_MSG_ERROR([there is no mpi_f08])])"""
MAKEFILE = """hello_c: hello.c
	@CC@ @CFLAGS@ -o $@ hello.c @LIBS@
hello_cxx: hello.cpp
	@CXX@ @CXXFLAGS@ -o $@ hello.cpp @LIBS@
hello_fortran: hello.f90
	@FC@ @FCFLAGS@ -o $@ hello.f90
"""
# The other MPI: its wrapper, and a library that only starts and ends.
WRAPPER = """#!/bin/sh
case $1 in
-showme:compile | --showme:compile) echo "-I{0}/include" ;;
-showme:link | --showme:link) echo "-L{0}/lib -lother_mpi" ;;
-showme:version | --showme:version) echo "Open MPI 9.9.9" ;;
*) exit 1 ;;
esac
"""
HEADER = """#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#ifdef __cplusplus
extern "C"
#endif
int MPI_Init(int *, char ***), MPI_Finalize(void);
"""
LIBRARY = """int MPI_Init(int *c, char ***v) { return 0; }
int MPI_Finalize(void) { return 0; }
void mpi_init_(int *err) { *err = 0; }
void mpi_finalize_(int *err) { *err = 0; }
"""
PKG_CONFIG = "Name: other\nDescription: another MPI\nVersion: 9.9.9\nCflags: -I{0}/include\nLibs: -L{0}/lib -lother_mpi\n"


def fail(what, *more):
    print(f"FAILED: {what}", *more, sep="\n")
    sys.exit(1)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, mode)


def make_other(folder):
    for name in ("mpicc", "mpicxx", "mpic++", "mpifort", "mpif90"):
        write(os.path.join(folder, "bin", name), WRAPPER.format(folder), 0o755)
    write(os.path.join(folder, "bin", "mpiexec"), "#!/bin/sh\nexit 1\n", 0o755)
    write(os.path.join(folder, "include", "mpi.h"), HEADER)
    write(os.path.join(folder, "include", "mpif.h"), "")
    write(os.path.join(folder, "lib", "other.c"), LIBRARY)
    install.run(["cc", "-shared", "-fPIC", os.path.join(folder, "lib", "other.c"), "-o", os.path.join(folder, "lib", "libother_mpi.so")])
    for name in ("ompi-c", "ompi-cxx", "ompi-fort", "mpi-c", "mpi-cxx", "mpi-fort"):
        write(os.path.join(folder, "lib", "pkgconfig", name + ".pc"), PKG_CONFIG.format(folder))


def skip(what):
    print(f"skipped: {what} is not installed")
    sys.exit(77)


def other_of(which, work):
    """Name and environment of the other MPI: it is what a user has before the module."""
    clean = {k: v for k, v in os.environ.items() if k not in ("MPI_HOME", "CPATH", "PKG_CONFIG_PATH", "CC", "CXX", "FC")}
    folder = os.path.join(work, "other")
    if which == "made":
        make_other(folder)
        return "another MPI", {**clean, "PATH": f"{folder}/bin:{clean['PATH']}", "PKG_CONFIG_PATH": f"{folder}/lib/pkgconfig"}
    if which == "openmpi":
        if subprocess.run(["pkg-config", "--exists", "ompi-c"], env=clean, check=False).returncode != 0 or not shutil.which("mpicc.openmpi"):
            skip("libopenmpi-dev")
        return "Debian's Open MPI", clean
    if not shutil.which("mpicc.mpich") or not shutil.which("mpifort.mpich"):
        skip("libmpich-dev")
    os.mkdir(folder)
    for name in ("mpicc", "mpicxx", "mpifort", "mpif90", "mpiexec"):
        os.symlink(shutil.which(name + ".mpich"), os.path.join(folder, name))
    return "Debian's MPICH", {**clean, "PATH": f"{folder}:{clean['PATH']}"}


def by_module(prefix, env):
    """What the environment module makes of `env`; the prefix was moved after the module had been installed."""
    name = next(os.path.join(d, f) for d, _, fs in os.walk(os.path.join(prefix, "share", "modulefiles")) for f in fs)
    env = dict(env)
    with open(name, encoding="ascii") as f:
        for line in f:
            found = re.fullmatch(r"(prepend-path|setenv)\s+(\w+)\s+(\S+)\n", line)
            if found is not None:
                value = found[3].replace("$prefix", prefix)
                more = [env[found[2]]] if found[1] == "prepend-path" and env.get(found[2]) else []
                env[found[2]] = ":".join([value] + more)
    if "MPI_HOME" not in env:
        fail(f"{name} was not understood")
    return env


def attempt(command, env):
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          timeout=300, check=False)
    return done.returncode, done.stdout


def project(work, name, build_file, text):
    folder = os.path.join(work, re.sub(r"\W", "", name))
    for source in ("hello.c", "hello.cpp"):
        write(os.path.join(folder, source), open(os.path.join(work, "hello.c"), encoding="ascii").read())
    shutil.copy(os.path.join(work, "hello.f90"), folder)
    write(os.path.join(folder, build_file), text)
    return folder, os.path.join(folder, "build")


def runs(prefix, build, how, fortran):
    for program in ("hello_c", "hello_cxx") + ("hello_fortran",) * fortran:
        needed = install.run(["readelf", "-d", os.path.join(build, program)])
        others_of = re.sub(r"libmpi(fort)?_abi\.so\.1", "", needed)
        if others_of == needed or "libmpi" in others_of or "libother_mpi" in needed:
            fail(f"{how}: {program} was built with the other MPI", needed)
        install.check(prefix, os.path.join(build, program), f"{how}, {program}")


def refuses(how, command, env, words):
    code, out = attempt(command, env)
    if code == 0 or not any(re.search(word, re.sub(r"\s+", " ", out)) for word in words):
        fail(f"{how}: C from one MPI and Fortran from another, or no reason (exit code {code})", out[-4000:])
    install.done.append(how)
    print(f"ok: {how} is refused")


def by_cmake(prefix, work, how, env):
    fortran = bool(install.compiles_fortran(prefix))
    folder, build = project(work, f"cmake {how}", "CMakeLists.txt",
                            CMAKE.format(languages="C CXX" + " Fortran" * fortran, more=CMAKE_FORTRAN * fortran))
    install.run(["cmake", "-S", folder, "-B", build], env=env)
    install.run(["cmake", "--build", build], env=env)
    runs(prefix, build, f"CMake {how}", fortran)
    if not fortran and shutil.which("gfortran"):
        folder, build = project(work, f"cmake Fortran {how}", "CMakeLists.txt", CMAKE.format(languages="C CXX Fortran", more=""))
        refuses(f"CMake with Fortran {how}", ["cmake", "-S", folder, "-B", build], env,
                ["Could NOT find MPI_Fortran .*Hotlane_has_no_Fortran_interface"])


def by_meson(prefix, work, how, env):
    fortran = bool(install.compiles_fortran(prefix))
    folder, build = project(work, f"meson {how}", "meson.build",
                            MESON.format(languages="'c', 'cpp'" + ", 'fortran'" * fortran, more=FORTRAN * fortran))
    install.run(["meson", "setup", build, folder], env=env)
    install.run(["meson", "compile", "-C", build], env=env)
    runs(prefix, build, f"Meson {how}", fortran)
    if not fortran and shutil.which("gfortran"):
        folder, build = project(work, f"meson Fortran {how}", "meson.build",
                                MESON.format(languages="'c', 'cpp', 'fortran'", more=FORTRAN))
        refuses(f"Meson with Fortran {how}", ["meson", "setup", build, folder], env, ['Dependency "mpi" not found'])


def by_autoconf(prefix, work, how, env):
    """Without a folder for the build: configure makes it in that of the sources."""
    fortran = bool(install.compiles_fortran(prefix))
    folder, _ = project(work, f"autoconf {how}", "configure.ac", CONFIGURE.format(more=CONFIGURE_FORTRAN * fortran))
    write(os.path.join(folder, "Makefile.in"), MAKEFILE)
    for command in (["autoconf"], ["./configure"], ["make", "hello_c", "hello_cxx"] + ["hello_fortran"] * fortran):
        install.run(command, env=env, cwd=folder)
    runs(prefix, folder, f"Autoconf {how}", fortran)


def wrappers_refuse(prefix):
    """In one sentence, whatever they are asked."""
    names = ["mpifort", "mpif90", "mpif77"] * (not install.fortran_of(prefix)) + ["oshfort"] * install.has_shmem(prefix)
    for name in names:
        for words in (["-c", "x.f90"], [], ["-show"], ["--showme:version"], ["-v"]):
            code, out = attempt([os.path.join(prefix, "bin", name)] + words, os.environ)
            if code == 0 or REFUSES not in out or out.count("\n") != 1 or not out.startswith(name + ": "):
                fail(f"{name} {words}: exit code {code}", out)
    install.done.append("Fortran's wrappers")


def main():
    which = sys.argv[1]
    source, build = (os.path.abspath(a) for a in sys.argv[2:4])
    for tool in ("cmake", "pkg-config", "meson", "g++", "autoconf", "make"):
        if shutil.which(tool) is None:
            skip(tool)
    with tempfile.TemporaryDirectory(prefix="hotlane-beside-") as work:
        other, env = other_of(which, work)
        os.chdir(work)  # Meson tidies up in the build folder that it is called in, too
        dest, prefix = os.path.join(work, "dest"), os.path.join(work, "prefix")
        install.run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", dest])
        shutil.move(next(d for d, names, _ in os.walk(dest) if "bin" in names), prefix)
        for name in ("hello.c", "hello.f90"):
            shutil.copy(os.path.join(source, "tests", "install", name), work)
        if which == "made":
            wrappers_refuse(prefix)
        if not install.compiles_fortran(prefix) and shutil.which("gfortran") is None:
            print("without Fortran: there is no gfortran that could be refused")
        path = {**env, "PATH": f"{prefix}/bin:{env['PATH']}"}
        by_cmake(prefix, work, f"by PATH beside {other}", path)
        by_autoconf(prefix, work, f"by PATH beside {other}", path)
        env = by_module(prefix, env)
        by_cmake(prefix, work, f"by the module beside {other}", env)
        by_meson(prefix, work, f"by the module beside {other}", env)
        by_autoconf(prefix, work, f"by the module beside {other}", env)
    print(f"{len(install.done)} ways")


if __name__ == "__main__":
    main()
