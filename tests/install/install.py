#!/usr/bin/env python3
"""Installs into a folder and builds C, C++ and Fortran programs there as users do: by mpicc, mpicxx and mpifort, oshcc and
oshc++, by pkg-config (shared and static), and by CMake's unmodified find_package(MPI) and pkg_check_modules(sma); each is run
on two ranks. The prefix is moved first, and one installation has a program suffix.

usage: install.py SOURCE_ROOT BUILD_ROOT
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

EXPECTED = "2 ranks, sum 1"
SOURCES = ("hello.c", "hello.cpp", "hello.f90", "hello_shmem.c", "hello_shmem.cpp", "hello_both.c")
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(hello C CXX)
if(FORTRAN)
  enable_language(Fortran)
endif()
find_package(MPI REQUIRED)
if(FORTRAN)
  if(NOT MPI_Fortran_HAVE_F08_MODULE OR (INTEGERS AND NOT (MPI_Fortran_HAVE_F90_MODULE AND MPI_Fortran_HAVE_F77_HEADER)))
    message(FATAL_ERROR "Fortran: ${MPI_Fortran_HAVE_F08_MODULE}, ${MPI_Fortran_HAVE_F90_MODULE}, ${MPI_Fortran_HAVE_F77_HEADER}")
  endif()
  find_package(OpenMP REQUIRED COMPONENTS Fortran)
  add_executable(hello_fortran hello.f90)
  target_link_libraries(hello_fortran MPI::MPI_Fortran OpenMP::OpenMP_Fortran)
endif()
add_executable(hello_c hello.c)
target_link_libraries(hello_c MPI::MPI_C)
add_executable(hello_cxx hello.cpp)
target_link_libraries(hello_cxx MPI::MPI_CXX)
if(SHMEM)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(SMA REQUIRED IMPORTED_TARGET sma)
  add_executable(hello_shmem hello_shmem.c)
  target_link_libraries(hello_shmem PkgConfig::SMA)
endif()
"""
done = []


def run(command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                            stdin=subprocess.DEVNULL, **more)
    if result.returncode != 0:
        print(f"FAILED ({result.returncode}): {' '.join(command)}\n{result.stdout[-4000:]}")
        sys.exit(1)
    return result.stdout


def check(prefix, program, how, launcher="mpiexec", near=True):
    """Runs `program` on two ranks with the installed launcher; or over the network."""
    out = run([os.path.join(prefix, "bin", launcher), "-n", "2", program], env={**os.environ, **({} if near else {"HOTLANE_NEAR": "0"})})
    if EXPECTED not in out:
        print(f"FAILED: {how}: printed {out!r}, expected {EXPECTED!r}")
        sys.exit(1)
    done.append(how)
    print(f"ok: {how}")


def has_shmem(prefix):
    """False for a build with -Dshmem=disabled."""
    return os.path.exists(os.path.join(prefix, "bin", "oshcc"))


def fortran_of(prefix):
    """The compilers whose Fortran modules are installed, as gfortran-12."""
    folder = os.path.join(prefix, "include", "hotlane")
    return sorted(name for name in (os.listdir(folder) if os.path.isdir(folder) else ())
                  if os.path.exists(os.path.join(folder, name, "mpi_f08.mod")))


def has_integers(prefix):
    """Are the interfaces with handles of type INTEGER there, too?"""
    return any(os.path.exists(os.path.join(prefix, "include", "hotlane", name, "mpi.mod")) for name in fortran_of(prefix))


def compiles_fortran(prefix):
    """Can mpifort's own compiler use the modules? A build of another compiler than gfortran is used by that one."""
    return fortran_of(prefix) and shutil.which(run([os.path.join(prefix, "bin", "mpifort"), "-showme:command"]).split()[0])


