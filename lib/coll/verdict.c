/* Questions and answers about agreements, between receive threads. */
#include "verdict.h"

#include "err.h"
#include "lock.h"
#include "rx.h"
#include "util.h"

#define AGAIN_NS UINT64_C(5000000) /* between two questions to who has not answered */

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_verdict *first HL_GUARDED_BY(lock);

void hl_verdict_open(struct hl_verdict *v, const struct hl_comm *comm, int tag)
{
    v->comm = comm;
    v->ctx = comm->ctx;
    v->tag = tag;
    hl_mutex_lock(&lock);
    v->next = first;
    v->at = &first;
    if (first != NULL) {
        first->at = &v->next;
    }
    first = v;
    hl_mutex_unlock(&lock);
}

void hl_verdict_close(struct hl_verdict *v)
{
    hl_mutex_lock(&lock);
    if (v->at != NULL) {
        *v->at = v->next;
        if (v->next != NULL) {
            v->next->at = v->at;
        }
        v->at = NULL;
    }
    hl_mutex_unlock(&lock);
}

void hl_verdict_set(struct hl_verdict *v, enum hl_verdict_word word)
{
    hl_a32_store_relaxed(&v->word, word); /* relaxed: the word is all that there is to see */
}

/* ---- On the receive thread: a question is a record of kind 0, answers have kind 1 + enum hl_verdict_word
 * ---- */

static struct hl_verdict *find(uint64_t ctx, int tag) HL_REQUIRES(lock)
{
    struct hl_verdict *v = first;

    while (v != NULL && (v->ctx != ctx || v->tag != tag)) {
        v = v->next;
    }
    return v;
}

/* Only who has lost the result learns from others. */
static void hear(struct hl_verdict *v, int from, uint32_t word, uint32_t round)
{
    uint32_t lost = HL_VERDICT_LOST;

    if (word > HL_VERDICT_LOST && word <= HL_VERDICT_CANNOT_READ) {
        hl_a32_cas_acquire(&v->word, &lost, word); /* acquire: for form, as in hl_verdict_set */
        return;
    }
    for (int i = 0; word == HL_VERDICT_LOST && i < v->comm->size; i++) {
        if (hl_comm_world(v->comm, i) == from) {
            hl_a32_store_relaxed(&v->said[i], round); /* relaxed: no more than this is said */
        }
    }
}

static int serve(const struct hl_rx_msg *msg)
{
    struct hl_wire_rec rec = {
        .op = HL_WIRE_VERDICT, .aux = msg->rec->aux, .index = msg->rec->index, .count = msg->rec->count};

    hl_mutex_lock(&lock);
    struct hl_verdict *v = find(rec.aux, (int)rec.index);
    uint32_t word = v != NULL ? hl_a32_load_relaxed(&v->word) : HL_VERDICT_REFUSED; /* relaxed: as above */
    if (v != NULL && word == HL_VERDICT_LOST && msg->rec->kind != 0) {
        hear(v, msg->from, msg->rec->kind - 1u, (uint32_t)rec.count);
    }
    hl_mutex_unlock(&lock);
    rec.kind = (uint8_t)(1 + word);
    return msg->rec->kind == 0 ? hl_rx_send(msg->from, &rec, NULL) : 0;
}

int hl_verdict_serve(void)
{
    return hl_rx_handle(HL_WIRE_VERDICT, serve);
}

/* ---- Asking ---- */

static void ask(const struct hl_verdict *v, int world, uint32_t round)
{
    struct hl_wire_rec rec = {
        .op = HL_WIRE_VERDICT, .aux = v->ctx, .index = (uint32_t)v->tag, .count = round};

    (void)hl_rx_send(world, &rec, NULL); /* it is asked again */
}

/* Deaths that are known, and one: a later one begins a new round. */
static uint32_t round_now(const struct hl_comm *comm)
{
    uint32_t n = 1;

    for (int i = 0; i < comm->size; i++) {
        n += hl_rx_is_dead(hl_comm_world(comm, i));
    }
    return n;
}

enum hl_verdict_word hl_verdict_ask(struct hl_verdict *v)
{
    uint32_t round = round_now(v->comm), lost = HL_VERDICT_LOST;
    uint64_t now = hl_now_ns();
    bool due = now >= v->due_ns, all = true;

    for (int i = 0; i < v->comm->size; i++) {
        int world = hl_comm_world(v->comm, i);
        /* relaxed: see hear. */
        if (i != v->comm->rank && hl_a32_load_relaxed(&v->said[i]) != round && !hl_rx_is_dead(world)) {
            all = false;
            if (due) {
                ask(v, world, round);
            }
        }
    }
    if (due) {
        v->due_ns = now + AGAIN_NS;
    }
    if (all) {
        hl_a32_cas_acquire(&v->word, &lost, HL_VERDICT_REFUSED); /* acquire: for form */
    }
    return (enum hl_verdict_word)hl_a32_load_relaxed(&v->word); /* relaxed: as above */
}
