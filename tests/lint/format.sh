#!/bin/sh
# The tree obeys .clang-format (version 14; other versions format differently).
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd) || exit 1
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "clang-format is not installed"; exit 77; }
case $("$tool" --version) in
*"version 14."*) ;;
*) echo "clang-format 14 is needed, $("$tool" --version) was found"; exit 77 ;;
esac
cd "$root" || exit 1
# include/ holds tables of the standards, which keep their own shape.
find lib rma shmem tools perf tests -name '*.[ch]' -not -path '*/build*' 2>/dev/null | sort | tr '\n' '\0' |
    xargs -0 "$tool" --dry-run -Werror
