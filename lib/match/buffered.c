/* Copies of messages in attached buffers.
 *
 * The buffer is used in a circle: a copy goes behind the one that was placed last, or, without room there,
 * into the first gap that holds it. That is never worse than the first-in-first-out buffer by which the
 * standard tells users how much to attach, because places of finished copies in the middle are free, too.
 *
 *   base   | copy, its bytes | gap | copy, its bytes | ... |   limit
 *          `-- by address: below, above; by age: older, younger --'
 *
 * A copy's place is taken under the buffer's lock, filled and sent without it. */
#include "buffered.h"

#include "err.h"
#include "flight.h"
#include "match_internal.h"
#include "prog.h"
#include "util.h"

#include <stdlib.h>

#define ROUND 16u
#define TIMEOUT_NS 50000000u
#define LOOK_MIN ((size_t)64 << 10)

/* Stands in front of each copied message. */
struct copy {
    /* struct hl_req *; NULL until it is sent. atomic: release when filled and sent */
    hl_aptr send;
    struct copy *below, *above;   /* neighbours by address; none in automatic buffers */
    struct copy *older, *younger; /* neighbours by age, of all copies of the buffer */
    uint64_t number;              /* number of the copy, rising */
    size_t bytes;                 /* bytes of its place */
    int64_t len;                  /* bytes of the message */
};
_Static_assert(sizeof(struct copy) + 2 * ROUND <= MPI_BSEND_OVERHEAD,
               "what users add for each message is enough");

/* The first attach to an object makes it, and it stays until the object ends. All but `next` and `round` is
 * guarded by `lock`. */
struct hl_buffered {
    struct hl_buffered *next; /* list of all that exist; guarded by all_lock, as is `round` */
    uint64_t round;           /* the last hl_buffered_flush_all that came here */
    hl_aptr *slot;            /* the slot that points to it */
    struct hl_mutex lock;
    bool attached HL_MEMBER_GUARDED_BY(lock), automatic HL_MEMBER_GUARDED_BY(lock);
    void *given HL_MEMBER_GUARDED_BY(lock);
    int64_t size HL_MEMBER_GUARDED_BY(lock);
    char *base HL_MEMBER_GUARDED_BY(lock), *limit HL_MEMBER_GUARDED_BY(lock); /* aligned ends of the memory */
    struct copy *lowest HL_MEMBER_GUARDED_BY(lock), *last HL_MEMBER_GUARDED_BY(lock);
    struct copy *oldest HL_MEMBER_GUARDED_BY(lock), *youngest HL_MEMBER_GUARDED_BY(lock);
    uint64_t numbers HL_MEMBER_GUARDED_BY(lock);
    size_t held HL_MEMBER_GUARDED_BY(lock); /* bytes of all copies */
    /* automatic: with more bytes held, all copies are looked at */
    size_t look HL_MEMBER_GUARDED_BY(lock);
    unsigned flushes HL_MEMBER_GUARDED_BY(lock); /* open ones; the object stays until they end */
};

hl_aptr hl_buffered_process;

static struct hl_mutex all_lock = HL_MUTEX_INIT;
static struct hl_buffered *all HL_GUARDED_BY(all_lock);

static struct hl_buffered *buffered_of(const hl_aptr *slot)
{
    /* acquire: the object is initialised; pairs with the release in make_buffered. */
    return slot != NULL ? hl_aptr_load_acquire(slot) : NULL;
}

static int make_buffered(hl_aptr *slot, struct hl_buffered **made)
{
    hl_mutex_lock(&all_lock);
    struct hl_buffered *b = buffered_of(slot);
    if (b == NULL && (b = calloc(1, sizeof *b)) != NULL) {
        b->slot = slot;
        b->next = all;
        all = b;
        hl_aptr_store_release(slot, b); /* release: publishes the object; pairs with buffered_of */
    }
    hl_mutex_unlock(&all_lock);
    *made = b;
    return b != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to attach a buffer");
}

/* ---- Places ---- */

static char *end_of(const struct hl_buffered *b, const struct copy *c) HL_REQUIRES(b->lock)
{
    return c != NULL ? (char *)(uintptr_t)c + c->bytes : b->base;
}

