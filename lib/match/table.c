/* Posted receives and unexpected messages.
 *
 * Receives of one source hang in the bin of (ctx, src, tag), those of any tag in the bin of (ctx, src, any);
 * receives from any source in one list. Sequence numbers tell which of them was posted first. Unexpected
 * messages hang in the bin of their tag, in that of their source, and all in order of arrival, so that each
 * kind of receive finds the oldest that it may take without passing those of others: threads tell their
 * messages apart by tags, and one of them may run ahead. */
#include "match_internal.h"

#include "err.h"

#include <stdlib.h>

#define BINS_MIN 64
#define LOAD 4
#define SWEEP_MIN 64
/* The factor by which bins grow. With 4, a message of a flood is moved a third of a time on average. With 2
 * it would be moved once, and with 8 bins could take 96 bytes for each message, more than a short one has. */
#define GROWTH 4

static void posts_init(struct hl_posted_list *l)
{
    l->head = NULL;
    l->tail = &l->head;
}

static void bins_init(struct hl_bin *bins, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        posts_init(&bins[i].posted);
        bins[i].unexpected.head = bins[i].siblings.head = NULL;
        bins[i].unexpected.tail = &bins[i].unexpected.head;
        bins[i].siblings.tail = &bins[i].siblings.head;
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

/* The bin of (hash, tag). It does not use the low bits of the hash, which chose the inbox. */
static struct hl_bin *bin_at(const struct hl_table *t, uint64_t hash, int tag)
{
    uint64_t spread = (uint64_t)(uint32_t)tag * 0x9e3779b97f4a7c15ULL >> 32;
    return &t->bins[((hash >> 8) + spread) & (t->n_bins - 1)];
}

static struct hl_bin *bin_of(const struct hl_table *t, uint64_t ctx, int src, int tag)
{
    return bin_at(t, hl_match_hash(ctx, src), tag);
}

bool hl_table_is_clear(const struct hl_table *t, uint64_t hash, int tag)
{
    const struct hl_bin *bin = bin_at(t, hash, tag);
    if (HL_UNLIKELY(tag == MPI_ANY_TAG)) {
        return t->n_posted == 0 && bin->siblings.head == NULL && t->wild.head == NULL;
    }
    return bin->posted.head == NULL && bin->unexpected.head == NULL && t->wild.head == NULL &&
           t->n_any_tag == 0;
}

static void post_append(struct hl_posted_list *l, struct hl_command *p)
{
    p->next = NULL;
    *l->tail = p;
    l->tail = &p->next;
}

static void post_unlink(struct hl_posted_list *l, struct hl_command **at)
{
    struct hl_command *p = *at;
    *at = p->next;
    if (l->tail == &p->next) {
        l->tail = at;
    }
}

static void entry_append(struct hl_table *t, struct hl_entry *e)
{
    uint64_t hash = hl_match_hash(e->ctx, e->src);
    struct hl_entry_list *same = &bin_at(t, hash, e->tag)->unexpected,
                         *all = &bin_at(t, hash, MPI_ANY_TAG)->siblings;
    e->next = e->sibling = NULL;
    e->back = same->tail;
    *same->tail = e;
    same->tail = &e->next;
    e->elder = all->tail;
    *all->tail = e;
    all->tail = &e->sibling;
}

/* Makes more bins. The order of each kind is kept, because old bins are walked front to back, and messages as
 * they arrived. Without memory the bins stay as they are. */
static HL_COLD void grow_bins(struct hl_table *t)
{
    struct hl_bin *old = t->bins;
    size_t n_old = t->n_bins, n_new = GROWTH * n_old;
    struct hl_bin *bins = malloc(n_new * sizeof(*bins));
    if (bins == NULL) {
        return;
    }
    bins_init(bins, n_new);
    t->bins = bins;
    t->n_bins = n_new;
    for (size_t i = 0; i < n_old; i++) {
        for (struct hl_command *p = old[i].posted.head, *next; p != NULL; p = next) {
            next = p->next;
            struct hl_req *r = hl_command_req(p);
            post_append(&bin_of(t, r->ctx, hl_recv_body(r)->src, hl_recv_body(r)->tag)->posted, p);
        }
    }
    for (struct hl_entry *e = t->arrival.head; e != NULL; e = e->younger) {
        entry_append(t, e);
    }
    free(old);
}

static struct hl_wild_recv *wild_of(struct hl_command *p)
{
    return HL_CONTAINER_OF(p, struct hl_wild_node, command)->wild;
}

void hl_wild_drop(struct hl_wild_recv *c, uint32_t n)
{
    /* full: the thread that takes it to 0 sees the last use of all others. */
    if (hl_a32_add_full(&c->left, (uint32_t)-n) == n) {
        free(c);
    }
}

static bool is_wild_open(const struct hl_wild_recv *c)
{
    /* relaxed: a node seen open is taken by CAS, one seen closed stays closed. */
    return hl_a32_load_relaxed(&c->state) == HL_WILD_OPEN;
}

/* Drops nodes that were taken elsewhere: those at the head at once; those behind an open receive when more
 * nodes came since the last sweep than it left. */
static void trim_wild(struct hl_table *t)
{
    struct hl_command **at = &t->wild.head, *p;
    bool all = t->n_shared > t->sweep_at;
    size_t left = 0;
    while ((p = *at) != NULL) {
        if (p->op == HL_COMMAND_WILD && !is_wild_open(wild_of(p))) {
            post_unlink(&t->wild, at);
            hl_wild_drop(wild_of(p), 1);
        } else if (all) {
            at = &p->next;
            left++;
        } else {
            return;
        }
    }
    t->n_shared = 0;
    t->sweep_at = left + SWEEP_MIN;
}

void hl_table_post(struct hl_table *t, struct hl_command *p)
{
    p->seq = ++t->seq;
    if (p->op == HL_COMMAND_WILD) {
        t->n_shared++;
        trim_wild(t);
        post_append(&t->wild, p);
        return;
    }
    struct hl_req *r = hl_command_req(p);
    int src = hl_recv_body(r)->src;
    if (src == MPI_ANY_SOURCE) {
        post_append(&t->wild, p);
        return;
    }
    if (HL_UNLIKELY(++t->n_posted + t->n_entries > LOAD * t->n_bins)) {
        grow_bins(t);
    }
    int tag = hl_recv_body(r)->tag;
    t->n_any_tag += tag == MPI_ANY_TAG;
    post_append(&bin_of(t, r->ctx, src, tag)->posted, p);
}

static bool does_tag_fit(int wanted, int tag)
{
    return wanted == tag || wanted == MPI_ANY_TAG;
}

/* The first receive of this source and tag (or of any tag, when that is asked for), at *in of its list; or
 * NULL. */
static struct hl_command **find_specific(struct hl_table *t, uint64_t ctx, int src, int tag,
                                         struct hl_posted_list **in)
{
    *in = &bin_of(t, ctx, src, tag)->posted;
    for (struct hl_command **at = &(*in)->head; *at != NULL; at = &(*at)->next) {
        struct hl_req *r = hl_command_req(*at);
        const struct hl_recv_body *b = hl_recv_body(r);
        if (r->ctx == ctx && b->src == src && b->tag == tag) {
            return at;
        }
    }
    return NULL;
}

static bool does_wild_fit(struct hl_command *p, uint64_t ctx, int tag)
{
    if (p->op == HL_COMMAND_WILD) {
        const struct hl_wild_recv *c = wild_of(p);
        return c->ctx == ctx && does_tag_fit(c->tag, tag);
    }
    struct hl_req *r = hl_command_req(p);
    return r->ctx == ctx && does_tag_fit(hl_recv_body(r)->tag, tag);
}

/* The first receive from any source that fits, posted before `before`, taken off; or NULL. */
static struct hl_req *take_wild(struct hl_table *t, uint64_t ctx, int tag, uint64_t before)
{
    struct hl_command **at = &t->wild.head, *p;
    while ((p = *at) != NULL && p->seq < before) {
        bool shared = p->op == HL_COMMAND_WILD;
        if (shared && !is_wild_open(wild_of(p))) {
            post_unlink(&t->wild, at);
            hl_wild_drop(wild_of(p), 1);
            continue;
        }
        if (!does_wild_fit(p, ctx, tag)) {
            at = &p->next;
            continue;
        }
        post_unlink(&t->wild, at);
        if (!shared) {
            return hl_command_req(p);
        }
        struct hl_wild_recv *c = wild_of(p);
        uint32_t open = HL_WILD_OPEN;
        /* full: one winner over all inboxes delivers; pairs with the CAS in inbox.c and probe.c. */
        bool won = hl_a32_cas_full(&c->state, &open, HL_WILD_TAKEN);
        struct hl_req *r = won ? c->req : NULL;
        hl_wild_drop(c, 1);
        if (won) {
            return r;
        }
    }
    return NULL;
}

/* Corrects the counts when a receive has left its bin. */
static void uncount_receive(struct hl_table *t, struct hl_req *r)
{
    t->n_posted--;
    t->n_any_tag -= hl_recv_body(r)->tag == MPI_ANY_TAG;
}

struct hl_req *hl_table_match(struct hl_table *t, uint64_t ctx, int src, int tag)
{
    struct hl_posted_list *in, *in_any;
    struct hl_command **at = find_specific(t, ctx, src, tag, &in);
    if (HL_UNLIKELY(t->n_any_tag != 0)) {
        struct hl_command **any = find_specific(t, ctx, src, MPI_ANY_TAG, &in_any);
        if (any != NULL && (at == NULL || (*any)->seq < (*at)->seq)) {
            at = any;
            in = in_any;
        }
    }
    if (HL_UNLIKELY(t->wild.head != NULL)) {
        struct hl_req *r = take_wild(t, ctx, tag, at != NULL ? (*at)->seq : UINT64_MAX);
        if (r != NULL) {
            return r;
        }
    }
    if (at == NULL) {
        return NULL;
    }
    struct hl_req *r = hl_command_req(*at);
    post_unlink(in, at);
    uncount_receive(t, r);
    return r;
}

struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag)
{
    if (t->arrival.head == NULL) {
        return NULL;
    }
    if (src == MPI_ANY_SOURCE) {
        struct hl_entry *e = t->arrival.head;
        while (e != NULL && (e->ctx != ctx || !does_tag_fit(tag, e->tag))) {
            e = e->younger;
        }
        return e;
    }
    struct hl_bin *bin = bin_of(t, ctx, src, tag);
    struct hl_entry *e;
    if (tag == MPI_ANY_TAG) {
        for (e = bin->siblings.head; e != NULL && (e->ctx != ctx || e->src != src); e = e->sibling) {
        }
        return e;
    }
    for (e = bin->unexpected.head; e != NULL && (e->ctx != ctx || e->src != src || e->tag != tag);
         e = e->next) {
    }
    return e;
}

