#!/usr/bin/env python3
"""A recipe of packaging/ builds the library from this source, and what it installs compiles and runs a program.

usage: recipes.py container|easybuild|spack SOURCE_ROOT

container: buildah builds the Containerfile over a bare Debian that debootstrap makes. easybuild: `eb` builds the recipe over modules
that stand for EasyBuild's and lead to what this machine has. spack: `spack` builds over externals, what this machine has. Skipped (77)
with the reason where a tool is missing."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (me == 0) {
        printf("%d ranks\n", ranks);
    }
    return MPI_Finalize();
}
"""
MODULE = 'setenv("EBROOT{name}", "/usr")\nsetenv("EBVERSION{name}", "{version}")\n'
REPOSITORY = "repo:\n  namespace: hotlane_test\n"
# What Spack takes from this machine: its name there, and the one that pkg-config or the command --version answers to.
EXTERNALS = {"libfabric": "libfabric", "hwloc": "hwloc", "numactl": "numa", "pmix": "pmix", "memkind": "memkind", "meson": None, "ninja": None,
             "python": "python3", "pkgconf": "pkg-config"}


def skip(reason):
    print(reason)
    sys.exit(77)


def needs(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")


def run(command, where=None, environment=None):
    done = subprocess.run(command, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        print(f"FAILED ({done.returncode}): {' '.join(command)}\n{done.stdout[-6000:]}")
        sys.exit(1)
    return done.stdout


def copy(source, target):
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("build*", "rel", ".git", "__pycache__"))
    return target


def hello(prefix, work):
    """A program compiled and run by what was installed."""
    with open(os.path.join(work, "hello.c"), "w", encoding="utf-8") as f:
        f.write(HELLO)
    programs = os.path.join(prefix, "bin")
    run([os.path.join(programs, "mpicc"), "hello.c", "-o", "hello"], work)
    said = run([os.path.join(programs, "mpiexec"), "-n", "2", "./hello"], work)
    if said.strip() != "2 ranks":
        print(f"FAILED: hello says {said!r}")
        sys.exit(1)


def container(source, work):
    needs("buildah", "debootstrap")
    if os.geteuid() != 0:
        skip("needs root: a bare Debian is made")
    base = os.path.join(work, "base")
    if subprocess.run(["debootstrap", "--variant=minbase", "bookworm", base], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        skip("no bare Debian could be made")
    run(["tar", "-C", base, "-cf", os.path.join(work, "base.tar"), "."])
    buildah = ["buildah", "--root", os.path.join(work, "images"), "--runroot", os.path.join(work, "running"), "--storage-driver", "vfs"]
    chroot = ["--isolation", "chroot", "--pull-never"]  # needs no control groups
    first = run([*buildah, "from", "scratch"]).strip()
    run([*buildah, "add", first, os.path.join(work, "base.tar"), "/"])
    run([*buildah, "config", "--env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", first])
    run([*buildah, "commit", "--rm", first, "debian:bookworm"])
    run([*buildah, "bud", *chroot, "-t", "hotlane", "-f", "packaging/container/Containerfile", "."], copy(source, os.path.join(work, "source")))
    made = run([*buildah, "from", "--pull-never", "hotlane"]).strip()
    with open(os.path.join(work, "hello.c"), "w", encoding="utf-8") as f:
        f.write(HELLO)
    run([*buildah, "copy", made, os.path.join(work, "hello.c"), "/tmp/"])
    said = run([*buildah, "run", "--isolation", "chroot", made, "--", "sh", "-c",
                "mpicc /tmp/hello.c -o /tmp/hello && mpiexec -n 2 /tmp/hello && mpiexec -n 2 hotlane-info --prove --seconds 1"])
    run([*buildah, "rm", "--all"])
    if "2 ranks" not in said:
        print(f"FAILED: in the container: {said}")
        sys.exit(1)


def stand_ins(recipe, folder):
    """Modules named as those that the recipe loads, which lead to what this machine has."""
    names = {}
    with open(recipe, encoding="utf-8") as f:
        exec(f.read(), names)  # pylint: disable=exec-used
    version = names["toolchain"]["version"]
    core = f"GCCcore-{version}"
    rows = [("GCCcore", version, version), ("binutils", "0", f"0-{core}"), ("GCC", version, version)]
    rows += [(name, v, f"{v}-{core}") for name, v in names["builddependencies"] + names["dependencies"]]
    for name, number, module in rows:
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, module + ".lua"), "w", encoding="utf-8") as f:
            f.write(f'load("GCCcore/{version}")\nload("binutils/0-{core}")\n' if name == "GCC" else "")
            f.write(MODULE.format(name=name.upper(), version=number))
    return f"{names['name']}/{names['version']}-GCC-{version}"


