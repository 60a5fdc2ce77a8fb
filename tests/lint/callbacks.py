"""Which functions a call through a pointer may reach, read from the source by names.

A pointer is known by the name under which it is kept: a field (whatever the structure), a parameter or local variable of a
function, a variable of a file, or the result of a function. Functions and pointers flow into names by initialisers (with
and without designators), assignments, arguments and returns. What is bound to a field of some name is bound to all of it:
the answer may have too much, and never too little.
"""
import glob
import os
import re
from collections import defaultdict

# Objects whose fields are functions of a library that is opened, or of the system.
OUTSIDE = ("lib", "hl_fab_lib", "hl_sys")
WORD = re.compile(r"[A-Za-z_]\w*")
TOKEN = re.compile(r"[A-Za-z_]\w*|->|\+\+|--|[=!<>]=|\.\.\.|\d[\w.]*|\S")
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
KEYWORDS = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "case", "struct", "const", "static", "void"}


def blank(text):
    """Comments and the insides of strings as spaces, lines kept."""
    def spaces(m):
        whole = m[0]
        inner = re.sub(r"[^\n]", " ", whole)
        return whole[0] + inner[1:-1] + whole[-1] if whole[0] in "\"'" else inner
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text, flags=re.S)


class Source:
    """One file: its tokens with their offsets, and the place of the bracket that closes each."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = blank(f.read())
        self.text = re.sub(r"\\\n", " \n", self.text)
        self.lines = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.tokens, self.at = [], []
        for m in TOKEN.finditer(self.text):
            self.tokens.append(m[0])
            self.at.append(m.start())
        self.close, self.parent = {}, []
        stack = []
        for i, t in enumerate(self.tokens):
            self.parent.append(stack[-1] if stack else -1)
            if t in OPEN:
                stack.append(i)
            elif t in CLOSE and stack:
                self.close[stack.pop()] = i
        self.statics = set(re.findall(r"^static[^;{}=]*?\b(\w+)\)?\s*(?:\[[^\n;]*\])*\)?(?:\([^;{}]*\))?\s*[=;]", self.text, re.M))
        self.functions = []  # (first token of the body, last, name, parameters)

    def pieces(self, opening, by=","):
        """The token ranges between the commas of a bracket."""
        first, end = opening + 1, self.close.get(opening, opening)
        out, i = [], first
        while i < end:
            if self.tokens[i] in OPEN:
                i = self.close.get(i, i)
            elif self.tokens[i] == by:
                out.append((first, i))
                first = i + 1
            i += 1
        return out + [(first, end)] if first < end else out

    def inside(self, i):
        """The function around token i: (name, parameters), or (None, [])."""
        for first, last, name, parameters in self.functions:
            if first <= i <= last:
                return name, parameters
        return None, []

    def token_at(self, line, column):
        want = self.lines[line - 1] + column - 1
        lo, hi = 0, len(self.at)
        while lo < hi:
            mid = (lo + hi) // 2
            lo, hi = (mid + 1, hi) if self.at[mid] < want else (lo, mid)
        return lo


def declared(source, first, end):
    """The name that a declaration between two tokens gives: of a pointer to a function, or the last word."""
    words = source.tokens[first:end]
    for i in range(len(words) - 3):
        if words[i] == "(" and words[i + 1] == "*":
            return next((w for w in words[i + 2:] if WORD.match(w) and w not in KEYWORDS), None)
    depth, last = 0, None
    for w in words:
        depth += (w in OPEN) - (w in CLOSE)
        if w == "=" and depth == 0:
            break
        if depth == 0 and WORD.match(w):
            last = w
    return last


def type_words(words):
    """A parameter's type, without its name and const."""
    words = [w for w in words if w not in ("const", "volatile", "restrict", "register")]
    if "(" in words:
        return "function"
    k = 2 if words and words[0] in ("struct", "enum", "union") else 1
    while k < len(words) and words[k] in ("int", "long", "char", "unsigned", "short", "double", "_Complex"):
        k += 1
    return " ".join(words[:k]) + "*" * sum(w in ("*", "[") for w in words[k:])


def signature(source, opening):
    """The types of a list of parameters; None: any (there are more than the list tells)."""
    types = tuple(type_words(source.tokens[a:b]) for a, b in source.pieces(opening))
    return None if "..." in types else () if types == ("void",) else types


