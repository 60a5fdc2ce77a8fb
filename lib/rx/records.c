/* The records of a message are applied one after the other; answers are collected for the acknowledgement.
 *
 * Puts, gets and atomics name memory by registration key and address, as the provider's own operations do.
 * They are applied here by the same accesses that node peers use, so that all agree. Other records belong to
 * the module that registered for them. */
#include "rx_internal.h"

#include "err.h"
#include "mr.h"
#include "near.h"
#include "prog.h"
#include "stat.h"

#include <string.h>

/* ---- answers ---- */

/* Adds an answer of `len` bytes to the record that is being handled; NULL: there is no room, or it has
 * one. */
static struct hl_wire_ans *add_answer(struct hl_rx_answers *a, size_t len)
{
    size_t need = sizeof(struct hl_wire_ans) + HL_WIRE_PAD(len);
    if (a->bytes == NULL || a->current != NULL || need > hl_fab.eager - a->len) {
        return NULL;
    }
    struct hl_wire_ans *ans = (void *)(a->bytes + a->len);
    memset((uint8_t *)ans + need - 8, 0, 8); /* zeroes the padding, if there is any */
    *ans = (struct hl_wire_ans){.message = a->message, .record = a->record, .len = (uint32_t)len};
    a->len += (uint32_t)need;
    a->count++;
    a->current = ans;
    return ans;
}

void *hl_rx_reply_room(const struct hl_rx_msg *msg, size_t len)
{
    if (msg->answer == NULL || len > HL_WIRE_PAYLOAD_MAX(hl_fab.eager)) {
        return NULL;
    }
    struct hl_wire_ans *ans = add_answer(msg->answer, len);
    return ans != NULL ? ans + 1 : NULL;
}

/* Answers with an error. There is room: the sender counts what the answers to its records may take, errors
 * included. */
static void answer_error(struct hl_rx_answers *a, int rc)
{
    hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
    if (a->current == NULL) {
        (void)add_answer(a, 0);
    }
    if (a->current != NULL) {
        a->current->rc = rc;
        a->refuses = true;
    }
}

/* ---- puts, gets, atomics ---- */

static int apply_put(void *there, const struct hl_wire_short *rec)
{
    hl_near_copy(there, rec + 1, rec->len);
    return 0;
}

static int apply_get(const void *there, const struct hl_wire_short *rec, struct hl_rx_answers *a)
{
    struct hl_wire_ans *ans = add_answer(a, rec->len);
    if (ans == NULL) {
        return HL_ERR_NO_MEM;
    }
    hl_near_copy(ans + 1, there, rec->len);
    return 0;
}

/* Applies an atomic to elements that the CPU updates; windows send others as ACC, GET_ACC and CAS. */
static int apply_atomic(void *there, const struct hl_wire_short *rec, struct hl_rx_answers *a)
{
    size_t size = rec->basic < HL_BASICS ? hl_op_size(rec->basic) : 0;
    if (size == 0 || rec->len % size != 0 || rec->kind >= HL_OP_KINDS || !hl_near_is_cpu(rec->basic, there)) {
        return HL_ERR_OP;
    }
    bool fetches = rec->op == HL_WIRE_FETCH || (rec->flags & HL_WIRE_FETCHES) != 0;
    struct hl_wire_ans *ans = fetches ? add_answer(a, rec->len) : NULL;
    if (fetches && ans == NULL) {
        return HL_ERR_NO_MEM;
    }
    bool operands = rec->op == HL_WIRE_ATOMIC;
    return hl_near_acc(operands ? rec->kind : HL_OP_NO_OP, rec->basic, there, operands ? rec + 1 : NULL,
                       fetches ? ans + 1 : NULL, rec->len / size, NULL);
}

static int apply_swap(void *there, const struct hl_wire_short *rec, struct hl_rx_answers *a)
{
    size_t size = rec->basic < HL_BASICS ? hl_op_size(rec->basic) : 0;
    if (size == 0 || rec->len != 2 * size || !hl_near_is_cpu(rec->basic, there)) {
        return HL_ERR_OP;
    }
    struct hl_wire_ans *ans = add_answer(a, size);
    if (ans == NULL) {
        return HL_ERR_NO_MEM;
    }
    const char *compare = (const char *)(rec + 1);
    return hl_near_cas(rec->basic, there, compare + size, compare, ans + 1, NULL);
}

