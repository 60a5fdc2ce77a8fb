/* Exchanges, maps and registers static data. share.c has moved what it can to shared memory before threads
 * existed. */
#include "statics.h"

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "fork.h"
#include "job.h"
#include "lane.h"
#include "life.h"
#include "log.h"
#include "mr.h"
#include "near_map.h"
#include "parts.h"
#include "rx.h"
#include "share.h"
#include "shm.h"
#include "sym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a PE tells the others about itself, about each stretch (stretch_card), and how the network reaches it
 * (network_way). */
struct statics_head {
    uint64_t n, seg_id, seg_len;
};

struct stretch_card {
    uint64_t id;     /* hl_stretch.id; 0: none */
    uint64_t off;    /* in the segment */
    uint64_t shared; /* 0: private memory */
};

struct network_way {
    uint64_t addr, key;
};

/* Tables of the exchange, freed at its end. */
struct statics_table {
    struct statics_head *heads; /* [n_pes] */
    struct stretch_card *cards; /* [n_pes][most] */
    struct network_way *ways;   /* [n_pes][most]; NULL: no network */
    size_t most;
};

static struct hl_near_want *wants; /* mappings of node peers' segments */
static size_t n_wants;
static uint64_t *regions; /* [n_stretches]: ids of registered private data, 0: none */

static const struct stretch_card *card_of(const struct statics_table *t, int pe, int i)
{
    return &t->cards[(size_t)pe * t->most + (size_t)i];
}

/* The number that my stretch i has at a PE, usually i, or -1 when the PE does not have it. */
static int match_stretch(const struct statics_table *t, int pe, int i)
{
    uint64_t id = hl_share.objects.stretches[i].id;
    if ((size_t)i < t->most && card_of(t, pe, i)->id == id) {
        return i;
    }
    for (int k = 0; k < (int)t->most; k++) {
        if (card_of(t, pe, k)->id == id) {
            return k;
        }
    }
    return -1;
}

static int no_statics_memory(void)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for the static data of %d PEs", hl_sym.n_pes);
}

/* ---- before threads exist ---- */

enum { SHARE, NETWORK, NONE }; /* hl_conf.statics */

/* Finds static data, and shares it unless this PE is alone on its node. */
static int find_statics(void)
{
    return hl_conf.statics == NONE ? 0 : hl_share_statics(hl_conf.statics == SHARE && hl_job.node_size > 1);
}

/* Shares static data at the first start, also that of MPI: by a later shmem_init the process may have
 * threads. */
static void share_early(enum hl_life_who who)
{
    if (who == HL_LIFE_SHMEM || hl_objects_have_shmem()) {
        (void)find_statics(); /* hl_statics_open tries again, and reports errors */
    }
}

__attribute__((constructor)) static void enrol_statics(void)
{
    static struct hl_life_row row = {.early = share_early};
    hl_life_enrol(&row);
}

/* ---- exchange ---- */

static int tell_stretches(struct statics_table *t)
{
    const struct hl_objects *o = &hl_share.objects;
    const struct hl_seg *seg = hl_share.piece.seg;
    struct statics_head mine = {(uint64_t)o->n_stretches, seg != NULL ? seg->id : 0,
                                seg != NULL ? seg->len : 0};
    t->heads = calloc((size_t)hl_sym.n_pes, sizeof *t->heads);
    int rc = hl_parts_agree(t->heads != NULL ? 0 : no_statics_memory());
    rc = rc != 0 ? rc : hl_coll_allgather_bytes(hl_shmem_comm, &mine, sizeof mine, t->heads);
    if (rc != 0) {
        return rc;
    }
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        t->most = t->heads[pe].n > t->most ? t->heads[pe].n : t->most;
    }
    struct stretch_card *cards = calloc(t->most + 1, sizeof *cards);
    t->cards = calloc((size_t)hl_sym.n_pes * t->most + 1, sizeof *t->cards);
    rc = hl_parts_agree(cards != NULL && t->cards != NULL ? 0 : no_statics_memory());
    for (int i = 0; rc == 0 && i < o->n_stretches; i++) {
        const struct hl_stretch *s = &o->stretches[i];
        cards[i] = (struct stretch_card){.id = s->id, .off = s->off, .shared = s->shared};
    }
    rc = rc != 0 || t->most == 0
             ? rc
             : hl_coll_allgather_bytes(hl_shmem_comm, cards, t->most * sizeof *cards, t->cards);
    free(cards);
    return rc;
}

/* ---- near ---- */

static bool is_near_pe(int pe)
{
    return strcmp(hl_conf.near, "none") != 0 && hl_job_node_of(pe) >= 0;
}

