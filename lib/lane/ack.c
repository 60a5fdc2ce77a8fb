/* The acknowledgements that come back to a lane, with the answers to records.
 *
 * Before a lane's first message leaves, it posts as many receives as messages may be in flight; a message is
 * acknowledged by one message at most. */
#include "lane_internal.h"

#include "copy.h"
#include "err.h"
#include "log.h"

#include <string.h>

/* The chain that was sent as message number `message` and waits for its acknowledgement, or NULL. */
static struct hl_chain *find_asking_chain(const struct hl_way *way, uint32_t message)
{
    for (const struct hl_lane_slot *slot = way->first; slot != NULL; slot = slot->next) {
        if ((slot->open & HL_PART_ACK) != 0 && (uint32_t)slot->chain->message == message) {
            return slot->chain;
        }
    }
    return NULL;
}

/* Takes one answer. Answers come in the order of their records; an answer without a matching ask is an error
 * of a record that wants nothing back. False: the answer is malformed. */
static bool take_reply(struct hl_lane *lane, struct hl_chain *chain, const struct hl_wire_ans *ans)
    HL_REQUIRES(lane->lease)
{
    int err = ans->rc < 0 ? ans->rc : ans->rc > 0 ? HL_ERR_OTHER : 0;
    if (ans->record >= chain->head.records) {
        return false;
    }
    if (err != 0) {
        hl_chain_refuse(lane, chain, ans->record, err);
    }
    while (chain->next_ask < chain->head.ask_count && chain->asks[chain->next_ask].record < ans->record) {
        chain->next_ask++;
    }
    struct hl_ask *ask = &chain->asks[chain->next_ask];
    if (chain->next_ask == chain->head.ask_count || ask->record != ans->record) {
        return err != 0;
    }
    if (err == 0 && ans->len != ask->len) {
        return false;
    }
    if (err == 0) {
        hl_copy(ask->reply, ans + 1, ans->len);
    }
    ask->err = err;
    ask->answered = true;
    return true;
}

static void take_answers(struct hl_lane *lane, const struct hl_way *way, const struct hl_wire_head *head)
    HL_REQUIRES(lane->lease)
{
    const uint8_t *at = hl_wire_body(head);
    struct hl_chain *chain = NULL;
    uint32_t message = 0;
    for (uint32_t i = 0; i < head->count; i++) {
        const struct hl_wire_ans *ans = (const void *)at;
        if (chain == NULL || ans->message != message) {
            message = ans->message;
            chain = find_asking_chain(way, message);
        }
        if (chain == NULL || !take_reply(lane, chain, ans)) {
            hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
        }
        at += sizeof *ans + HL_WIRE_PAD(ans->len);
    }
}

/* The peer has handled all messages up to number `applied`. */
static void close_acknowledged(struct hl_lane *lane, struct hl_way *way, uint64_t applied)
    HL_REQUIRES(lane->lease)
{
    struct hl_lane_slot *slot = way->first;
    while (slot != NULL) {
        struct hl_lane_slot *next = slot->next;
        if ((slot->open & HL_PART_ACK) != 0 && slot->chain->message <= applied) {
            hl_lane_slot_close(lane, slot, HL_PART_ACK, 0);
        }
        slot = next;
    }
}

/* Handles an acknowledgement of the one message number head->seq. Providers that complete in any order get
 * such ones: a later message says nothing of those before it, whose answers may still be under way. */
static void acknowledged_one(struct hl_lane *lane, struct hl_way *way, const struct hl_wire_head *head)
    HL_REQUIRES(lane->lease)
{
    struct hl_lane_slot *slot = way->first;
    while (slot != NULL && ((slot->open & HL_PART_ACK) == 0 || slot->chain->message != head->seq)) {
        slot = slot->next;
    }
    take_answers(lane, way, head);
    if (slot != NULL) {
        hl_lane_slot_close(lane, slot, HL_PART_ACK, 0);
    }
}

/* The peer got message number `message`, or a ping behind it, but not one before it; or its answer is lost.
 * If the lane has seen a loss since, that is no news: all up to that message failed (hl_lane_slot_lost). */
static void fail_missed_messages(struct hl_lane *lane, struct hl_way *way, uint64_t message)
    HL_REQUIRES(lane->lease)
{
    if (message > way->greeted_from) {
        hl_log(HL_LOG_WARN,
               "the network has lost messages to %s %d (a connection was reset): operations in them fail",
               hl_log_unit(), way->peer);
        hl_lane_slot_lost(lane, way);
    }
}

void hl_acks_in(struct hl_lane *lane, struct hl_fab_receive *buf, size_t len)
{
    const struct hl_wire_head *head = (const void *)buf->bytes;
    const char *wrong = hl_rx_check(buf->bytes, len);
    if (wrong == NULL && (head->kind != HL_WIRE_ACK || head->lane != lane->index)) {
        wrong = "no acknowledgement for this lane";
    }
    struct hl_way *way = wrong == NULL ? hl_way_find(lane, (int)head->from) : NULL;
    if (way != NULL) {
        way->heard = true;
        if (HL_LIKELY(head->flags == 0)) {
            take_answers(lane, way, head);
            close_acknowledged(lane, way, head->seq);
        } else if ((head->flags & HL_WIRE_ONE) != 0) {
            acknowledged_one(lane, way, head);
        } else {
            fail_missed_messages(lane, way, head->seq);
        }
    } else {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
        hl_log(HL_LOG_DEBUG, "lane %u: message dropped: %s", lane->index,
               wrong != NULL ? wrong : "unknown rank");
    }
    hl_fab_ep_again(lane->fab, buf);
}
