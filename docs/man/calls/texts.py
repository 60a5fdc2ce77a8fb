"""Reads the texts about calls, *.txt in this folder.

    = KEY | title | standard and its version        begins a chapter; what stands under it goes for all its calls
    @family                                         what several calls have in common (a call names it in "like")
    NAME, OTHER NAME | summary | section            a call
    NAME = BASE + family | summary | section        a call whose text is the family's, then BASE's; an empty summary is BASE's

Under each, indented by four: the description, and keys with what belongs to them. Lines indented further go on.

    like: families, in order; their descriptions come after the call's own
    arg NAME: (out) text | MPI_ERR_CLASS            an argument; without "(out)" the direction is the prototype's; the class is
                                                    what the library answers to a wrong one; "-" takes the usual one away
    free: when buffers may be used again            the first one that is found
    errors: MPI_ERR_CLASS why; MPI_ERR_CLASS why    all together
    misuse: CALL CALL                               rows of docs/MISUSE.md that go for this call as well
    threads: return: standard:                      the first one that is found
    hotlane:                                        what is special in this library; all together
    see: NAME NAME                                  all together

In a text *word* is an argument or a value, {name} the call, {base} the call that it is made from.
"""
import glob
import os
import re

KEYS = ("like", "free", "errors", "misuse", "threads", "return", "standard", "hotlane", "see")
ONCE = ("free", "threads", "return", "standard")


class TextError(Exception):
    pass


class Record:
    """One block of a text file."""

    def __init__(self, name, chapter, place):
        self.name, self.chapter, self.place = name, chapter, place
        self.names, self.base, self.summary, self.section = [name], None, "", ""
        self.text, self.args, self.keys = "", {}, {}

    def add(self, line, key):
        """Takes an indented line; returns the key that it belongs to."""
        found = re.match(r" {4}(?:arg (\w+|\.\.\.)|(\w+)):(?: (.*))?$", line)
        if found and (found[1] or found[2] in KEYS):
            key, text = ("arg " + found[1] if found[1] else found[2]), found[3] or ""
        elif line.startswith("     ") and key:
            text = line.strip()
        else:
            key, text = None, line.strip()
        if key is None:
            self.text = (self.text + " " + text).strip()
        elif key.startswith("arg "):
            self.args[key[4:]] = (self.args.get(key[4:], "") + " " + text).strip()
        else:
            self.keys[key] = (self.keys.get(key, "") + " " + text).strip()
        return key


class Texts:
    """All records: `chapters` and `families` by name, `calls` by the first name, `usual` arguments."""

    def __init__(self, folder):
        self.chapters, self.families, self.calls = {}, {}, {}
        for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
            self.read(path)
        self.owner = {name: call for call in self.calls.values() for name in call.names}

    def read(self, path):
        record, key, chapter = None, None, None
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                line = line.rstrip()
                if not line or line.startswith("#"):
                    continue
                place = f"{os.path.basename(path)}:{number}"
                if line.startswith(" "):
                    if record is None:
                        raise TextError(f"{place}: a text before the first name")
                    key = record.add(line, key)
                    continue
                record, key = self.begin(line, chapter, place), None
                chapter = record if line.startswith("=") else chapter

    def begin(self, line, chapter, place):
        head, _, rest = line.partition(" |")
        words = [w.strip() for w in rest.split("|")] if rest else []
        name = head.strip("=@ ") if line[0] in "=@" else re.split(r"[,=]", head)[0].strip()
        record = Record(name, chapter, place)
        table = {"=": self.chapters, "@": self.families}.get(line[0], self.calls)
        if name in table:
            raise TextError(f"{place}: {name} is there already, at {table[name].place}")
        table[name] = record
        if line[0] not in "=@":
            if "=" in head:
                record.base = head.partition("=")[2].partition("+")[0].strip()
                record.keys["like"] = head.partition("+")[2].strip()
            else:
                record.names = [n.strip() for n in head.split(",")]
            if len(words) != 2:
                raise TextError(f"{place}: {name} wants 'name | summary | section'")
        record.summary, record.section = (words + ["", ""])[:2]
        return record

    def chain(self, call):
        """The records that speak of a call: itself, its families, what it is made from, its chapter."""
        found, seen = [], set()

        def take(record):
            if id(record) in seen:
                return
            seen.add(id(record))
            found.append(record)
            for name in record.keys.get("like", "").split():
                if name not in self.families:
                    raise TextError(f"{record.place}: {record.name} is like {name}, which is not there")
                take(self.families[name])
            if record.base:
                if record.base not in self.calls:
                    raise TextError(f"{record.place}: {record.name} is made from {record.base}, which is not there")
                take(self.calls[record.base])
        take(call)
        take(call.chapter)
        return found
