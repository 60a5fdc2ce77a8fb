"""Modules mpi_f08_types, mpi_f08_callbacks and mpi_f08."""
import re

import table
from emit_c import Function

FORTRAN_TYPES = {"int": "integer", "index": "integer", "weights": "integer", "errcodes": "integer", "logical": "logical",
                 "aint": "integer(MPI_ADDRESS_KIND)", "attr": "integer(MPI_ADDRESS_KIND)",
                 "extra": "integer(MPI_ADDRESS_KIND)", "offset": "integer(MPI_OFFSET_KIND)",
                 "COUNT": "integer(MPI_COUNT_KIND)", "status": "type(MPI_Status)", "cptr": "type(C_PTR)",
                 "string": "character(len=*)", "argv": "character(len=*)", "argvs": "character(len=*)",
                 "commands": "character(len=*)", "choice": "type(*)", "double": "double precision"}

# Special variables: name, Fortran type, shape, symbol (sentinel.h).
SENTINELS = [("MPI_BOTTOM", "integer(C_INT)", "", "bottom"), ("MPI_IN_PLACE", "integer(C_INT)", "", "in_place"),
             # A target: what MPI_Buffer_detach gives back is compared with c_loc(MPI_BUFFER_AUTOMATIC).
             ("MPI_BUFFER_AUTOMATIC", "integer(C_INT), target", "", "buffer_automatic"),
             ("MPI_ERRCODES_IGNORE", "integer(C_INT)", "(1)", "errcodes_ignore"),
             ("MPI_UNWEIGHTED", "integer(C_INT)", "(1)", "unweighted"),
             ("MPI_WEIGHTS_EMPTY", "integer(C_INT)", "(1)", "weights_empty"),
             ("MPI_STATUS_IGNORE", "type(MPI_Status)", "", "status_ignore"),
             ("MPI_STATUSES_IGNORE", "type(MPI_Status)", "(1)", "statuses_ignore"),
             ("MPI_ARGV_NULL", "character(kind=C_CHAR)", "(1)", "argv_null"),
             ("MPI_ARGVS_NULL", "character(kind=C_CHAR)", "(1, 1)", "argvs_null")]

TYPES_HEAD = """! Made by generate.py from include/mpi.h: kinds, handles, statuses and constants of MPI in Fortran 2008.
! Handles hold the number that MPI_Comm_toint and kin give in C. (MPI 5.0, sections 19.1 and 20.3)
module mpi_f08_types
    use, intrinsic :: iso_c_binding, only: C_INT, C_CHAR, C_INTPTR_T, C_INT64_T
    implicit none
    public
    private :: C_INT, C_CHAR, C_INTPTR_T, C_INT64_T

    integer, parameter :: MPI_ADDRESS_KIND = C_INTPTR_T
    integer, parameter :: MPI_COUNT_KIND = C_INT64_T
    integer, parameter :: MPI_OFFSET_KIND = C_INT64_T
    integer, parameter :: MPI_INTEGER_KIND = C_INT

    ! A section of an array reaches MPI as it is; a buffer of a nonblocking operation is safe if it is ASYNCHRONOUS.
    logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.
    logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.

    ! A status as INTEGER array, and where its fields are.
    integer, parameter :: MPI_STATUS_SIZE = 8
    integer, parameter :: MPI_SOURCE = 1
    integer, parameter :: MPI_TAG = 2
    integer, parameter :: MPI_ERROR = 3

    type, bind(C) :: MPI_Status
        integer(C_INT) :: MPI_SOURCE
        integer(C_INT) :: MPI_TAG
        integer(C_INT) :: MPI_ERROR
        integer(C_INT), private :: internal(5)
    end type
"""


def wrapped(line, indent):
    """A Fortran statement in lines of at most 120 characters, broken behind commas."""
    lines, line = [], " " * indent + line
    while len(line) > 120:
        cut = line.rfind(", ", 0, 118) + 1
        lines.append(line[:cut] + " &")
        line = " " * (indent + 4) + line[cut + 1:]
    return lines + [line]