/* Maps the segments of node peers; those that cannot be mapped use the network. */
static int map_segments(const struct statics_table *t)
{
    wants = calloc((size_t)hl_job.node_size + 1, sizeof *wants);
    if (wants == NULL) {
        return no_statics_memory();
    }
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        if (pe != hl_sym.my_pe && is_near_pe(pe) && t->heads[pe].seg_id != 0) {
            wants[n_wants++] = (struct hl_near_want){.node_rank = hl_job_node_of(pe),
                                                     .seg_id = t->heads[pe].seg_id,
                                                     .seg_len = t->heads[pe].seg_len};
        }
    }
    int rc = hl_near_map_all(wants, n_wants);
    rc = rc == HL_ERR_RMA_SHARED ? 0 : rc;
    for (size_t i = 0; rc == 0 && i < n_wants; i++) {
        rc = wants[i].rc == 0 ? hl_fork_keep(wants[i].base, wants[i].seg_len, -1, 0, HL_FORK_LOOK) : 0;
    }
    return rc;
}

static const char *mapped_at(int pe)
{
    int node_rank = hl_job_node_of(pe);
    for (size_t i = 0; i < n_wants; i++) {
        if (wants[i].node_rank == node_rank && wants[i].rc == 0) {
            return wants[i].base;
        }
    }
    return NULL;
}

/* The address here of a PE's stretch k, which is my stretch i; 0: it is not mapped. */
static uint64_t near_address(const struct statics_table *t, int pe, int i, int k)
{
    if (!is_near_pe(pe)) {
        return 0;
    }
    if (pe == hl_sym.my_pe) {
        return (uint64_t)(uintptr_t)hl_share.objects.stretches[i].base;
    }
    const struct stretch_card *c = card_of(t, pe, k);
    const char *base = c->shared ? mapped_at(pe) : NULL;
    return base != NULL ? (uint64_t)(uintptr_t)base + c->off : 0;
}

/* ---- network ---- */