/* Bytes between `c` (NULL: the buffer's beginning) and the copy above it. */
static size_t measure_gap(const struct hl_buffered *b, const struct copy *c) HL_REQUIRES(b->lock)
{
    const struct copy *above = c != NULL ? c->above : b->lowest;

    return (size_t)((above != NULL ? (const char *)above : b->limit) - end_of(b, c));
}

/* A place behind the copy that was placed last, else in the first gap; NULL: no room. */
static struct copy *place_copy(struct hl_buffered *b, size_t bytes) HL_REQUIRES(b->lock)
{
    struct copy *under = b->last;

    if (measure_gap(b, under) < bytes) {
        under = NULL;
        while (measure_gap(b, under) < bytes) {
            under = under != NULL ? under->above : b->lowest;
            if (under == NULL) {
                return NULL;
            }
        }
    }
    struct copy *c = (struct copy *)(void *)end_of(b, under);
    c->below = under;
    c->above = under != NULL ? under->above : b->lowest;
    *(under != NULL ? &under->above : &b->lowest) = c;
    if (c->above != NULL) {
        c->above->below = c;
    }
    b->last = c;
    return c;
}

static struct copy *take_room(struct hl_buffered *b, int64_t len) HL_REQUIRES(b->lock)
{
    size_t bytes = (sizeof(struct copy) + (size_t)len + ROUND - 1) / ROUND * ROUND;
    struct copy *c = b->automatic ? malloc(bytes) : place_copy(b, bytes);

    if (c == NULL) {
        return NULL;
    }
    b->held += bytes;
    c->bytes = bytes;
    c->len = len;
    c->number = ++b->numbers;
    hl_aptr_store_relaxed(&c->send, NULL); /* relaxed: under lock */
    c->younger = NULL;
    c->older = b->youngest;
    *(b->youngest != NULL ? &b->youngest->younger : &b->oldest) = c;
    b->youngest = c;
    return c;
}

static void give_back_room(struct hl_buffered *b, struct copy *c) HL_REQUIRES(b->lock)
{
    *(c->older != NULL ? &c->older->younger : &b->oldest) = c->younger;
    *(c->younger != NULL ? &c->younger->older : &b->youngest) = c->older;
    b->held -= c->bytes;
    if (b->automatic) {
        free(c);
        return;
    }
    *(c->below != NULL ? &c->below->above : &b->lowest) = c->above;
    if (c->above != NULL) {
        c->above->below = c->below;
    }
    if (b->last == c) {
        b->last = c->below;
    }
}

/* Frees the copy's place if the message has left. */
static bool reclaim_copy(struct hl_buffered *b, struct copy *c) HL_REQUIRES(b->lock)
{
    /* acquire: the request is initialised; pairs with the release in send_copy. */
    struct hl_req *r = hl_aptr_load_acquire(&c->send);

    if (r == NULL || !hl_req_is_done(r)) {
        return false;
    }
    hl_req_finish(r, MPI_STATUS_IGNORE);
    give_back_room(b, c);
    return true;
}

static void reclaim_oldest(struct hl_buffered *b) HL_REQUIRES(b->lock)
{
    while (b->oldest != NULL && reclaim_copy(b, b->oldest)) {
    }
}

static void reclaim_all(struct hl_buffered *b) HL_REQUIRES(b->lock)
{
    struct copy *next;

    for (struct copy *c = b->oldest; c != NULL; c = next) {
        next = c->younger;
        reclaim_copy(b, c);
    }
}

/* Frees places of copies that have left: the oldest ones; in automatic buffers, each time that the bytes have
 * doubled, also those behind a copy that nobody receives. */
static void reclaim_some(struct hl_buffered *b) HL_REQUIRES(b->lock)
{
    reclaim_oldest(b);
    if (b->automatic && b->held > b->look) {
        reclaim_all(b);
        b->look = 2 * b->held + LOOK_MIN;
    }
}

/* ---- Sending ---- */