def types(constants):
    lines = [TYPES_HEAD]
    for c_type in table.HANDLES.values():
        lines += [f"    type, bind(C) :: {c_type}", "        integer(C_INT) :: MPI_VAL", "    end type"]
    lines.append("\n    ! ---- Constants ----")
    for name, kind, value in constants:
        if kind in table.HANDLES:
            c_type = table.HANDLES[kind]
            lines.append(f"    type({c_type}), parameter :: {name} = {c_type}({value})")
        elif kind == "offset":
            lines.append(f"    integer(MPI_OFFSET_KIND), parameter :: {name} = {value}_MPI_OFFSET_KIND")
        else:
            lines.append(f"    integer, parameter :: {name} = {value}")
    lines.append("\n    ! ---- Special variables: told by their address, never written ----")
    for name, kind, shape, symbol in SENTINELS:
        lines.append(f"    {kind}, bind(C, name=\"mpi_fortran_{symbol}_\"), protected :: {name}{shape}")
    lines.append("\n    ! ---- Handles are compared by value ----")
    for operator, word in (("==", "eq"), ("/=", "ne")):
        lines.append(f"    interface operator({operator})")
        for kind, c_type in table.HANDLES.items():
            lines += [f"        pure logical function mpi_fortran_{kind}_{word}(a, b)", f"            import :: {c_type}",
                      f"            type({c_type}), intent(in) :: a, b", "        end function"]
        lines.append("    end interface")
    for word in ("eq", "ne"):
        names = ", ".join(f"mpi_fortran_{kind}_{word}" for kind in table.HANDLES)
        lines += wrapped("private :: " + names, 4)
    return "\n".join(lines + ["end module", ""])


def declaration(a):
    """The declaration of a dummy argument."""
    words = [FORTRAN_TYPES.get(a.kind) or f"type({table.HANDLES.get(a.kind)})"]
    if a.kind == "proc":
        return f"procedure({a.how}) :: {a.name}"
    if a.kind == "choice":
        words.append("dimension(..)")
    if a.intent != "-":
        words.append(f"intent({a.intent})")
    if a.asynchronous:
        words.append("asynchronous")
    return f"{', '.join(words)} :: {a.name}" + (f"({a.shape})" if a.shape else "")


def imports(form):
    """The names that an interface needs from outside."""
    text = " ".join(declaration(a) for a in form.arguments) + " " + FORTRAN_TYPES.get(form.procedure.result, "")
    names = set(re.findall(r"\b(MPI_\w+|C_PTR)\b", text)) - {a.name for a in form.arguments}
    return ", ".join(sorted(names))


def specific(form):
    """The name of the specific procedure: as the standard's, for a compiler with TS 29113."""
    function = Function(form)
    name = form.procedure.name + ("_c" if form.large and form.procedure.kind == "large" else "")
    return name + ("_f08ts" if function.binds else "_f08"), function


def interface(form, prefix):
    """The interface body of one specific procedure."""
    procedure = form.procedure
    name, function = specific(form)
    bound = f" bind(C, name=\"{prefix.lower()}{name.lower()}_\")" if function.binds else ""
    names = [a.name for a in form.arguments] + (["ierror"] if procedure.result == "-" else [])
    word = "subroutine" if procedure.result in ("-", "noerror") else "function"
    head = f"{word} {prefix}{name}({', '.join(names)}){bound}"
    if word == "function":
        head = f"{FORTRAN_TYPES[procedure.result]} {head}"
    lines = wrapped(head, 8)
    if imports(form):
        lines += wrapped(f"import :: {imports(form)}", 12)
    for a in form.arguments:
        lines.append(" " * 12 + declaration(a))
    if procedure.result == "-":
        lines.append(" " * 12 + "integer, optional, intent(out) :: ierror")
    return lines + [f"        end {word}"]


INTERFACES_HEAD = """! Made by generate.py from procedures.tsv: MPI in Fortran 2008. A generic name has a specific procedure for counts that are
! default INTEGER, and one for INTEGER(MPI_COUNT_KIND) where MPI has large counts. (MPI 5.0, section 19.1)
module mpi_f08
    use mpi_f08_types
    use mpi_f08_callbacks
    use, intrinsic :: iso_c_binding, only: C_PTR
    implicit none
    public
    private :: C_PTR
"""


def interfaces(procedures):
    lines = [INTERFACES_HEAD]
    for procedure in procedures:
        if procedure.kind == "old":
            continue
        for prefix in ("", "P"):
            lines.append(f"    interface {prefix}{procedure.name}")
            for form in procedure.forms():
                lines += interface(form, prefix)
            lines.append("    end interface")
        lines.append("")
    return "\n".join(lines + ["end module", ""])