def has_pages(prefix):
    """Each program, and each name that a page gives itself, has a page."""
    folder = os.path.join(prefix, "share", "man")
    pages = {name: os.path.join(d, name) for d, _, names in os.walk(folder) for name in names}
    wanted = {program + ".1" for program in os.listdir(os.path.join(prefix, "bin"))} | {"MPI_Put.3", "MPI_Put_c.3", "MPI_Win_flush_all.3"}
    for name, path in pages.items():
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.startswith(".so "):
            wanted.add(os.path.basename(text[4:].strip()))
        wanted |= {word + name[-2:] for word in re.findall(r"^\.Nm (\S+)", text.partition(".Nd ")[0], re.M)}
        named = re.search(r'^\.SH "NAME"\n(.*) \\- ', text, re.M)
        wanted |= {word + name[-2:] for word in named[1].split(", ")} if named else set()
    if has_shmem(prefix):
        wanted |= {"shmem_put.3", "shmem_ctx_double_put.3", "shmem_quiet.3"}
    else:
        wanted = {page for page in wanted if not page.startswith("osh")}
    if wanted - set(pages):
        print(f"FAILED: no manual page of {sorted(wanted - set(pages))}")
        sys.exit(1)
    if not os.path.exists(os.path.join(prefix, "share", "doc", "hotlane", "index.html")):
        print("FAILED: no share/doc/hotlane/index.html")
        sys.exit(1)
    done.append("manual pages")