/* Records the error that tells the user why there is no place. */
static int say_full(struct hl_buffered *b, int64_t len) HL_REQUIRES(b->lock)
{
    int64_t used = 0;

    if (b->automatic) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)len);
    }
    for (const struct copy *c = b->oldest; c != NULL; c = c->younger) {
        used += c->len + MPI_BSEND_OVERHEAD;
    }
    return hl_err_say(
        HL_ERR_BUFFER,
        "a message of %lld bytes and MPI_BSEND_OVERHEAD (%d) do not fit: of the attached buffer "
        "of %lld bytes %lld are free",
        (long long)len, MPI_BSEND_OVERHEAD, (long long)b->size,
        (long long)(used < b->size ? b->size - used : 0));
}

/* Takes a place for `len` bytes in the first attached buffer: *found is the buffer, *c NULL when it is
 * full. */
static int find_place(const struct hl_buffered_from *from, int64_t len, struct hl_buffered **found,
                      struct copy **c)
{
    struct hl_buffered *look[] = {buffered_of(from->comm), buffered_of(from->session),
                                  buffered_of(&hl_buffered_process)};

    for (int i = 0; i < 3; i++) {
        struct hl_buffered *b = look[i];
        if (b == NULL) {
            continue;
        }
        hl_mutex_lock(&b->lock);
        bool attached = b->attached;
        if (attached) {
            reclaim_some(b);
            *c = take_room(b, len);
            if (*c == NULL) {
                reclaim_all(b);
                *c = take_room(b, len);
            }
            *found = b;
        }
        int err = attached && *c == NULL ? say_full(b, len) : 0;
        hl_mutex_unlock(&b->lock);
        if (attached) {
            return err;
        }
    }
    return hl_err_say(HL_ERR_BUFFER,
                      "a buffered send of %lld bytes, and no buffer is attached (MPI_Buffer_attach)",
                      (long long)len);
}

/* Fills a place and sends the copy. 0 or an error. */
static int send_copy(const struct hl_send *s, struct copy *c)
{
    struct hl_req *r = NULL;
    int err = hl_type_pack(s->type, s->count, s->buf, 0, c + 1, c->len);

    if (err == 0) {
        struct hl_send packed = *s;
        packed.buf = c + 1;
        packed.count = c->len;
        packed.type = hl_type_of(MPI_PACKED);
        packed.mode = HL_SEND_STANDARD;
        err = hl_match_isend(&hl_match_self, &packed, &r);
    }
    /* release: the request is initialised; pairs with the acquire in reclaim_copy. After an error nothing is
     * sent. */
    hl_aptr_store_release(&c->send, err == 0 ? r : hl_req_completed());
    return err;
}

/* A send that waits a little for room. */
struct awaited_room {
    const struct hl_buffered_from *from;
    int64_t len;
    struct hl_buffered *buffer; /* NULL: none is attached */
    struct copy *copy;
    int err;
    uint64_t late; /* time at which it gives up, ns; 0: not set yet */
};

/* True when there is a place, or waiting is over. Copies may have left meanwhile; or another thread is about
 * to see that, but has no CPU. */
static bool is_settled(void *place)
{
    struct awaited_room *p = place;

    p->err = find_place(p->from, p->len, &p->buffer, &p->copy);
    if (p->err == 0 || p->buffer == NULL) {
        return true;
    }
    uint64_t now = hl_now_ns();
    p->late = p->late != 0 ? p->late : now + TIMEOUT_NS;
    return now >= p->late;
}

static void describe_full(const void *place, struct hl_wait_desc *t)
{
    hl_desc_say(t, "room for %lld bytes in a buffer", (long long)((const struct awaited_room *)place)->len);
}
HL_HANG_WORDS(is_settled, describe_full);

int hl_buffered_send(const struct hl_send *s, const struct hl_buffered_from *from)
{
    struct awaited_room p = {.from = from};

    if (!hl_type_bytes(s->type, s->count, &p.len)) {
        return hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes do not fit 63 bits", (long long)s->count,
                          (long long)s->type->size);
    }
    hl_prog_wait(is_settled, &p);
    return p.err == 0 ? send_copy(s, p.copy) : p.err;
}

/* ---- Copies of the library's own ---- */

static hl_aptr spilled; /* the slot of these copies */

struct hl_req *hl_buffered_spill(const struct hl_send *s, int64_t len, uint64_t most, struct hl_send *packed)
{
    struct hl_buffered *b;
    struct copy *c = NULL;
    struct hl_req *r = NULL;

