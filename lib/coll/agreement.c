/* Questions and answers about agreements, between receive threads. */
#include "agreement.h"

#include <stdlib.h>

#include "err.h"
#include "lock.h"
#include "rx.h"
#include "util.h"

#define AGAIN_NS UINT64_C(5000000) /* time between two questions to a member that has not answered */

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_agreement *first HL_GUARDED_BY(lock);

static uint64_t state_word(enum hl_agreement_state state, int32_t result)
{
    return (uint64_t)state << 32 | (uint32_t)result;
}

static enum hl_agreement_state state_of(const struct hl_agreement *v)
{
    /* relaxed: the word is all that is passed on */
    return (enum hl_agreement_state)(hl_a64_load_relaxed(&v->word) >> 32);
}

void hl_agreement_open(struct hl_agreement *v, const struct hl_comm *comm, int tag)
{
    *v = (struct hl_agreement){.comm = comm, .ctx = comm->ctx, .tag = tag};
    hl_mutex_lock(&lock);
    v->next = first;
    v->at = &first;
    if (first != NULL) {
        first->at = &v->next;
    }
    first = v;
    hl_mutex_unlock(&lock);
}

void hl_agreement_close(struct hl_agreement *v)
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
    free(v->said);
    v->said = NULL;
}

void hl_agreement_know(struct hl_agreement *v, int32_t result)
{
    /* relaxed: the word is all that is passed on */
    hl_a64_store_relaxed(&v->word, state_word(HL_AGREEMENT_KNOWN, result));
}

/* Without memory for answers the result is lost for ever. */
void hl_agreement_lose(struct hl_agreement *v)
{
    hl_mutex_lock(&lock);
    v->said = calloc((size_t)v->comm->size, sizeof *v->said);
    hl_mutex_unlock(&lock);
    /* relaxed: the word is all that is passed on */
    hl_a64_store_relaxed(&v->word, state_word(v->said != NULL ? HL_AGREEMENT_LOST : HL_AGREEMENT_NOBODY, 0));
}

bool hl_agreement_is(const struct hl_agreement *v, int32_t *result)
{
    uint64_t word = hl_a64_load_relaxed(&v->word); /* relaxed: the word is all that is passed on */

    *result = (int32_t)(uint32_t)word;
    return word >> 32 == HL_AGREEMENT_KNOWN;
}

/* ---- On the receive thread: a question is a record of kind 0, answers have kind 1 + the state, and the
 * result ---- */

static struct hl_agreement *find_agreement(uint64_t ctx, int tag) HL_REQUIRES(lock)
{
    struct hl_agreement *v = first;

    while (v != NULL && (v->ctx != ctx || v->tag != tag)) {
        v = v->next;
    }
    return v;
}

/* Takes an answer; called for a result that is lost. */
static void hear_agreement(struct hl_agreement *v, int from, const struct hl_wire_rec *said)
{
    uint64_t lost = state_word(HL_AGREEMENT_LOST, 0);
    enum hl_agreement_state state = (enum hl_agreement_state)(said->kind - 1u);

    if (state == HL_AGREEMENT_KNOWN) {
        /* acquire: for form; the word is all that is passed on. */
        hl_a64_cas_acquire(&v->word, &lost, state_word(state, (int32_t)(uint32_t)said->offset));
    }
    for (int i = 0; (state == HL_AGREEMENT_LOST || state == HL_AGREEMENT_NOBODY) && i < v->comm->size; i++) {
        if (hl_comm_world(v->comm, i) == from) {
            /* relaxed: the number is all that is passed on */
            hl_a32_store_relaxed(&v->said[i], (uint32_t)said->count);
        }
    }
}

static int serve_agreement(const struct hl_rx_msg *msg)
{
    struct hl_wire_rec rec = {
        .op = HL_WIRE_AGREEMENT, .aux = msg->rec->aux, .index = msg->rec->index, .count = msg->rec->count};

    hl_mutex_lock(&lock);
    struct hl_agreement *v = find_agreement(rec.aux, (int)rec.index);
    /* relaxed: the word is all that is passed on */
    uint64_t word = v != NULL ? hl_a64_load_relaxed(&v->word) : state_word(HL_AGREEMENT_LOST, 0);
    if (v != NULL && msg->rec->kind != 0 && word >> 32 == HL_AGREEMENT_LOST) {
        hear_agreement(v, msg->from, msg->rec);
    }
    hl_mutex_unlock(&lock);
    rec.kind = (uint8_t)(1 + (word >> 32));
    rec.offset = (uint32_t)word;
    return msg->rec->kind == 0 ? hl_rx_send(msg->from, &rec, NULL) : 0;
}

int hl_agreement_serve(void)
{
    return hl_rx_handle(HL_WIRE_AGREEMENT, serve_agreement);
}

/* ---- Asking ---- */

static void ask_member(const struct hl_agreement *v, int world, uint32_t round)
{
    struct hl_wire_rec rec = {
        .op = HL_WIRE_AGREEMENT, .aux = v->ctx, .index = (uint32_t)v->tag, .count = round};

    (void)hl_rx_send(world, &rec, NULL); /* if it fails, the member is asked again */
}

/* 1 + the number of known deaths: each death begins a new round. */
static uint32_t round_now(const struct hl_comm *comm)
{
    uint32_t n = 1;

    for (int i = 0; i < comm->size; i++) {
        n += hl_rx_is_dead(hl_comm_world(comm, i));
    }
    return n;
}

/* True when all that live have said in this round that they have lost it. */
static bool nobody_knows(struct hl_agreement *v, uint32_t round)
{
    uint64_t now = hl_now_ns();
    bool due = now >= v->due_ns, all = true;

    for (int i = 0; i < v->comm->size; i++) {
        int world = hl_comm_world(v->comm, i);
        /* relaxed: the number is all that is passed on. */
        if (i != v->comm->rank && hl_a32_load_relaxed(&v->said[i]) != round && !hl_rx_is_dead(world)) {
            all = false;
            if (due) {
                ask_member(v, world, round);
            }
        }
    }
    v->due_ns = due ? now + AGAIN_NS : v->due_ns;
    return all;
}

bool hl_agreement_ask(struct hl_agreement *v)
{
    uint64_t lost = state_word(HL_AGREEMENT_LOST, 0);

    if (state_of(v) == HL_AGREEMENT_LOST && nobody_knows(v, round_now(v->comm))) {
        hl_a64_cas_acquire(&v->word, &lost, state_word(HL_AGREEMENT_NOBODY, 0)); /* acquire: for form */
    }
    return state_of(v) != HL_AGREEMENT_LOST;
}
