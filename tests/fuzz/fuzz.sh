#!/bin/sh
# Fuzzes for 10 seconds from a copy of the kept corpus; a find is printed in hexadecimal. usage: fuzz.sh PROGRAM README NAME
program=$(readlink -f -- "$1")
corpus=$(dirname -- "$2")/$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$corpus"/* "$work"/ || exit 1
cd "$work" && mkdir found || exit 1
"$program" -max_total_time="${HOTLANE_FUZZ_SECONDS:-10}" -max_len=512 -print_final_stats=1 -artifact_prefix=found/ found "$work" >log 2>&1 && {
    grep -E 'number_of_executed_units' log
    exit 0
}
tail -n 40 log
for file in found/crash-*; do
    [ -f "$file" ] && od -An -tx1 "$file"
done
exit 1
