/* Peers' segments, mapped. This rank opens the file that their owner lists in the board; where that is not
 * possible, it asks the owner over the node socket. The owner's receive thread answers, and the receive
 * thread of this rank enters the answer here. States of a record:
 *
 *            hl_near_map_all                    hl_near_serve (receive thread)
 *   absent ------------------> ASKED ------------------------> MAPPED   (GIVE, and it could be mapped here)
 *   absent ------------------> MAPPED   (it lies in the node's commons, mapped whole, or was opened)
 *   absent ------------------> NETWORK  (it was opened and could not be mapped; kept)
 *                                    ------------------------> NETWORK  (REFUSE, or it could not; kept)
 *   MAPPED --- last reference gone and no arena ---> absent
 *   ASKED --- the owner died ---> absent
 *
 * Asking again is harmless (an answer to a record that is not ASKED is dropped), so lost or refused datagrams
 * need no care: a waiting thread asks again, at growing distances, and learns that way when the owner has
 * died. A socket holds about ten datagrams: so few questions are out at a time, a question that found the
 * socket full is repeated soon, and others only when the answer seems lost. */
#include "near_map.h"

#include "boot.h"
#include "commons.h"
#include "err.h"
#include "hang.h"
#include "job.h"
#include "lock.h"
#include "mem.h"
#include "near_internal.h"
#include "stat.h"
#include "stops.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 256
#define FULL_WAIT_NS 500000u       /* until a full socket is tried again */
#define ANSWER_WAIT_NS 20000000u   /* until the first question counts as lost; doubled for each further one */
#define FLYING 4                   /* questions of one caller that are out at a time */
#define LONGEST_WAIT_NS 160000000u /* the doubling ends here */

struct record {
    int node_rank;
    uint64_t seg_id;
    enum { ASKED, MAPPED, NETWORK } state;
    bool arena;
    size_t len;
    void *at; /* wanted address; NULL: anywhere */
    char *base;
    uint64_t theirs;     /* MAPPED: its address at its owner */
    int refs;            /* wants granted or waiting */
    const char *why;     /* NETWORK: the reason */
    uint64_t again_ns;   /* ASKED: when to ask (again) */
    uint64_t timeout_ns; /* ASKED: how long the last question may take */
    struct record *next;
};

int (*hl_near_send)(int, const void *, size_t, int) = hl_boot_node_send;

static struct hl_mutex lock = HL_MUTEX_INIT;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static struct record *table[BUCKETS] HL_GUARDED_BY(lock);

static struct record **find_record(int node_rank, uint64_t seg_id) HL_REQUIRES(lock)
{
    struct record **at = &table[hl_mix64(seg_id + ((uint64_t)node_rank << 48)) % BUCKETS];
    while (*at != NULL && ((*at)->node_rank != node_rank || (*at)->seg_id != seg_id)) {
        at = &(*at)->next;
    }
    return at;
}

static void drop_record(struct record **at)
{
    struct record *r = *at;
    *at = r->next;
    if (r->base != NULL) {
        hl_mem_unmap(r->base, r->len, r->at != NULL);
    }
    free(r);
}

/* Gives one reference back; true when the record was dropped with it. */
static bool unref_record(struct record **at) HL_REQUIRES(lock)
{
    struct record *r = *at;
    bool last = --r->refs == 0 && (r->state == ASKED || (r->state == MAPPED && !r->arena));
    if (last) {
        drop_record(at);
    }
    return last;
}

/* Moves the record to MAPPED or NETWORK: by the segment's file, or without one (`fd` -1). */
static void map_record(struct record *r, const struct near_opened *o)
{
    r->arena = o->arena;
    r->state = NETWORK;
    if (o->fd < 0 || o->len != r->len) {
        r->why = "its owner cannot share it";
    } else if (hl_mem_map_peer(o->fd, o->off, r->len, r->at, &r->base) != 0) {
        r->why = "cannot be mapped here (limits of address space or of mappings)";
    } else {
        r->state = MAPPED;
        r->theirs = o->base;
    }
}

