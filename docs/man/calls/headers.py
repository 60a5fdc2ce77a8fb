"""The public functions as the headers declare them: name, type of the result, arguments."""
import collections
import os
import re

Argument = collections.namedtuple("Argument", "type name")  # type "..." for what follows without a type
Function = collections.namedtuple("Function", "name result arguments header")

SHMEM_HEADERS = ["shmem.h", "shmem/rma.h", "shmem/atomic.h", "shmem/signal.h", "shmem/coll.h", "shmem/wait.h", "shmem/old.h", "shmemx.h"]
# Names of types in the names of OpenSHMEM's functions, with C's.
SHMEM_TYPES = {"float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char",
               "short": "short", "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char",
               "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long", "ulonglong": "unsigned long long",
               "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
               "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "size": "size_t", "ptrdiff": "ptrdiff_t",
               "complexd": "double _Complex", "complexf": "float _Complex"}
PROTOTYPE = re.compile(r"^((?:const )?\w[\w ]*?[ *]+)((?:P?MPI|shmem|sh|my_pe|num_pes|start_pes|globalexit|_my_pe|_num_pes)\w*)\(([^;{]*?)\)"
                       r"\s*(?:__attribute__\s*\(\(\w+\)\))?;", re.S | re.M)


def argument(text):
    if text == "...":
        return Argument("...", "...")
    kind, name, shape = re.match(r"(.*?)(\w+)((?:\[\d*\])*)$", text).groups()
    return Argument((kind.strip() + shape), name)


def functions(path):
    """The functions of one header, in its order."""
    with open(path, encoding="ascii") as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    found = []
    for result, name, inside in PROTOTYPE.findall(text):
        words = [] if inside.strip() in ("", "void") else re.sub(r"\s+", " ", inside).split(", ")
        found.append(Function(name, " ".join(result.split()), [argument(w) for w in words], os.path.basename(path)))
    return found


def mpi(root):
    """{name: Function} of mpi.h, without the names of the profiling interface."""
    return {f.name: f for f in functions(os.path.join(root, "include", "mpi.h")) if not f.name.startswith("P")}


def shmem(root):
    """{name: Function} of OpenSHMEM's headers."""
    return {f.name: f for header in SHMEM_HEADERS for f in functions(os.path.join(root, "include", header))}


def generic(root):
    """The names of OpenSHMEM that choose a function by the type of their arguments."""
    with open(os.path.join(root, "include", "shmem", "generic.h"), encoding="ascii") as header:
        return set(re.findall(r"^#define (shmem_\w+)\(", header.read(), flags=re.M))


def shmem_parts(name):
    """What a name of OpenSHMEM stands for: its page, and its form, where TYPENAME and SIZE stand for types and sizes."""
    word = r"(ctx_)?(%s)_(?=[a-z])" % "|".join(sorted(SHMEM_TYPES, key=len, reverse=True))
    typed = re.match(r"shmem_" + word + r"(\w+)$", name)
    if typed:
        context, kind, rest = typed.groups()
        return "shmem_" + rest, f"shmem_{context or ''}TYPENAME_{rest}", kind, None
    sized = re.match(r"shmem_(ctx_)?(i?b?(?:put|get)|broadcast|f?collect|alltoalls?)(8|16|32|64|128|mem)(_\w+)?$", name)
    if sized:
        context, call, size, rest = sized.groups()
        form = f"shmem_{context or ''}{call}{size if size == 'mem' else 'SIZE'}{rest or ''}"
        return f"shmem_{call}{rest or ''}", form, None, None if size == "mem" else size
    context = re.match(r"shmem_ctx_(fence|quiet|pe_quiet|signal_add|signal_set)$", name)
    return ("shmem_" + context[1] if context else name), name, None, None