static int run_short(const struct hl_wire_short *rec, struct hl_mr_found *found, struct hl_rx_answers *a)
{
    size_t len = rec->op == HL_WIRE_SWAP ? rec->len / 2 : rec->len;
    if (rec->op == HL_WIRE_KEY) {
        (void)hl_mr_find(rec->addr, found); /* the records that follow are refused when there is none */
        return 0;
    }
    void *there = hl_mr_at(found, rec->addr, len);
    if (HL_UNLIKELY(there == NULL)) {
        return HL_ERR_RMA_RANGE;
    }
    /* release: a thread that reads what this record stores with acquire sees the records before it, too. */
    hl_fence_release();
    switch (rec->op) {
    case HL_WIRE_PUT:
        return apply_put(there, rec);
    case HL_WIRE_GET:
        return apply_get(there, rec, a);
    case HL_WIRE_SWAP:
        return apply_swap(there, rec, a);
    default:
        return apply_atomic(there, rec, a);
    }
}

/* ---- put with signal ---- */

/* The memory that a record names by key and address, or NULL. */
static void *named_memory(uint64_t key, uint64_t addr, uint64_t len)
{
    struct hl_mr_found found;
    return hl_mr_find(key, &found) ? hl_mr_at(&found, addr, len) : NULL;
}

/* Stores the data, then changes the word. Registrations are held. */
static int signal_held(const struct hl_wire_signal_rec *rec)
{
    void *data = rec->len > 0 ? named_memory(rec->data_key, rec->data_addr, rec->len) : NULL;
    bool signals = rec->kind != HL_WIRE_SIGNAL_NONE;
    hl_a64 *word = signals ? named_memory(rec->word_key, rec->word_addr, sizeof *word) : NULL;
    if ((rec->len > 0 && data == NULL) || (signals && word == NULL)) {
        return HL_ERR_RMA_RANGE;
    }
    if ((uintptr_t)word % sizeof *word != 0) {
        return HL_ERR_DISP; /* a window may begin anywhere, so the origin of a put to it cannot know */
    }
    hl_near_copy(data, rec + 1, rec->len);
    if (rec->kind == HL_WIRE_SIGNAL_SET) {
        /* release: publishes the data; pairs with the acquire of the thread that waits for the word. */
        hl_a64_store_release(word, rec->value);
    } else if (signals) {
        hl_a64_add_full(word, rec->value); /* full: publishes the data; pairs with that acquire. */
    }
    return 0;
}

static int put_signal(const struct hl_wire_rec *rec)
{
    hl_mr_hold();
    int rc = signal_held((const void *)rec);
    hl_mr_release();
    hl_prog_wake();
    return rc;
}

/* ---- messages ---- */

static int run_long(const struct hl_wire_head *head, const struct hl_wire_rec *rec, struct hl_rx_answers *a)
{
    struct hl_rx_msg msg = {.rec = rec, .payload = rec + 1, .from = (int)head->from, .answer = a};
    return rec->op == HL_WIRE_SIGNAL ? put_signal(rec) : hl_rx_run(&msg);
}

void hl_rx_apply_records(const struct hl_wire_head *head, struct hl_rx_answers *a)
{
    const uint8_t *at = hl_wire_body(head);
    struct hl_mr_found found = {0};
    bool holds_regions = false;
    a->message = (uint32_t)head->seq;
    hl_handover_take(&hl_rx_order);
    for (a->record = 0; a->record < head->count; a->record++) {
        const struct hl_wire_short *rec = (const void *)at;
        bool is_short = hl_wire_is_short(rec->op);
        if (HL_UNLIKELY(is_short != holds_regions)) {
            if (is_short) {
                hl_mr_hold();
                (void)hl_mr_find(found.key, &found); /* the memory may have gone meanwhile */
            } else {
                hl_mr_release(); /* handlers may make or free memory */
            }
            holds_regions = is_short;
        }
        a->current = NULL;
        int rc = is_short ? run_short(rec, &found, a) : run_long(head, (const void *)at, a);
        if (HL_UNLIKELY(rc != 0)) {
            answer_error(a, rc);
        }
        at += hl_wire_fixed(rec->op) + HL_WIRE_PAD(hl_wire_payload(rec->op, rec->len));
    }
    if (holds_regions) {
        hl_mr_release();
    }
    /* full: all see the stores before the acknowledgement leaves; pairs with the fence at the end of a flush
     * (litmus test: near and network mixed). */
    hl_fence_full();
    hl_handover_give(&hl_rx_order);
}
