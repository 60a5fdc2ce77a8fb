"""Reads procedures.tsv and the constants of include/mpi.h. The table's head says what its columns mean."""
import collections
import fnmatch
import re

HANDLES = {"comm": "MPI_Comm", "group": "MPI_Group", "win": "MPI_Win", "file": "MPI_File", "session": "MPI_Session",
           "message": "MPI_Message", "info": "MPI_Info", "errhandler": "MPI_Errhandler", "request": "MPI_Request",
           "op": "MPI_Op", "datatype": "MPI_Datatype"}
KINDS = set(HANDLES) | {"int", "aint", "offset", "COUNT", "count", "disp", "extent", "logical", "index", "string", "argv",
                        "argvs", "commands", "status", "weights", "errcodes", "cptr", "attr", "extra"}
SECTIONS = {"type", "pack", "parts", "address", "whole"}
SMALL = {"count": "int", "disp": "int", "extent": "aint"}
LARGE = {"count": "COUNT", "disp": "aint", "extent": "COUNT"}
# INTEGER kinds of Fortran that are one and the same: what differs in these alone is one interface.
WIDTHS = {"int": 4, "aint": 8, "COUNT": 8, "offset": 8}

Argument = collections.namedtuple("Argument", "name shape length kind how intent asynchronous large")
Form = collections.namedtuple("Form", "procedure large arguments")


class TableError(Exception):
    pass


class Procedure:
    """One line: name, forms, result, and `forms()`, the interfaces that it stands for."""

    def __init__(self, line):
        fields = line.split("\t")
        if len(fields) != 4:
            raise TableError(f"{fields[0]}: {len(fields)} fields where 4 are wanted")
        self.name, self.kind, self.result, text = fields
        if self.kind not in ("-", "large", "own", "old", "f"):
            raise TableError(f"{self.name}: forms {self.kind}, wanted -, large, own, old or f")
        if self.result not in ("-", "noerror", "aint", "double"):
            raise TableError(f"{self.name}: result {self.result}, wanted -, noerror, aint or double")
        # Commas also stand within shapes.
        self.arguments = [self.argument(a) for a in re.split(r", (?![^(]*\))", text) if a]

    def argument(self, text):
        match = re.match(r"(\w+)(?:\(([^)]*)\))? (\S+) (in|out|inout|-)((?: async| large)*)$", text)
        if not match:
            raise TableError(f"{self.name}: '{text}' is not 'name(shape) kind intent words'")
        name, shape, kind, intent, words = match.groups()
        shape, _, length = (shape or "").partition(":")
        kind, _, how = kind.partition(":")
        if not (kind in KINDS and not how or kind == "proc" or kind == "choice" and how in SECTIONS):
            raise TableError(f"{self.name}: {name} has the unknown kind {kind}:{how}")
        return Argument(name, shape, length or (shape if shape != "*" else ""), kind, how, intent,
                        "async" in words, "large" in words)

    def form(self, large):
        kinds = LARGE if large else SMALL
        return Form(self, large, [a._replace(kind=kinds.get(a.kind, a.kind)) for a in self.arguments
                                  if large or not a.large])

    def forms(self):
        """The small form, and the large one if there is one that Fortran can tell from it."""
        if self.kind != "large":
            return [self.form(self.kind == "own")]
        small, large = self.form(False), self.form(True)

        def look(form):
            return [WIDTHS.get(a.kind, a.kind) for a in form.arguments]
        return [small, large] if look(small) != look(large) else [small]


def read(path):
    """The procedures, and the list (pattern, reason) of C functions that have no Fortran form."""
    procedures, none = [], []
    with open(path, encoding="ascii") as table:
        for line in table:
            line = line.rstrip("\n")
            if line.startswith("none\t"):
                none.append(tuple(line.split("\t")[1:]))
            elif line and not line.startswith("#"):
                procedures.append(Procedure(line))
    return procedures, none


def without_form(name, none):
    """Why a C function has no Fortran form, or None."""
    return next((why for pattern, why in none if fnmatch.fnmatchcase(name, pattern)), None)


# Names of mpi.h that are none in Fortran.
NOT_FORTRAN = re.compile(r"MPI_(T_|F_|CONVERSION_FN_NULL|BOTTOM|IN_PLACE|BUFFER_AUTOMATIC|ARGVS?_NULL|ERRCODES_|"
                         r"STATUS(ES)?_IGNORE|UNWEIGHTED|WEIGHTS_EMPTY|(\w+_)?(NULL_COPY|DUP|NULL_DELETE)_FN)")


def constants(mpi_h):
    """(name, type, value) of each constant: the type is a handle's ("comm"), "int" or "offset", the value an integer."""
    with open(mpi_h, encoding="ascii") as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
    handle_of = {c: k for k, c in HANDLES.items()}
    found, values = [], {}

    def add(name, kind, value):
        values[name] = (kind, value)
        if not NOT_FORTRAN.match(name):
            found.append((name, kind, value))
    for match in re.finditer(r"^#define (MPI_\w+) ([^\n]+)$|^enum \{(.*?)\};", text, flags=re.M | re.S):
        name, value, enum = match.groups()
        if enum:
            for item in re.findall(r"(MPI_\w+) = (-?\w+)", enum):
                add(item[0], "int", int(item[1], 0))
            continue
        cast = re.match(r"\(\((MPI_\w+)\)(-?\w+)\)$", value)
        if cast and cast.group(1) in handle_of:
            add(name, handle_of[cast.group(1)], int(cast.group(2), 0))
        elif cast and cast.group(1) == "MPI_Offset":
            add(name, "offset", int(cast.group(2), 0))
        elif value in values:
            add(name, *values[value])
        elif re.match(r"-?\w+$", value) and value.lstrip("-")[0].isdigit():
            add(name, "int", int(value, 0))
    # Texts in Fortran have no zero at the end.
    return [(n, k, v - 1 if re.match(r"MPI_MAX_\w+", n) else v) for n, k, v in found]
