"""The interfaces whose handles are INTEGER: module mpi and mpif.h, which is both fixed and free form, and the C functions behind
them, named as gfortran and flang name procedures.

MPI has no large counts in these interfaces (but in partitioned communication, which has no others). What is special about an
argument is said by its kind in the table; the few procedures that C has in another shape stand in the tables below."""
import emit_c
import table
from emit_f08 import wrapped

# Bytes that C's text needs, with its zero, where MPI says so; else the argument behind says it.
TEXT_SIZES = emit_c.TEXT_ROOM | {"MPI_Info_get": "valuelen", "MPI_Info_get_string": "buflen",
                                 "MPI_Session_get_nth_pset": "pset_len"}
# C functions by other names: attributes and callbacks (callback.h).
OWN = emit_c.OWN | {"MPI_Keyval_create": "hl_fort_keyval_create", "MPI_Attr_put": "hl_fort_comm_set_attr"}
# Arguments that C has before the others.
FIRST = {"MPI_Init": ["NULL", "NULL"], "MPI_Init_thread": ["NULL", "NULL"], "MPI_Info_create_env": ["0", "NULL"]}
# What is done before; its result is the error, if it has one.
BEFORE = {"MPI_Init": "hl_fort_begin_or_exit();", "MPI_Init_thread": "hl_fort_begin_or_exit();"}
CHECK_BEFORE = {"MPI_Session_init": "hl_fort_begin()"}
# What is done after success.
AFTER = {"MPI_Abi_get_fortran_info": "*ierror = hl_fort_correct_info(c_info);", "MPI_Init": "hl_fort_begun_or_abort();",
         "MPI_Init_thread": "hl_fort_begun_or_abort();", "MPI_Session_init": "*ierror = hl_fort_begun();"}
