/* Describes open messages in words, for the watchdog. */
#include "match_internal.h"

#include <string.h>

/* True in a program of OpenSHMEM: that has no messages, so it is one of the library's own. */
static bool is_inner(const struct hl_wait_desc *t)
{
    return strcmp(hl_desc_unit(t), "PE") == 0;
}

static void describe_tag(struct hl_wait_desc *t, int tag)
{
    if (tag == MPI_ANY_TAG) {
        hl_desc_say(t, ", any tag");
    } else {
        hl_desc_say(t, ", tag %d", tag);
    }
}

static void describe_message(struct hl_wait_desc *t, uint64_t ctx, int src, int tag)
{
    hl_desc_comm(t, ctx);
    if (is_inner(t)) {
        hl_desc_say(t, ", member %d", src);
    } else if (src == MPI_ANY_SOURCE) {
        hl_desc_say(t, ", any source");
        describe_tag(t, tag);
    } else {
        hl_desc_say(t, ", source %d", src);
        describe_tag(t, tag);
    }
}

void hl_match_describe_message(struct hl_wait_desc *t, uint64_t ctx, int src, int tag, bool moving)
{
    describe_message(t, ctx, src, tag);
    if (moving) {
        hl_desc_say(t, ", whose data are on their way");
    } else {
        hl_desc_peer(t, ctx, src);
    }
}

static void describe_receives(const struct hl_req *r, struct hl_wait_desc *t)
{
    const struct hl_recv_body *b = hl_recv_body((struct hl_req *)(uintptr_t)r);
    hl_match_describe_message(t, r->ctx, b->src, b->tag, hl_req_has(r, HL_REQ_MOVING));
}

void hl_match_describe_dest(struct hl_wait_desc *t, uint64_t ctx, int dest, int tag)
{
    hl_desc_comm(t, ctx);
    if (is_inner(t)) {
        hl_desc_say(t, ", data for PE %d", dest);
    } else {
        hl_desc_say(t, ", destination rank %d of the job", dest);
        describe_tag(t, tag);
    }
}

static void describe_sends(const struct hl_req *r, struct hl_wait_desc *t)
{
    const struct hl_send_body *b = hl_send_body((struct hl_req *)(uintptr_t)r);
    const struct hl_peer *p = hl_matcher_peer(&hl_match_self, b->dest);
    int64_t bytes = 0;
    hl_match_describe_dest(t, r->ctx, b->dest, b->tag);
    if (hl_type_bytes(b->type, b->count, &bytes)) {
        hl_desc_say(t, ", %lld bytes", (long long)bytes);
    }
    /* relaxed: what is told may be old. */
    if (p != NULL && (hl_a32_load_relaxed(p->state) & HL_PEER_XOFF) != 0) {
        hl_desc_say(t, ", held back: HOTLANE_UNEX_MEM is full there");
    }
    hl_desc_await(t, b->dest);
}

void hl_match_describe_open(void)
{
    hl_req_on_describe(HL_REQ_SEND, describe_sends);
    hl_req_on_describe(HL_REQ_RECV, describe_receives);
    hl_part_describe_open();
}
