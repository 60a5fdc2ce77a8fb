"""What the scoreboard says of the house as a whole: arrows between modules, names, calls of libfabric, what is replaced.

The module table of lib/meson.build is read as data here; map.py draws it.
"""
import ast
import os
import re
from collections import defaultdict

LIBRARY = ("lib/", "rma/", "shmem/")
# They put the whole together.
ASSEMBLERS = ("life", "api", "shmem")
# Where libfabric is called: the module that opens it, registers memory and posts what has no way to keep short; and where lanes post,
# operations and chains.
FABRIC = ("lib/fab/", "lib/lane/post.c", "lib/lane/send.c")
# The name of a static function that the text of a macro defines.
STATIC_OF_MACRO = re.compile(r"\b(?:static|HL_INLINE)\b[^;={}()]*?(\w+)\s*\([^;{}]*\)[^;{}=]*\{")
# The option `atomics` puts their names together (meson.build), and lib/base/atomic.h includes the one that is asked for.
BY_OPTION = "lib/base/atomic_"
# What a file may declare by hand: POSIX and the linker have no header for it.
NO_HEADER = re.compile(r"environ|__(?:start|stop)_\w+")
FABRIC_CALL = re.compile(r"(?<![\w>.])fi_[a-z_0-9]+\s*\(")

# The condition of a wait, which is asked again and again: its name is a question.
CONDITION_OF_WAIT = re.compile(r"\bhl_prog_wait(?:_rung|_slow)?\s*\(\s*(\w+)\s*,")
QUESTION = re.compile(r"(?:is|has|are|does)_")
# Conditions that are named for what they do: each of them acts, too.
ACTING = {"enter_as_owner", "end_done_orphans", "let_go_lane", "look_if_free", "poll_schedule", "set_apart", "step_board", "take_ask_place",
          "take_rpc_slot", "try_turn"}


class Table:
    """The table of modules: what each may use, in which folder it is, their floors and order, lowest first."""

    def __init__(self, text):
        def literal(name):
            begin = text.index(f"\n{name} = ") + len(name) + 4
            end = next(i for i in range(begin, len(text)) if text[i] in "]}" and text[i + 1] == "\n" and text[begin] == {"]": "[", "}": "{"}[text[i]])
            return ast.literal_eval(text[begin:end + 1])
        text = "\n" + text
        self.uses, self.floors = literal("uses"), literal("floors")
        self.order = [m for _, modules in self.floors for m in modules]
        self.ground = self.floors[0][1]
        self.homes = {m: "lib/" + m for m in self.order}
        self.homes.update({m: os.path.normpath("lib/" + home) for m, home in literal("homes").items()})

    def may_use(self, module):
        return self.uses[module] + ([] if module in self.ground else self.ground)

    def module_of(self, name):
        return next((m for m, home in self.homes.items() if name.startswith(home + "/")), None)


def edges(table, text):
    """{module: {modules whose headers it includes: files that do}}; `text` is {file: its text}."""
    headers = defaultdict(dict)  # header: {module: file}
    for name in text:
        module = table.module_of(name)
        if module and name.endswith(".h"):
            headers[os.path.basename(name)][module] = name
    found = {m: defaultdict(list) for m in table.order}
    for name, whole in text.items():
        module = table.module_of(name)
        if not module or not name.endswith((".c", ".h")):
            continue
        for header in re.findall(r'^\s*#\s*include [<"]([^>"/]+)[>"]', whole, re.M):
            owners = headers.get(header, {})
            if module not in owners:
                for owner in owners:
                    if owner in table.may_use(module):
                        found[module][owner].append(name)
    return found


def trespasses(table, text):
    """Includes of another module's private header (NAME/internal), and those that name a folder, by which one could be reached:
    no path leads from a module to the private folder of another, so its header does not compile by its name alone."""
    headers = [name for name in text if table.module_of(name) and name.endswith(".h")]
    private = {os.path.basename(name) for name in headers if "/internal/" in name}
    own = {(table.module_of(name), os.path.basename(name)) for name in headers}
    return [f"{name} {header}" for name, whole in text.items() if table.module_of(name) and name.endswith((".c", ".h"))
            for quote, header in re.findall(r'^\s*#\s*include ([<"])([^>"]+)[>"]', whole, re.M)
            if quote == '"' and "/" in header or header in private and (table.module_of(name), header) not in own]


def unshared(table, text):
    """Headers that lie in no folder `internal`, though neither another module nor the tools of `tools/` include them, themselves or by
    a header that they include. Tests and benchmarks do not count, they are given the folders `internal` that they need; the designs
    in NAME/compare lie together, whoever includes them."""
    places = defaultdict(dict)  # header: {module: file}
    for name in text:
        if table.module_of(name) and name.endswith(".h"):
            places[os.path.basename(name)][table.module_of(name)] = name
    found = {name: re.findall(r'^\s*#\s*include "(?:[^"]*/)?([^"/]+)"', whole, re.M) for name, whole in text.items() if name.endswith((".c", ".h"))}
    shared, more = set(), set()
    for name, headers in found.items():
        module = table.module_of(name)
        if module or name.startswith("tools/"):
            for header in headers:
                if module not in places[header] and os.path.join(os.path.dirname(name), header) not in text:
                    more.update(file for owner, file in places[header].items() if not module or owner in table.may_use(module))
    while more:
        shared |= more
        more = {places[header].get(table.module_of(name)) for name in more for header in found[name]} - shared - {None}
    return [name for of in places.values() for name in of.values()
            if name not in shared and not name.startswith(BY_OPTION) and os.path.basename(os.path.dirname(name)) not in ("internal", "compare")]