static bool does_need_network(const struct statics_table *t)
{
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        for (int i = 0; i < hl_share.objects.n_stretches; i++) {
            int k = match_stretch(t, pe, i);
            if (k >= 0 && near_address(t, pe, i, k) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Opens the network and lanes on all PEs when one PE needs them. */
static int open_statics_network(const struct statics_table *t)
{
    bool mine = does_need_network(t) && !hl_lane_is_open();
    int all = hl_coll_agree(hl_shmem_comm, mine ? HL_ERR_AGAIN : 0);
    if (all != HL_ERR_AGAIN) {
        return all;
    }
    int rc = hl_rx_has_network() ? 0 : hl_rx_network();
    return hl_parts_agree(rc != 0 ? rc : hl_lane_open());
}

static int find_network_way(int i, struct network_way *out)
{
    const struct hl_stretch *s = &hl_share.objects.stretches[i];
    struct hl_mr mr;
    int rc = hl_mr_register(s->shared ? (char *)hl_share.piece.addr + s->off : s->base, s->len, &mr);
    if (rc == 0) {
        regions[i] = mr.id;
        *out = (struct network_way){mr.addr, mr.key};
    }
    return rc;
}

static int exchange_ways(struct statics_table *t)
{
    int n = hl_share.objects.n_stretches, rc = 0;
    if (!hl_rx_has_network() || t->most == 0) {
        return 0;
    }
    struct network_way *mine = calloc(t->most, sizeof *mine);
    t->ways = calloc((size_t)hl_sym.n_pes * t->most, sizeof *t->ways);
    rc = mine != NULL && t->ways != NULL ? 0 : no_statics_memory();
    for (int i = 0; rc == 0 && i < n; i++) {
        rc = find_network_way(i, &mine[i]);
    }
    rc = hl_parts_agree(rc);
    rc = rc != 0 ? rc : hl_coll_allgather_bytes(hl_shmem_comm, mine, t->most * sizeof *mine, t->ways);
    free(mine);
    return rc;
}

/* ---- areas ---- */

static struct hl_sym_reach reach_of(const struct statics_table *t, int pe, int i)
{
    int k = match_stretch(t, pe, i);
    uint64_t where = k >= 0 ? near_address(t, pe, i, k) : 0;
    if (where != 0 || k < 0 || t->ways == NULL) {
        return (struct hl_sym_reach){where, 0};
    }
    const struct network_way *w = &t->ways[(size_t)pe * t->most + (size_t)k];
    return (struct hl_sym_reach){HL_SYM_FAR | w->addr, w->key};
}

/* Adds an area of `len` bytes from `base` on, of my stretch i. */
static int add_area(const struct statics_table *t, int i, char *base, size_t len)
{
    const struct hl_stretch *s = &hl_share.objects.stretches[i];
    struct hl_sym_reach *pes = calloc((size_t)hl_sym.n_pes, sizeof *pes);
    if (pes == NULL) {
        return no_statics_memory();
    }
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        pes[pe] = reach_of(t, pe, i);
        pes[pe].where += pes[pe].where != 0 ? (uint64_t)(base - s->base) : 0;
    }
    hl_sym.statics[hl_sym.n_statics++] = (struct hl_sym_area){base, len, pes};
    return 0;
}

/* Fills hl_sym.statics. Areas leave out foreign variables. */
static int fill_table(const struct statics_table *t)
{
    const struct hl_objects *o = &hl_share.objects;
    hl_sym.statics = calloc((size_t)(o->n_stretches + o->n_foreign) + 1, sizeof *hl_sym.statics);
    int rc = hl_sym.statics != NULL ? 0 : no_statics_memory();
    for (int i = 0; rc == 0 && i < o->n_stretches; i++) {
        char *at = o->stretches[i].base, *end = at + o->stretches[i].len;
        for (int k = 0; rc == 0 && k < o->n_foreign; k++) {
            char *f = o->foreign[k].base;
            if (f < end && f + o->foreign[k].len > at) {
                rc = f > at ? add_area(t, i, at, (size_t)(f - at)) : 0;
                at = f + o->foreign[k].len;
            }
        }
        rc = rc == 0 && at < end ? add_area(t, i, at, (size_t)(end - at)) : rc;
    }
    return rc;
}

/* Prints why PEs of one node need the network: one line for the node, or one of each PE that cannot map
 * another's data. */
static void say_unshared(void)
{
    const struct hl_objects *o = &hl_share.objects;
    for (int i = 0; i < o->n_stretches && hl_job.node_size > 1 && hl_job.node_rank == 0; i++) {
        if (!o->stretches[i].shared && hl_share.why[0] != '\0') {
            hl_log(HL_LOG_WARN,
                   "static data of %s cannot be shared on this node and goes over the network: %s",
                   o->stretches[i].name, hl_share.why);
            return;
        }
    }
    for (size_t i = 0; i < n_wants; i++) {
        if (wants[i].rc != 0) {
            hl_log(HL_LOG_WARN, "static data of PE %d, %zu bytes, cannot be mapped and goes over the network",
                   hl_job.node_world[wants[i].node_rank], wants[i].seg_len);
            return;
        }
    }
}

int hl_statics_open(void)
{
    struct statics_table t = {NULL, NULL, NULL, 0};
    int rc = hl_parts_agree(find_statics());
    rc = rc != 0 ? rc : tell_stretches(&t);
    if (rc == 0) {
        regions = calloc((size_t)hl_share.objects.n_stretches + 1, sizeof *regions);
        rc = regions != NULL ? map_segments(&t) : no_statics_memory();
        rc = hl_parts_agree(rc);
    }
    rc = rc != 0 ? rc : open_statics_network(&t);
    rc = rc != 0 ? rc : exchange_ways(&t);
    rc = rc != 0 ? rc : hl_parts_agree(fill_table(&t));
    if (rc == 0) {
        say_unshared();
    }
    free(t.heads);
    free(t.cards);
    free(t.ways);
    return rc;
}

void hl_statics_close(void)
{
    for (int i = 0; i < hl_share.objects.n_stretches && regions != NULL; i++) {
        if (regions[i] != 0) {
            hl_mr_unregister(regions[i]);
        }
    }
    for (int i = 0; i < hl_sym.n_statics; i++) {
        free(hl_sym.statics[i].pes);
    }
    for (size_t i = 0; i < n_wants; i++) {
        if (wants[i].rc == 0) {
            hl_fork_forget(wants[i].base);
            hl_near_unmap(wants[i].node_rank, wants[i].seg_id);
        }
    }
    free(hl_sym.statics);
    free(regions);
    free(wants);
    hl_sym.statics = NULL;
    hl_sym.n_statics = 0;
    regions = NULL;
    wants = NULL;
    n_wants = 0;
}

/* ---- why an address is not symmetric ---- */

static const struct hl_foreign *foreign_at(const char *p, size_t len)
{
    for (int i = 0; i < hl_share.objects.n_foreign; i++) {
        const struct hl_foreign *f = &hl_share.objects.foreign[i];
        if (p < f->base + f->len && f->base < p + len) {
            return f;
        }
    }
    return NULL;
}

bool hl_statics_explain(const void *p, size_t len, int pe, char *text, size_t cap)
{
    const struct hl_foreign *f = foreign_at(p, len);
    if (f != NULL) {
        snprintf(text, cap, "address %p is %s, which belongs to another library and is not symmetric", p,
                 f->name);
        return true;
    }
    const struct hl_sym_area *a = hl_sym_area_at(p);
    for (int i = 0; i < hl_share.objects.n_stretches && a != NULL && a->pes[pe].where == 0; i++) {
        const struct hl_stretch *s = &hl_share.objects.stretches[i];
        if ((size_t)((const char *)p - s->base) < s->len) {
            snprintf(text, cap,
                     "address %p is static data of %s, which PE %d has not loaded or has of another build", p,
                     s->name, pe);
            return true;
        }
    }
    const char *object = hl_objects_name_at(p);
    if (object[0] != '\0' && hl_conf.statics == NONE) {
        snprintf(text, cap, "address %p lies in %s: HOTLANE_STATICS=none makes static data not symmetric", p,
                 object);
        return true;
    }
    if (hl_sym.n_pes > 0 && object[0] != '\0' && !hl_sym_is(p, 1)) {
        snprintf(text, cap,
                 "address %p lies in %s and is not symmetric: it is constant, or that object is not linked "
                 "with OpenSHMEM or was loaded after shmem_init",
                 p, object);
        return true;
    }
    return false;
}
