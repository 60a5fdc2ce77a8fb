/* Places of requests: one reserved range, a cache for each thread, a pool between them. */
#include "req.h"

#include "cs.h"
#include "lock.h"
#include "pool.h"
#include "range.h"
#include "thread.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#define BATCH 32
#define CACHE_MAX (2 * BATCH)
#define STATICS 2 /* the first places: the completed request, and that for MPI_PROC_NULL */

#define RANGE_MOST ((size_t)8 << 30) /* of address space: 64 million requests */
#define RANGE_LEAST ((size_t)1 << 20)

/* Both are set once, under lock, before the first request exists; read-only afterwards. */
char *hl_req_base;
size_t hl_req_range;

/* The key's destructor hands the requests to the pool when the thread ends. */
HL_THREAD_LOCAL struct hl_req_cache hl_req_cache;
static struct hl_req_cache
    shared; /* used instead of all caches where threads share one pool (cs.h); guarded by that section */

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_range range HL_GUARDED_BY(lock);
static struct hl_req *pool HL_GUARDED_BY(lock);
static size_t used HL_GUARDED_BY(lock); /* bytes handed out at least once */
static bool have_key HL_GUARDED_BY(lock);
static pthread_key_t key; /* written once under lock */

static void give_thread_pool(void *arg)
{
    struct hl_req_cache *c = arg;
    hl_mutex_lock(&lock);
    while (c->head != NULL) {
        struct hl_req *r = c->head;
        c->head = r->next;
        r->next = pool;
        pool = r;
    }
    c->count = c->most = 0;
    hl_mutex_unlock(&lock);
}

static void make_static(size_t index, int source)
{
    struct hl_req *r = (struct hl_req *)(void *)hl_req_base + index;
    r->kind = HL_KIND_REQ;
    hl_req_mark(r, HL_REQ_STATIC);
    r->what = HL_REQ_SEND;
    r->source = source;
    r->tag = MPI_ANY_TAG;
    hl_a32_store_release(&r->state, HL_REQ_DONE); /* release: no partner, the lock publishes it */
}

/* Reserves the range and makes the shared completed requests. */
static bool reserve_requests(void) HL_REQUIRES(lock)
{
    if (hl_req_base != NULL) {
        return true;
    }
    if (!hl_range_reserve(&range, RANGE_MOST, RANGE_LEAST, false) ||
        !hl_range_reach(&range, STATICS * sizeof(struct hl_req))) {
        return false;
    }
    hl_req_base = range.base;
    hl_req_range = range.len;
    make_static(0, MPI_ANY_SOURCE);
    make_static(1, MPI_PROC_NULL);
    used = STATICS * sizeof(struct hl_req);
    return true;
}

bool hl_req_pool_open(void)
{
    hl_mutex_lock(&lock);
    bool ok = reserve_requests();
    hl_mutex_unlock(&lock);
    return ok;
}

/* Moves up to a batch of requests from the pool, else from fresh memory, into a cache. False: there is no
 * memory. */
static HL_COLD bool refill_cache(struct hl_req_cache *c)
{
    hl_thread_look_at_stack();
    hl_mutex_lock(&lock);
    if (!have_key) {
        have_key = pthread_key_create(&key, give_thread_pool) == 0;
    }
    if (have_key && c->most == 0 && (c == &shared || pthread_setspecific(key, c) == 0)) {
        c->most = c == &shared ? UINT_MAX : CACHE_MAX;
    }
    while (c->count < BATCH && pool != NULL) {
        struct hl_req *r = pool;
        pool = r->next;
        r->next = c->head;
        c->head = r;
        c->count++;
    }
    if (c->count == 0 && reserve_requests()) {
        while (c->count < BATCH && hl_range_reach(&range, used + sizeof(struct hl_req))) {
            struct hl_req *r = (struct hl_req *)(void *)(hl_req_base + used);
            used += sizeof(*r);
            r->next = c->head;
            c->head = r;
            c->count++;
        }
    }
    hl_mutex_unlock(&lock);
    return c->count > 0;
}

static HL_COLD void spill_cache(struct hl_req_cache *c)
{
    hl_mutex_lock(&lock);
    for (unsigned i = 0; i < BATCH; i++) {
        struct hl_req *r = c->head;
        c->head = r->next;
        r->next = pool;
        pool = r;
    }
    c->count -= BATCH;
    hl_mutex_unlock(&lock);
}

static struct hl_req *take_cached(struct hl_req_cache *c)
{
    if (HL_UNLIKELY(c->head == NULL) && !refill_cache(c)) {
        return NULL;
    }
    struct hl_req *r = c->head;
    c->head = r->next;
    c->count--;
    r->generation++;
    return r;
}

struct hl_req *hl_req_take_slow(void)
{
    hl_cs_in(HL_CS_pool, NULL);
    struct hl_req *r = take_cached(hl_cs_has_one_pool() ? &shared : &hl_req_cache);
    hl_cs_out(HL_CS_pool, NULL);
    return r;
}

struct hl_req *hl_req_new(enum hl_req_what what)
{
    struct hl_req *r = hl_req_take();
    if (HL_LIKELY(r != NULL)) {
        hl_req_begin(r, what, 0);
    }
    return r;
}

void hl_req_init(struct hl_req *r, enum hl_req_what what)
{
    r->generation = 0;
    hl_req_begin(r, what, HL_REQ_LOCAL);
}

static void give_cached(struct hl_req_cache *c, struct hl_req *r)
{
    if (HL_UNLIKELY(c->most == 0) && !refill_cache(c)) {
        return; /* cannot happen to a thread that holds a request; if it did, one request would leak */
    }
    r->next = c->head;
    c->head = r;
    if (HL_UNLIKELY(++c->count > CACHE_MAX) && c != &shared) {
        spill_cache(c);
    }
}

/* Where references are counted (cs.h) it also drops the user's to the request, and the request's to the
 * communicator. */
void hl_req_free_slow(struct hl_req *r)
{
    if (hl_cs_any() && (r->what == HL_REQ_SEND || r->what == HL_REQ_RECV)) {
        hl_cs_count(HL_CS_request, (uintptr_t)r, -1);
        hl_cs_count(HL_CS_comm, r->ctx, -1);
    }
    hl_cs_in(HL_CS_pool, NULL);
    give_cached(hl_cs_has_one_pool() ? &shared : &hl_req_cache, r);
    hl_cs_out(HL_CS_pool, NULL);
}

struct hl_req *hl_req_proc_null(void)
{
    return (struct hl_req *)(void *)hl_req_base + 1;
}