class Callbacks:
    """`known`: the names of all functions that have a body; `pasted`: {table: names of the functions in it}, for those that
    macros make."""

    def __init__(self, root, folders, known, pasted):
        self.known = known
        self.flows = defaultdict(set)  # name of a pointer: functions and names that flow into it
        self.outside = defaultdict(set)  # function from outside: (caller, function handed to it)
        self.handed = []  # (name of a pointer that is called, number of an argument, its values)
        self.fields = {}  # (file, or None for headers, tag or place of a structure): fields in order
        self.unbound = []
        self.parameters = {}
        self.globals = set()  # functions that are not static
        self.types = {}  # function: the types of its parameters
        self.typedefs = {}  # name of a function's type: the same
        self.pointers = defaultdict(set)  # name of a pointer: the same, of each of that name
        self.members = defaultdict(set)  # (tag, field): the types of the parameters of the pointer in it
        self.tags = defaultdict(set)  # field: tags of the structures in it
        self.passed = defaultdict(lambda: defaultdict(set))  # function: {caller: what it hands over}
        self.steps = defaultdict(set)  # function: what the flights that it starts do
        self.locals = defaultdict(set)
        self.called = defaultdict(set)  # function: what it calls by name
        self.conditions = defaultdict(set)  # function: what it waits for, by hl_prog_wait
        paths = [p for folder in folders for p in glob.glob(os.path.join(root, folder, "**", "*.[ch]"), recursive=True)]
        self.sources = {os.path.abspath(p): Source(p) for p in sorted(paths)}
        for s in self.sources.values():
            self.find_typedefs(s)
        for s in self.sources.values():
            self.find_structs(s)
            self.find_functions(s)
        for s in self.sources.values():
            self.find_pointers(s)
        for s in self.sources.values():
            self.find_uses(s)
        for table, functions in pasted.items():
            for scope in ["variable"] + list(self.sources):
                self.bind((scope, table), functions)
        self.hand_on()

    # ---- declarations ----

    def find_structs(self, s):
        for i, t in enumerate(s.tokens):
            if t in ("struct", "union") and i + 2 < len(s.tokens):
                brace = i + 1 if s.tokens[i + 1] == "{" else i + 2 if s.tokens[i + 2] == "{" else None
                if brace is not None and brace in s.close:
                    tag = s.tokens[i + 1] if brace == i + 2 else brace
                    fields = self.fields_of(s, brace)
                    self.find_members(s, brace, tag)
                    self.fields[s.path, tag] = self.fields[s.path, brace] = fields
                    if s.path.endswith(".h"):
                        self.fields[None, tag] = fields

    def fields_of(self, s, brace):
        out = []
        for first, end in s.pieces(brace, ";"):
            inner = next((k for k in range(first, end) if s.tokens[k] == "{"), None)
            tag = next((s.tokens[k + 1] for k in range(first, end - 1) if s.tokens[k] in ("struct", "union")), None)
            if inner is not None:
                tag = inner
                first = s.close[inner] + 1
            begin, k = first, first
            while k <= end:
                if k < end and s.tokens[k] in OPEN:
                    k = s.close.get(k, k)
                elif k == end or s.tokens[k] == ",":
                    out.append((declared(s, begin, k), tag))
                    begin = k + 1
                k += 1
        return out

    def find_members(self, s, brace, tag):
        for first, end in s.pieces(brace, ";"):
            name = declared(s, first, end)
            for k in range(first, end):
                if s.tokens[k] == "(" and s.tokens[k + 1] == "*" and k in s.close:
                    self.members[tag, name].add(signature(s, s.close[k] + 1))
                    break
                if s.tokens[k] in self.typedefs:
                    self.members[tag, name].add(self.typedefs[s.tokens[k]])
                elif s.tokens[k] in ("struct", "union") and s.tokens[k + 1] != "{":
                    self.tags[name].add(s.tokens[k + 1])
            if name is not None and not self.members[tag, name]:
                self.members[tag, name].add("of the program")

    def types_of_member(self, s, i):
        """The types of the parameters of the pointer in the field at token i, if the structure is known."""
        k = i - 2
        while k > 0 and s.tokens[k] == "]":
            k = next(o for o in range(k, -1, -1) if s.close.get(o) == k) - 1
        base = s.tokens[k]
        if s.tokens[k - 1] in (".", "->"):
            tags = self.tags.get(base, ())
        else:
            tags = {s.tokens[j - 1] for j in range(k, 2, -1) if s.tokens[j] in ("*", base) and s.tokens[j - 2] == "struct"
                    and base in s.tokens[j:j + 3]} if WORD.match(base) else ()
            tags = set(list(tags)[:3])
        return frozenset(t for tag in tags for t in self.members.get((tag, s.tokens[i]), ()))

    def find_functions(self, s):
        for m in re.finditer(r"\n\{", s.text):
            body = s.token_at(s.text.count("\n", 0, m.start() + 1) + 1, 1)
            last, k = s.close.get(body), body - 1
            while k >= 0 and s.tokens[k] not in (";", "}") and not (s.tokens[k] == "#"):
                k -= 1
            name = next((j for j in range(k + 1, body - 1) if WORD.match(s.tokens[j]) and s.tokens[j + 1] == "("
                         and s.tokens[j] in self.known and s.parent[j] == s.parent[body]), None)
            if last is None or name is None:
                continue
            parameters = [declared(s, a, b) for a, b in s.pieces(name + 1)]
            s.functions.append((body, last, s.tokens[name], parameters))
            if "static" not in s.tokens[k + 1:name] and "HL_INLINE" not in s.tokens[k + 1:name]:
                self.globals.add(s.tokens[name])
            for key in (s.tokens[name], f"{s.path}:{s.tokens[name]}"):
                self.parameters.setdefault(key, parameters)
                self.types.setdefault(key, signature(s, name + 1))
            self.find_locals(s, body, last, s.tokens[name])

    def find_locals(self, s, body, last, function):
        """Words that a type stands before, and pointers to functions."""
        for k in range(body, last - 1):
            before, word, after = s.tokens[k - 1], s.tokens[k], s.tokens[k + 1]
            if WORD.match(word) and after in ("=", ";", "[", ",", ")") and (
                    before == "*" and s.tokens[k - 2] != "(" or before == "*" and after == ")" or
                    WORD.match(before) and before not in ("return", "else", "case", "goto")):
                self.locals[function].add(word)

    def find_typedefs(self, s):
        for i, t in enumerate(s.tokens):
            if t == "typedef":
                k = next(k for k in range(i, len(s.tokens)) if s.tokens[k] in ("(", ";", "{"))
                if s.tokens[k] == "(":
                    star = s.tokens[k + 1] == "*"
                    self.typedefs[s.tokens[k + 2 if star else k - 1]] = signature(s, s.close[k] + 1 if star else k)

    def find_pointers(self, s):
        """Declarations: ret (*name)(types), ret (*name[n])(types), type *name."""
        for i, t in enumerate(s.tokens[:-4]):
            if t == "(" and s.tokens[i + 1] == "*" and i in s.close:
                k = i + 2 + (s.tokens[i + 2] == "const")
                after = s.close[i] + 1
                if WORD.match(s.tokens[k]) and after < len(s.tokens) and s.tokens[after] == "(":
                    self.pointers[s.tokens[k]].add(signature(s, after))
            elif t in self.typedefs:
                k = i + 1
                while s.tokens[k] in ("*", "const"):
                    k += 1
                if WORD.match(s.tokens[k]):
                    self.pointers[s.tokens[k]].add(self.typedefs[t])

    # ---- what flows where ----

    def name_of(self, s, i):
        """The name of a pointer kept in the word at token i."""
        word = s.tokens[i]
        if i > 0 and s.tokens[i - 1] in (".", "->"):
            return ("field", word)
        function, parameters = s.inside(i)
        if function is not None and (word in parameters or word in self.locals[function]):
            return (function, word)
        return (s.path if word in s.statics else "variable", word)

    def values(self, s, first, end):
        """What an expression may be: functions, names of pointers, results of functions."""
        out, i = set(), first
        while i < end:
            word, after = s.tokens[i], s.tokens[i + 1] if i + 1 < len(s.tokens) else ""
            if WORD.match(word) and word not in KEYWORDS:
                if after == "(":
                    if word in self.pointers:
                        out.add(("result", word))
                    i = s.close.get(i + 1, i)
                elif after not in ("->", ".") and not (after == "[" and s.tokens[s.close.get(i + 1, i) + 1] in (".", "->")):
                    out |= self.value(s, i)
            elif word == "[":
                i = s.close.get(i, i)
            elif word == "{":
                break
            i += 1
        return out

    def value(self, s, i):
        """A word that is not called: a function (of this file, if it has one of that name), or a pointer's name."""
        word, name = s.tokens[i], self.name_of(s, i)
        if name[0] in ("variable", s.path) and word in self.known:
            here = f"{s.path}:{word}"
            if here in self.types or word in self.globals:
                return {here if here in self.types else word}
        return {name} if word in self.pointers else set()

    def bind(self, name, values):
        if name[1] in self.pointers:
            self.flows[name] |= values

    def end_of(self, s, i, stops):
        while i < len(s.tokens) and s.tokens[i] not in stops and s.tokens[i] not in CLOSE:
            i = s.close.get(i, i) + 1 if s.tokens[i] in OPEN else i + 1
        return i

    def find_uses(self, s):
        for i, t in enumerate(s.tokens):
            if t == "=" and i > 0:
                self.assign(s, i)
            elif t == "(" and i > 0 and WORD.match(s.tokens[i - 1]) and s.tokens[i - 1] not in KEYWORDS:
                self.call(s, i)
            elif t == "return":
                function, _ = s.inside(i)
                if function is not None:
                    self.bind(("result", function), self.values(s, i + 1, self.end_of(s, i + 1, (";",))))
            elif t == "{" and i > 1 and s.tokens[i - 1] == ")":
                words = [w for w in s.tokens[i - 5:i - 1] if WORD.match(w)]
                if "struct" in words and self.struct(s, words[-1]):
                    self.fill(s, i, words[-1], False)

    def assign(self, s, i):
        k = i - 1
        while s.tokens[k] == "]":
            k = next(o for o in range(k, -1, -1) if s.close.get(o) == k) - 1
        if s.tokens[k] == ")":  # a pointer with its parameters: ret (*name[])(…) = …
            k = next((o for o in range(k, -1, -1) if s.close.get(o) == k), k) - 2
            while s.tokens[k] == "]":
                k = next(o for o in range(k, -1, -1) if s.close.get(o) == k) - 1
        if k < 0 or not WORD.match(s.tokens[k]):
            return
        name = ("field", s.tokens[k]) if s.tokens[k - 1] == "." else self.name_of(s, k)
        self.bind(name, self.values(s, i + 1, self.end_of(s, i + 1, (",", ";"))))
        if name[1] in ("step", "end") and s.inside(i)[0] is not None:
            self.steps[s.inside(i)[0]] |= self.values(s, i + 1, self.end_of(s, i + 1, (",", ";")))
        if s.tokens[i + 1] == "{":
            self.fill(s, i + 1, self.tag_before(s, k), s.tokens[i - 1] == "]", s.tokens[k])

    def tag_before(self, s, k):
        while k > 0 and s.tokens[k] not in (";", "{", "}", ")"):
            if s.tokens[k] in ("struct", "union"):
                return s.tokens[k + 1]
            k -= 1
        opening = next((o for o in range(k, -1, -1) if s.close.get(o) == k), None) if s.tokens[k] == "}" else None
        return opening if opening is not None and self.struct(s, opening) else None

    def struct(self, s, tag):
        return self.fields.get((s.path, tag)) or self.fields.get((None, tag), [])

    def fill(self, s, brace, tag, array, variable=None):
        """An initialiser: of an array of that structure, of one, or (tag None) of values kept in `variable`."""
        fields = self.struct(s, tag)
        position = 0
        for first, end in s.pieces(brace):
            if s.tokens[first] == "[" and s.tokens[s.close[first] + 1] == "=":
                first = s.close[first] + 2
            designated = s.tokens[first] == "." and s.tokens[first + 2] == "="
            if array and s.tokens[first] == "{":
                self.fill(s, first, tag, False, variable)
            elif array or not fields:
                if variable is not None:
                    values = self.values(s, first, end)
                    for scope in ("variable", s.path, s.inside(brace)[0]):
                        self.bind((scope, variable), values)
                    if s.tokens[first] == "{":
                        self.fill(s, first, None, False, variable)
            else:
                if designated:
                    position = next((p for p, f in enumerate(fields) if f[0] == s.tokens[first + 1]), position)
                    first += 3
                if position < len(fields):
                    name, inner = fields[position]
                    values = self.values(s, first, end)
                    names = [name] if name in self.pointers else [n for n, _ in fields if n in self.pointers]
                    for each in names:  # all of them where macros stand for several values
                        self.bind(("field", each), values)
                    if first < end and s.tokens[first] == "{":
                        deep = s.tokens[first + 1] == "{" if first + 1 < end else False
                        self.fill(s, first, inner, deep, name)
                position += 1

    def call(self, s, i):
        callee = s.tokens[i - 1]
        function, _ = s.inside(i)
        parameters = self.parameters.get(f"{s.path}:{callee}", self.parameters.get(callee))
        self.called[function].add(callee)
        if callee.startswith("hl_prog_wait") and not callee.endswith("s_for_long"):
            self.conditions[function] |= self.values(s, *s.pieces(i)[0])
        for n, (first, end) in enumerate(s.pieces(i)):
            values = self.values(s, first, end)
            if callee in self.pointers and s.tokens[i - 2] in (".", "->"):
                self.handed.append((("field", callee), n, values))
            elif parameters is not None and n < len(parameters):
                self.passed[callee][function] |= values
                self.bind((callee, parameters[n]), values)
            elif callee in self.pointers:
                self.handed.append((self.name_of(s, i - 1), n, values))
            elif callee == "HL_HANG_WORDS" and n == 1:
                self.bind(("field", "tell"), values)
            elif callee not in self.known:
                self.outside[callee] |= {(function, v) for v in values if isinstance(v, str)}

    def hand_on(self):
        """Arguments of calls through pointers, to those who may be called."""
        for _ in range(2):
            self.answers = {}
            for name, n, values in self.handed:
                for function in self.functions_of(name):
                    plain = function.rpartition(":")[2]
                    parameters = self.parameters.get(function, [])
                    if n < len(parameters):
                        self.bind((plain, parameters[n]), values)
        self.answers = {}

    # ---- answers ----

    def functions_of(self, name):
        """All functions that may have flowed into a name."""
        if name not in self.answers:
            seen, todo = set(), [name[:2]]
            while todo:
                n = todo.pop()
                if n not in seen:
                    seen.add(n)
                    todo += [v for v in self.flows.get(n, ()) if not isinstance(v, str)]
            found = {v for n in seen for v in self.flows.get(n, ()) if isinstance(v, str)}
            wanted = name[2] if len(name) > 2 else self.pointers.get(name[1])
            fits = {v for v in found if not wanted or v not in self.types or self.types[v] in wanted}
            self.answers[name] = fits
        return self.answers[name]

    def called_at(self, path, line, column):
        """The names of pointers called at a place (of a macro: those in its definition and its arguments)."""
        s = self.sources.get(os.path.abspath(path))
        if s is None:
            return None
        i = s.token_at(line, column)
        start = i
        if i < len(s.tokens) and s.tokens[i] == "(":  # (*name)(…), or (condition ? a : b)(…)
            return {v for v in self.values(s, i + 1, s.close[i]) if not isinstance(v, str)}
        while i < len(s.tokens) and (WORD.match(s.tokens[i]) or s.tokens[i] in ("->", ".", "*", "[")):
            i = s.close[i] + 1 if s.tokens[i] == "[" else i + 1
        if i >= len(s.tokens) or s.tokens[i] != "(":
            return set()
        if s.tokens[start] in OUTSIDE:
            return {("outside", s.tokens[start])}
        last = next(k for k in range(i - 1, start - 1, -1) if WORD.match(s.tokens[k]) and s.parent[k] == s.parent[start])
        if s.tokens[last] in self.pointers and s.tokens[s.close[i] + 1] == "(":
            return {("result", s.tokens[last])}
        if s.tokens[last - 1] in (".", "->"):
            types = self.types_of_member(s, last)
            return {("field", s.tokens[last], types) if types else ("field", s.tokens[last])}
        if s.tokens[last] in self.pointers or s.tokens[last] in s.inside(last)[1]:
            return {self.name_of(s, last)}
        # The place is that of a macro or of a call among whose arguments it is: all pointers that the statement calls.
        end = self.end_of(s, i, (";", "{"))
        words = [k for k in range(start, end) if s.tokens[k + 1] == "(" and s.tokens[k] in self.pointers]
        objects = {("outside", s.tokens[k]) for k in range(start, end) if s.tokens[k] in OUTSIDE}
        return objects or {self.name_of(s, k) for k in words}
