/* Chains: operations are copied as records one behind the other, under the lease, into the way's open chain.
 *
 * A chain takes one slot, numbered when it opens, so a flush that comes later waits for it; the thread that
 * flushes sends it. The origin of a put has its buffer back when the put is copied. Records of one chain are
 * applied in their order, and chains of one way in theirs, so accumulates keep the order of issue without
 * waiting for each other. */
#include "lane_internal.h"

#include "buffer.h"
#include "copy.h"
#include "err.h"
#include "short.h"

#include <string.h>

/* An operation as a record. */
struct shape {
    union {
        struct hl_wire_short small;
        struct hl_wire_rec large;
    } rec;
    size_t fixed;         /* bytes of rec in use */
    const void *parts[2]; /* payload: one part after the other; NULL: no part */
    size_t part_len;      /* bytes of each */
    size_t payload;       /* bytes of both */
    void *reply;
    size_t answer; /* bytes of the answer that is wanted, 0: none */
    bool keyed;    /* it names memory by a key */
    uint64_t key;
};

size_t hl_chain_room(void)
{
    return (hl_fab.eager - HL_CHAIN_RECORDS_AT - 2 * sizeof(struct hl_wire_short)) & ~(size_t)7;
}

bool hl_issue_is_chained(const struct hl_issue *op)
{
    return op->what == HL_ISSUE_MESSAGE || op->recorded ||
           (op->what != HL_ISSUE_ATOMIC && hl_lane_is_chained(op->len));
}

const void *hl_chain_me(void)
{
    return &hl_lane_preferred;
}

static void shape_atomic(struct shape *s, const struct hl_issue *op)
{
    const struct hl_lane_atomic *a = op->atomic;
    size_t bytes = op->len * hl_op_size(a->basic);
    s->rec.small.kind = (uint8_t)a->op;
    s->rec.small.basic = (uint8_t)a->basic;
    s->reply = op->result;
    s->answer = op->result != NULL ? bytes : 0;
    s->parts[0] = op->buf;
    s->part_len = s->payload = bytes;
    if (a->compare != NULL) {
        s->rec.small.op = HL_WIRE_SWAP;
        s->parts[0] = a->compare;
        s->parts[1] = op->buf;
        s->payload = 2 * bytes;
    } else if (a->op == HL_OP_NO_OP) {
        s->rec.small.op = HL_WIRE_FETCH;
        s->payload = s->part_len = 0;
    } else {
        s->rec.small.op = HL_WIRE_ATOMIC;
        s->rec.small.flags = op->result != NULL ? HL_WIRE_FETCHES : 0;
    }
    s->rec.small.len = (uint32_t)(s->payload != 0 ? s->payload : bytes);
}

static void shape_message(struct shape *s, const struct hl_lane_message *m)
{
    s->rec.large = *m->rec;
    s->fixed = sizeof s->rec.large;
    s->keyed = false;
    s->parts[0] = m->payload;
    s->part_len = s->payload = m->rec->len;
    s->reply = m->reply;
    s->answer = m->reply != NULL ? m->reply_cap : 0;
}

static void shape_of(struct shape *s, const struct hl_issue *op)
{
    *s = (struct shape){.fixed = sizeof s->rec.small, .keyed = true, .key = op->key};
    s->rec.small.addr = op->addr;
    s->rec.small.len = (uint32_t)op->len;
    switch (op->what) {
    case HL_ISSUE_WRITE:
        s->rec.small.op = HL_WIRE_PUT;
        s->parts[0] = op->buf;
        s->part_len = s->payload = op->len;
        break;
    case HL_ISSUE_READ:
        s->rec.small.op = HL_WIRE_GET;
        s->reply = op->buf;
        s->answer = op->len;
        break;
    case HL_ISSUE_ATOMIC:
        shape_atomic(s, op);
        break;
    case HL_ISSUE_MESSAGE:
        shape_message(s, op->message);
        break;
    }
}

static bool does_need_key(const struct hl_chain *chain, const struct shape *s)
{
    return s->keyed && (chain->keys == 0 || chain->key != s->key);
}

static size_t record_bytes(const struct shape *s)
{
    return s->fixed + HL_WIRE_PAD(s->payload);
}

/* Bytes that the answer takes beyond the record's own. A record pays for the room of its answer, too, so that
 * all answers of a chain, errors included, fit into one message. */
static size_t excess_of(const struct shape *s)
{
    size_t answer = sizeof(struct hl_wire_ans) + HL_WIRE_PAD(s->answer), own = record_bytes(s);
    return answer > own ? answer - own : 0;
}

static bool does_fit_chain(const struct hl_chain *chain, const struct shape *s, const struct hl_issue *op)
{
    size_t need =
        record_bytes(s) + excess_of(s) + (does_need_key(chain, s) ? sizeof(struct hl_wire_short) : 0);
    if (need > hl_chain_left(&chain->head)) {
        return false;
    }
    if (op->error != chain->error && chain->error_count == HL_CHAIN_ERRORS) {
        return false;
    }
    /* The first record that wants an answer joins only the way's newest chain: local flushes may have passed
     * an older one (is_local_no_more). relaxed: written by the leaseholder only. */
    bool newest = chain->slot->way_seq == hl_a64_load_relaxed(&chain->way->issued);
    return s->answer == 0 || (chain->head.ask_count < HL_CHAIN_ASKS && (chain->head.ask_count > 0 || newest));
}