    if (make_buffered(&spilled, &b) != 0 || (r = hl_req_new(HL_REQ_SEND)) == NULL) {
        return NULL;
    }
    hl_mutex_lock(&b->lock);
    b->automatic = true;
    reclaim_some(b);
    c = b->held + (uint64_t)len <= most ? take_room(b, len) : NULL;
    hl_mutex_unlock(&b->lock);
    if (c == NULL || hl_type_pack(s->type, s->count, s->buf, 0, c + 1, len) != 0) {
        hl_req_free(r);
        r = NULL;
    } else {
        *packed = *s;
        packed->buf = c + 1;
        packed->count = len;
        packed->type = hl_type_of(MPI_PACKED);
    }
    if (c != NULL) {
        /* release: the request is initialised; pairs with the acquire in reclaim_copy. */
        hl_aptr_store_release(&c->send, r != NULL ? r : hl_req_completed());
    }
    return r;
}

/* ---- Attaching, flushing ---- */

int hl_buffered_attach(hl_aptr *slot, void *base, int64_t size)
{
    struct hl_buffered *b;
    int err = make_buffered(slot, &b);

    if (err != 0) {
        return err;
    }
    hl_mutex_lock(&b->lock);
    if (b->attached) {
        err = hl_err_say(HL_ERR_BUFFER, "a buffer of %lld bytes is attached already", (long long)b->size);
    } else {
        b->attached = true;
        b->automatic = base == MPI_BUFFER_AUTOMATIC;
        b->given = base;
        b->size = b->automatic ? 0 : size;
        size_t skip = (size_t)(-(uintptr_t)base % ROUND);
        b->base = b->automatic ? NULL : (char *)base + hl_min_size(skip, (size_t)size);
        b->limit = b->automatic ? NULL : (char *)base + size;
    }
    hl_mutex_unlock(&b->lock);
    return err;
}

/* Waits for copies up to number `upto`, and for no later ones. */
struct flush {
    struct hl_flight flight;
    struct hl_req *request;
    struct hl_buffered *b;
    uint64_t upto;
};

static bool is_flushed(void *arg)
{
    const struct flush *f = arg;
    struct hl_buffered *b = f->b;

    hl_mutex_lock(&b->lock);
    reclaim_oldest(b);
    bool flushed = b->oldest == NULL || b->oldest->number > f->upto;
    hl_mutex_unlock(&b->lock);
    return flushed;
}

static void describe_flush(const void *arg, struct hl_wait_desc *t)
{
    struct hl_buffered *b = ((const struct flush *)arg)->b;

    hl_desc_say(t, "buffered messages to leave: ");
    hl_mutex_lock(&b->lock);
    /* acquire: the request is initialised; pairs with the releases in send_copy and hl_buffered_spill. */
    struct hl_req *send = b->oldest != NULL ? hl_aptr_load_acquire(&b->oldest->send) : NULL;
    if (send != NULL) {
        hl_req_describe(send, t);
    }
    hl_mutex_unlock(&b->lock);
}
HL_HANG_WORDS(is_flushed, describe_flush);

/* Counts `more` open flushes of an object; returns the number of its last copy. */
static uint64_t count_flushes(struct hl_buffered *b, int more)
{
    hl_mutex_lock(&b->lock);
    b->flushes += (unsigned)more;
    uint64_t number = b->numbers;
    hl_mutex_unlock(&b->lock);
    return number;
}

static void flush_copies(struct hl_buffered *b)
{
    struct flush f = {.b = b, .upto = count_flushes(b, 0)};

    hl_prog_wait(is_flushed, &f);
}

void hl_buffered_flush(hl_aptr *slot)
{
    struct hl_buffered *b = buffered_of(slot);

    if (b != NULL) {
        flush_copies(b);
    }
}

static bool step_flush(struct hl_flight *flight)
{
    return is_flushed(HL_CONTAINER_OF(flight, struct flush, flight));
}

static void end_flush(struct hl_flight *flight)
{
    struct flush *f = HL_CONTAINER_OF(flight, struct flush, flight);
    struct hl_req *r = f->request;

    count_flushes(f->b, -1);
    free(f);
    hl_req_done(r);
}