def found_by_apropos(prefix, work):
    """apropos and man -k find our pages by a name, and by a word of what they say. (The index is made of a copy.)"""
    missing = [tool for tool in ("mandb", "apropos", "man") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: apropos: {', '.join(missing)} of man-db is not installed")
        return
    pages = os.path.join(work, "man")
    shutil.copytree(os.path.join(prefix, "share", "man"), pages)
    env = {**os.environ, "LC_ALL": "C.UTF-8", "MANPATH": pages}
    run(["mandb", "--create", "--quiet", "--user-db", pages], env=env)
    asked = {"hotlane": "hotlane-info (1)", "MPI_Win_flush_all": "MPI_Win_flush_all (3)", "until operations on all targets": "MPI_Win_flush_all (3)"}
    if has_shmem(prefix):
        asked["shmem_put"] = "shmem_put (3)"
    for tool in (["apropos"], ["man", "-k"]):
        for word, page in asked.items():
            out = run([*tool, "-M", pages, word], env=env)
            if page not in out:
                print(f"FAILED: {' '.join(tool)} {word}: {page} is not in {out[:500]!r}")
                sys.exit(1)
    done.append("apropos")
    print("ok: apropos and man -k")


def names_no_cache(prefix):
    """The compiler cache of who built it is not asked of who uses it."""
    for tool in ["mpicc", "mpicxx"] + ["oshcc", "oshcxx"] * has_shmem(prefix):
        command = run([os.path.join(prefix, "bin", tool), "-showme:command"])
        if "ccache" in command:
            print(f"FAILED: {tool} compiles with {command}")
            sys.exit(1)
    done.append("compiler's name")


def by_wrappers(prefix, work):
    ways = [("mpicc", "hello.c", "mpi_abi", "mpiexec"), ("mpicxx", "hello.cpp", "mpi_abi", "mpiexec")]
    if has_shmem(prefix):
        ways += [("oshcc", "hello_shmem.c", "sma", "oshrun"), ("oshc++", "hello_shmem.cpp", "sma", "oshrun"),
                 ("oshcc", "hello_both.c", "mpi_abi", "oshrun")]
    if compiles_fortran(prefix):
        ways += [(tool, "hello.f90", "mpifort_abi", "mpiexec") for tool in ("mpifort", "mpif90", "mpif77")]
    for tool, source, library, launcher in ways:
        program = os.path.join(work, tool + "-hello")
        run([os.path.join(prefix, "bin", tool), "-O1", *(["-fopenmp"] * source.endswith("90")), os.path.join(work, source), "-o", program])
        needed = run(["readelf", "-d", program])
        if f"lib{library}.so.1" not in needed or "libhotlane" in needed or source.startswith("hello_shmem") and "libmpi" in needed:
            print(f"FAILED: {source} built by {tool} must need lib{library}.so.1 alone:\n{needed}")
            sys.exit(1)
        check(prefix, program, f"{tool}", launcher)
        if source == "hello_shmem.cpp":
            check(prefix, program, f"{tool}, over the network", launcher, near=False)


def without_run_path(prefix, work):
    """As a build system links that knows the folders only: the launcher's own libraries are found."""
    folder = os.path.dirname(next(os.path.join(d, f) for d, _, fs in os.walk(prefix) for f in fs if f == "libmpi_abi.so.1"))
    program = os.path.join(work, "no-run-path")
    run(["cc", os.path.join(work, "hello.c"), "-o", program, f"-I{prefix}/include", f"-L{folder}", "-lmpi_abi"])
    check(prefix, program, "no run path")
    refused = subprocess.run([os.path.join(prefix, "bin", "mpiexec"), "--no-library-path", "-n", "2", program], capture_output=True, text=True,
                             check=False)
    if refused.returncode != 127 or "libmpi_abi.so.1" not in refused.stderr:
        print(f"FAILED: --no-library-path: {refused.returncode}: {refused.stderr}")
        sys.exit(1)


def shows(prefix, work):
    """-show with arguments prints a line that a shell runs as the wrapper would have."""
    tool, name = os.path.join(prefix, "bin", "mpicc"), "it's here $x"
    line = run([tool, "-show", "-c", "-DNAME=" + name, os.path.join(work, "hello.c"), "-o", os.path.join(work, "shown.o")])
    words = shlex.split(line)
    if "-DNAME=" + name not in words or "-l" in line or line.count("\n") != 1:
        print(f"FAILED: mpicc -show -c: {line}")
        sys.exit(1)
    run(["sh", "-c", line])
    words = shlex.split(run([tool, "-show", "hello.c"]))
    if "hello.c" not in words or words[-1] != "-lmpi_abi" or words[1] != "-I" + os.path.join(prefix, "include"):
        print(f"FAILED: mpicc -show hello.c: {words}")
        sys.exit(1)
    words = shlex.split(run([tool, "-show", "hello.c", "-Xlinker", "-E", "-Xlinker", "-Xlinker", "-c"]))  # only the last is the compiler's
    if words[2:8] != ["hello.c", "-Xlinker", "-E", "-Xlinker", "-Xlinker", "-c"] or len(words) != 8:
        print(f"FAILED: mpicc -show -Xlinker -Xlinker -c: {words}")
        sys.exit(1)
    words = shlex.split(run([tool, "-show", "hello.c", "-Xassembler", "-r", "-Xpreprocessor", "-M"]))
    if words[-1] != "-lmpi_abi" or words[3:7] != ["-Xassembler", "-r", "-Xpreprocessor", "-M"]:
        print(f"FAILED: mpicc -show -Xassembler -r: {words}")
        sys.exit(1)
    words = shlex.split(run([tool, "-show", "hello.c", "-Xlinker", "-E", "-Xlinker", "", "-Xlinker", "-v"]))
    if words[-1] != "-lmpi_abi" or words[3:9] != ["-Xlinker", "-E", "-Xlinker", "", "-Xlinker", "-v"]:
        print(f"FAILED: mpicc -show -Xlinker -E, with an empty argument: {words}")
        sys.exit(1)
    for options in (["-r", "a.o", "b.o"], ["--compile", "hello.c"], ["--analyze", "hello.c"]):
        words = shlex.split(run([tool, "-show", *options]))
        if words[2:] != options: # nothing is linked, or to an object in which shared libraries are refused
            print(f"FAILED: mpicc -show {options}: {words}")
            sys.exit(1)
    if any("-lmpi_abi" not in run([tool, "-show", *options]) for options in (["-v", "hello.c"], ["-O2"], ["-Wl,-v"], ["-lm"])):
        print("FAILED: mpicc -show with what is linked, or with options alone: the library is not there")
        sys.exit(1)
    command = shlex.split(run([tool, "-showme:command"]))
    of_gcc = [["--help=warnings"], ["-Q", "-O2", "--help=optimizers"]] if "Free Software" in run([*command, "--version"]) else []
    for options in (["-std=gnu11", "-v"], ["-v", "-O2"], *of_gcc):
        said = run([tool, *options]).splitlines() # the compiler's own words, with our folder among the options, behind a line
        for line in run([*command, *options]).splitlines():
            if "COLLECT_" not in line and line not in said:
                print(f"FAILED: mpicc {options} does not say: {line}")
                sys.exit(1)
    # So many files take the script's shell no time that grows with their square.
    run(["sh", "-c", 'ulimit -t 10; exec "$@"', "sh", tool, *["a.o"] * 20000], env={**os.environ, "HOTLANE_CC": "true"})
    if any(not run([tool, option]).startswith("usage: mpicc") for option in ("-help", "-h", "-showme:help", "--showme:help")):
        print("FAILED: mpicc -help")
        sys.exit(1)
    # PETSc's configure knows a compiler by its help, of which it reads the first lines.
    command = shlex.split(run([tool, "-showme:command"]))
    if run([tool, "--help"]) != run([*command, "--help"]) + "\n" + run([tool, "-help"]):
        print("FAILED: mpicc --help: the compiler's own, and ours behind it")
        sys.exit(1)
    done.append("-show")


def fortran_asked(prefix, work):
    """mpifort answers as the others do, and refuses a compiler whose modules are not there with those that are."""
    tool, there = os.path.join(prefix, "bin", "mpifort"), fortran_of(prefix)
    modules = os.path.join(prefix, "include", "hotlane", there[0])
    words = shlex.split(run([tool, "-show", "-c", os.path.join(work, "hello.f90")]))
    if "-I" + modules not in words or any(w.startswith("-l") for w in words):
        print(f"FAILED: mpifort -show -c: {words}")
        sys.exit(1)
    for question, answer in (("-showme:libs", "mpifort_abi mpi_abi"), ("-showme:incdirs", os.path.join(prefix, "include") + " " + modules)):
        if run([tool, question]).strip() != answer:
            print(f"FAILED: mpifort {question}: {run([tool, question])}, not {answer}")
            sys.exit(1)
    if shlex.split(run([tool, "-link-info"]))[-2:] != ["-lmpifort_abi", "-lmpi_abi"]:
        print(f"FAILED: mpifort -link-info: {run([tool, '-link-info'])}")
        sys.exit(1)
    with tempfile.TemporaryDirectory(prefix="hotlane-fc-") as plain:  # compilers may have options: their names have no blanks
        other = os.path.join(plain, "other-fortran")
        with open(other, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\necho 'Other Fortran 7.5.0'\n")
        os.chmod(other, 0o755)
        ways = [([f"-fc={other}"], {})] + [([], {variable: other}) for variable in ("HOTLANE_FC", "MPICH_FC", "OMPI_FC")]
        for more, variables in ways:
            refused = subprocess.run([tool, "-c", "x.f90"] + more, capture_output=True, text=True, check=False, env={**os.environ, **variables})
            if refused.returncode == 0 or refused.stderr.count("\n") != 1 or "other-fortran-7" not in refused.stderr or there[0] not in refused.stderr:
                print(f"FAILED: mpifort {more} {variables}: exit code {refused.returncode}: {refused.stderr}")
                sys.exit(1)
    done.append("mpifort's answers")


def by_pkg_config(prefix, work):
    folder = os.path.dirname(next(os.path.join(d, f) for d, _, fs in os.walk(prefix) for f in fs if f == "hotlane.pc"))
    env = {**os.environ, "PKG_CONFIG_PATH": folder}
    libdir = run(["pkg-config", "--variable=libdir", "mpi_abi"], env=env).strip()
    ways = [("mpi_abi", [], "hello.c"), ("hotlane", [], "hello.c"), ("hotlane", ["--static"], "hello.c")]
    if has_shmem(prefix):
        ways += [("sma", [], "hello_shmem.c"), ("sma", [], "hello_both.c"), ("hotlane", ["--static"], "hello_shmem.c")]
    if compiles_fortran(prefix):
        ways += [("mpifort_abi", [], "hello.f90")]
    for package, how, source in ways:
        flags = run(["pkg-config", "--cflags", "--libs"] + how + [package], env=env).split()
        if how:
            flags = [os.path.join(libdir, "libhotlane.a") if f == "-lhotlane" else f for f in flags]
        program = os.path.join(work, "pc-" + package + "".join(how) + source.partition(".")[0])
        compilers = ["cc"] + ["clang"] * bool(how and shutil.which("clang"))
        if source.endswith("90"):
            compilers = run([os.path.join(prefix, "bin", "mpifort"), "-showme:command"]).split()[:1]
        for compiler in compilers:
            run([compiler, os.path.join(work, source), "-o", program] + flags)
            run([program], env=env)  # without a launcher, which adds to LD_LIBRARY_PATH
            check(prefix, program, f"pkg-config {' '.join(how + [package])}, {source}, {compiler}")


def by_cmake(prefix, work):
    if shutil.which("cmake") is None:
        print("skipped: cmake is not installed")
        return
    project = os.path.join(work, "project")
    os.makedirs(project)
    for name in SOURCES:
        shutil.copy(os.path.join(work, name), project)
    with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="ascii") as f:
        f.write(CMAKE)
    folder = os.path.dirname(next(os.path.join(d, f) for d, _, fs in os.walk(prefix) for f in fs if f == "hotlane.pc"))
    env = {**os.environ, "PATH": os.path.join(prefix, "bin") + os.pathsep + os.environ["PATH"], "PKG_CONFIG_PATH": folder}
    env.pop("MPI_HOME", None)
    build = os.path.join(work, "cmake-build")
    fortran = bool(compiles_fortran(prefix))
    run(["cmake", "-S", project, "-B", build, f"-DSHMEM={int(has_shmem(prefix))}", f"-DFORTRAN={int(fortran)}",
         f"-DINTEGERS={int(has_integers(prefix))}"], env=env)
    run(["cmake", "--build", build], env=env)
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        cache = f.read()
    if f"MPIEXEC_EXECUTABLE:FILEPATH={prefix}/bin/mpiexec" not in cache:
        print("FAILED: find_package(MPI) took another launcher")
        sys.exit(1)
    for name in ["hello_c", "hello_cxx"] + ["hello_shmem"] * has_shmem(prefix) + ["hello_fortran"] * fortran:
        check(prefix, os.path.join(build, name), f"CMake, {name}")


def by_suffix(source, work):
    """With a program suffix every installed program carries it, so that another MPI's programs stay reachable."""
    build = os.path.join(work, "suffixed")
    run(["meson", "setup", build, source, "-Dprogram_suffix=.hotlane", "-Dperf=disabled", "-Dtests=disabled"])
    installed = json.loads(run(["meson", "introspect", "--installed", build]))
    programs = [os.path.basename(p) for p in installed.values() if "/bin/" in p]
    if not {"mpicc.hotlane", "mpiexec.hotlane", "mpirun.hotlane", "hotlane-info.hotlane"} <= set(programs) or \
            not all(p.endswith(".hotlane") for p in programs):
        print(f"FAILED: program_suffix: installed programs are {sorted(programs)}")
        sys.exit(1)
    refusing = os.path.join(work, "mpif90.hotlane")
    shutil.copy(os.path.join(build, "tools", "mpif90.installed"), refusing)
    refused = subprocess.run(["sh", refusing, "x.f90"], capture_output=True, text=True, check=False)
    if refused.returncode == 0 or not refused.stderr.startswith("mpif90: Hotlane has no Fortran interface"):
        print(f"FAILED: program_suffix: mpif90.hotlane: exit code {refused.returncode}: {refused.stderr}")
        sys.exit(1)
    missing = subprocess.run(["sh", os.path.join(build, "tools", "mpicc.installed"), "x.c"], capture_output=True, text=True, check=False,
                             env={**os.environ, "HOTLANE_CC": "no-such-compiler -O2"})
    if missing.returncode != 127 or ": the compiler no-such-compiler -O2 is not there: " not in missing.stderr:
        print(f"FAILED: a compiler that is not there: exit code {missing.returncode}: {missing.stderr}")
        sys.exit(1)
    done.append("suffix")
    print("ok: program_suffix")


def main():
    source, build = (os.path.abspath(a) for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="hotlane install ") as work:
        os.chdir(work)  # Meson tidies up in the build folder that it is called in, too
        dest = os.path.join(work, "dest")
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", dest])
        installed = next(os.path.dirname(d) for d, names, _ in os.walk(dest) if "bin" in names for d in [os.path.join(d, "bin")])
        prefix = os.path.join(work, "moved prefix")
        shutil.move(installed, prefix)
        for name in ("hello", "hello_shmem"):
            for suffix in (".c", ".cpp"):
                shutil.copy(os.path.join(source, "tests", "install", name + ".c"), os.path.join(work, name + suffix))
        for name in ("hello.f90", "hello_both.c"):
            shutil.copy(os.path.join(source, "tests", "install", name), work)
        has_pages(prefix)
        found_by_apropos(prefix, work)
        names_no_cache(prefix)
        by_wrappers(prefix, work)
        without_run_path(prefix, work)
        shows(prefix, work)
        if compiles_fortran(prefix):
            fortran_asked(prefix, work)
        else:
            print("skipped: Fortran: its interface was not built")
        # pkg-config and CMake split at blanks: users who want those choose a prefix without.
        with tempfile.TemporaryDirectory(prefix="hotlane-install-") as plain:
            clean = os.path.join(plain, "prefix")
            shutil.copytree(prefix, clean, symlinks=True)
            for name in SOURCES:
                shutil.copy(os.path.join(work, name), plain)
            by_pkg_config(clean, plain)
            by_cmake(clean, plain)
        by_suffix(source, work)
    print(f"{len(done)} ways")


if __name__ == "__main__":
    main()
