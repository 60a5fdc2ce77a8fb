/* Messages of ports for fuzz_records: headers and payloads of any shape reach a matcher with a receive and a
 * send under way. */
#include "fuzz_far.h"

#include "../../lib/match/internal/port.h"
#include "match_internal.h"

#include "type.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES 64

static struct hl_matcher m;
static const int world[1];
static struct hl_req *asked, *sent; /* a receive that waits for pieces, a send that waits for its end */
static uint64_t asked_name, sent_name;
static char *memory;

static struct hl_recv receiving(void)
{
    return (struct hl_recv){.ctx = 8,
                            .src = MPI_ANY_SOURCE,
                            .src_world = -1,
                            .tag = MPI_ANY_TAG,
                            .buf = memory,
                            .count = BYTES,
                            .type = hl_type_of(MPI_BYTE)};
}

static void name(struct hl_req *r, uint64_t *out)
{
    if (!hl_name_give(&m.names, r, out)) {
        abort();
    }
}

static void renew(void)
{
    if (asked == NULL) {
        struct hl_recv r = receiving();
        asked = hl_req_new(HL_REQ_RECV);
        hl_recv_setup(asked, &r, HL_COMMAND_RECV);
        hl_recv_body(asked)->fetch = (struct hl_fetch){.from = -2};
        asked->bytes = BYTES;
        name(asked, &asked_name);
    }
    if (sent == NULL) {
        sent = hl_req_new(HL_REQ_SEND);
        *hl_send_body(sent) =
            (struct hl_send_body){.buf = memory, .count = BYTES, .type = hl_type_of(MPI_BYTE), .dest = 1};
        name(sent, &hl_send_body(sent)->cookie);
        sent_name = hl_send_body(sent)->cookie;
    }
}

static void finish(struct hl_req **r)
{
    if (hl_req_is_done(*r)) {
        (void)hl_req_finish(*r, MPI_STATUS_IGNORE);
        *r = NULL;
    }
}

/* A send that was asked for its bytes stands among the streams, once, and is not over. */
static void check_streams(void)
{
    if (m.streams == NULL) {
        return;
    }
    if (m.streams != sent || sent->next != NULL || hl_req_is_done(sent)) {
        abort();
    }
    m.streams = NULL;
    m.streams_tail = &m.streams;
    hl_a32_store_relaxed(&m.n_streams, 0); /* relaxed: one thread here */
    hl_send_body(sent)->back = 0;
}

void hl_fuzz_far_open(void)
{
    void *board =
        mmap(NULL, hl_match_board_bytes(1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hl_matcher_setup s = {
        .world_size = 4, .node_size = 1, .node_world = world, .board = board, .inboxes = 1};
    if (board == MAP_FAILED || hl_matcher_open(&m, &s) != 0) {
        abort();
    }
    memory = calloc(1, BYTES);
    hl_fab.eager = 4096;
}

static struct hl_far_segments *segments; /* of a message in several buffers */

static void take(const struct hl_far_head *h)
{
    struct hl_recv r = receiving();
    struct hl_req *req;
    struct hl_work w;
    hl_work_start(&w);
    if (hl_match_irecv(&m, &r, &req) != 0) {
        abort();
    }
    hl_far_take(&m, h, &segments, &w);
    hl_work_run(&m, &w);
    if (!hl_req_is_done(req)) {
        (void)hl_match_cancel_now(&m, req);
    }
    finish(&req);
    if (req != NULL) {
        abort();
    }
}

/* Messages that nobody received go. */
static void sweep(void)
{
    struct hl_table *t = &m.inbox[0].table;
    while (t->arrival.head != NULL) {
        struct hl_entry *e = t->arrival.head;
        hl_table_remove(t, e);
        hl_entry_free(e);
    }
}

void hl_fuzz_far(const uint8_t *data, size_t size)
{
    size_t given = sizeof(struct hl_msg_head) + sizeof(union hl_msg_area);
    if (size < given + 1) {
        return;
    }
    size_t len = size - given - 1;
    struct hl_far_head *h = malloc(sizeof *h + len);
    h->from = data[0] % 4;
    h->len = (uint32_t)len;
    memcpy(&h->head, data + 1, given);
    memcpy(h + 1, data + 1 + given, len);
    h->head.ctx = h->head.ctx % 2 != 0 ? 8 : h->head.ctx; /* often the receive's */
    renew();
    if (h->head.kind > HL_MSG_RTS) { /* every control message begins with a name */
        h->area.fin.cookie = h->area.fin.cookie == 0   ? asked_name
                             : h->area.fin.cookie == 1 ? sent_name
                                                       : h->area.fin.cookie;
    }
    take(h);
    check_streams();
    finish(&asked);
    finish(&sent);
    sweep();
    free(h);
}