static struct hl_chain *take_buffer(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    struct hl_chain *chain = lane->unused;
    if (chain != NULL) {
        lane->unused = chain->next;
        return chain;
    }
    return hl_mem_buffer_take(sizeof *chain + hl_fab.eager);
}

void hl_chain_unuse(struct hl_lane *lane, struct hl_chain *chain)
{
    chain->next = lane->unused;
    lane->unused = chain;
}

static int open_chain(struct hl_lane *lane, struct hl_way *way, bool local) HL_REQUIRES(lane->lease)
{
    struct hl_lane_slot *slot = hl_lane_slot_take(lane);
    struct hl_chain *chain = slot != NULL && !way->dead ? take_buffer(lane) : NULL;
    if (chain == NULL) {
        return slot == NULL ? HL_LANE_ELSEWHERE
               : way->dead  ? hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", way->peer)
                            : hl_err_say(HL_ERR_NO_MEM, "no memory for a message to rank %d: %s", way->peer,
                                         hl_err_text(HL_ERR_NO_MEM));
    }
    chain->head.end = chain->bytes + HL_CHAIN_RECORDS_AT;
    chain->head.limit = chain->bytes + hl_fab.eager;
    chain->error = NULL;
    chain->head.records = chain->keys = chain->counted = 0;
    chain->head.ask_count = chain->next_ask = chain->error_count = 0;
    chain->way = way;
    chain->slot = slot;
    chain->head.opener = hl_chain_me();
    chain->at_tick = lane->ticks;
    chain->earlier = lane->open;
    lane->open = chain;
    way->chain = chain;
    slot->chain = chain;
    slot->error = NULL;
    slot->req = NULL;
    slot->open = HL_PART_CHAIN;
    lane->wants_ticks = true;
    hl_lane_slot_commit(lane, way, slot, local);
    return 0;
}

static void write_key(struct hl_chain *chain, uint64_t key)
{
    struct hl_wire_short rec = {.op = HL_WIRE_KEY, .addr = key};
    memcpy(chain->head.end, &rec, sizeof rec);
    chain->head.end += sizeof rec;
    chain->key = key;
    chain->keys++;
    chain->head.records++;
}

static void write_record(struct hl_chain *chain, const struct shape *s)
{
    memcpy(chain->head.end, &s->rec, s->fixed);
    uint8_t *to = chain->head.end + s->fixed;
    chain->head.end += record_bytes(s);
    chain->head.records++;
    if (s->payload > 0) {
        memset(chain->head.end - 8, 0, 8); /* the padding, if there is any */
    }
    for (int i = 0; i < 2 && s->parts[i] != NULL && s->payload > 0; i++) {
        hl_copy(to, s->parts[i], s->part_len);
        to += s->part_len;
    }
}

static void add_ask(struct hl_chain *chain, const struct shape *s, struct hl_req *req)
{
    chain->asks[chain->head.ask_count++] = (struct hl_ask){
        .reply = s->reply, .req = req, .len = (uint32_t)s->answer, .record = chain->head.records};
    chain->head.limit -= excess_of(s);
    hl_lane_slot_make_local(chain->way, chain->slot);
    if (chain->head.opener != hl_chain_me()) {
        chain->head.opener = NULL;
    }
}

static void append_op(struct hl_chain *chain, const struct shape *s, const struct hl_issue *op)
{
    if (does_need_key(chain, s)) {
        write_key(chain, s->key);
    }
    if (op->error != chain->error) {
        chain->errors[chain->error_count++] = (struct hl_chain_error){op->error, chain->head.records};
        chain->error = op->error;
    }
    if (s->answer != 0) {
        add_ask(chain, s, op->req);
    } else if (op->req != NULL) {
        (void)hl_req_part_done(op->req, 0); /* the data was copied: that is all a request waits for */
    }
    write_record(chain, s);
    chain->counted++;
}

int hl_chain_append(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
{
    struct shape s;
    shape_of(&s, op);
    if (way->chain != NULL && !does_fit_chain(way->chain, &s, op)) {
        int rc = hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE);
        if (rc != 0) {
            return rc > 0 ? HL_LANE_STAY : rc;
        }
    }
    if (way->chain == NULL) {
        int rc = open_chain(lane, way, s.answer != 0);
        if (rc != 0) {
            return rc;
        }
    }
    struct hl_chain *chain = way->chain;
    append_op(chain, &s, op);
    lane->last.chain = &chain->head;
    /* relaxed: only the lease's holder acts on it. */
    hl_a64_store_relaxed(&lane->last.takes, s.keyed ? op->token : 0);
    if (lane->pool->head.chain_max == 0 || hl_chain_left(&chain->head) < 2 * sizeof s.rec.small) {
        (void)hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE); /* refused: stays open; errors are kept */
    }
    return 0;
}

hl_a32 *hl_chain_error_of(const struct hl_chain *chain, uint32_t record)
{
    uint32_t i = chain->error_count;
    while (i > 0 && chain->errors[i - 1].first > record) {
        i--;
    }
    return i > 0 ? chain->errors[i - 1].word : NULL;
}

void hl_chain_free_all(struct hl_lane *lane, bool closed)
{
    while (lane->unused != NULL) {
        struct hl_chain *next = lane->unused->next;
        hl_mem_buffer_give(lane->unused);
        lane->unused = next;
    }
    for (size_t i = 0; i < HL_LANE_SLOTS && closed; i++) {
        hl_mem_buffer_give(lane->slots[i].chain);
    }
}