/* Maps the segment without a question to its owner, if that is possible. */
static void find_memory(struct record *r)
{
    struct near_opened o;
    r->base = r->at == NULL ? hl_mem_commons_find(r->node_rank, r->seg_id, &r->theirs) : NULL;
    if (r->base != NULL) {
        r->state = MAPPED;
        r->arena = true;
        r->len = HL_MEM_ARENA;
    } else if (hl_near_offers_take(r->node_rank, r->seg_id, &o)) {
        map_record(r, &o);
        close(o.fd);
        hl_stat_rank_add(HL_STAT_RANK_near_opened, 1);
    }
}

/* Takes a reference for the want, on a new record if there is none; w->rc is then HL_ERR_AGAIN. */
static void enter_want(struct hl_near_want *w) HL_REQUIRES(lock)
{
    struct record **at = find_record(w->node_rank, w->seg_id);
    if (*at == NULL) {
        struct record *r = calloc(1, sizeof *r);
        if (r == NULL) {
            w->rc = hl_err_say(HL_ERR_NO_MEM, "no memory for the table of peers' memory");
            return;
        }
        r->node_rank = w->node_rank;
        r->seg_id = w->seg_id;
        r->len = w->seg_len;
        r->at = w->at;
        find_memory(r);
        *at = r;
    }
    (*at)->refs++;
    w->rc = HL_ERR_AGAIN; /* until settle_want */
}

/* A segment of this rank needs no mapping. */
static void want_mine(struct hl_near_want *w)
{
    struct hl_seg *seg = hl_mem_by_id(w->seg_id);
    w->base = seg != NULL ? seg->base : NULL;
    w->rc = seg != NULL ? 0
                        : hl_err_say(HL_ERR_RMA_SHARED, "this rank has no segment %llu",
                                     (unsigned long long)w->seg_id);
}

/* Why the record's mapping does not serve the want; NULL: it does. */
static const char *explain_unlike(const struct record *r, const struct hl_near_want *w)
{
    if (r->state != MAPPED) {
        return r->why;
    }
    if (r->len != w->seg_len) {
        return "was mapped with another length";
    }
    return w->at != NULL && w->at != (void *)r->base ? "was mapped at another address" : NULL;
}

/* Sets the want's result if its record has one; true while the want still waits. */
static bool settle_want(struct hl_near_want *w) HL_REQUIRES(lock)
{
    if (w->rc != HL_ERR_AGAIN) {
        return false;
    }
    struct record **at = find_record(w->node_rank, w->seg_id);
    if ((*at)->state == ASKED) {
        return true;
    }
    const char *why = explain_unlike(*at, w);
    if (why == NULL) {
        w->base = (*at)->base;
        w->rc = 0;
        return false;
    }
    w->rc = hl_err_say(HL_ERR_RMA_SHARED, "memory of rank %d (%zu bytes): %s",
                       hl_job.node_world != NULL ? hl_job.node_world[w->node_rank] : w->node_rank, w->seg_len,
                       why);
    unref_record(at);
    return false;
}

/* True when the caller must ask the owner (without the lock): nobody has asked, or the answer seems lost. */
static bool must_ask(const struct hl_near_want *w) HL_REQUIRES(lock)
{
    struct record *r = w->rc == HL_ERR_AGAIN ? *find_record(w->node_rank, w->seg_id) : NULL;
    uint64_t now = hl_now_ns();
    if (r == NULL || r->state != ASKED || now < r->again_ns) {
        return false;
    }
    r->timeout_ns = r->timeout_ns == 0                    ? ANSWER_WAIT_NS
                    : r->timeout_ns * 2 < LONGEST_WAIT_NS ? r->timeout_ns * 2
                                                          : LONGEST_WAIT_NS;
    r->again_ns = now + r->timeout_ns;
    return true;
}

