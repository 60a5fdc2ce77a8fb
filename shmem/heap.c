/* How PEs reach each other's heap. Parts of a node peer are mapped into one span of addresses, at the offsets
 * that they have at the peer; parts that cannot be mapped are reached by address and key. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "fork.h"
#include "job.h"
#include "lane.h"
#include "mr.h"
#include "near_map.h"
#include "parts.h"
#include "pinned.h"
#include "rx.h"
#include "shm.h"
#include "sym.h"
#include "util.h"

/* What a PE tells the others about a part. */
struct part_card {
    uint64_t seg_id;
    uint64_t addr, key; /* for RMA, when the network is open */
};

/* A node peer whose parts are mapped. */
struct span {
    int pe, node_rank;
    char *base; /* NULL: not mapped */
};

static struct span *spans;         /* [n_spans] */
static struct hl_near_want *wants; /* [n_spans][hl_heap.count] */
static int n_spans;
static hl_a8 *part_of;

static int no_heap_memory(void)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for the addresses of %d heaps", hl_sym.n_pes);
}

static bool is_peer(int pe)
{
    return pe != hl_sym.my_pe && strcmp(hl_conf.near, "none") != 0 && hl_job_node_of(pe) >= 0;
}

static int make_tables(void)
{
    size_t n = (size_t)hl_sym.n_pes, count = (size_t)hl_heap.count, peers = 0;
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        peers += is_peer(pe);
    }
    spans = calloc(peers + 1, sizeof *spans);
    wants = calloc(peers * count + 1, sizeof *wants);
    part_of = malloc((hl_heap.len >> HL_SYM_GRANULE) * sizeof *part_of);
    uint64_t len = hl_heap.parts[count - 1].off; /* without the library's own part */
    hl_sym.heap = (struct hl_sym_area){hl_heap.base, len, calloc(n, sizeof(struct hl_sym_reach))};
    bool have = spans != NULL && wants != NULL && part_of != NULL && hl_sym.heap.pes != NULL;
    for (size_t i = 0; i < count; i++) {
        const struct hl_heap_part *p = &hl_heap.parts[i];
        hl_sym.parts[i] =
            (struct hl_sym_area){hl_heap.base + p->off, p->len, calloc(n, sizeof(struct hl_sym_reach))};
        have = have && hl_sym.parts[i].pes != NULL;
        for (uint64_t g = 0; have && g < p->len >> HL_SYM_GRANULE; g++) {
            hl_a8_store_relaxed(&part_of[(p->off >> HL_SYM_GRANULE) + g],
                                (uint8_t)i); /* relaxed: start is one thread */
        }
    }
    hl_sym.n_parts = hl_heap.count;
    hl_sym.own = hl_heap.count - 1;
    hl_sym.part_of = part_of;
    return have ? 0 : no_heap_memory();
}

/* Fills mine[], what the other PEs need to know about my parts. */
static void fill_cards(struct part_card *mine)
{
    for (int i = 0; i < hl_heap.count; i++) {
        struct hl_mr mr;
        hl_mr_of(hl_heap.parts[i].piece.seg, &mr);
        mine[i] = (struct part_card){hl_heap.parts[i].piece.seg->id, mr.addr, mr.key};
    }
}

/* Exchanges the cards: cards[] gets HL_SYM_PARTS for each PE. */
static int tell_parts(struct part_card *cards)
{
    struct part_card mine[HL_SYM_PARTS] = {{0}};
    fill_cards(mine);
    return hl_coll_allgather_bytes(hl_shmem_comm, mine, sizeof mine, cards);
}

static void give_span(struct span *s)
{
    struct hl_near_want *w = wants + (s - spans) * hl_heap.count;
    bool gone = true;
    for (int i = 0; i < hl_heap.count; i++) {
        if (w[i].base != NULL) {
            gone = hl_near_unmap(w[i].node_rank, w[i].seg_id) && gone;
            w[i].base = NULL;
        }
    }
    if (s->base != NULL) {
        hl_fork_forget(s->base);
    }
    /* A window on symmetric memory that was not freed keeps its mapping, and so these addresses. */
    if (s->base != NULL && gone) {
        hl_mem_unreserve(s->base, hl_heap.len);
    }
    s->base = NULL;
}

/* Maps all parts of all peers at once. A peer with a part that cannot be mapped has none of them mapped. */
static int map_peers(const struct part_card *cards)
{
    size_t align = hl_max_size(hl_heap.parts[0].page, (size_t)1 << HL_SYM_GRANULE), used = 0;
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        struct span s = {.pe = pe, .node_rank = hl_job_node_of(pe)};
        if (!is_peer(pe) || hl_mem_reserve(hl_heap.len, align, &s.base) != 0) {
            continue;
        }
        for (int i = 0; i < hl_heap.count; i++) {
            const struct hl_heap_part *p = &hl_heap.parts[i];
            wants[used++] = (struct hl_near_want){.node_rank = s.node_rank,
                                                  .seg_id = cards[pe * HL_SYM_PARTS + i].seg_id,
                                                  .seg_len = p->len,
                                                  .at = s.base + p->off};
        }
        spans[n_spans++] = s;
    }
    int rc = hl_near_map_all(wants, used);
    for (int k = 0; k < n_spans; k++) {
        for (int i = 0; i < hl_heap.count && spans[k].base != NULL; i++) {
            if (wants[k * hl_heap.count + i].rc != 0) {
                give_span(&spans[k]);
            }
        }
    }
    return rc == HL_ERR_RMA_SHARED ? 0 : rc; /* parts that cannot be mapped use the network */
}