def by_hand(code):
    """Declarations in .c files of what another file defines: a use that no include shows."""
    places = []
    for name, lines in code.items():
        if name.startswith(LIBRARY) and name.endswith(".c"):
            whole = "\n".join(lines)
            found = [*re.finditer(r"^[ \t]*extern\b[^;{}]*?(\w+)\s*(?:\[[^;{}]*|\([^;{}]*)?;", whole, re.M),
                     *re.finditer(r"^(?!static\b|typedef\b|extern\b|return\b)[a-z]\w*[\s*][\w\s*]*?\b(p?hl_\w+)\s*\([^;{}]*\)[^;{}()]*;", whole, re.M)]
            places += [f"{name}:{whole.count(chr(10), 0, f.start()) + 1} {f[1]}" for f in found if not NO_HEADER.search(f[0])]
    return places


def twice(places):
    """The places of {name: files} where a name has more than one."""
    return [f"{file} {name}" for name, files in sorted(places.items()) if len(set(files)) > 1 for file in sorted(set(files))]


def shared_tags(code):
    tags = defaultdict(list)
    for name, lines in code.items():
        if name.startswith(LIBRARY):
            for line in lines:
                match = re.match(r"(?:typedef )?(?:struct|union|enum) (\w+)\s*\{", line)
                if match:
                    tags[match[1]].append(name)
    return twice(tags)


