/* The pages under a piece: the kernel says what they are; the wish does not count. */
#include "mem.h"

#include "plan.h"
#include "report.h"
#include "topo.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ALIGN_MOST ((size_t)1 << 30)

static size_t align_of(const void *addr)
{
    uintptr_t a = (uintptr_t)addr | ALIGN_MOST;
    return (size_t)(a & -a);
}

/* Bytes of [from, to) that transparent huge pages map, by /proc/self/smaps; -1 when it cannot be read.
 * The kernel counts for whole mappings: a range that is part of a mapping gets its share of the
 * mapping's bytes. */
static double pmd_bytes(uintptr_t from, uintptr_t to)
{
    char line[256];
    double sum = 0, part = 0;
    FILE *f = fopen("/proc/self/smaps", "re");
    if (f == NULL) {
        return -1;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        uintptr_t low, high;
        uint64_t kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*4[rwxps-]", &low, &high) == 2) {
            uintptr_t first = low > from ? low : from, end = high < to ? high : to;
            part = first < end ? (double)(end - first) / (double)(high - low) : 0;
        } else if (part > 0 && sscanf(line, "ShmemPmdMapped: %" SCNu64, &kib) == 1) {
            sum += part * (double)kib * 1024;
        }
    }
    fclose(f);
    return sum;
}

int hl_mem_got(const struct hl_piece *piece, struct hl_mem_got *out)
{
    uintptr_t from = (uintptr_t)piece->addr;
    *out = (struct hl_mem_got){.page = piece->seg->page, .align = align_of(piece->addr), .pmd_share = 1};
    if (piece->seg->page == hl_topo_page()) {
        double bytes = pmd_bytes(from, from + piece->len);
        out->pmd_share = bytes < 0 ? -1 : bytes / (double)piece->len;
    }
    return hl_mem_where(piece, out->bytes, HL_MEM_NODES);
}

int hl_got_next(const struct hl_mem_got *got, uint64_t told)
{
    int most = -1;
    for (int i = 0; i < HL_MEM_NODES; i++) {
        if ((told >> i & 1) == 0 && got->bytes[i] > (most < 0 ? 0 : got->bytes[most])) {
            most = i;
        }
    }
    return most;
}

char *hl_mem_got_nodes_text(const struct hl_mem_got *got, char *out, size_t cap)
{
    uint64_t told = 0;
    char text[HL_BYTES_TEXT];
    size_t at = 0;
    out[0] = '\0';
    for (int i = hl_got_next(got, 0); i >= 0 && at < cap; i = hl_got_next(got, told)) {
        at += (size_t)snprintf(out + at, cap - at, "%s%d:%s", told != 0 ? "," : "", i,
                               hl_bytes_text(got->bytes[i], text));
        told |= (uint64_t)1 << i;
    }
    return out;
}

static enum hl_topo_kind kind_of_node(const struct hl_topo *t, int node, enum hl_mem_kind asked)
{
    enum hl_topo_kind kind = asked == HL_MEM_FAST ? HL_TOPO_FAST : HL_TOPO_DDR;
    return asked != HL_MEM_ANY && (hl_topo_of(t, kind) >> node & 1) != 0 ? kind : hl_topo_kind_of(t, node);
}

char *hl_mem_got_kinds_text(const struct hl_mem_got *got, enum hl_mem_kind asked, char out[HL_MEM_KINDS_TEXT])
{
    static const char *const words[] = {
        [HL_TOPO_DDR] = "DDR", [HL_TOPO_FAST] = "MCDRAM", [HL_TOPO_OTHER] = "OTHER"};
    const struct hl_topo *t = hl_topo_here();
    uint64_t sums[HL_COUNT_OF(words)] = {0};
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; t != NULL && i < HL_MEM_NODES; i++) {
        sums[kind_of_node(t, i, asked)] += got->bytes[i];
    }
    for (;;) {
        size_t most = 0;
        for (size_t k = 1; k < HL_COUNT_OF(words); k++) {
            most = sums[k] > sums[most] ? k : most;
        }
        if (sums[most] == 0) {
            return out;
        }
        at += (size_t)snprintf(out + at, HL_MEM_KINDS_TEXT - at, "%s%s", at != 0 ? "," : "", words[most]);
        sums[most] = 0;
    }
}

enum hl_mem_rule hl_mem_rule_held(const struct hl_piece *piece, const struct hl_mem_wish *wish)
{
    bool held = wish->rule == HL_MEM_MANDATORY ? hl_plan_must(wish) : piece->seg->policy == HL_MEM_INTERLEAVE;
    return held ? wish->rule : HL_MEM_PREFERRED;
}
