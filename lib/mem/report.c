/* The line for a request: what was asked, and what the kernel says about the memory. */
#include "report.h"

#include "conf.h"
#include "log.h"
#include "place.h"
#include "topo.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>

static bool muted;  /* set once, by start-up */
static hl_a32 said; /* atomic; 1: the line of level 1 was written */

void hl_mem_report_mute(void)
{
    muted = true;
}

bool hl_report_is_mute(void)
{
    return muted;
}

static bool is_on_nodes(const struct hl_plan *plan, const struct hl_piece *piece)
{
    int e;
    if (plan->policy == HL_MEM_SYSTEM) {
        return plan->wish.kind == HL_MEM_ANY;
    }
    return hl_place_holds(piece->seg, piece->off, piece->len, &e);
}

static bool is_met(const struct hl_plan *plan, const struct hl_piece *piece)
{
    bool page = plan->wish.page <= hl_topo_page() || piece->seg->page == plan->wish.page;
    return page && plan->note[0] == '\0' && is_on_nodes(plan, piece);
}

static void put_asked(FILE *f, const char *caller, size_t len, const struct hl_mem_wish *wish)
{
    static const char *const kinds[] = {"", " DDR", " MCDRAM"};
    static const char rules[] = "PMI";
    char size[HL_BYTES_TEXT], page[HL_BYTES_TEXT];
    fprintf(f, "%s %s: asked%s %s %c; got ", caller, hl_bytes_text(len, size), kinds[wish->kind],
            hl_bytes_text(hl_max_size(wish->page, hl_topo_page()), page), rules[wish->rule]);
}

/* Says for each node that was asked for, when some pages lie elsewhere, that it is full. */
static void put_full_nodes(FILE *f, const struct hl_plan *plan, const struct hl_piece *piece)
{
    for (int i = 0; i < HL_TOPO_NODES && plan->policy != HL_MEM_SYSTEM; i++) {
        struct hl_topo_pool pool;
        if ((plan->nodes >> i & 1) == 0) {
            continue;
        }
        if (piece->seg->page == hl_topo_page()) {
            fprintf(f, " (node%d full)", i);
        } else if (hl_topo_page_pool_on(i, piece->seg->page, &pool) && pool.unused == 0) {
            fprintf(f, " (node%d pool empty)", i);
        }
    }
}

static void put_got(FILE *f, const struct hl_plan *plan, const struct hl_piece *piece)
{
    struct hl_mem_got got;
    char text[HL_BYTES_TEXT];
    uint64_t told = 0;
    bool known = hl_mem_got(piece, &got) == 0;
    fprintf(f, "%s pages", hl_bytes_text(got.page, text));
    if (got.page < plan->wish.page && got.page == hl_topo_page() && got.pmd_share > 0) {
        fprintf(f, " (%.0f %% joined to huge ones)", 100 * got.pmd_share);
    }
    for (int i = hl_got_next(&got, 0); i >= 0; i = hl_got_next(&got, told)) {
        fprintf(f, "%s node%d %s", told == 0 ? "," : "", i, hl_bytes_text(got.bytes[i], text));
        told |= (uint64_t)1 << i;
    }
    if (told == 0) {
        fprintf(f, known ? ", placed when touched" : ", nodes unknown");
    }
    if ((told & ~plan->nodes) != 0) {
        put_full_nodes(f, plan, piece);
    }
    fprintf(f, ", aligned %s", hl_bytes_text(got.align, text));
    if (plan->why[0] != '\0') {
        fprintf(f, "; %s", plan->why);
    }
    if (plan->note[0] != '\0') {
        fprintf(f, "; %s", plan->note);
    }
}

void hl_report(const char *caller, size_t len, const struct hl_plan *plan, const struct hl_piece *piece)
{
    bool each = hl_conf.mem_report == 2;
    char *line = NULL; /* not on the stack, which may be small */
    size_t bytes;
    /* relaxed: a guess; the exchange below decides between two threads. */
    if (!each &&
        (hl_conf.mem_report == 0 || muted || hl_a32_load_relaxed(&said) != 0 || is_met(plan, piece))) {
        return;
    }
    /* acquire: the weakest exchange there is; it orders nothing, it only picks the thread that writes. */
    if (!each && hl_a32_xchg_acquire(&said, 1) != 0) {
        return;
    }
    FILE *f = open_memstream(&line, &bytes);
    if (f != NULL) {
        put_asked(f, caller, len, &plan->wish);
        put_got(f, plan, piece);
        if (fclose(f) == 0) {
            hl_log(HL_LOG_WARN, "%s", line);
        }
        free(line);
    }
}