struct hl_entry *hl_table_named(struct hl_table *t, const struct hl_arrival *a, uint64_t name)
{
    for (struct hl_entry *e = bin_of(t, a->ctx, a->src, a->tag)->unexpected.head; e != NULL; e = e->next) {
        const struct hl_msg_rts *rts = (const void *)e->payload;
        if (e->kind == HL_MSG_RTS && e->from == a->from && rts->cookie == name) {
            return e;
        }
    }
    return NULL;
}

/* Counts as if the entry were of malloc, which adds about 16 bytes. */
uint64_t hl_entry_bytes(const struct hl_entry *e)
{
    return sizeof(struct hl_command) + sizeof(*e) + 16 +
           (e->kind == HL_MSG_RTS ? sizeof(struct hl_msg_rts) : e->len);
}

void hl_table_add(struct hl_table *t, struct hl_entry *e)
{
    /* relaxed: only the owner changes it; others guess by it. */
    hl_a64_store_relaxed(&t->kept_bytes, hl_a64_load_relaxed(&t->kept_bytes) + hl_entry_bytes(e));
    if (HL_UNLIKELY(++t->n_entries + t->n_posted > LOAD * t->n_bins)) {
        grow_bins(t);
    }
    entry_append(t, e);
    e->younger = NULL;
    e->older = t->arrival.tail;
    *t->arrival.tail = e;
    t->arrival.tail = &e->younger;
}