def easybuild(source, work):
    needs("eb")
    lmod = next((p for p in (os.environ.get("LMOD_CMD", ""), "/usr/share/lmod/lmod/libexec/lmod") if os.path.exists(p)), None)
    if lmod is None:
        skip("Lmod is not installed")
    folder = os.path.join(source, "packaging", "easybuild")
    recipe = os.path.join(folder, next(name for name in os.listdir(folder) if name.endswith(".eb")))
    place = stand_ins(recipe, os.path.join(work, "modules"))
    with tarfile.open(os.path.join(work, "hotlane-0.1.0.tar.gz"), "w:gz", compresslevel=1) as tar:
        tar.add(copy(source, os.path.join(work, "source")), "hotlane-0.1.0")
    environment = {**os.environ, "LMOD_CMD": lmod, "EASYBUILD_MODULES_TOOL": "Lmod", "MODULEPATH": os.path.join(work, "modules"),
                   "EASYBUILD_PREFIX": os.path.join(work, "prefix"), "EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES": "1"}
    run(["eb", "--sourcepath=" + work, "--ignore-osdeps", "--tmpdir=" + work, recipe], work, environment)
    hello(os.path.join(work, "prefix", "software", place), work)


def version_of(name):
    """What pkg-config says of a library, or a command of itself."""
    for command in (["pkg-config", "--modversion", name], [name, "--version"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False) if shutil.which(command[0]) else None
        if done is not None and done.returncode == 0:
            return done.stdout.split()[-1]
    return None


def spack(source, work):
    needs("spack", "meson", "ninja", "pkg-config")
    conf, repository = os.path.join(work, "conf"), os.path.join(work, "repository")
    os.makedirs(conf)
    package = os.path.join(repository, "packages", "hotlane")
    shutil.copytree(os.path.join(source, "packaging", "spack"), package)
    with open(os.path.join(repository, "repo.yaml"), "w", encoding="utf-8") as f:
        f.write(REPOSITORY)
    found = {name: version_of(asked or name) for name, asked in EXTERNALS.items()}
    pages = ["packages:", "  all:", "    buildable: false", "  hotlane:", "    buildable: true"]
    for name, version in found.items():
        if version is not None:
            pages += [f"  {name}:", "    externals:", f"    - spec: {name}@{version}", "      prefix: /usr"]
    files = {"packages": pages, "repos": ["repos:", "- " + repository], "concretizer": ["concretizer:", "  reuse: false"],
             "config": ["config:", "  install_tree:", f"    root: {work}/installed", f"  build_stage: {work}/stage"]}
    for name, lines in files.items():
        with open(os.path.join(conf, name + ".yaml"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    environment = {**os.environ, "SPACK_USER_CONFIG_PATH": conf, "SPACK_USER_CACHE_PATH": os.path.join(work, "cache")}
    spec = "hotlane@main" + "".join(("+" if found[name] else "~") + name for name in ("memkind", "pmix"))
    run(["spack", "compiler", "find"], work, environment)
    run(["spack", "dev-build", "--source-path", copy(source, os.path.join(work, "source")), spec], work, environment)
    hello(run(["spack", "location", "-i", spec], work, environment).strip().split("\n")[-1], work)


def main():
    recipe, source = sys.argv[1], os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix=f"hotlane-{recipe}-") as work:
        {"container": container, "easybuild": easybuild, "spack": spack}[recipe](source, work)
    print(f"ok: {recipe}")


if __name__ == "__main__":
    main()
