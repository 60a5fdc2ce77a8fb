"""The standard's tables of OpenSHMEM functions (shmem.tsv), read and expanded."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = {"_my_pe", "_num_pes", "shmalloc", "shfree", "shrealloc", "shmemalign"}  # without twins for profilers
# What shmemx.h has under Sandia's names, too.
RENAMED = re.compile(r"shmem_(ctx_)?(\w+_)?(ib(put|get)\d*|sum_(in|ex)scan|signal_(add|set))$")
REDUCTION = re.compile(r"_(and|or|xor|max|min|sum|prod)_(reduce|to_all)")


def tables():
    """(rows of functions: versions, form, prototype, table), {table: [(C type, TYPENAME, operations)]}"""
    functions, types = [], {}
    for line in open(os.path.join(HERE, "shmem.tsv"), encoding="ascii"):
        fields = line.rstrip("\n").split("\t")
        if line.startswith("#") or len(fields) < 2:
            continue
        if len(fields) == 2:
            entries = [[word.strip() for word in entry.split("|")] for entry in fields[1].split(";")]
            types[fields[0]] = [(e[0], e[1], set(re.findall(r"\w+", " ".join(e[2:]).lower()))) for e in entries]
        else:
            functions.append((fields[0], fields[2], fields[3], fields[4] if len(fields) > 4 else ""))
    return functions, types


FUNCTIONS, TYPES = tables()


def typed(prototype, table):
    """[(C type, TYPENAME)] that a row stands for."""
    names = [name for name in re.findall(r"\w+", table) if name in TYPES]
    reduction = REDUCTION.search(prototype)
    found = {}
    for name in names or (["teamreducetypes"] if reduction else []):
        for ctype, word, operations in TYPES[name]:
            if not reduction or reduction[1] in operations:
                found[word] = ctype
    return [(ctype, word) for word, ctype in found.items()]


def expand(prototype, table):
    if "{SIZE}" in prototype:
        return [prototype.replace("{SIZE}", bits) for bits in re.findall(r"\d+", table)]
    if "{TYPENAME}" in prototype:
        return [re.sub(r"\bTYPE\b", ctype, prototype.replace("{TYPENAME}", word)) for ctype, word in typed(prototype, table)]
    return [prototype]


def name_of(prototype):
    return re.search(r"(\w+)\(", prototype)[1]


def pair(name):
    """The function and its twin for profilers."""
    return [name] if name in OLD else [name, "pshmem_start_pes" if name == "start_pes" else "p" + name]


def wanted():
    """{name: prototype} of all C functions; where 1.6 changed one (const), its form."""
    rows = [row for row in FUNCTIONS if row[1] == "C"]
    rows.sort(key=lambda row: "1.6" in row[0])
    return {name_of(p): p for _, _, prototype, table in rows for p in expand(prototype, table)}


def renamed():
    """{name: prototype} of Sandia's names for functions of the standard: the same symbols."""
    return {"shmemx_" + name[6:]: p.replace(name, "shmemx_" + name[6:]) for name, p in wanted().items() if RENAMED.match(name)}