# Procedures that a program passes: name, arguments as in the table.
COPY = ("old{0} {1} in, {0}_keyval int in, extra_state extra in, attribute_val_in attr in, attribute_val_out attr out, "
        "flag logical out, ierror int out")
DELETE = "{0} {1} in, {0}_keyval int in, attribute_val attr in, extra_state extra in, ierror int out"
KEYVALS = [("Comm", "comm"), ("Type", "datatype"), ("Win", "win")]
PASSED = [("MPI_Comm_errhandler_function", "comm comm -, error_code int -"),
          ("MPI_Win_errhandler_function", "win win -, error_code int -"),
          ("MPI_File_errhandler_function", "file file -, error_code int -"),
          ("MPI_Session_errhandler_function", "session session -, error_code int -"),
          ("MPI_User_function", "invec value -, inoutvec value -, len int -, datatype datatype -"),
          ("MPI_User_function_c", "invec value -, inoutvec value -, len COUNT -, datatype datatype -"),
          ("MPI_Grequest_query_function", "extra_state extra -, status status -, ierror int -"),
          ("MPI_Grequest_free_function", "extra_state extra -, ierror int -"),
          ("MPI_Grequest_cancel_function", "extra_state extra -, complete logical -, ierror int -"),
          ("MPI_Datarep_extent_function", "datatype datatype -, extent aint -, extra_state extra -, ierror int -"),
          ("MPI_Datarep_conversion_function", "userbuf value -, datatype datatype -, count int -, filebuf value -, "
           "position offset -, extra_state extra -, ierror int -"),
          ("MPI_Datarep_conversion_function_c", "userbuf value -, datatype datatype -, count COUNT -, filebuf value -, "
           "position offset -, extra_state extra -, ierror int -")]
PREDEFINED = [("MPI_{0}_NULL_COPY_FN", "MPI_{0}_copy_attr_function"), ("MPI_{0}_DUP_FN", "MPI_{0}_copy_attr_function"),
              ("MPI_{0}_NULL_DELETE_FN", "MPI_{0}_delete_attr_function")]

CALLBACKS_HEAD = """! Made by generate.py: interfaces of the procedures that a program passes to MPI, and the predefined ones.
module mpi_f08_callbacks
    use mpi_f08_types
    use, intrinsic :: iso_c_binding, only: C_PTR
    implicit none
    public
    private :: C_PTR
"""


def passed(name, arguments, indent):
    """The interface body of a procedure with these arguments."""
    fields = [a.split() for a in arguments.split(", ")]
    lines = wrapped(f"subroutine {name}({', '.join(f[0] for f in fields)})", indent)
    lines.append(" " * (indent + 4) + "import")
    for field, kind, _ in fields:
        declared = "type(C_PTR), value" if kind == "value" else FORTRAN_TYPES.get(kind) or f"type({table.HANDLES[kind]})"
        lines.append(f"{' ' * (indent + 4)}{declared} :: {field}")
    return lines + [" " * indent + "end subroutine"]


def callback_rows():
    """Name and arguments of each procedure that a program passes."""
    rows = list(PASSED)
    for word, kind in KEYVALS:
        rows += [(f"MPI_{word}_copy_attr_function", COPY.format(word.lower(), kind)),
                 (f"MPI_{word}_delete_attr_function", DELETE.format(word.lower(), kind))]
    return rows


def callbacks():
    rows = callback_rows()
    lines = [CALLBACKS_HEAD, "    abstract interface"]
    for name, arguments in rows:
        lines += passed(name, arguments, 8)
    lines += ["    end interface", "", "    ! The predefined ones.", "    interface"]
    of_name = dict(rows)
    for word, _ in KEYVALS:
        for name, kind in PREDEFINED:
            lines += passed(name.format(word.upper()), of_name[kind.format(word)], 8)
    lines += passed("MPI_CONVERSION_FN_NULL", of_name["MPI_Datarep_conversion_function"], 8)
    lines += passed("MPI_CONVERSION_FN_NULL_C", of_name["MPI_Datarep_conversion_function_c"], 8)
    return "\n".join(lines + ["    end interface", "end module", ""])
