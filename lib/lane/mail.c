/* Messages of a lane: records to receive threads, and the acknowledgements that come back.
 *
 * As many receives are posted as messages may be in flight, before the first one leaves; each message is
 * acknowledged by one message at most. */
#include "inner.h"

#include "boot.h"
#include "err.h"
#include "log.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static size_t letter_size(void)
{
    return hl_round_up(sizeof(struct hl_letter) + hl_fab.eager, 64);
}

static struct hl_letter *receive_at(struct hl_letter *array, size_t i)
{
    return (void *)((char *)array + i * letter_size());
}

static int post_receive(struct hl_lane *lane, struct hl_letter *letter) HL_REQUIRES(lane->lease)
{
    struct iovec iov = {letter->bytes, hl_fab.eager};
    struct fi_msg msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &letter->context};
    ssize_t rc = fi_recvmsg(lane->ep, &msg, FI_COMPLETION);
    return (int)rc;
}

static int open_mail(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    struct hl_letter *array = aligned_alloc(64, HL_MAIL * letter_size());
    if (array == NULL) {
        return -FI_ENOMEM;
    }
    lane->receives = array;
    int rc = 0;
    for (size_t i = 0; i < HL_MAIL && rc == 0; i++) {
        rc = post_receive(lane, receive_at(array, i));
    }
    return rc;
}

struct hl_letter *hl_mail_receive_of(struct hl_lane *lane, const void *context)
{
    uintptr_t first = (uintptr_t)lane->receives;
    uintptr_t at = (uintptr_t)context - offsetof(struct hl_letter, context) - first;
    if (first == 0 || context == NULL || at >= HL_MAIL * letter_size() || at % letter_size() != 0) {
        return NULL;
    }
    return receive_at(lane->receives, at / letter_size());
}

void hl_mail_again(struct hl_lane *lane, struct hl_letter *letter)
{
    int rc = post_receive(lane, letter);
    if (rc != 0) {
        hl_log(HL_LOG_WARN, "lane %u cannot post a receive: %s", lane->index, hl_fab_strerror(rc));
    }
}

static struct hl_letter *take_letter(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    struct hl_letter *letter = lane->letters;
    if (letter != NULL) {
        lane->letters = letter->next;
        return letter;
    }
    return aligned_alloc(64, letter_size());
}

void hl_mail_unuse(struct hl_lane *lane, struct hl_letter *letter)
{
    letter->next = lane->letters;
    lane->letters = letter;
}

/* Head, HELLO when due, record, payload. Returns the bytes. */
static size_t write_letter(const struct hl_lane *lane, const struct hl_way *way, const struct hl_slot *slot,
                           const struct hl_lane_message *m, uint8_t *to) HL_REQUIRES(lane->lease)
{
    struct hl_wire_rec rec = *m->rec;
    rec.index = (uint32_t)slot->number;
    struct hl_wire_head head = {.nonce = hl_boot.nonce,
                                .seq = slot->message,
                                .from = (uint32_t)hl_boot.rank,
                                .lane = (uint16_t)lane->index,
                                .kind = HL_WIRE_DATA,
                                .flags = HL_WIRE_WANT_ACK,
                                .count = 1};
    size_t at = sizeof head;
    if (!way->hello_said) {
        struct hl_wire_hello hello = {.len = lane->fab.name_len};
        memcpy(hello.name, lane->fab.name, lane->fab.name_len);
        memcpy(to + at, &hello, sizeof hello);
        at += sizeof hello;
        head.flags |= HL_WIRE_HELLO;
    }
    memcpy(to + at, &rec, sizeof rec);
    at += sizeof rec;
    if (rec.len > 0) {
        memset(to + at + HL_WIRE_PAD(rec.len) - 8, 0, 8); /* the padding, if any */
        memcpy(to + at, m->payload, rec.len);
    }
    at += HL_WIRE_PAD(rec.len);
    head.len = (uint32_t)at;
    memcpy(to, &head, sizeof head);
    return at;
}