/* Sends the question to the owner; a dead owner ends the want with an error. */
static void ask_segment(struct hl_near_want *w) HL_EXCLUDES(lock)
{
    struct near_msg m = {.magic = HL_NEAR_MAGIC, .kind = NEAR_ASK, .seg_id = w->seg_id};
    int rc = hl_near_send(w->node_rank, &m, sizeof m, -1);
    hl_stat_rank_add(HL_STAT_RANK_near_asked, 1);
    if (rc == 0) {
        return;
    }
    hl_mutex_lock(&lock);
    struct record **at = find_record(w->node_rank, w->seg_id);
    if (rc == HL_ERR_AGAIN) {
        (*at)->again_ns = hl_now_ns() + FULL_WAIT_NS;
        (*at)->timeout_ns = 0;
    } else {
        unref_record(at);
        w->rc = rc;
    }
    hl_mutex_unlock(&lock);
}

/* Waits until an answer comes, to this thread or to another one, at most `ns`. */
static void wait_answer(uint64_t ns) HL_REQUIRES(lock)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    pthread_cond_timedwait(&answered, &lock.m, &until);
}

/* The wants of one call. They are worked off a few at a time, so that a pass costs the same for any count. */
struct map_round {
    struct hl_near_want *wants;
    size_t count, first;                 /* number of wants; index of the one that begins */
    size_t begun;                        /* wants looked at so far, from the first on */
    struct hl_near_want *flying[FLYING]; /* the wants that wait for an answer */
    int n_flying;
};

/* The watchdog's words for a thread that waits here. The caller holds the lock. */
static void describe_wants(const void *arg, struct hl_wait_desc *t) HL_NO_TSA
{
    const struct map_round *r = arg;
    hl_desc_say(t, "memory of ranks on this node, which their receive threads hand out");
    for (int i = 0; i < r->n_flying; i++) {
        hl_desc_await(t, hl_job.node_world[r->flying[i]->node_rank]);
    }
}

/* Settles the wants that have been answered and begins the next ones; true while one still waits. */
static bool settle_round(struct map_round *r) HL_REQUIRES(lock)
{
    int left = 0;
    for (int i = 0; i < r->n_flying; i++) {
        if (settle_want(r->flying[i])) {
            r->flying[left++] = r->flying[i];
        }
    }
    while (left < FLYING && r->begun < r->count) {
        struct hl_near_want *w = &r->wants[(r->first + r->begun++) % r->count];
        if (settle_want(w)) {
            r->flying[left++] = w;
        }
    }
    r->n_flying = left;
    return left > 0;
}

/* Sends the questions that are due. True when it sent any: it left the lock, so wants may be settled now. */
static bool ask_round(struct map_round *r) HL_REQUIRES(lock)
{
    bool asked = false;
    for (int i = 0; i < r->n_flying; i++) {
        if (must_ask(r->flying[i])) {
            asked = true;
            hl_mutex_unlock(&lock);
            ask_segment(r->flying[i]);
            hl_mutex_lock(&lock);
        }
    }
    return asked;
}

static void enter_all(struct hl_near_want *wants, size_t count) HL_REQUIRES(lock)
{
    for (size_t i = 0; i < count; i++) {
        wants[i].base = NULL;
        if (wants[i].node_rank == hl_job.node_rank) {
            want_mine(&wants[i]);
        } else {
            enter_want(&wants[i]);
        }
    }
}

int hl_near_map_all(struct hl_near_want *wants, size_t count)
{
    /* Each rank begins with another owner, so that they do not all ask the first owner at once. */
    struct map_round r = {.wants = wants, .count = count};
    r.first = hl_job.node_size > 0 ? count * (size_t)hl_job.node_rank / (size_t)hl_job.node_size : 0;
    hl_mutex_lock(&lock);
    enter_all(wants, count);
    struct hl_hang hang;
    hl_hang_begin(&hang);
    while (settle_round(&r)) {
        if (!ask_round(&r)) {
            wait_answer(FULL_WAIT_NS);
            hl_stops_look(hang.since_ns);
            if (hl_hang_is_on()) {
                hl_hang_look(&hang, NULL, describe_wants, &r);
            }
        }
    }
    hl_mutex_unlock(&lock);
    hl_hang_end(&hang);
    for (size_t i = 0; i < count; i++) {
        if (wants[i].rc != 0) {
            return wants[i].rc;
        }
    }
    return 0;
}

