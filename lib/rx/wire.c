/* The checker of messages: no field of a message is used before it has passed here. */
#include "wire.h"

#include <string.h>

static const char *check_hello(const struct hl_wire_head *head, size_t *at)
{
    if ((head->flags & HL_WIRE_HELLO) == 0) {
        return NULL;
    }
    if (head->kind != HL_WIRE_DATA || head->len - *at < sizeof(struct hl_wire_hello)) {
        return "HELLO does not fit";
    }
    const struct hl_wire_hello *hello = hl_wire_hello_of(head);
    if (hello->len == 0 || hello->len > HL_WIRE_NAME) {
        return "endpoint name of bad length";
    }
    *at += sizeof *hello;
    return NULL;
}

/* Payload length of the record or answer at `at`; *fixed: bytes before the payload. -1: malformed. */
static int64_t check_payload_of(const struct hl_wire_head *head, size_t at, size_t *fixed)
{
    const char *bytes = (const char *)head + at;
    size_t left = head->len - at;
    if (head->kind == HL_WIRE_DATA) {
        struct hl_wire_short rec; /* every record begins with its first fields */
        *fixed = sizeof rec;
        if (left < sizeof rec) {
            return -1;
        }
        memcpy(&rec, bytes, sizeof rec);
        *fixed = hl_wire_fixed(rec.op);
        bool known = rec.op != HL_WIRE_NONE && rec.op < HL_WIRE_OPS;
        return known && left >= *fixed ? (int64_t)hl_wire_payload(rec.op, rec.len) : -1;
    }
    struct hl_wire_ans ans;
    *fixed = sizeof ans;
    if (left < sizeof ans) {
        return -1;
    }
    memcpy(&ans, bytes, sizeof ans);
    return (int64_t)ans.len;
}

static const char *check_entries(const struct hl_wire_head *head, size_t at)
{
    for (uint32_t i = 0; i < head->count; i++) {
        size_t fixed = 0;
        int64_t payload = check_payload_of(head, at, &fixed);
        if (payload < 0) {
            return "record or answer of unknown kind, or cut off";
        }
        at += fixed;
        if (HL_WIRE_PAD((uint64_t)payload) > head->len - at) {
            return "payload longer than the message";
        }
        at += HL_WIRE_PAD((size_t)payload);
    }
    return at == head->len ? NULL : "bytes left over";
}

const char *hl_wire_check(const void *msg, size_t len, uint64_t nonce, uint32_t ranks)
{
    const struct hl_wire_head *head = msg;
    if (len < sizeof *head) {
        return "shorter than a head";
    }
    if (head->nonce != nonce) {
        return "of another job";
    }
    if (head->len != len || len % 8 != 0) {
        return "wrong length";
    }
    if (head->kind != HL_WIRE_DATA && head->kind != HL_WIRE_ACK) {
        return "unknown kind";
    }
    if ((head->flags & ~(unsigned)HL_WIRE_FLAGS) != 0) {
        return "unknown flags";
    }
    if (head->from >= ranks) {
        return "from no rank of this job";
    }
    if (head->lane >= HL_WIRE_LANES && head->lane != HL_WIRE_RX) {
        return "of no lane";
    }
    size_t at = sizeof *head;
    const char *wrong = check_hello(head, &at);
    return wrong != NULL ? wrong : check_entries(head, at);
}

const struct hl_wire_hello *hl_wire_hello_of(const struct hl_wire_head *head)
{
    return (head->flags & HL_WIRE_HELLO) != 0 ? (const void *)(head + 1) : NULL;
}

const void *hl_wire_body(const struct hl_wire_head *head)
{
    size_t at = sizeof *head + ((head->flags & HL_WIRE_HELLO) != 0 ? sizeof(struct hl_wire_hello) : 0);
    return (const char *)head + at;
}
