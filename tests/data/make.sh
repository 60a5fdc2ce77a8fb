#!/bin/sh
# The machines of this folder that nobody had to own: made with hwloc's own tools (2.9). The others, ddr-cxl, knl-flat,
# knl-nohmat-*, snc4-flat, xeonmax-snc4, were saved inside QEMU guests of those layouts by `lstopo FILE.xml`.
#
# usage: make.sh [FOLDER]     writes them to FOLDER (default: beside this script)
set -eu
cd "${1:-$(dirname -- "$0")}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make_machine() { lstopo-no-graphics -i "$2" --of xml "$1.xml" -f; } # NAME SYNTHETIC
note() { name=$1; shift; hwloc-annotate "$name.xml" "$name.xml" -- "$@"; }
# NAME NODE OBJECT MIB/S (logical numbers); as the kernel's table does, from the object's CPUs and not from the object
bandwidth() { note "$1" "numa:$2" -- memattr Bandwidth "$(hwloc-calc -i "$1.xml" "$3")" "$4"; }
edit() { sed -i "$2" "$1.xml"; }

# Distances as the kernel's table: NAME, number of nodes, an awk expression of nodes i and j (as the kernel numbers them).
distances() {
    awk -v n="$2" -v order="$4" 'function far(i, j) { return '"$3"' }
        BEGIN { m = split(order, os, ","); print "name=NUMALatency\n5\n" n; for (i = 0; i < n; i++) print "numa:" i
                for (i = 1; i <= m; i++) for (j = 1; j <= m; j++) print far(os[i], os[j]) }' >"$scratch/distances"
    hwloc-annotate "$1.xml" "$1.xml" -- root -- distances "$scratch/distances"
}

# Two sockets of Xeon Max in SNC-4: DDR5 in nodes 0-7, HBM2e in nodes 8-15; firmware tells bandwidths, no names.
order=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15
make_machine xeonmax-2s "pack:2 group:4 [numa(memory=64GiB indexes=$order)] [numa(memory=16GiB)] core:14 pu:1"
for g in 0 1 2 3 4 5 6 7; do
    bandwidth xeonmax-2s $((2 * g)) group:$g 65000
    bandwidth xeonmax-2s $((2 * g + 1)) group:$g 250000
done
distances xeonmax-2s 16 \
    'i == j ? 10 : (i % 8 == j % 8 ? 12 : int(i % 8 / 4) == int(j % 8 / 4) ? 12 : 21) + (i >= 8) + (j >= 8)' $order
# A container on it that may use the memory of nodes 0, 1 and 9 only.
sed 's/allowed_nodeset="0x0000ffff"/allowed_nodeset="0x00000203"/' xeonmax-2s.xml >restricted.xml

# One socket of it in SNC-2.
make_machine xeonmax-snc2 "pack:1 group:2 [numa(memory=128GiB indexes=0,2,1,3)] [numa(memory=32GiB)] core:28 pu:1"
for g in 0 1; do
    bandwidth xeonmax-snc2 $((2 * g)) group:$g 130000
    bandwidth xeonmax-snc2 $((2 * g + 1)) group:$g 500000
done
distances xeonmax-snc2 4 'i == j ? 10 : i % 2 == j % 2 ? 13 : i < 2 && j < 2 ? 12 : 14' 0,2,1,3

# The same processor without DIMMs: its ordinary memory is HBM, and nothing says so; hbm-named: hwloc does.
make_machine hbm-only "pack:1 group:4 [numa(memory=16GiB)] core:2 pu:1"
cp hbm-only.xml hbm-named.xml
note hbm-named numa:all -- subtype HBM

# Knights Landing in SNC-4 flat, 64 cores, as a hwloc sees it that does not name MCDRAM: no bandwidth, only distances.
make_machine knl-snc4 "pack:1 group:4 [numa(memory=24GiB indexes=0,4,1,5,2,6,3,7)] [numa(memory=4GiB)] core:16 pu:1"
note knl-snc4 pack:0 -- info CPUFamilyNumber 6
note knl-snc4 pack:0 -- info CPUModelNumber 87
distances knl-snc4 8 'i == j ? 10 : i < 4 && j < 4 ? 21 : i >= 4 && j >= 4 ? 41 : i % 4 == j % 4 ? 31 : 41' 0,4,1,5,2,6,3,7
# Quadrant flat, the same way.
sed -e '/NUMANode/s/ subtype="MCDRAM"//' -e '/<memattr /,/<\/memattr>/d' knl-nohmat-knm.xml >knl-nohmat-unnamed.xml

# SNC-4 without a table of distances.
make_machine hand-snc4 'pack:1 group:4 [numa(memory=24GB)] [numa(memory=4GB)] core:4 pu:1'
for g in 0 1 2 3; do
    note hand-snc4 numa:$((2 * g + 1)) -- subtype HBM
    bandwidth hand-snc4 $((2 * g)) group:$g 22000
    bandwidth hand-snc4 $((2 * g + 1)) group:$g 100000
done

# Two sockets with DDR and an expander without CPUs as far from one as from the other: hwloc puts it beside all CPUs.
make_machine cxl-shared '[numa(memory=128GiB indexes=0,1,2)] pack:2 [numa(memory=64GiB)] core:2 pu:1'
# DDR and HBM, and nodes that the one mask of 64 cannot name.
make_machine node-64 'pack:2 [numa(memory=64GiB indexes=0,1,2,64)] [numa(memory=16GiB)] core:2 pu:1'
note node-64 numa:1 -- subtype HBM
note node-64 numa:3 -- subtype HBM
# Memory of an accelerator: has bandwidth, is not for CPUs.
make_machine gpu 'pack:1 [numa(memory=480GiB)] [numa(memory=96GiB)] core:4 pu:1'
note gpu numa:1 -- subtype GPUMemory
bandwidth gpu 0 pack:0 380000
bandwidth gpu 1 pack:0 3800000