void hl_table_remove(struct hl_table *t, struct hl_entry *e)
{
    /* relaxed: only the owner changes it */
    hl_a64_store_relaxed(&t->kept_bytes, hl_a64_load_relaxed(&t->kept_bytes) - hl_entry_bytes(e));
    t->n_entries--;
    *e->back = e->next;
    if (e->next != NULL) {
        e->next->back = e->back;
    } else {
        bin_of(t, e->ctx, e->src, e->tag)->unexpected.tail = e->back;
    }
    *e->elder = e->sibling;
    if (e->sibling != NULL) {
        e->sibling->elder = e->elder;
    } else {
        bin_of(t, e->ctx, e->src, MPI_ANY_TAG)->siblings.tail = e->elder;
    }
    *e->older = e->younger;
    if (e->younger != NULL) {
        e->younger->older = e->older;
    } else {
        t->arrival.tail = e->older;
    }
}

/* hl_table_take_if for one list. */
static struct hl_req *take_from(struct hl_posted_list *l, bool (*is)(void *arg, const struct hl_command *p),
                                void *arg)
{
    for (struct hl_command **at = &l->head, *p; (p = *at) != NULL;) {
        bool shared = p->op == HL_COMMAND_WILD, open = !shared || is_wild_open(wild_of(p));
        if (open && !is(arg, p)) {
            at = &p->next;
            continue;
        }
        post_unlink(l, at);
        if (!shared) {
            return hl_command_req(p);
        }
        struct hl_wild_recv *c = wild_of(p);
        uint32_t was = HL_WILD_OPEN;
        /* full: one winner over all inboxes; pairs with the CAS in inbox.c and probe.c. */
        struct hl_req *r = open && hl_a32_cas_full(&c->state, &was, HL_WILD_TAKEN) ? c->req : NULL;
        hl_wild_drop(c, 1);
        if (r != NULL) {
            return r;
        }
    }
    return NULL;
}

struct hl_req *hl_table_take_if(struct hl_table *t, bool (*is)(void *arg, const struct hl_command *p),
                                void *arg)
{
    struct hl_req *r = take_from(&t->wild, is, arg);
    for (size_t i = 0; r == NULL && i < t->n_bins; i++) {
        r = take_from(&t->bins[i].posted, is, arg);
        if (r != NULL) {
            uncount_receive(t, r);
        }
    }
    return r;
}

bool hl_table_cancel(struct hl_table *t, struct hl_req *r)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    bool wild = b->src == MPI_ANY_SOURCE;
    struct hl_posted_list *l = wild ? &t->wild : &bin_of(t, r->ctx, b->src, b->tag)->posted;
    for (struct hl_command **at = &l->head; *at != NULL; at = &(*at)->next) {
        if (*at == &b->command) {
            post_unlink(l, at);
            if (!wild) {
                uncount_receive(t, r);
            }
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
        hl_entry_free(e);
    }
    for (struct hl_command *p = t->wild.head, *next; p != NULL; p = next) {
        next = p->next;
        if (p->op == HL_COMMAND_WILD) {
            hl_wild_drop(wild_of(p), 1);
        }
    }
    free(t->bins);
    t->bins = NULL;
}
