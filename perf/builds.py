"""Builds of Hotlane that parts of perf/report need beside the one that it is given: that one where it is of such a kind, else one that is
made with meson below the result folder, kept there, and brought up to date the next time."""
import collections
import json
import os
import shlex
import shutil

import peers

SOURCE = os.path.dirname(peers.HERE)

# settings: Meson's options that make it such a build; more: others of one that is made; targets: what is built of it; seconds: how
# long that takes on two cores that do nothing else, without a cache of objects.
Build = collections.namedtuple("Build", "settings more targets seconds")
BUILDS = {
    "release": Build({"buildtype": "release", "b_lto": True, "atomics": "plain", "checked_mode": False, "faults": False,
                      "b_sanitize": "none"}, {"tests": "disabled", "perf": "enabled"}, ["all"], 180),
    "lines": Build({"atomics": "directory"}, {"b_lto": False, "fortran": "disabled", "tests": "disabled"}, ["perf/coherence"], 60),
}


def _words(value):
    return str(value).lower() if isinstance(value, bool) else value


def _settings(folder):
    """{option: value} of a build folder; empty where it is none."""
    try:
        with open(os.path.join(folder, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as file:
            return {option["name"]: option["value"] for option in json.load(file)}
    except (OSError, ValueError):
        return {}


def is_like(folder, name):
    """Whether a build folder is of the kind."""
    there = _settings(folder)
    return all(there.get(option) == value for option, value in BUILDS[name].settings.items())


def place(name, given, out):
    """The folder of the kind's build, which need not be there yet; no name: the given one."""
    return os.path.abspath(given if not name or is_like(given, name) else os.path.join(out, "builds", name))


def to_make(name, given, out):
    """Whether it is to be made, which takes its seconds."""
    folder = place(name, given, out)
    return folder != os.path.abspath(given) and not os.path.exists(os.path.join(folder, "made"))


def command(name, folder):
    """What makes it, or brings it up to date; raises peers.Unavailable."""
    missing = [program for program in ("meson", "ninja") if not shutil.which(program)]
    if missing:
        raise peers.Unavailable(f"{missing[0]} is not installed, which makes the build that this needs ({' '.join(setup(name, 'BUILD'))})")
    first = [] if os.path.exists(os.path.join(folder, "build.ninja")) else [setup(name, folder, SOURCE)]
    return ["sh", "-c", " && ".join(map(shlex.join, first + [["ninja", "-C", folder, *BUILDS[name].targets], ["touch", os.path.join(folder, "made")]]))]


def setup(name, *folders):
    """Meson's command for it; with the build folder alone it is for the source folder."""
    options = {**BUILDS[name].settings, **BUILDS[name].more}
    return ["meson", "setup", *folders] + [f"-D{option}={_words(value)}" for option, value in options.items()]
