/* Meetings in boxes and in pSync. The proof for the boxes is in tree.h. */
#include "tree.h"

#include <limits.h>
#include <mpi.h>
#include <shmem.h>
#include <string.h>

#include "coll.h"
#include "copy.h"
#include "job.h"
#include "near.h"
#include "prog.h"
#include "shm.h"
#include "sym.h"
#include "xfer.h"

size_t hl_tree_bytes(int size)
{
    size_t children = (size_t)(size - 1 < HL_TREE_WIDTH ? size - 1 : HL_TREE_WIDTH);
    return sizeof(struct hl_team_boxes) + children * sizeof(struct hl_box);
}

/* ---- places ---- */

/* First member of the i-th of `count` subtrees below the root of [lo, hi); for i = count, hi. */
static int subtree_start(int lo, int hi, int i, int count)
{
    return lo + 1 + (int)((int64_t)(hi - lo - 1) * i / count);
}

static int count_cuts(int lo, int hi)
{
    return hi - lo - 1 < HL_TREE_WIDTH ? hi - lo - 1 : HL_TREE_WIDTH;
}

void hl_tree_place(int size, int rank, struct hl_tree_node *p)
{
    int lo = 0, hi = size, n = count_cuts(lo, hi);
    p->parent = -1;
    p->index = 0;
    while (lo != rank) {
        int i = 0;
        while (subtree_start(lo, hi, i + 1, n) <= rank) {
            i++;
        }
        int from = subtree_start(lo, hi, i, n), to = subtree_start(lo, hi, i + 1, n);
        p->parent = lo;
        p->index = i;
        lo = from;
        hi = to;
        n = count_cuts(lo, hi);
    }
    p->children = n;
    for (int i = 0; i < n; i++) {
        p->child[i] = subtree_start(lo, hi, i, n);
    }
}

/* ---- what a member calls ---- */

static const char *const kind_words[HL_CALL_KINDS] = {[HL_CALL_SYNC] = "a sync or barrier",
                                                      [HL_CALL_BROADCAST] = "a broadcast",
                                                      [HL_CALL_COLLECT] = "a collect",
                                                      [HL_CALL_FCOLLECT] = "an fcollect",
                                                      [HL_CALL_ALLTOALL] = "an alltoall",
                                                      [HL_CALL_ALLTOALLS] = "an alltoalls",
                                                      [HL_CALL_REDUCE] = "a reduction",
                                                      [HL_CALL_SCAN] = "a scan",
                                                      [HL_CALL_SPLIT] = "a split",
                                                      [HL_CALL_ALLOC] = "an allocation or free",
                                                      [HL_CALL_FINALIZE] = "the end of OpenSHMEM"};

static _Noreturn HL_COLD void die_of_mismatch(const struct hl_call *c, uint64_t theirs, int rank)
{
    unsigned kind = (unsigned)(theirs >> 56);
    unsigned long long mine_len = c->what & 0xffffffffff, their_len = theirs & 0xffffffffff;
    int pe = hl_team_world_pe(c->team, rank);
    if (kind == 0 || kind >= HL_CALL_KINDS) {
        hl_shmem_die(c->func, "pSync at %p does not hold SHMEM_SYNC_VALUE, or another call of PE %d uses it",
                     (void *)c->sync, pe);
    }
    if ((theirs ^ c->what) >> 56 != 0) {
        hl_shmem_die(c->func,
                     "PE %d has called %s meanwhile: all PEs of a team must make the same collective calls "
                     "in the same order",
                     pe, kind_words[kind]);
    }
    if (mine_len == their_len) {
        hl_shmem_die(c->func, "PE %d calls it with another %s", pe,
                     kind == HL_CALL_SPLIT ? "start, stride, size or xrange" : "operation, type or root");
    }
    hl_shmem_die(c->func, "PE %d calls it for %llu bytes, this PE for %llu", pe, their_len, mine_len);
}

static void check_same(const struct hl_call *c, uint64_t theirs, int rank)
{
    if (HL_UNLIKELY(theirs != c->what)) {
        die_of_mismatch(c, theirs, rank);
    }
}

/* ---- boxes ---- */

struct note {
    const void *data;
    size_t len;
};

/* The box at `at` bytes into a member's boxes, as an address of my own heap. */
static struct hl_box *box_of(const struct hl_team *t, int rank, size_t at)
{
    uint64_t boxes = t->where != NULL ? t->where[rank] : t->boxes;
    return (struct hl_box *)(hl_sym.heap.base + boxes + at);
}

static size_t up_at(int index)
{
    return sizeof(struct hl_team_boxes) + (size_t)index * sizeof(struct hl_box);
}

/* Writes a message into *out, all but the flag; returns its bytes. */
static size_t write_note(struct hl_box *out, const struct hl_call *c, const struct note *n)
{
    out->call = c->what;
    out->len = n->len;
    if (n->len != 0) {
        hl_copy(out->data, n->data, n->len);
    }
    return sizeof out->call + sizeof out->len + n->len;
}

