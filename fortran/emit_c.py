"""The C functions behind mpi_f08.

What has no choice buffer is called as compilers call external procedures, mpi_comm_rank_f08_ and pmpi_comm_rank_f08_:
arguments by address, an absent ierror as NULL, the length of a CHARACTER behind the last argument.
What has one is called as bind(C) says, with descriptors of the buffers (and of CHARACTERs): mpi_send_f08ts_,
mpi_send_c_f08ts_ (large counts), and with a leading p.

All call C's functions by their PMPI_ names: a tool that wraps calls of Fortran does so by Fortran's names.
"""
import table

C_TYPES = {"int": "int", "index": "int", "logical": "int", "weights": "int", "errcodes": "int", "aint": "MPI_Aint",
           "attr": "MPI_Aint", "extra": "MPI_Aint", "offset": "MPI_Offset", "COUNT": "MPI_Count", "status": "void",
           "string": "char", "argv": "char", "argvs": "char", "commands": "char", "cptr": "void *"}
# Room of C for texts that it writes.
TEXT_ROOM = {"MPI_Error_string": "MPI_MAX_ERROR_STRING", "MPI_Get_processor_name": "MPI_MAX_PROCESSOR_NAME",
             "MPI_Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING", "MPI_File_get_view": "MPI_MAX_DATAREP_STRING",
             "MPI_Info_get_nthkey": "MPI_MAX_INFO_KEY", "MPI_Open_port": "MPI_MAX_PORT_NAME",
             "MPI_Lookup_name": "MPI_MAX_PORT_NAME", "MPI_Comm_get_name": "MPI_MAX_OBJECT_NAME",
             "MPI_Type_get_name": "MPI_MAX_OBJECT_NAME", "MPI_Win_get_name": "MPI_MAX_OBJECT_NAME"}