int hl_near_map(int node_rank, uint64_t seg_id, size_t seg_len, char **base)
{
    struct hl_near_want w = {.node_rank = node_rank, .seg_id = seg_id, .seg_len = seg_len};
    int rc = hl_near_map_all(&w, 1);
    if (rc == 0) {
        *base = w.base;
    }
    return rc;
}

bool hl_near_unmap(int node_rank, uint64_t seg_id)
{
    if (node_rank == hl_job.node_rank) {
        return false;
    }
    hl_mutex_lock(&lock);
    bool last = unref_record(find_record(node_rank, seg_id));
    hl_mutex_unlock(&lock);
    return last;
}

bool hl_near_borrow(int node_rank, uint64_t seg_id, uint64_t theirs, size_t len, char **here)
{
    hl_mutex_lock(&lock);
    struct record *r = *find_record(node_rank, seg_id);
    bool mapped = r != NULL && r->state == MAPPED && theirs - r->theirs <= r->len &&
                  len <= r->len - (theirs - r->theirs);
    if (mapped) {
        r->refs++;
        *here = r->base + (theirs - r->theirs);
    }
    hl_mutex_unlock(&lock);
    return mapped;
}

int hl_near_owner(const void *addr)
{
    int owner = -1;
    hl_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS && owner < 0; i++) {
        for (const struct record *r = table[i]; r != NULL && owner < 0; r = r->next) {
            bool inside = r->base != NULL && (uintptr_t)addr - (uintptr_t)r->base < r->len;
            owner = inside ? r->node_rank : -1;
        }
    }
    hl_mutex_unlock(&lock);
    return owner;
}

/* Answers a peer's question by the descriptor or a refusal. If its socket is full now, it will ask again. */
static void answer_peer(const struct near_msg *q, int from)
{
    struct near_msg m = {.magic = HL_NEAR_MAGIC, .kind = NEAR_REFUSE, .seg_id = q->seg_id};
    struct hl_mem_shared it = {.fd = -1};
    if (hl_mem_share(q->seg_id, &it) == 0) {
        m.kind = NEAR_GIVE;
        m.len = it.len;
        m.off = it.off;
        m.base = it.base;
        m.arena = it.arena;
    }
    (void)hl_near_send(from, &m, sizeof m, it.fd);
    if (it.fd >= 0) {
        close(it.fd);
    }
}

/* Enters an answer into its record and wakes the waiting threads. The caller closes fd. */
static void take_answer(const struct near_msg *m, int from, int fd)
{
    hl_mutex_lock(&lock);
    struct record *r = *find_record(from, m->seg_id);
    if (r != NULL && r->state == ASKED) {
        map_record(r, &(struct near_opened){.fd = m->kind == NEAR_GIVE ? fd : -1,
                                            .off = m->off,
                                            .len = m->len,
                                            .base = m->base,
                                            .arena = m->arena != 0});
        pthread_cond_broadcast(&answered);
    }
    hl_mutex_unlock(&lock);
}

int hl_near_serve(const void *msg, size_t len, int from, int fd)
{
    struct near_msg m;
    uint32_t magic = 0;
    memcpy(&magic, msg, hl_min_size(len, sizeof magic));
    if (magic != HL_NEAR_MAGIC) {
        return HL_ERR_FOUND_NONE;
    }
    if (len == sizeof m) {
        memcpy(&m, msg, sizeof m);
        if (m.kind == NEAR_ASK) {
            answer_peer(&m, from);
        } else if (m.kind == NEAR_GIVE || m.kind == NEAR_REFUSE) {
            take_answer(&m, from, fd);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return 0;
}