int hl_buffered_iflush(hl_aptr *slot, struct hl_req **out)
{
    struct hl_buffered *b = buffered_of(slot);

    if (b == NULL) {
        *out = hl_req_completed();
        return 0;
    }
    struct flush *f = malloc(sizeof *f);
    struct hl_req *r = hl_req_new(HL_REQ_FLUSH);
    int err = f == NULL || r == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a request") : 0;
    if (err == 0) {
        *f = (struct flush){{.step = step_flush, .end = end_flush}, r, b, count_flushes(b, 1)};
        err = hl_flight_start(&f->flight);
        if (err != 0) {
            count_flushes(b, -1);
        }
    }
    if (err != 0) {
        free(f);
        if (r != NULL) {
            hl_req_free(r);
        }
        return err;
    }
    *out = r;
    return 0;
}

/* Detaches the buffer if no copy is in it. */
static bool try_detach(struct hl_buffered *b, void **base, int64_t *size)
{
    hl_mutex_lock(&b->lock);
    bool empty = b->oldest == NULL;
    if (empty) {
        *base = b->attached ? b->given : NULL;
        *size = b->attached ? b->size : 0;
        b->attached = b->automatic = false;
        b->base = b->limit = NULL;
    }
    hl_mutex_unlock(&b->lock);
    return empty;
}

void hl_buffered_detach(hl_aptr *slot, void **base, int64_t *size)
{
    struct hl_buffered *b = buffered_of(slot);

    *base = NULL;
    *size = 0;
    if (b != NULL) {
        do {
            flush_copies(b);
        } while (!try_detach(b, base, size));
    }
}

static bool has_no_flushes(void *arg)
{
    struct hl_buffered *b = arg;

    hl_mutex_lock(&b->lock);
    bool none = b->flushes == 0;
    hl_mutex_unlock(&b->lock);
    return none;
}

static void describe_flushes(const void *unused, struct hl_wait_desc *t)
{
    hl_desc_say(t, "other threads that flush the communicator's buffer");
}
HL_HANG_WORDS(has_no_flushes, describe_flushes);

/* Takes an object off the list; false: hl_buffered_flush_all has come to it meanwhile. */
static bool unlink_idle(struct hl_buffered *b)
{
    hl_mutex_lock(&all_lock);
    struct hl_buffered **at = &all;
    bool idle = has_no_flushes(b);
    while (idle && *at != b) {
        at = &(*at)->next;
    }
    *at = idle ? b->next : *at;
    hl_mutex_unlock(&all_lock);
    return idle;
}

void hl_buffered_drop(hl_aptr *slot)
{
    struct hl_buffered *b = buffered_of(slot);
    void *base;
    int64_t size;

    if (b == NULL) {
        return;
    }
    hl_buffered_detach(slot, &base, &size);
    do {
        hl_prog_wait(has_no_flushes, b);
    } while (!unlink_idle(b));
    hl_aptr_store_relaxed(slot, NULL); /* relaxed: nobody else uses the object any more */
    free(b);
}

/* The next object where round `number` has not been, which stays until its flush is counted off. */
static struct hl_buffered *hold_next(uint64_t number)
{
    hl_mutex_lock(&all_lock);
    struct hl_buffered *b = all;
    while (b != NULL && b->round >= number) {
        b = b->next;
    }
    if (b != NULL) {
        b->round = number;
        count_flushes(b, 1);
    }
    hl_mutex_unlock(&all_lock);
    return b;
}

void hl_buffered_flush_all(void)
{
    static uint64_t rounds; /* one thread at a time: the one that ends the last session */
    rounds++;
    for (struct hl_buffered *b; (b = hold_next(rounds)) != NULL;) {
        flush_copies(b);
        count_flushes(b, -1);
        hl_prog_wake();
    }
}

void hl_buffered_quiet(void)
{
    for (;;) {
        hl_mutex_lock(&all_lock);
        hl_aptr *slot = all != NULL ? all->slot : NULL;
        hl_mutex_unlock(&all_lock);
        if (slot == NULL) {
            return;
        }
        hl_buffered_drop(slot);
    }
}