int hl_mail_post(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot,
                 const struct hl_lane_message *m)
{
    if (HL_UNLIKELY(lane->receives == NULL)) {
        int rc = open_mail(lane);
        if (rc != 0) {
            return rc;
        }
    }
    if (way->unacked >= HL_WIRE_CREDITS || lane->mail >= HL_MAIL) {
        (void)hl_lane_progress(lane);
        if (way->unacked >= HL_WIRE_CREDITS || lane->mail >= HL_MAIL) {
            return HL_LANE_STAY;
        }
    }
    struct hl_letter *letter = take_letter(lane);
    if (letter == NULL) {
        return -FI_ENOMEM;
    }
    slot->message = way->messages + 1;
    size_t len = write_letter(lane, way, slot, m, letter->bytes);
    struct iovec iov = {letter->bytes, len};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = way->addr, .context = &slot->context};
    ssize_t rc = fi_sendmsg(lane->ep, &msg, FI_COMPLETION);
    if (rc != 0) {
        hl_mail_unuse(lane, letter);
        return (int)rc;
    }
    slot->letter = letter;
    slot->reply = m->reply;
    slot->reply_cap = m->reply_cap;
    slot->answered = false;
    slot->open = HL_PART_POST | HL_PART_ACK;
    way->hello_said = true;
    way->messages++;
    way->unacked++;
    lane->mail++;
    return 0;
}

/* The open message that an answer names, or NULL. */
static struct hl_slot *asked(struct hl_lane *lane, const struct hl_way *way, uint32_t index)
    HL_REQUIRES(lane->lease)
{
    struct hl_slot *slot = &lane->slots[index % HL_SLOTS];
    bool fits = (slot->open & HL_PART_ACK) != 0 && (uint32_t)slot->number == index && slot->way == way;
    return fits ? slot : NULL;
}

static void take_answers(struct hl_lane *lane, const struct hl_way *way, const struct hl_wire_head *head)
    HL_REQUIRES(lane->lease)
{
    const uint8_t *at = hl_wire_body(head);
    for (uint32_t i = 0; i < head->count; i++) {
        const struct hl_wire_ans *ans = (const void *)at;
        struct hl_slot *slot = asked(lane, way, ans->index);
        if (slot == NULL) {
            hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
        } else if (ans->rc != 0) {
            slot->err = ans->rc < 0 ? ans->rc : HL_ERR_OTHER;
        } else if (slot->reply != NULL && ans->len == slot->reply_cap) {
            memcpy(slot->reply, ans + 1, ans->len);
            slot->answered = true;
        }
        at += sizeof *ans + HL_WIRE_PAD(ans->len);
    }
}

/* Everything up to message `applied` was handled by the peer. */
static void acknowledged(struct hl_lane *lane, struct hl_way *way, uint64_t applied) HL_REQUIRES(lane->lease)
{
    struct hl_slot *slot = way->first;
    while (slot != NULL) {
        struct hl_slot *next = slot->next;
        if ((slot->open & HL_PART_ACK) != 0 && slot->message <= applied) {
            bool missing = slot->reply != NULL && !slot->answered && slot->err == 0;
            hl_slot_close(lane, slot, HL_PART_ACK, missing ? HL_ERR_OTHER : 0);
        }
        slot = next;
    }
}

void hl_mail_in(struct hl_lane *lane, struct hl_letter *letter, size_t len)
{
    const struct hl_wire_head *head = (const void *)letter->bytes;
    const char *wrong = hl_wire_check(letter->bytes, len, hl_boot.nonce, (uint32_t)hl_boot.size);
    if (wrong == NULL && (head->kind != HL_WIRE_ACK || head->lane != lane->index)) {
        wrong = "no acknowledgement for this lane";
    }
    struct hl_way *way = wrong == NULL ? hl_way_find(lane, (int)head->from) : NULL;
    if (way != NULL) {
        take_answers(lane, way, head);
        acknowledged(lane, way, head->seq);
    } else {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
        hl_log(HL_LOG_DEBUG, "lane %u: message dropped: %s", lane->index,
               wrong != NULL ? wrong : "unknown rank");
    }
    hl_mail_again(lane, letter);
}

void hl_mail_free(struct hl_lane *lane)
{
    while (lane->letters != NULL) {
        struct hl_letter *next = lane->letters->next;
        free(lane->letters);
        lane->letters = next;
    }
    for (size_t i = 0; i < HL_SLOTS; i++) {
        free(lane->slots[i].letter); /* the endpoint is closed: the provider has no use for it */
        lane->slots[i].letter = NULL;
    }
    free(lane->receives);
    lane->receives = NULL;
}
