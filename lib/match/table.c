/* Posted receives and unexpected messages. Every function: only the inbox's owner.
 *
 * Receives of one source hang in the bin of (ctx, src); receives from any source in one list. Sequence
 * numbers tell which of the two was posted first. Unexpected messages hang in their bin, and all in order of
 * arrival for receives from any source. */
#include "inner.h"

#include "err.h"

#include <stdlib.h>

#define BINS_MIN 64
#define LOAD 4

static void posts_init(struct hl_post_list *l)
{
    l->head = NULL;
    l->tail = &l->head;
}

static void bins_init(struct hl_bin *bins, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        posts_init(&bins[i].posted);
        bins[i].unexpected.head = NULL;
        bins[i].unexpected.tail = &bins[i].unexpected.head;
    }
}

int hl_table_open(struct hl_table *t)
{
    *t = (struct hl_table){.n_bins = BINS_MIN};
    t->bins = malloc(BINS_MIN * sizeof(*t->bins));
    if (t->bins == NULL) {
        return HL_ERR_NO_MEM;
    }
    bins_init(t->bins, BINS_MIN);
    posts_init(&t->wild);
    t->arrival.head = NULL;
    t->arrival.tail = &t->arrival.head;
    return 0;
}

static struct hl_bin *bin_of(const struct hl_table *t, uint64_t ctx, int src)
{
    /* The low bits chose the inbox. */
    return &t->bins[(hl_match_hash(ctx, src) >> 8) & (t->n_bins - 1)];
}

static void post_append(struct hl_post_list *l, struct hl_post *p)
{
    p->next = NULL;
    *l->tail = p;
    l->tail = &p->next;
}

static void post_unlink(struct hl_post_list *l, struct hl_post **at)
{
    struct hl_post *p = *at;
    *at = p->next;
    if (l->tail == &p->next) {
        l->tail = at;
    }
}

static void entry_append(struct hl_entry_list *bin, struct hl_entry *e)
{
    e->next = NULL;
    e->back = bin->tail;
    *bin->tail = e;
    bin->tail = &e->next;
}

/* Doubles the bins. Order within a (ctx, src) pair stays: old bins are walked front to back. Without memory
 * they stay as they are. */
static HL_COLD void grow(struct hl_table *t)
{
    struct hl_bin *old = t->bins;
    size_t n_old = t->n_bins;
    struct hl_bin *bins = malloc(2 * n_old * sizeof(*bins));
    if (bins == NULL) {
        return;
    }
    bins_init(bins, 2 * n_old);
    t->bins = bins;
    t->n_bins = 2 * n_old;
    for (size_t i = 0; i < n_old; i++) {
        for (struct hl_post *p = old[i].posted.head, *next; p != NULL; p = next) {
            next = p->next;
            struct hl_req *r = hl_post_req(p);
            post_append(&bin_of(t, r->ctx, hl_recv_body(r)->src)->posted, p);
        }
        for (struct hl_entry *e = old[i].unexpected.head, *next; e != NULL; e = next) {
            next = e->next;
            entry_append(&bin_of(t, e->ctx, e->src)->unexpected, e);
        }
    }
    free(old);
}

static struct hl_claim *claim_of(struct hl_post *p)
{
    return HL_CONTAINER_OF(p, struct hl_claim_node, post)->claim;
}

void hl_claim_drop(struct hl_claim *c, uint32_t n)
{
    /* full: whoever takes it to 0 sees everybody's last use. */
    if (hl_a32_add_full(&c->left, (uint32_t)-n) == n) {
        free(c);
    }
}

static bool claim_is_open(const struct hl_claim *c)
{
    /* relaxed: a node seen open is claimed by CAS, one seen closed stays closed. */
    return hl_a32_load_relaxed(&c->state) == HL_CLAIM_OPEN;
}

/* Nodes at the head that were claimed elsewhere go. */
static void trim_wild(struct hl_table *t)
{
    struct hl_post *p;
    while ((p = t->wild.head) != NULL && p->op == HL_POST_WILD && !claim_is_open(claim_of(p))) {
        post_unlink(&t->wild, &t->wild.head);
        hl_claim_drop(claim_of(p), 1);
    }
}

void hl_table_post(struct hl_table *t, struct hl_post *p)
{
    p->seq = ++t->seq;
    if (p->op == HL_POST_WILD) {
        trim_wild(t);
        post_append(&t->wild, p);
        return;
    }
    struct hl_req *r = hl_post_req(p);
    int src = hl_recv_body(r)->src;
    if (src == MPI_ANY_SOURCE) {
        post_append(&t->wild, p);
        return;
    }
    if (HL_UNLIKELY(++t->n_posted + t->n_entries > LOAD * t->n_bins)) {
        grow(t);
    }
    post_append(&bin_of(t, r->ctx, src)->posted, p);
}

static bool tag_fits(int wanted, int tag)
{
    return wanted == tag || wanted == MPI_ANY_TAG;
}