# Texts that keep the blanks that they begin with.
KEEPS_BLANKS = {"MPI_Add_error_string", "MPI_Comm_set_name", "MPI_Type_set_name", "MPI_Win_set_name"}
# Sections that libhotlane takes as they are (hotlane.h), where it is the library.
TAKES_SECTIONS = {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv"}
# What starts something that copies may be kept for.
BEFORE = {"MPI_Start": ["hl_fort_start_slow(&c_request, 1);"],
          "MPI_Startall": ["hl_fort_start_slow(c_array_of_requests, *count);"],
          "MPI_Pready": ["hl_fort_ready_slow(hl_fort_request_in(*request), *partition, *partition);"],
          "MPI_Pready_range": ["hl_fort_ready_slow(hl_fort_request_in(*request), *partition_low, *partition_high);"],
          "MPI_Pready_list": ["for (int i = 0; i < *length; i++) {", "hl_fort_ready_slow(hl_fort_request_in(*request), "
                              "array_of_partitions[i], array_of_partitions[i]);", "}"]}
# What tells that something has come for which a copy may be kept.
AFTER = {"MPI_Parrived": ["if (rc == MPI_SUCCESS && c_flag && hl_fort_keeps_any()) {",
                          "hl_fort_arrived_slow(hl_fort_request_in(*request), *partition);", "}"]}
# Functions that take Fortran's procedures and attributes in the place of C's (callback.h), or end what is kept (section.h).
OWN = {"MPI_Op_create": "hl_fort_op_create", "MPI_Op_create_c": "hl_fort_op_create_c",
       "MPI_Grequest_start": "hl_fort_grequest_start", "MPI_Register_datarep": "hl_fort_register_datarep",
       "MPI_Register_datarep_c": "hl_fort_register_datarep_c", "MPI_Request_free": "hl_fort_request_free"}
OWN |= {f"MPI_{o}_{f}": f"hl_fort_{o.lower()}_{f}" for o in ("Comm", "Type", "Win")
        for f in ("create_keyval", "set_attr", "get_attr")}
OWN |= {f"MPI_{o}_create_errhandler": f"hl_fort_{o.lower()}_create_errhandler" for o in ("Comm", "Win", "File", "Session")}
# What the function of the INTEGER interfaces does as well: the same arguments, but for an ierror that is always there.
PASSED_ON = {"MPI_Init", "MPI_Init_thread", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Info_get", "MPI_Info_get_string", "MPI_Info_create_env",
             "MPI_Session_get_nth_pset", "MPI_Session_init", "MPI_Abi_get_fortran_info"}
COMPLETES = ("MPI_Wait", "MPI_Test", "MPI_Request_get_status")


def completes(name):
    return name.startswith(COMPLETES) and name != "MPI_Test_cancelled"


def serves_all(name):
    """Whether the INTEGER interfaces have the same function under their names: it looks after copies that are kept for a request,
    whichever interface the request comes from."""
    return completes(name) or name in (*BEFORE, *AFTER, "MPI_Request_free", "MPI_Finalize")


class Function:
    """One C function of one form of a procedure."""

    def __init__(self, form):
        self.form = form
        self.name = form.procedure.name
        self.choices = [a for a in form.arguments if a.kind == "choice"]
        self.binds = bool(self.choices)
        self.hows = {a.how for a in self.choices}
        # Lists of handles that a nonblocking operation may read until it is complete.
        self.lasting = [a for a in form.arguments if a.kind in table.HANDLES and a.shape and a.asynchronous]
        self.starts = any(a.kind == "request" and a.intent == "out" for a in form.arguments)
        self.keeps = self.starts and (bool(self.hows & {"pack", "parts"}) or bool(self.lasting))
        suffix = "_c" if form.large and form.procedure.kind == "large" else ""
        self.c_name = OWN.get(self.name, "P" + self.name + suffix)
        self.symbol = self.name.lower() + suffix + ("_f08ts_" if self.binds else "_f08_")

    # ---- The head ----
    def parameter(self, a):
        if a.kind == "proc":
            return f"hl_fort_procedure *{a.name}"
        if a.kind == "choice":
            return f"const struct hl_fort_array *{a.name}"
        if a.kind == "string" and self.binds:
            return f"const struct hl_fort_array *{a.name}"
        kind = C_TYPES.get(a.kind, "int")
        const = "const " if a.intent == "in" and a.kind not in ("status", "cptr") and "3," not in a.shape else ""
        shape = "[][3]" if a.shape.startswith("3,") else ""
        star = "" if shape else "*"
        return f"{const}{kind} {star}{'(*' if shape else ''}{a.name}{')[3]' if shape else ''}".replace("* *", "**")

    def parameters(self):
        found = [self.parameter(a) for a in self.form.arguments]
        if self.form.procedure.result == "-":
            found.append("int *ierror")
        if not self.binds:
            found += [f"size_t {a.name}_len" for a in self.form.arguments
                      if a.kind in ("string", "argv", "argvs", "commands")]
        return ", ".join(found) or "void"

    def length(self, a):
        """How many handles a list has, in C."""
        name = a.length
        if name == "outcount":
            name = "incount"
        if name == "ndims" and not any(b.name == "ndims" for b in self.form.arguments):
            return "hl_fort_ndims(hl_fort_comm_in(*comm))"
        if name in ("peers", "indegree", "outdegree") and not any(b.name == name for b in self.form.arguments):
            first = "sendbuf" if a.name == "sendtypes" else None
            count = f"hl_fort_{name}(hl_fort_comm_in(*comm))"
            return f"{self.address(first)} == MPI_IN_PLACE ? 0 : {count}" if first and name == "peers" else count
        return "*" + name

    def address(self, name):
        how = next(a.how for a in self.choices if a.name == name)
        return f"hl_fort_{'data' if how == 'type' else 'buffer'}({name}->addr)"

    # ---- An argument: what stands before the call, in it, and after it ----
    def convert(self, a, code):
        """The expression for a in the call; code gets lines to declare, conditions to hold, and lines after success or always."""
        kind, name = a.kind, a.name
        if kind in table.HANDLES:
            return self.handle(a, code)
        if kind == "choice":
            return self.address(name)
        if kind == "proc":
            return name
        if kind == "status":
            return f"hl_fort_status({name})"
        if kind in ("weights", "errcodes"):
            return f"hl_fort_{kind}({name})"
        if kind == "string":
            return self.string(a, code)
        if kind == "cptr":
            if name == "buffer_addr": # of a buffer that is given back
                code.success.append(f"*{name} = hl_fort_buffer_out(*{name});")
            return name
        if kind == "logical" and a.shape:
            return self.logicals(a, code)
        if a.shape and kind != "index":
            return name
        if a.intent == "in":
            return f"hl_fort_logical_in(*{name})" if kind == "logical" else f"*{name}"
        if kind == "logical":
            code.declare.append(f"int c_{name} = 0;")
            # What completes requests says which are complete also when one of them has failed.
            (code.always if completes(self.name) else code.success).append(f"*{name} = hl_fort_logical_out(c_{name});")
            return f"&c_{name}"
        if kind == "index":
            # The same; C writes none where the call itself is wrong.
            code.declare.append("*outcount = 0;" if a.shape else f"*{name} = MPI_UNDEFINED;")
            code.always.append(f"hl_fort_indices_out({name}, {'*outcount' if a.shape else 1});")
        return name

    def handle(self, a, code):
        kind, name, c_type = a.kind, a.name, table.HANDLES[a.kind]
        if not a.shape:
            if a.intent == "in":
                return f"hl_fort_{kind}_in(*{name})"
            null = c_type.upper().replace("_ERRHANDLER", "_ERRHANDLER") + "_NULL"
            first = f"hl_fort_{kind}_in(*{name})" if a.intent == "inout" else null
            code.declare.append(f"{c_type} c_{name} = {first};")
            back = f"*{name} = hl_fort_{kind}_out(c_{name});"
            if kind == "request" and a.intent == "inout":
                # Other threads may read a persistent one meanwhile, to tell of partitions: it is not written, as it stays.
                code.always += [f"if (c_{name} != {first}) {{", back, "}"]
            else:
                (code.always if a.intent == "inout" else code.success).append(back)
            return f"&c_{name}"
        length = self.length(a)
        where = "NULL" if a in self.lasting else f"&{name}_list"
        if a not in self.lasting:
            code.declare.append(f"struct hl_fort_list {name}_list;")
            code.close.append(f"hl_fort_list_end(&{name}_list);")
        elif not self.keeps:
            code.close.append(f"free(c_{name});")
        if a.intent == "out":
            code.declare.append(f"{c_type} *c_{name} = hl_fort_{kind}s_room({where}, {length});")
            code.success.append(f"hl_fort_{kind}s_out({name}, c_{name}, {length});")
        else:
            code.declare.append(f"{c_type} *c_{name} = hl_fort_{kind}s_in({where}, {name}, {length});")
            if a.intent == "inout":
                code.always += [f"if (c_{name} != NULL) {{", f"hl_fort_{kind}s_out({name}, c_{name}, {length});", "}"]
        code.memory.append(f"c_{name} == NULL")
        return f"c_{name}"

    def logicals(self, a, code):
        name = a.name
        if a.intent == "out":
            code.success.append(f"hl_fort_logicals_out({name}, {self.length(a)});")
            return name
        code.declare += [f"struct hl_fort_list {name}_list;",
                         f"int *c_{name} = hl_fort_logicals_in(&{name}_list, {name}, {self.length(a)});"]
        code.memory.append(f"c_{name} == NULL")
        code.close.append(f"hl_fort_list_end(&{name}_list);")
        return f"c_{name}"

    def string(self, a, code):
        name = a.name
        text, length = (f"{name}->addr", f"{name}->elem_len") if self.binds else (name, f"{name}_len")
        if a.intent == "in":
            strip = "HL_FORT_STRIP_END" if self.name in KEEPS_BLANKS else "HL_FORT_STRIP_BOTH"
            code.declare.append(f"char *c_{name} = hl_fort_string_in({text}, {length}, {strip});")
            code.memory.append(f"c_{name} == NULL")
            code.close.append(f"free(c_{name});")
        else:
            code.declare.append(f"char c_{name}[{TEXT_ROOM[self.name]}];")
            code.success.append(f"hl_fort_string_out({text}, {length}, c_{name});")
        return f"c_{name}"

    # ---- The body ----
    def code(self):
        code = Code()
        arguments = [self.convert(a, code) for a in self.form.arguments]
        return code, arguments

    def end(self, code):
        """From the call's rc to the end."""
        lines = []
        if code.success:
            lines += ["if (rc == MPI_SUCCESS) {", *code.success, "}"]
        return lines + code.always + code.close + ["hl_fort_end(ierror, rc);"]

    def passed_on(self):
        """A call of the procedure that the INTEGER interfaces have."""
        names = [a.name for a in self.form.arguments] + ["ierror != NULL ? ierror : &rc"]
        names += [p.split()[-1] for p in self.parameters().split(", ") if p.startswith("size_t ")]
        return ["int rc;", f"{self.name.lower()}_({', '.join(names)});"]

    def body(self):
        if self.name in PASSED_ON:
            return self.passed_on()
        code, arguments = self.code()
        if "whole" in self.hows:
            code.check = [f"hl_fort_is_dense({a.name})" for a in self.choices if a.how == "whole"]
        call = f"{self.c_name}({', '.join(arguments)})"
        result = self.form.procedure.result
        if result != "-":
            return [("return " if result != "noerror" else "") + call + ";"]
        if self.hows & {"pack", "parts"} or self.keeps:
            return self.packed(code, arguments)
        guard = ""
        if code.memory:
            guard = f"{' || '.join(code.memory)} ? hl_fort_no_memory(\"{self.name}\") : "
        lines = list(code.declare)
        requests, count = "&c_request", "1"
        if self.name == "MPI_Finalize":
            lines.append("hl_fort_parts_free();")
        if self.name in BEFORE:
            lines += ["if (hl_fort_keeps_any()) {", *BEFORE[self.name], "}"]
        takes = completes(self.name)
        if takes:
            several = any(a.name == "array_of_requests" for a in self.form.arguments)
            if several:
                requests, count = "c_array_of_requests", next(self.length(a) for a in self.form.arguments if a.kind == "request")
            elif self.name == "MPI_Request_get_status":
                lines.append("const MPI_Request c_request = hl_fort_request_in(*request);")
            lines.append(f"struct hl_fort_taken *taken = hl_fort_take({requests}, {count});")
        for check in getattr(code, "check", []):
            guard = f"!{check} ? hl_fort_fail(\"{self.name}\", MPI_ERR_BUFFER, HL_FORT_NOT_WHOLE) : " + guard
        lines.append(f"int rc = {guard}{call};")
        if takes:
            lines.append(f"hl_fort_settle(taken, {requests});")
        return lines + AFTER.get(self.name, []) + self.end(code)

    def packed(self, code, arguments):
        """Copies stand in for sections: kept until a request is complete, or ended with the call."""
        lines = list(code.declare)
        packs = [a for a in self.choices if a.how in ("pack", "parts")]
        lines.append("struct hl_fort_kept kept = {0};")
        lines.append("int rc = MPI_SUCCESS;")
        if code.memory:
            lines += [f"if ({' || '.join(code.memory)}) {{", f"rc = hl_fort_no_memory(\"{self.name}\");", "}"]
        for i, a in enumerate(self.lasting):
            lines.append(f"kept.list[{i}] = c_{a.name};")
        for i, a in enumerate(packs):
            use = "HL_FORT_READ" if a.intent == "in" else "HL_FORT_WRITTEN"
            lines += ["if (rc == MPI_SUCCESS) {", f"rc = hl_fort_copy_begin(&kept.copy[{i}], {a.name}, {use}, \"{self.name}\");", "}"]
            if a.how == "parts":
                divide = f"hl_fort_copy_divide(&kept.copy[{i}], *partitions, *count, hl_fort_datatype_in(*datatype), \"{self.name}\")"
                lines += ["if (rc == MPI_SUCCESS) {", f"rc = {divide};", "}"]
            arguments = [f"kept.copy[{i}].addr" if self.form.arguments[j] is a else x for j, x in enumerate(arguments)]
        lines += ["if (rc == MPI_SUCCESS) {", f"rc = {self.c_name}({', '.join(arguments)});", "}"]
        if self.keeps:
            persistent = "true" if self.name.endswith("_init") else "false"
            lines.append(f"rc = hl_fort_keep(rc, &kept, &c_request, {persistent}, \"{self.name}\");")
        else:
            lines += [f"hl_fort_copy_end(&kept.copy[{i}]);" for i in range(len(packs))]
        return lines + self.end(code)

    def apart(self):
        """The function's half for sections whose elements are apart."""
        code, arguments = self.code()
        types = [i for i, a in enumerate(self.form.arguments) if a.kind == "choice" and a.how == "type"]
        cast = "" if self.form.large else "(int)"
        for i, a in enumerate(self.form.arguments):
            if a.kind in table.HANDLES and a.intent == "in" and not a.shape:
                code.declare.append(f"const {table.HANDLES[a.kind]} c_{a.name} = {arguments[i]};")
                arguments[i] = "c_" + a.name
        plain = list(arguments)
        parts = [f"struct hl_fort_part {self.form.arguments[i].name}_part = {{0}};" for i in types]
        indirect = []
        for i in types:
            name = self.form.arguments[i].name
            begin = f"hl_fort_part_begin(&{name}_part, {name}, {plain[i + 1]}, {plain[i + 2]}, \"{self.name}\")"
            indirect += ["if (rc == MPI_SUCCESS) {", f"rc = {begin};", "}"]
            arguments[i:i + 3] = [f"{name}_part.addr", f"{cast}{name}_part.count", f"{name}_part.type"]
        indirect += ["if (rc == MPI_SUCCESS) {", f"rc = {self.c_name}({', '.join(arguments)});", "}"]
        indirect += [f"hl_fort_part_end(&{self.form.arguments[i].name}_part);" for i in types]
        dense = " && ".join(f"hl_fort_is_in_one_piece({self.form.arguments[i].name})" for i in types)
        if self.name in TAKES_SECTIONS:
            dense = f"hl_fort_is_whole({self.form.arguments[types[0]].name})"
        lines = [*code.declare, "int rc = MPI_SUCCESS;", f"if ({dense}) {{", f"rc = {self.c_name}({', '.join(plain)});"]
        if self.name in TAKES_SECTIONS:
            at = types[0]
            name = self.form.arguments[at].name
            passed = plain[:at] + [f"{name}->addr", "&section"] + plain[at + 1:]
            if self.name in ("MPI_Put", "MPI_Get", "MPI_Accumulate"):
                passed.insert(passed.index("*target_disp") + 1, "NULL")
            lines += [f"}} else if (P{self.name.replace('MPI_', 'MPIX_')}_section != NULL) {{",
                      f"const MPIX_Section section = hl_fort_section({name});",
                      f"rc = P{self.name.replace('MPI_', 'MPIX_')}_section({', '.join(passed)});"]
        return lines + ["} else {", *parts, *indirect, "}"] + self.end(code)

    def text(self):
        result = {"aint": "MPI_Aint", "double": "double"}.get(self.form.procedure.result, "void")
        names, parameters = [self.symbol, "p" + self.symbol], self.parameters()
        if serves_all(self.name):
            names += [f"{self.name.lower()}_", f"p{self.name.lower()}_"]
        lines = []
        split = "type" in self.hows
        if self.name in PASSED_ON:
            lines.append(f"void {self.name.lower()}_({parameters});")
        if split:
            lines += [f"static __attribute__((noinline)) void {self.symbol}apart({parameters})", "{", *self.apart(), "}"]
        lines += [f"HL_FORT_PUBLIC {result} {names[0]}({parameters});",
                  f"HL_FORT_PUBLIC {result} {names[0]}({parameters})", "{"]
        if split:
            plain = " && ".join(f"hl_fort_is_plain({a.name})" for a in self.choices if a.how == "type")
            passed = ", ".join([a.name for a in self.form.arguments] + ["ierror"])
            lines += [f"if (!({plain})) {{", f"{self.symbol}apart({passed});", "return;", "}"]
        lines += self.body() + ["}"]
        lines += [f"HL_FORT_ALIAS({names[0]}, {n}, {result}, ({parameters}))" for n in names[1:]]
        return "\n".join([f"/* {self.name[:]}{' (large counts)' if self.form.large else ''} */"] + indented(lines)) + "\n"


class Code:
    """Lines around a call."""

    def __init__(self):
        self.declare, self.memory, self.success, self.always, self.close = [], [], [], [], []


def indented(lines):
    """The lines with four spaces for each brace that is open."""
    depth, done = 0, []
    for line in lines:
        depth -= line.startswith("}")
        done.append("    " * depth + line)
        depth += line.endswith("{")
    return done


HEAD = """/* Made by generate.py from procedures.tsv: what a program that uses mpi_f08 calls. */
#include "calls.h"

"""


def emit(procedures):
    """The C file. What is in Fortran alone is written by hand (special.c)."""
    texts = [HEAD]
    for procedure in procedures:
        if procedure.kind not in ("old", "f"):
            texts += [Function(form).text() for form in procedure.forms()]
    return "\n".join(texts)