/* Sees to it that forked children get their own pages of my parts, and can only read those of peers. */
static int keep_heap_from_children(void)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < hl_heap.count; i++) {
        const struct hl_heap_part *p = &hl_heap.parts[i];
        rc = hl_fork_keep(p->piece.addr, p->len, p->piece.seg->fd, p->piece.off, HL_FORK_VIEW);
    }
    for (int k = 0; rc == 0 && k < n_spans; k++) {
        rc = spans[k].base != NULL ? hl_fork_keep(spans[k].base, hl_heap.len, -1, 0, HL_FORK_LOOK) : 0;
    }
    return rc;
}

static void store_near_base(int pe, const char *base)
{
    hl_sym.heap.pes[pe].where = (uint64_t)(uintptr_t)base;
    for (int i = 0; i < hl_heap.count; i++) {
        hl_sym.parts[i].pes[pe].where = (uint64_t)(uintptr_t)base + hl_heap.parts[i].off;
    }
}

/* Makes all PEs far, except those that are mapped and me. True: no PE is far. */
static bool store_all_near(void)
{
    int near = 0;
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        hl_sym.heap.pes[pe].where = HL_SYM_FAR;
    }
    for (int k = 0; k < n_spans; k++) {
        if (spans[k].base != NULL) {
            store_near_base(spans[k].pe, spans[k].base);
            near++;
        }
    }
    if (strcmp(hl_conf.near, "none") != 0) {
        store_near_base(hl_sym.my_pe, hl_heap.base);
        near++;
    }
    return near == hl_sym.n_pes;
}

/* Opens the network and stores address and key of each part of far PEs. */
static int reach_far(struct part_card *cards)
{
    int rc = hl_rx_has_network() ? 0 : hl_rx_network(); /* may open it in the middle of a job */
    rc = hl_parts_agree(rc == 0 ? hl_lane_open() : rc);
    if (rc == 0 && hl_mr_pins()) {
        hl_heap.own = hl_parts_own(true, hl_heap.lockable);
        return hl_pinned_open();
    }
    rc = rc == 0 ? tell_parts(cards) : rc;
    for (int pe = 0; rc == 0 && pe < hl_sym.n_pes; pe++) {
        for (int i = 0; i < hl_heap.count && hl_sym.heap.pes[pe].where == HL_SYM_FAR; i++) {
            const struct part_card *c = &cards[pe * HL_SYM_PARTS + i];
            hl_sym.parts[i].pes[pe] = (struct hl_sym_reach){HL_SYM_FAR | c->addr, c->key};
        }
    }
    return rc;
}

static int reach_heaps(struct part_card *cards)
{
    int rc = hl_parts_agree(cards == NULL ? no_heap_memory() : hl_rx_start());
    rc = rc == 0 ? tell_parts(cards) : rc;
    rc = rc == 0 ? hl_parts_agree(map_peers(cards)) : rc;
    rc = rc == 0 ? hl_parts_agree(keep_heap_from_children()) : rc;
    if (rc != 0) {
        return rc;
    }
    bool near = hl_coll_agree(hl_shmem_comm, store_all_near() ? 0 : -1) == 0;
    return near ? 0 : reach_far(cards);
}

int hl_heap_open(void)
{
    int rc = hl_parts_open();
    if (rc != 0) {
        return rc;
    }
    rc = make_tables();
    rc = hl_parts_agree(rc != 0 ? rc : hl_alloc_open());
    if (rc == 0) {
        struct part_card *cards = malloc((size_t)hl_sym.n_pes * HL_SYM_PARTS * sizeof *cards);
        rc = reach_heaps(cards);
        free(cards);
    }
    if (rc != 0) {
        hl_heap_close();
    } else if (hl_conf.shmem_meminfo != 0) {
        hl_parts_show();
    }
    return rc;
}

void hl_heap_close(void)
{
    for (int k = 0; k < n_spans; k++) {
        give_span(&spans[k]);
    }
    n_spans = 0;
    for (int i = 0; i < hl_heap.count; i++) {
        hl_fork_forget(hl_heap.base + hl_heap.parts[i].off);
    }
    hl_pinned_close();
    free(spans);
    free(wants);
    free(part_of);
    free(hl_sym.heap.pes);
    for (int i = 0; i < hl_sym.n_parts; i++) {
        free(hl_sym.parts[i].pes);
    }
    spans = NULL;
    wants = NULL;
    part_of = NULL;
    hl_alloc_close();
    hl_parts_close();
}