# Written by hand, in olds.c.
BY_HAND = {"MPI_F_sync_reg", "MPI_Sizeof", "MPI_Status_f082f", "MPI_Status_f2f08", "MPI_Attr_get"}
# Arguments that only the root of the communicator has.
ROOT_ONLY = {"MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}
# TYPE(C_PTR) as well as INTEGER(MPI_ADDRESS_KIND) in module mpi.
POINTERS = {"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}
# The address of a detached buffer is given in mpi_f08 alone; here the argument may be anything and is not used.
DETACH = {"MPI_Buffer_detach", "MPI_Comm_detach_buffer", "MPI_Session_detach_buffer"}
C_TYPES = {"int": "int", "aint": "MPI_Aint", "offset": "MPI_Offset", "COUNT": "MPI_Count", "cptr": "MPI_Aint",
           "weights": "int", "errcodes": "int", "index": "int", "logical": "int", "status": "int"}
CALLBACKS = ["COMM_NULL_COPY_FN", "COMM_DUP_FN", "COMM_NULL_DELETE_FN", "TYPE_NULL_COPY_FN", "TYPE_DUP_FN",
             "TYPE_NULL_DELETE_FN", "WIN_NULL_COPY_FN", "WIN_DUP_FN", "WIN_NULL_DELETE_FN", "NULL_COPY_FN", "DUP_FN",
             "NULL_DELETE_FN", "CONVERSION_FN_NULL"]


def selected(procedures):
    """The forms that these interfaces have."""
    return [p.form(False) for p in procedures if p.kind != "own"]


# ---- C ----

class Body:
    """What the C function of one procedure consists of."""

    def __init__(self, form):
        self.form = form
        self.name = form.procedure.name
        self.params, self.lengths, self.locals, self.needed = [], [], [], []
        self.values, self.always, self.good, self.last = list(FIRST.get(self.name, [])), [], [], []
        self.comm = next((a.name for a in form.arguments if a.kind == "comm" and a.intent == "in"), None)
        for argument in form.arguments:
            self.add(argument)

    def add(self, a):
        if a.kind in table.HANDLES:
            (self.handles if a.shape else self.handle)(a)
        else:
            getattr(self, "add_" + a.kind.lower(), self.plain)(a)

    def param(self, a, kind):
        self.params.append(f"{'const ' if a.intent == 'in' else ''}{kind} *{a.name}")

    def plain(self, a):
        if a.shape.startswith("3,"):
            self.params.append(f"{C_TYPES[a.kind]} {a.name}[][3]")
        else:
            self.param(a, C_TYPES[a.kind])
        self.values.append(a.name if a.shape or a.intent != "in" else "*" + a.name)

    def length(self, a):
        """The number of elements as an expression of C."""
        if a.length not in [b.name for b in self.form.arguments]: # peers, indegree, outdegree, ndims
            count = f"hl_fort_{a.length}(hl_fort_comm_in(*{self.comm}))"
            # The array is not looked at when data stay in place.
            return f"sendbuf == mpi_fortran_in_place_ ? 0 : {count}" if a.name == "sendtypes" else count
        if self.name in ROOT_ONLY:
            return f"is_root ? *{a.length} : 0"
        return "*" + a.length

    def handle(self, a):
        self.param(a, "int")
        if a.intent == "in":
            self.values.append(f"hl_fort_{a.kind}_in(*{a.name})")
            return
        kind = table.HANDLES[a.kind]
        first = f"hl_fort_{a.kind}_in(*{a.name})" if a.intent == "inout" else "HL_FORT_UNWRITTEN"
        self.locals.append(f"{kind} c_{a.name} = {first};")
        self.values.append(f"&c_{a.name}")
        self.always.append(f"hl_fort_{a.kind}s_out({a.name}, &c_{a.name}, 1);")

    def handles(self, a):
        kind, long = table.HANDLES[a.kind], self.length(a)
        self.param(a, "int")
        if a.asynchronous:
            self.locals.append(f"const {kind} *c_{a.name} = hl_fort_datatypes_kept({a.name}, {long});")
        else:
            how = "room(&" if a.intent == "out" else "in(&"
            handles = "" if a.intent == "out" else f"{a.name}, "
            self.locals.append(f"struct hl_fort_list {a.name}_list;")
            self.locals.append(f"{kind} *c_{a.name} = hl_fort_{a.kind}s_{how}{a.name}_list, {handles}{long});")
            self.last.append(f"hl_fort_list_end(&{a.name}_list);")
        self.needed.append("c_" + a.name)
        self.values.append("c_" + a.name)
        if a.intent != "in":
            self.always.append(f"hl_fort_{a.kind}s_out({a.name}, c_{a.name}, {long});")

    def add_logical(self, a):
        self.param(a, "int")
        if a.intent == "in" and a.shape:
            self.locals += [f"struct hl_fort_list {a.name}_list;",
                            f"int *c_{a.name} = hl_fort_logicals_in(&{a.name}_list, {a.name}, {self.length(a)});"]
            self.needed.append("c_" + a.name)
            self.values.append("c_" + a.name)
            self.last.append(f"hl_fort_list_end(&{a.name}_list);")
        elif a.intent == "in":
            self.values.append(f"hl_fort_logical_in(*{a.name})")
        else:
            self.values.append(a.name)
            self.good.append(f"hl_fort_logicals_out({a.name}, {self.length(a)});" if a.shape
                             else f"*{a.name} = hl_fort_logical_out(*{a.name});")

    def add_index(self, a):
        self.param(a, "int")
        self.values.append(a.name)
        if a.shape:
            # Also after an error of one of several operations.
            self.locals.insert(0, f"*{a.length} = 0;")
            self.always.append(f"hl_fort_indices_out({a.name}, *{a.length});")
        else:
            self.locals.insert(0, f"*{a.name} = MPI_UNDEFINED;")
            self.always.append(f"*{a.name} = hl_fort_index_out(*{a.name});")

    def add_choice(self, a):
        self.params.append(f"{'const ' if a.intent == 'in' else ''}void *{a.name}")
        self.values.append(f"hl_fort_buffer({a.name})")

    def add_status(self, a):
        self.params.append(f"int *{a.name}")
        self.values.append(f"hl_fort_status({a.name})")

    def add_weights(self, a):
        self.param(a, "int")
        self.values.append(f"hl_fort_weights({a.name})")

    def add_errcodes(self, a):
        self.param(a, "int")
        self.values.append(f"hl_fort_errcodes({a.name})")

    def add_cptr(self, a):
        if self.name in DETACH:
            self.params.append(f"void *{a.name}")
            self.locals.append(f"void *c_{a.name};")
            self.values.append(f"&c_{a.name}")
        else:
            self.param(a, "MPI_Aint")
            self.values.append(a.name)

    def value_of(self, a):
        self.param(a, "int" if self.form.procedure.kind == "old" else "MPI_Aint")
        self.values.append(a.name if a.intent == "out" else "*" + a.name)

    add_attr = add_extra = value_of

    def add_proc(self, a):
        self.params.append(f"hl_fort_procedure *{a.name}")
        self.values.append(a.name)

    # ---- characters ----

    def text(self, a, made, strip=None):
        """An argument of characters that comes in: `made` makes C's of it."""
        self.params.append(f"const char *{a.name}")
        self.lengths.append(a.name)
        self.locals.append(f"{strip or 'char *'}c_{a.name} = {made};")
        self.needed.append("c_" + a.name)
        self.values.append("c_" + a.name)
        self.last.append(f"free(c_{a.name});")

    def add_string(self, a):
        if a.intent == "in":
            strip = "HL_FORT_STRIP_END" if self.name in emit_c.KEEPS_BLANKS else "HL_FORT_STRIP_BOTH"
            self.text(a, f"hl_fort_string_in({a.name}, {a.name}_len, {strip})")
            return
        self.params.append(f"char *{a.name}")
        self.lengths.append(a.name)
        size = TEXT_SIZES[self.name]
        if size.startswith("MPI_"):
            self.locals.append(f"char c_{a.name}[{size}];")
        else:
            # Fortran's count is one less than C's, which counts the zero at the end.
            self.locals.append(f"char *c_{a.name} = calloc((size_t)(*{size} > 0 ? *{size} : 0) + 1, 1);")
            self.needed.append("c_" + a.name)
            self.last.append(f"free(c_{a.name});")
        self.values.append("c_" + a.name)
        # Nothing was written where no text was asked for or there is none.
        wanted = [f"*{a.name}" for a in self.form.arguments if a.kind == "logical"]
        if size in ("buflen", "pset_len"):
            self.locals.append(f"int c_{size} = *{size} > 0 ? *{size} + 1 : 0, asked = *{size};")
            self.values[self.values.index(size)] = "&c_" + size
            self.good.append(f"*{size} = c_{size} > 0 ? c_{size} - 1 : 0;")
            wanted.append("asked > 0")
        out = f"hl_fort_string_out({a.name}, {a.name}_len, c_{a.name});"
        self.good.append(f"if ({' && '.join(wanted)}) {{\n            {out}\n        }}" if wanted else out)

    def only_root(self, a, null, made):
        return f"is_root && {a.name} != {null} ? {made} : NULL" if null else f"is_root ? {made} : NULL"

    def add_argv(self, a):
        self.text(a, self.only_root(a, "mpi_fortran_argv_null_", f"hl_fort_strings_in({a.name}, {a.name}_len, 1)"),
                  "char **")
        self.needed[-1] = f"(c_{a.name} != NULL || !is_root || {a.name} == mpi_fortran_argv_null_)"

    def add_commands(self, a):
        self.text(a, self.only_root(a, None, f"hl_fort_strings_of({a.name}, {a.name}_len, *count)"), "char **")
        self.needed[-1] = f"(c_{a.name} != NULL || !is_root)"

    def add_argvs(self, a):
        self.text(a, self.only_root(a, "mpi_fortran_argvs_null_", f"hl_fort_argvs_in({a.name}, {a.name}_len, *count)"),
                  "char ***")
        self.needed[-1] = f"(c_{a.name} != NULL || !is_root || {a.name} == mpi_fortran_argvs_null_)"

    # ---- the whole ----

    def head(self):
        params = list(self.params)
        if self.form.procedure.result == "-":
            params.append("int *ierror")
        params += [f"size_t {n}_len" for n in self.lengths]
        kind = {"aint": "MPI_Aint", "double": "double"}.get(self.form.procedure.result, "void")
        return f"HL_FORT_PUBLIC {kind} p{self.name.lower()}_({', '.join(params) or 'void'})"

    def call(self):
        """The statement that calls C, and sets ierror."""
        call = f"{OWN.get(self.name, 'P' + self.name)}({', '.join(self.values)})"
        result = self.form.procedure.result
        if result == "noerror":
            return call + ";"
        if result != "-":
            return f"return {call};"
        needed = [n if n.startswith("(") else n + " != NULL" for n in self.needed]
        if needed:
            call = f"{' && '.join(needed)} ? {call} : hl_fort_no_memory(\"{self.name}\")"
        return f"*ierror = {call};"

    def lines(self):
        lines = [self.head(), "{"]
        declared = [line for line in self.locals if not line.startswith("*")]
        if self.name in ROOT_ONLY:
            declared.insert(0, f"int is_root = hl_fort_is_root(hl_fort_comm_in(*{self.comm}), *root);")
        first = [line for line in self.locals if line.startswith("*")] + [b for b in [BEFORE.get(self.name)] if b]
        lines += ["    " + line for line in declared] + [""] * bool(declared) + ["    " + line for line in first]
        if self.name in CHECK_BEFORE:
            lines += [f"    *ierror = {CHECK_BEFORE[self.name]};", "    if (*ierror != MPI_SUCCESS) {", "        return;",
                      "    }"]
        lines.append("    " + self.call())
        good = self.good + [a for a in [AFTER.get(self.name)] if a]
        # Lists of handles that were not made are not read.
        guard = [n for n in self.needed if any(n in line for line in self.always)]
        always = ["    " + line for line in self.always]
        if guard:
            always = [f"    if ({' && '.join(n + ' != NULL' for n in guard)}) {{"] + ["    " + a for a in always] + ["    }"]
        lines += always
        if good:
            lines += ["    if (*ierror == MPI_SUCCESS) {"] + ["        " + line for line in good] + ["    }"]
        lines += ["    " + line for line in self.last] + ["}", f"HL_FORT_NAME({self.name.lower()}_)", ""]
        return [part for line in lines for part in folded(line)]


def folded(line):
    """A line of C as lines of at most 110 characters."""
    rest, lines = line, []
    indent = len(line) - len(line.lstrip()) + 4
    while len(rest) > 110:
        cut = max(rest.rfind(mark, 0, 110 - len(mark)) + len(mark) - 1 for mark in (", ", " && ", " ? ", " : "))
        if cut <= indent:
            break
        lines.append(rest[:cut].rstrip())
        rest = " " * indent + rest[cut:].lstrip()
    return lines + [rest]


def c(procedures):
    lines = ["/* Made by generate.py from procedures.tsv: the procedures of module mpi and mpif.h. */", '#include "integer.h"', "",
             "/* Fortran alone calls them. */", '#pragma GCC diagnostic ignored "-Wmissing-prototypes"', ""]
    for form in selected(procedures):
        if form.procedure.name not in BY_HAND and not emit_c.serves_all(form.procedure.name):
            lines += Body(form).lines()
    return "\n".join(lines)


# ---- Fortran ----

# Special variables: type, shape, common block.
SENTINELS = [("MPI_BOTTOM", "INTEGER", ""), ("MPI_IN_PLACE", "INTEGER", ""), ("MPI_BUFFER_AUTOMATIC", "INTEGER", ""),
             ("MPI_STATUS_IGNORE", "INTEGER", "(MPI_STATUS_SIZE)"),
             ("MPI_STATUSES_IGNORE", "INTEGER", "(MPI_STATUS_SIZE,1)"), ("MPI_ERRCODES_IGNORE", "INTEGER", "(1)"),
             ("MPI_UNWEIGHTED", "INTEGER", "(1)"), ("MPI_WEIGHTS_EMPTY", "INTEGER", "(1)"),
             ("MPI_ARGV_NULL", "CHARACTER(LEN=1)", "(1)"), ("MPI_ARGVS_NULL", "CHARACTER(LEN=1)", "(1,1)")]
# Those to which programs may apply c_loc.
TARGETS = {"MPI_BUFFER_AUTOMATIC"}
NUMBERS = [("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8), ("MPI_INTEGER_KIND", 4), ("MPI_OFFSET_KIND", 8),
           ("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3)]
FALSE = ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"]


def block(name):
    return "mpi_fortran_" + name[4:].lower()


def values(constants):
    """(name, value) of the INTEGER constants, and of those of MPI_OFFSET_KIND."""
    return [(n, v) for n, k, v in constants if k != "offset"], [(n, v) for n, k, v in constants if k == "offset"]


def mpif(constants):
    """Statements stand in columns 7 to 72, as both forms allow."""
    integers, offsets = values(constants)
    out = ["! mpif.h: MPI for programs of any form of Fortran. Modules mpi_f08 and mpi find errors that this file cannot."]

    def say(text):
        if len(text) > 66:
            raise table.TableError(f"mpif.h: too long for the fixed form: {text}")
        out.append("      " + text)
    out.append("! Here the compiler stops if INTEGER has 8 bytes (-fdefault-integer-8, -i8), which MPI is not compiled for.")
    say("INTEGER(KIND=12-2*KIND(0)) MPI_NEEDS_INTEGER_OF_4_BYTES")
    say("PARAMETER (MPI_NEEDS_INTEGER_OF_4_BYTES=0)")
    for name, value in NUMBERS + integers:
        say(f"INTEGER {name}")
        say(f"PARAMETER ({name}={value})")
    for name, value in offsets:
        say(f"INTEGER(KIND=MPI_OFFSET_KIND) {name}")
        say(f"PARAMETER ({name}={value})")
    for name in FALSE:
        say(f"LOGICAL {name}")
        say(f"PARAMETER ({name}=.FALSE.)")
    for name, kind, shape in SENTINELS:
        say(f"{kind} {name}{shape}")
        if name in TARGETS:
            say(f"TARGET {name}")
        say(f"COMMON /{block(name)}/ {name}")
    # The functions give 8 bytes whatever DOUBLE PRECISION is made by an option (16 bytes by -fdefault-real-8).
    for name in ("WTIME", "WTICK"):
        say(f"REAL(KIND=SELECTED_REAL_KIND(15)) MPI_{name}, PMPI_{name}")
        say(f"EXTERNAL MPI_{name}, PMPI_{name}")
    for name in ("AINT_ADD", "AINT_DIFF"):
        say(f"INTEGER(KIND=MPI_ADDRESS_KIND) MPI_{name}, PMPI_{name}")
        say(f"EXTERNAL MPI_{name}, PMPI_{name}")
    for name in CALLBACKS:
        say(f"EXTERNAL MPI_{name}")
    out.append("! The size of a variable is known where a procedure's interface is: in the modules. Here the compiler refuses a call.")
    for name in ("MPI_SIZEOF", "PMPI_SIZEOF"):
        say(f"INTEGER {name}")
        say(f"PARAMETER ({name}=0)")
    return "\n".join(out) + "\n"


F_TYPES = {"aint": "integer(MPI_ADDRESS_KIND)", "offset": "integer(MPI_OFFSET_KIND)", "COUNT": "integer(MPI_COUNT_KIND)",
           "cptr": "integer(MPI_ADDRESS_KIND)", "logical": "logical", "string": "character(len=*)",
           "argv": "character(len=*)", "argvs": "character(len=*)", "commands": "character(len=*)"}


def f_type(a, old, pointer):
    if a.kind == "cptr" and pointer:
        return "type(c_ptr)"
    if a.kind in ("attr", "extra"):
        return "integer" if old else "integer(MPI_ADDRESS_KIND)"
    return F_TYPES.get(a.kind, "integer")


def f_shape(a):
    """Arrays are of assumed size."""
    if a.kind == "status" or a.name == "f_status":
        return "(MPI_STATUS_SIZE, *)" if a.shape and a.name != "f_status" else "(MPI_STATUS_SIZE)"
    if not a.shape:
        return ""
    first, comma, _ = a.shape.partition(", ")
    return f"({first}, *)" if comma else "(*)"


def f_argument(a, procedure, pointer):
    if a.kind == "choice" or a.kind == "cptr" and procedure.name in DETACH:
        return [f"!GCC$ attributes no_arg_check :: {a.name}", f"!DIR$ ignore_tkr {a.name}",
                f"type(*), dimension(*) :: {a.name}"]
    if a.kind == "proc":
        return [f"external :: {a.name}"]
    if a.name == "f08_status":
        return [f"type(MPI_Status), intent({a.intent}) :: {a.name}"]
    intent = f", intent({a.intent})" if a.intent != "-" and a.kind not in ("status", "weights") else ""
    return [f"{f_type(a, procedure.kind == 'old', pointer)}{intent} :: {a.name}{f_shape(a)}"]


def f_interface(form, prefix, suffix=""):
    """The interface body of one procedure. `suffix`: _cptr, that with TYPE(C_PTR)."""
    procedure, name = form.procedure, prefix + form.procedure.name + suffix
    names = [a.name for a in form.arguments] + ["ierror"] * (procedure.result == "-")
    kind = {"aint": "integer(MPI_ADDRESS_KIND) function", "double": "double precision function"}.get(procedure.result,
                                                                                                    "subroutine")
    # Declarations of a length come before those of the arrays that have it.
    arguments = sorted(form.arguments, key=lambda a: bool(a.shape))
    body = [line for a in arguments for line in f_argument(a, procedure, bool(suffix))]
    if procedure.result == "-":
        body.append("integer, intent(out) :: ierror")
    used = sorted({n for n in ("MPI_ADDRESS_KIND", "MPI_OFFSET_KIND", "MPI_COUNT_KIND", "MPI_STATUS_SIZE", "c_ptr",
                               "MPI_Status") for line in [kind + " "] + body if n + ")" in line or n + "," in line})
    lines = wrapped(f"{kind} {name}({', '.join(names)})", 8)
    lines += [f"            import :: {', '.join(used)}"] * bool(used)
    lines += [line if line.startswith("!") else "            " + line for line in body]
    return lines + [f"        end {kind.split()[-1]}"]


def f_interfaces(forms):
    plain, generic = [], []
    for form in forms:
        name = form.procedure.name
        if name == "MPI_Sizeof":
            continue
        for prefix in ("", "P"):
            body = f_interface(form, prefix)
            if name in POINTERS:
                generic += [f"    interface {prefix}{name}"] + body + f_interface(form, prefix, "_cptr")
                generic += [f"    end interface {prefix}{name}", ""]
            else:
                plain += body
    return ["    interface"] + plain + ["    end interface", ""] + generic


SIZEOF = """    ! Of any variable of an intrinsic type, scalar or array: the size of an element in bytes.
    interface
        subroutine MPI_Sizeof(x, size, ierror) bind(C, name="mpi_sizeof_")
            import :: c_int
            type(*), dimension(..), intent(in) :: x
            integer(c_int), intent(out) :: size, ierror
        end subroutine
        subroutine PMPI_Sizeof(x, size, ierror) bind(C, name="pmpi_sizeof_")
            import :: c_int
            type(*), dimension(..), intent(in) :: x
            integer(c_int), intent(out) :: size, ierror
        end subroutine
    end interface
"""


def module(procedures, constants):
    integers, offsets = values(constants)
    out = ["! Made by generate.py from procedures.tsv and mpi.h: module mpi. A choice buffer that is a section whose elements are",
           "! apart is copied by the compiler, and the copy is gone when the call returns: nonblocking calls need mpi_f08.",
           "module mpi", "    use, intrinsic :: iso_c_binding, only: c_int, c_ptr",
           "    ! Handles of mpi_f08 made of INTEGERs and back, and its statuses.",
           *wrapped(f"use mpi_f08_types, only: {', '.join(table.HANDLES.values())}, MPI_Status, operator(==), operator(/=)", 4),
           "    implicit none", "    private :: c_int, c_ptr", ""]
    out += [f"    integer, parameter :: {n} = {v}" for n, v in NUMBERS + integers]
    out += [f"    integer(MPI_OFFSET_KIND), parameter :: {n} = {v}" for n, v in offsets]
    out += [f"    logical, parameter :: {n} = .false." for n in FALSE] + [""]
    for name, kind, shape in SENTINELS:
        target = ", target" if name in TARGETS else ""
        out += [f"    {kind.lower()}{target} :: {name}{shape}", f"    common /{block(name)}/ {name}"]
    out += [""] + [f"    external :: MPI_{name}" for name in CALLBACKS] + [""]
    return "\n".join(out + f_interfaces(selected(procedures))) + SIZEOF + "end module\n"
