/* The other end of the model provider (model.h): messages unpacked and answered. */
#ifndef MODEL_TARGET_H
#define MODEL_TARGET_H

#include "model_mr.h"

/* What a message under construction answers. */
struct model_reply {
    uint8_t *out;
    size_t len;
    uint32_t message, record, count;
    uint64_t key;
};

static void model_answer(struct model_reply *r, int rc, const void *data, size_t len)
{
    struct hl_wire_ans ans = {.message = r->message, .record = r->record, .rc = rc, .len = (uint32_t)len};
    if (r->len + sizeof ans + HL_WIRE_PAD(len) > MODEL_EAGER) {
        abort(); /* the sender has to see to it that answers fit */
    }
    memcpy(r->out + r->len, &ans, sizeof ans);
    memset(r->out + r->len + sizeof ans, 0, HL_WIRE_PAD(len));
    if (len > 0) {
        memcpy(r->out + r->len + sizeof ans, data, len);
    }
    r->len += sizeof ans + HL_WIRE_PAD(len);
    r->count++;
}

static void model_store(uint64_t *target, const void *from, size_t len)
{
    if (len == 8 && (uintptr_t)target % 8 == 0) {
        hl_a64_store_relaxed((hl_a64 *)target, *(const uint64_t *)from);
    } else {
        memcpy(target, from, len);
    }
}

/* Atomics are 64-bit sums and swaps here. */
static void model_short(struct model_ep *ep, const struct hl_wire_short *rec, struct model_reply *r)
{
    const uint64_t *operand = (const void *)(rec + 1);
    uint64_t before;
    if (rec->op == HL_WIRE_KEY) {
        r->key = rec->addr;
        return;
    }
    uint64_t *target = model_reach(r->key, rec->addr, rec->op == HL_WIRE_SWAP ? rec->len / 2 : rec->len);
    if (target == NULL) {
        model_answer(r, HL_ERR_RMA_RANGE, NULL, 0);
        return;
    }
    if ((rec->op == HL_WIRE_PUT || rec->op == HL_WIRE_GET) && model_chance(ep, model.refuse)) {
        if (rec->op == HL_WIRE_PUT && rec->len == 8) {
            *target = MODEL_FAILED;
        }
        hl_a64_add_full(&model.errors, 1);
        model_answer(r, HL_ERR_RMA_RANGE, NULL, 0);
        return;
    }
    switch (rec->op) {
    case HL_WIRE_PUT:
        model_store(target, operand, rec->len);
        break;
    case HL_WIRE_GET:
    case HL_WIRE_FETCH:
        model_answer(r, 0, target, rec->len);
        break;
    case HL_WIRE_ATOMIC:
        before = hl_a64_add_full((hl_a64 *)target, *operand);
        if (rec->flags & HL_WIRE_FETCHES) {
            model_answer(r, 0, &before, 8);
        }
        break;
    case HL_WIRE_SWAP:
        before = operand[0];
        (void)hl_a64_cas_full((hl_a64 *)target, &before, operand[1]);
        model_answer(r, 0, &before, 8);
        break;
    default:
        break;
    }
}

/* Calls fn for each record of a message, or fails it: then its 8-byte puts leave their mark. */
static void model_unpack(struct model_ep *ep, const struct hl_wire_head *head, uint64_t rank,
                         struct model_reply *r)
{
    const uint8_t *at = hl_wire_body(head);
    for (uint32_t i = 0; i < head->count; i++) {
        const struct hl_wire_short *rec = (const void *)at;
        if (r == NULL) {
            if (rec->op == HL_WIRE_PUT && rec->len == 8) {
                *(uint64_t *)(uintptr_t)rec->addr = MODEL_FAILED;
            }
        } else if (hl_wire_is_short(rec->op)) {
            r->record = i;
            model_short(ep, rec, r);
        } else {
            uint8_t answer[64];
            size_t len = 0;
            int rc = model_record != NULL ? model_record((const void *)at, rank, answer, &len) : 0;
            r->record = i;
            if (rc != 0 || len > 0) {
                model_answer(r, rc, answer, rc == 0 ? len : 0);
            }
        }
        at += hl_wire_fixed(rec->op) + HL_WIRE_PAD(hl_wire_payload(rec->op, rec->len));
    }
}

/* As rx does: the next message, or one with HELLO; else something before it was lost. One lane, one peer. */
static bool model_misses(const struct hl_wire_head *head)
{
    bool next = head->seq == model.came + 1 || hl_wire_hello_of(head) != NULL;
    if (head->count > 0 && head->seq > model.came && next) {
        model.came = head->seq;
    }
    return head->seq > model.came;
}

/* A message arrives: its records, then an acknowledgement. One without answers may cover several messages. */
static void model_message(struct model_ep *ep, const struct model_op *op)
{
    /* It has gone over the wire: who counts cache lines counts that to the provider, not to who reads it. */
    _Alignas(8) uint8_t message[MODEL_EAGER];
    if (op->len > sizeof message) {
        abort();
    }
    memcpy(message, op->local, op->len);
    const struct hl_wire_head *head = (const void *)message;
    if (hl_wire_check(head, op->len, head->nonce, UINT32_MAX) != NULL || ep->arrival_count == MODEL_RECVS) {
        abort();
    }
    struct model_reply r = {
        .out = ep->arrivals[ep->arrival_count].bytes, .len = sizeof *head, .message = (uint32_t)head->seq};
    if (model.swallow > 0) {
        model.swallow--;
        return;
    }
    bool lost = model.numbers && model_misses(head);
    if (!lost) {
        model_unpack(ep, head, op->rank, &r);
    }
    if (model.mute) {
        return;
    }
    struct hl_wire_head ack = {.nonce = head->nonce,
                               .seq = head->seq,
                               .from = (uint32_t)op->rank,
                               .lane = head->lane,
                               .kind = HL_WIRE_ACK,
                               .flags = lost ? HL_WIRE_LOST : 0,
                               .len = (uint32_t)r.len,
                               .count = r.count};
    if (!hl_fab.ordered && !lost) {
        ack.flags = HL_WIRE_ONE;
        ack.seq = head->count > 0 ? head->seq : 0;
    } else if (ep->arrival_count > 0 && r.count == 0) {
        struct hl_wire_head *last = (void *)ep->arrivals[ep->arrival_count - 1].bytes;
        if (last->from == ack.from && last->count == 0 && last->flags == 0 && !lost) {
            last->seq = ack.seq;
            return;
        }
    }
    memcpy(r.out, &ack, sizeof ack);
    ep->arrivals[ep->arrival_count++].len = r.len;
}

#endif