static void post_near(struct hl_box *box, const struct hl_call *c, const struct note *n)
{
    (void)write_note(box, c, n);
    /* release: the message, and all that this member did before; pairs with the acquire in is_full. */
    hl_a64_store_release(&box->flag, c->team->number);
}

/* Posts to a PE of my node whose memory is not mapped here. */
static void post_unmapped(const struct hl_sym_addr *box, const struct hl_call *c, const struct note *n,
                          int pe)
{
    struct hl_box out;
    struct hl_shmem_flag f = {c->func, pe, &out.call, write_note(&out, c, n), *box, *box, c->team->number};
    f.data.where += offsetof(struct hl_box, call);
    f.word.where += offsetof(struct hl_box, flag);
    hl_shmem_send_flag(&f);
}

/* PEs of other nodes get a matched message, which the waiting thread reads by itself: with a put and its flag
 * two threads would have to wake there. The message's tag names the box. */
static int tag_of(const struct hl_box *box)
{
    return (int)((size_t)((const char *)box - hl_sym.heap.base) / sizeof *box % INT_MAX);
}

static void post_far(const struct hl_box *box, const struct hl_call *c, const struct note *n, int pe)
{
    struct hl_box out;
    size_t len = write_note(&out, c, n);
    hl_shmem_must(hl_coll_send_bytes(hl_shmem_comm, pe, tag_of(box), &out.call, len), c->func, pe);
}

static void await_far(struct hl_box *box, const struct hl_call *c, int pe)
{
    size_t room = sizeof *box - sizeof box->flag;
    hl_shmem_must(hl_coll_recv_bytes(hl_shmem_comm, pe, tag_of(box), &box->call, room), c->func, pe);
}

static void post_note(const struct hl_call *c, int rank, size_t at, const struct note *n)
{
    int pe = hl_team_world_pe(c->team, rank);
    struct hl_box *box = box_of(c->team, rank, at);
    int node_rank = hl_job_node_of(pe);
    if (node_rank < 0) {
        post_far(box, c, n, pe);
        return;
    }
    struct hl_sym_addr addr = hl_sym_own(box, pe);
    if (!hl_sym_addr_is_mapped(&addr)) {
        post_unmapped(&addr, c, n, pe);
        return;
    }
    post_near((struct hl_box *)(uintptr_t)addr.where, c, n);
    hl_prog_wake_peer(node_rank);
}

struct tree_watch {
    const hl_a64 *flag;
    uint64_t number;
    const struct hl_team *team;
    int rank; /* the member that writes it */
};

static void describe_tree_watch(const void *arg, struct hl_wait_desc *t)
{
    const struct tree_watch *w = arg;
    if (w->team == &hl_team_world) {
        hl_desc_say(t, "SHMEM_TEAM_WORLD");
    } else {
        hl_desc_say(t, "team of %d from PE %d, stride %d", w->team->size, w->team->start, w->team->stride);
    }
    hl_desc_say(t, ", member %d", w->rank);
    hl_desc_await(t, hl_team_world_pe(w->team, w->rank));
}

static bool is_full(void *arg)
{
    const struct tree_watch *w = arg;
    /* acquire: the message; pairs with the releases in post_near and of the receive thread. */
    return hl_a64_load_acquire(w->flag) == w->number;
}

HL_HANG_WORDS(is_full, describe_tree_watch);

/* Waits for member `rank`'s message in my box at `at`. */
static const struct hl_box *await_box(const struct hl_call *c, int rank, size_t at)
{
    struct hl_box *box = box_of(c->team, c->team->rank, at);
    struct tree_watch w = {&box->flag, c->team->number, c->team, rank};
    int pe = hl_team_world_pe(c->team, rank);
    if (hl_job_node_of(pe) < 0) {
        await_far(box, c, pe);
    } else {
        hl_prog_wait_rung(is_full, &w);
    }
    check_same(c, HL_ONCE(box->call), rank);
    return box;
}

/* Bytes of the message in a box of mine that has come from member `rank`. */
static size_t len_of(const struct hl_call *c, const struct hl_box *box, int rank, size_t room)
{
    uint64_t len = HL_ONCE(box->len);
    if (HL_UNLIKELY(len > room)) {
        hl_shmem_die(c->func, "a message of %llu bytes from PE %d: the library's memory was written over",
                     (unsigned long long)len, hl_team_world_pe(c->team, rank));
    }
    return (size_t)len;
}

#define DOWN offsetof(struct hl_team_boxes, down)