/* The first receive in a bin for exactly this message; NULL-terminated place, or NULL. */
static struct hl_post **find_specific(struct hl_bin *bin, uint64_t ctx, int src, int tag)
{
    for (struct hl_post **at = &bin->posted.head; *at != NULL; at = &(*at)->next) {
        struct hl_req *r = hl_post_req(*at);
        const struct hl_recv_body *b = hl_recv_body(r);
        if (r->ctx == ctx && b->src == src && tag_fits(b->tag, tag)) {
            return at;
        }
    }
    return NULL;
}

static bool wild_fits(struct hl_post *p, uint64_t ctx, int tag)
{
    if (p->op == HL_POST_WILD) {
        const struct hl_claim *c = claim_of(p);
        return c->ctx == ctx && tag_fits(c->tag, tag);
    }
    struct hl_req *r = hl_post_req(p);
    return r->ctx == ctx && tag_fits(hl_recv_body(r)->tag, tag);
}

/* The first receive from any source that fits, posted before `before`, taken off and claimed; or NULL. */
static struct hl_req *take_wild(struct hl_table *t, uint64_t ctx, int tag, uint64_t before)
{
    struct hl_post **at = &t->wild.head, *p;
    while ((p = *at) != NULL && p->seq < before) {
        bool shared = p->op == HL_POST_WILD;
        if (shared && !claim_is_open(claim_of(p))) {
            post_unlink(&t->wild, at);
            hl_claim_drop(claim_of(p), 1);
            continue;
        }
        if (!wild_fits(p, ctx, tag)) {
            at = &p->next;
            continue;
        }
        post_unlink(&t->wild, at);
        if (!shared) {
            return hl_post_req(p);
        }
        struct hl_claim *c = claim_of(p);
        uint32_t open = HL_CLAIM_OPEN;
        /* full: the one winner over all inboxes delivers; pairs with the poster's and canceller's CAS. */
        bool won = hl_a32_cas_full(&c->state, &open, HL_CLAIM_CLAIMED);
        struct hl_req *r = won ? c->req : NULL;
        hl_claim_drop(c, 1);
        if (won) {
            return r;
        }
    }
    return NULL;
}

struct hl_req *hl_table_match(struct hl_table *t, uint64_t ctx, int src, int tag)
{
    struct hl_bin *bin = bin_of(t, ctx, src);
    struct hl_post **at = find_specific(bin, ctx, src, tag);
    if (HL_UNLIKELY(t->wild.head != NULL)) {
        struct hl_req *r = take_wild(t, ctx, tag, at != NULL ? (*at)->seq : UINT64_MAX);
        if (r != NULL) {
            return r;
        }
    }
    if (at == NULL) {
        return NULL;
    }
    struct hl_req *r = hl_post_req(*at);
    post_unlink(&bin->posted, at);
    t->n_posted--;
    return r;
}

struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag)
{
    if (t->arrival.head == NULL) {
        return NULL;
    }
    if (src == MPI_ANY_SOURCE) {
        struct hl_entry *e = t->arrival.head;
        while (e != NULL && (e->ctx != ctx || !tag_fits(tag, e->tag))) {
            e = e->younger;
        }
        return e;
    }
    struct hl_entry *e = bin_of(t, ctx, src)->unexpected.head;
    while (e != NULL && (e->ctx != ctx || e->src != src || !tag_fits(tag, e->tag))) {
        e = e->next;
    }
    return e;
}

void hl_table_add(struct hl_table *t, struct hl_entry *e)
{
    if (HL_UNLIKELY(++t->n_entries + t->n_posted > LOAD * t->n_bins)) {
        grow(t);
    }
    entry_append(&bin_of(t, e->ctx, e->src)->unexpected, e);
    e->younger = NULL;
    e->older = t->arrival.tail;
    *t->arrival.tail = e;
    t->arrival.tail = &e->younger;
}

void hl_table_remove(struct hl_table *t, struct hl_entry *e)
{
    t->n_entries--;
    *e->back = e->next;
    if (e->next != NULL) {
        e->next->back = e->back;
    } else {
        bin_of(t, e->ctx, e->src)->unexpected.tail = e->back;
    }
    *e->older = e->younger;
    if (e->younger != NULL) {
        e->younger->older = e->older;
    } else {
        t->arrival.tail = e->older;
    }
}

bool hl_table_cancel(struct hl_table *t, struct hl_req *r)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    bool wild = b->src == MPI_ANY_SOURCE;
    struct hl_post_list *l = wild ? &t->wild : &bin_of(t, r->ctx, b->src)->posted;
    for (struct hl_post **at = &l->head; *at != NULL; at = &(*at)->next) {
        if (*at == &b->post) {
            post_unlink(l, at);
            t->n_posted -= wild ? 0 : 1;
            return true;
        }
    }
    return false;
}

void hl_table_close(struct hl_table *t)
{
    while (t->arrival.head != NULL) {
        struct hl_entry *e = t->arrival.head;
        hl_table_remove(t, e);
        free(e);
    }
    for (struct hl_post *p = t->wild.head, *next; p != NULL; p = next) {
        next = p->next;
        if (p->op == HL_POST_WILD) {
            hl_claim_drop(claim_of(p), 1);
        }
    }
    free(t->bins);
    t->bins = NULL;
}