def arguments(text, at):
    """The arguments of a call of a macro behind its parenthesis; None: they go on in another line."""
    depth, found, begin = 1, [], at
    for i, char in enumerate(text[at:], at):
        depth += (char == "(") - (char == ")")
        if depth == 0 or (char == "," and depth == 1):
            found.append(text[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return found
    return None


def made(text, macros, depth=4):
    """The static functions that calls of macros in a text make."""
    found = []
    for use in re.finditer(r"\b(\w+)\(", text):
        given = arguments(text, use.end()) if use[1] in macros and depth > 0 else None
        if given is not None:
            parameters, body = macros[use[1]]
            words = dict(zip(parameters, given))
            body = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", body)
            body = re.sub(r"\s*##\s*", "", re.sub(r"\w+", lambda m: words.get(m[0], m[0]), body))
            found += STATIC_OF_MACRO.findall(body) + made(body, macros, depth - 1)
    return found


def made_by_macros(lines):
    """[(line, name)] of the static functions that a file's own macros make."""
    macros, found = {}, set()
    for number, line in enumerate(lines, 1):
        whole, i = line, number
        while whole.endswith("\\") and i < len(lines):
            whole, i = whole[:-1] + " " + lines[i], i + 1
        define = re.match(r"#\s*define (\w+)\(([^)]*)\)(.*)", whole)
        if define:
            macros[define[1]] = re.split(r"[,\s]+", define[2]), define[3]
        elif macros and not lines[number - 2].endswith("\\"):
            found |= {(number, name) for name in made(whole, macros)}
    return sorted(found)


def statics(code, bodies):
    """[(file, line, name)] of static functions. `bodies`: {file: [(function, first line, last line, signature)]}."""
    found = []
    for name, functions in bodies.items():
        if name.startswith(LIBRARY):
            found += [(name, line, function) for function, line, _, head in functions if re.search(r"\b(static|HL_INLINE)\b", head.split("(")[0])]
            found += [(name, line, function) for line, function in made_by_macros(code[name])]
    return found


def same_statics(functions):
    names = defaultdict(list)
    for file, _, function in functions:
        names[function].append(file)
    return twice(names)


def conditions(code):
    """Conditions of waits whose name is no question; the one routine that waits has a parameter for it."""
    found = {}
    for name, lines in code.items():
        if name.startswith(LIBRARY) and name.endswith(".c") and not name.startswith("lib/prog/wait.c"):
            text = "\n".join(lines)
            found.update({condition[1]: f"{name}:{text.count(chr(10), 0, condition.start()) + 1} {condition[1]}"
                          for condition in CONDITION_OF_WAIT.finditer(text)})
    return [place for condition, place in found.items() if not QUESTION.match(condition) and condition not in ACTING] + [
        f"ACTING has {condition}, for which nobody waits" for condition in sorted(ACTING - set(found))]


def fabric_calls(code):
    return [f"{name}:{i} {line.strip()[:90]}" for name, lines in code.items() if name.startswith(LIBRARY) and not name.startswith(FABRIC)
            for i, line in enumerate(lines, 1) if FABRIC_CALL.search(line)]


def planted(code):
    """Planted faults in the sources; tests/faults/planted.py has them."""
    return [f"{name}:{i}" for name, lines in code.items() if name.startswith(LIBRARY)
            for i, line in enumerate(lines, 1) if re.search(r"\b(?:HL_FAULTS?|hl_fault_\w+)\b", line)]


def replaced(text):
    """Tables in which functions of other libraries could be replaced (shmem reads which names a program has copied), names by which
    calls go around them, and libraries that ours stand in for."""
    places = [f"{name} {table}" for name, whole in text.items() if name.startswith(LIBRARY) and name != "shmem/objects.c"
              for table in re.findall(r"\b(?:DT_JMPREL|DT_PLTGOT|R_X86_64_\w+|RTLD_NEXT|__wrap_\w+)\b|-Wl,--wrap\b", whole)]
    return places + [f"{name} {soname}" for name, whole in text.items() if name.startswith("lib/") and name.endswith("meson.build")
                     for soname in re.findall(r"-Wl,-soname,(lib[\w.]+)'", whole)]


def prove(text, functions):
    """What the measures do not see where it is planted."""
    table = Table(text["lib/meson.build"])
    heads = ["__attribute__((target(\"avx\"))) static void plant(int n)", "HL_PRINTF(3, 4) static int plant(const char *fmt, ...)",
             "__attribute__((constructor(200))) static void plant(void)", "static __attribute__((noinline)) int plant(void)",
             "HL_INLINE bool plant(int n) HL_REQUIRES(n) HL_NO_TSA"]
    missed = [head for head in heads
              if [name for _, _, name in statics({"lib/plant.c": []}, {"lib/plant.c": list(functions(["", head, "{", "}"]))})] != ["plant"]]
    made_here = ["#define MAKE(name) static __attribute__((noinline)) int name##_now(void) { return 0; }", "MAKE(plant)"]
    missed += [made_here[0]] if made_by_macros(made_here) != [(2, "plant_now")] else []
    missed += [plant for plant in ("dlsym(RTLD_NEXT, name);", "int __wrap_open(void);", "'-Wl,--wrap=open'") if not replaced({"lib/plant.c": plant})]
    missed += [plant for plant in ('#include "conf.h"', "#include <conf.h>")
               if not edges(table, {"lib/conf/conf.h": "", "lib/stat/plant.c": plant})["stat"]["conf"]]
    missed += [plant for plant in ('#include "plant.h"', "#include <plant.h>", '#include "internal/plant.h"')
               if not trespasses(table, {"lib/conf/internal/plant.h": "", "lib/stat/plant.c": plant})]
    missed += [plant for plant in ("extern int hl_plant;", "    extern int hl_plant(int n);", "int hl_plant(int n);", "const char *hl_plant(int a,\n int b) HL_COLD;")
               if len(by_hand({"lib/plant.c": plant.split("\n")})) != 1]
    return missed


def judge(board, text, code, bodies, functions):
    """Rows that only go down: who makes a number smaller lowers its bar here. Goals stand behind the measures."""
    table = Table(text["lib/meson.build"])
    found = edges(table, text)
    # The lowest floor is one to those above.
    seen = {m: used if m in table.ground else {u if u not in table.ground else table.floors[0][0] for u in used} for m, used in found.items()}
    count = {m: len(used) for m, used in seen.items()}
    rows = sorted(((n, f"{m} uses {n}: {' '.join(sorted(seen[m]))}") for m, n in count.items()), reverse=True)
    inner = [r for r in rows if r[1].split()[0] not in ASSEMBLERS]
    outer = [r for r in rows if r[1].split()[0] in ASSEMBLERS]
    board.add("modules that one uses, but life, api, shmem (goal 8)", inner[0][0], 8, [s for _, s in inner])
    board.add("modules that life, api or shmem use (goal 10)", outer[0][0], 10, [s for _, s in outer])
    board.add("direct uses between modules (goal 90)", sum(count.values()), 82, [s for _, s in rows])
    board.count("uses in the module table without an include (goal 0)",
                [f"{m} -> {used}" for m in table.order for used in table.uses[m] if used not in found[m]])
    board.count("includes of another module's private header, or by a path", trespasses(table, text))
    board.count("headers outside `internal` that one module alone includes", unshared(table, text))
    board.count("structs and enums whose tag another file defines, too (goal 0)", shared_tags(code))
    board.count("declarations by hand of what another file has", by_hand(code))
    known = statics(code, bodies)
    board.count("static functions of a name in another file, too (goal 0)", same_statics(known))
    board.count("static functions whose name is one word (goal 0)",
                [f"{file}:{line} {name}" for file, line, name in known if re.fullmatch(r"[a-z]+", name)])
    board.count("conditions of waits whose name is no question (goal 0)", conditions(code))
    board.count("calls of libfabric outside lib/fab and the posts of lanes", fabric_calls(code))
    board.count("planted faults in the library", planted(code))
    board.count("functions and libraries of others replaced", replaced(text))
    board.count("faults that are planted and not seen", prove(text, functions))