static void meet_in_boxes(const struct hl_call *c, struct hl_meet *m)
{
    struct hl_tree_node p;
    struct hl_team *t = c->team;
    hl_tree_place(t->size, t->rank, &p);
    t->number++;
    t->casts = 0;
    for (int i = 0; i < p.children; i++) {
        const struct hl_box *box = await_box(c, p.child[i], up_at(i));
        if (m != NULL) {
            m->join(m, box->data, len_of(c, box, p.child[i], m->room));
        }
    }
    if (p.parent >= 0) {
        struct note up = {m != NULL ? m->data : NULL, m != NULL ? m->len : 0};
        post_note(c, p.parent, up_at(p.index), &up);
        const struct hl_box *box = await_box(c, p.parent, DOWN);
        if (m != NULL) {
            m->len = len_of(c, box, p.parent, m->room);
            hl_copy(m->data, box->data, m->len);
        }
    }
    struct note down = {m != NULL ? m->data : NULL, m != NULL ? m->len : 0};
    for (int i = 0; i < p.children; i++) {
        post_note(c, p.child[i], DOWN, &down);
    }
}

void hl_tree_offset(const struct hl_call *c, uint64_t *mine)
{
    struct hl_tree_node p;
    struct hl_team *t = c->team;
    uint64_t below[HL_TREE_WIDTH], sum = *mine, before = 0;
    hl_tree_place(t->size, t->rank, &p);
    t->number++;
    t->casts = 0;
    for (int i = 0; i < p.children; i++) {
        const struct hl_box *box = await_box(c, p.child[i], up_at(i));
        memcpy(&below[i], box->data, sizeof below[i]);
        sum += below[i];
    }
    if (p.parent >= 0) {
        post_note(c, p.parent, up_at(p.index), &(struct note){&sum, sizeof sum});
        memcpy(&before, await_box(c, p.parent, DOWN)->data, sizeof before);
    }
    uint64_t next = before + *mine;
    for (int i = 0; i < p.children; i++) {
        post_note(c, p.child[i], DOWN, &(struct note){&next, sizeof next});
        next += below[i];
    }
    *mine = before;
}

void hl_tree_cast(const struct hl_call *c, void *data, size_t len, int root)
{
    struct hl_tree_node p;
    struct hl_team *t = c->team;
    if (t->casts == HL_TREE_CASTS) {
        struct hl_call meet = *c;
        hl_tree_meet(&meet, NULL);
    }
    size_t at = offsetof(struct hl_team_boxes, cast) + (size_t)t->casts++ * sizeof(struct hl_box);
    t->number++;
    hl_tree_place(t->size, (t->rank - root + t->size) % t->size, &p);
    if (p.parent >= 0) {
        const struct hl_box *box = await_box(c, (p.parent + root) % t->size, at);
        hl_copy(data, box->data, len);
    }
    for (int i = 0; i < p.children; i++) {
        post_note(c, (p.child[i] + root) % t->size, at, &(struct note){data, len});
    }
}

/* ---- pSync ---- */

/* Writes a word of member `rank`'s pSync. A member's parent writes word 0, its i-th child word 1 + i; the
 * member sets a word back after it has waited for it. */
static void post_word(const struct hl_call *c, int rank, int word)
{
    int pe = hl_team_world_pe(c->team, rank);
    struct hl_sym_addr addr;
    hl_shmem_find(&c->sync[word], sizeof *c->sync, pe, c->func, &addr);
    if (!hl_sym_addr_is_mapped(&addr)) {
        hl_shmem_send_flag(
            &(struct hl_shmem_flag){.func = c->func, .pe = pe, .word = addr, .value = c->what});
        return;
    }
    /* release: all that this member did before; pairs with the acquire in is_written. */
    hl_a64_store_release((hl_a64 *)(uintptr_t)addr.where, c->what);
    hl_prog_wake_peer(hl_job_node_of(pe));
}

static bool is_written(void *arg)
{
    const struct tree_watch *w = arg;
    /* acquire: what the writer did before; pairs with the releases in post_word and of the receive thread. */
    return hl_a64_load_acquire(w->flag) != w->number;
}

HL_HANG_WORDS(is_written, describe_tree_watch);

static void await_word(const struct hl_call *c, int rank, int word)
{
    hl_a64 *flag = (hl_a64 *)&c->sync[word];
    struct tree_watch w = {flag, SHMEM_SYNC_VALUE, c->team, rank};
    hl_prog_wait_rung(is_written, &w);
    check_same(c, hl_a64_load_relaxed(flag), rank); /* relaxed: the wait has ordered it. */
    /* relaxed: its writer writes it again only after it has heard from me. */
    hl_a64_store_relaxed(flag, SHMEM_SYNC_VALUE);
}

static void meet_in_words(const struct hl_call *c)
{
    struct hl_tree_node p;
    hl_tree_place(c->team->size, c->team->rank, &p);
    for (int i = 0; i < p.children; i++) {
        await_word(c, p.child[i], 1 + i);
    }
    if (p.parent >= 0) {
        post_word(c, p.parent, 1 + p.index);
        await_word(c, p.parent, 0);
    }
    for (int i = 0; i < p.children; i++) {
        post_word(c, p.child[i], 0);
    }
}

void hl_tree_meet(const struct hl_call *c, struct hl_meet *m)
{
    if (c->sync != NULL) {
        meet_in_words(c);
    } else {
        meet_in_boxes(c, m);
    }
    hl_near_fence(); /* as in every call that synchronizes: later reads do not pass earlier puts */
}
