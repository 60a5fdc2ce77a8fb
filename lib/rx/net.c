/* The receive endpoint: opening it, reading its queue, records to the receive endpoints of other ranks.
 *
 * A message that arrives is checked, its sender is found, its records are handled in order (records.c), and
 * the sender is answered (answers.c). Where receives complete in any order, unordered.c does that.
 * Messages that the provider cannot take now wait in a list, in order; the senders' credits bound its length.
 * All of this belongs to the receive thread, except that another thread runs hl_rx_net_open before, and that
 * any thread may send a record at once. */
#include "answers.h"
#include "doubts.h"
#include "links.h"
#include "rx_internal.h"

#include "buffer.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "mr.h"
#include "stat.h"
#include "util.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 64

static struct hl_fab_ep ep;
/* [size] address of a peer's receive endpoint, plus 1; 0: not inserted. Only pages of peers in use are
 * touched. */
static uint64_t *peer_rx;
_Static_assert(FI_ADDR_NOTAVAIL == UINT64_MAX, "no address plus 1 is 0");
static uint64_t heartbeat; /* peers read it to see whether this rank lives */
static uint64_t heartbeat_region;

/* ---- messages of lanes ---- */

/* Handles the records of a lane's message if it is the next one; false: there is a gap before it. A
 * message with HELLO may come after a gap: the lane knows that a connection was lost, and has failed
 * all that was under way.
 *
 * No number is handled twice: a stranger can make a provider deliver bytes that lay in its buffers, with
 * their nonce (by a header that promises a message, and nothing behind it). */
static bool take_next_message(struct hl_rx_sender *s, const struct hl_wire_head *head,
                              struct hl_rx_answers *a)
{
    bool holds = head->count > 0; /* false: a ping, which has the number of the message before it */
    if (holds &&
        (head->seq == s->applied + 1 || (head->seq > s->applied && hl_wire_hello_of(head) != NULL))) {
        s->applied = head->seq;
        hl_rx_apply_records(head, a);
        return true;
    }
    if (head->seq <= s->applied && holds) {
        hl_rx_answers_drop(head->len, HL_RX_ANSWERS_OLD);
    }
    return head->seq <= s->applied;
}

/* ---- any message ---- */

/* Of a receive endpoint: its records belong to no lane. */
static void take_rx_message(const struct hl_wire_head *head, struct hl_rx_answers *a)
{
    enum hl_rx_turn turn = hl_rx_streams_take(head);
    struct hl_rx_parked *next;
    if (turn == HL_RX_OLD) {
        hl_rx_answers_drop(head->len, HL_RX_ANSWERS_OLD);
    } else if (turn == HL_RX_NEXT) {
        hl_rx_apply_records(head, a);
        while ((next = hl_rx_streams_next((int)head->from)) != NULL) {
            hl_rx_apply_records((const void *)next->bytes, a);
            free(next);
        }
    }
}

const char *hl_rx_check(const void *bytes, size_t len)
{
    /* A stranger can make a provider report any length. */
    return len > hl_fab.eager ? "longer than its buffer"
                              : hl_wire_check(bytes, len, hl_job.nonce, (uint32_t)hl_job.size);
}

static void take_net_message(const uint8_t *bytes, size_t len)
{
    const struct hl_wire_head *head = (const void *)bytes;
    const char *wrong = hl_rx_check(bytes, len);
    struct hl_rx_answers a = {0};
    if (wrong != NULL || head->kind != HL_WIRE_DATA) {
        hl_rx_answers_drop(len, wrong != NULL ? wrong : "acknowledgement of nothing");
        return;
    }
    if (head->lane == HL_WIRE_RX) {
        take_rx_message(head, &a);
        return;
    }
    if (HL_UNLIKELY(!hl_fab.ordered)) {
        hl_rx_unordered_take(head);
        return;
    }
    struct hl_rx_sender *s = hl_rx_answers_sender(head);
    if (s == NULL) {
        hl_rx_answers_refuse(head);
        return;
    }
    struct hl_rx_outbound *out = hl_rx_answers_new(head, &a);
    if (out == NULL) {
        return;
    }
    bool handled = take_next_message(s, head, &a);
    hl_rx_answers_give(s, head, out, &a, handled);
}

/* ---- the queue ---- */

/* A send or a read of ours has ended; NULL: the provider names none. */
static void end_op(struct hl_rx_op *op, bool well)
{
    hl_handover_take(op); /* another thread may have posted it */
    if (op != NULL && op->what == HL_RX_READS) {
        hl_rx_doubts_read(op, well);
    } else if (op != NULL) {
        struct hl_rx_outbound *out = HL_CONTAINER_OF(op, struct hl_rx_outbound, op);
        well ? hl_rx_sends_recycle(out) : hl_rx_sends_lose(out);
    }
}

static void take_completion(const struct fi_cq_msg_entry *entry)
{
    struct hl_fab_receive *in = hl_fab_ep_receive(&ep, entry->op_context);
    if (in == NULL) {
        end_op(entry->op_context, true);
        return;
    }
    hl_stat_rank_add(HL_STAT_RANK_rx_messages, 1);
    take_net_message(in->bytes, entry->len);
    hl_fab_ep_again(&ep, in);
}

static int read_net_error(void)
{
    struct fi_cq_err_entry error;
    if (!hl_fab_ep_error(&ep, &error)) {
        return 0;
    }
    hl_log(HL_LOG_DEBUG, "receive endpoint: %s (provider's code %d)", hl_fab_strerror(error.err),
           error.prov_errno);
    end_op(error.op_context, false);
    return 1;
}

int hl_rx_net_poll(void)
{
    struct fi_cq_msg_entry entries[HL_RX_ANSWERS_PASS];
    int moved = 0;
    for (;;) {
        int n = hl_fab_ep_completed(&ep, entries, HL_COUNT_OF(entries));
        for (int i = 0; i < n; i++) {
            take_completion(&entries[i]);
        }
        hl_rx_answers_give_due();
        moved += n >= 0 ? n : read_net_error();
        if (n < (int)HL_COUNT_OF(entries)) {
            break;
        }
    }
    return moved + hl_rx_sends_again();
}

bool hl_rx_net_may_sleep(void)
{
    return ep.wait_fd < 0 || hl_fab_ep_may_sleep(&ep);
}

bool hl_rx_net_waits(void)
{
    return hl_rx_sends_wait() || ep.refused != NULL || ep.wait_fd < 0; /* reading the queue posts again */
}

int hl_rx_net_fd(void)
{
    return ep.wait_fd;
}

/* The card in `data`; NULL with the error in *rc when there is none, or it makes no sense. */
static const struct hl_rx_card *check_rx_card(int peer, const void *data, size_t len, int *rc)
{
    if (*rc == 0 && len == sizeof(struct hl_rx_card)) {
        return data;
    }
    *rc = *rc != 0 ? *rc
                   : hl_err_say(HL_ERR_OTHER,
                                "rank %d has published a network address that makes no sense: do all ranks "
                                "load the same version of Hotlane?",
                                peer);
    return NULL;
}

const struct hl_rx_card *hl_rx_card_of(int peer, int *rc)
{
    const void *data = NULL;
    size_t len = 0;
    *rc = hl_fab_card_get(peer, HL_FAB_PART_RX, &data, &len);
    return check_rx_card(peer, data, len, rc);
}

const struct hl_rx_card *hl_rx_card_now(int peer, int *rc)
{
    const void *data = NULL;
    size_t len = 0;
    *rc = hl_fab_card_try(peer, HL_FAB_PART_RX, &data, &len);
    return check_rx_card(peer, data, len, rc);
}

bool hl_rx_may_ask(int peer)
{
    int rc = 0;
    if (hl_job_node_of(peer) < 0) {
        (void)hl_rx_card_now(peer, &rc);
    }
    return rc != HL_ERR_AGAIN;
}

int hl_rx_net_insert(const void *name, size_t len, fi_addr_t *addr)
{
    return hl_fab_ep_insert(&ep, name, len, addr);
}

static int insert_peer(int peer)
{
    int rc;
    const struct hl_rx_card *card = hl_rx_card_now(peer, &rc);
    if (card != NULL) {
        fi_addr_t addr = FI_ADDR_NOTAVAIL;
        rc = hl_fab_ep_insert(&ep, card->name, card->name_len, &addr);
        peer_rx[peer] = addr + 1;
    }
    return rc;
}

bool hl_rx_net_read_heartbeat(int rank, uint64_t *word, struct hl_rx_op *op)
{
    int rc;
    /* Without a connection the read says nothing: a stopped process makes no new one. */
    const struct hl_rx_card *card = hl_rx_streams_spoken_to(rank) ? hl_rx_card_now(rank, &rc) : NULL;
    if (card == NULL || (card->heartbeat_addr == 0 && card->heartbeat_key == 0)) {
        return false;
    }
    struct iovec to = {word, sizeof *word};
    op->what = HL_RX_READS;
    return hl_fab_ep_read(&ep, peer_rx[rank] - 1, card->heartbeat_addr, card->heartbeat_key, to,
                          &op->context) == 0;
}

/* Bytes of the message that carries a record. */
static uint32_t message_len(const struct hl_wire_rec *rec)
{
    return (uint32_t)(sizeof(struct hl_wire_head) + sizeof *rec + HL_WIRE_PAD(rec->len));
}

static void write_message(uint8_t *bytes, uint64_t number, const struct hl_wire_rec *rec, const void *payload)
{
    struct hl_wire_head head = {.nonce = hl_job.nonce,
                                .seq = number,
                                .from = (uint32_t)hl_job.rank,
                                .lane = HL_WIRE_RX,
                                .kind = HL_WIRE_DATA,
                                .len = message_len(rec),
                                .count = 1};
    memset(bytes + head.len - 8, 0, 8); /* zeroes the padding, if there is any */
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, rec, sizeof *rec);
    if (rec->len > 0) {
        memcpy(bytes + sizeof head + sizeof *rec, payload, rec->len);
    }
}

/* Posts a record in `out` to a peer whose address was inserted. Returns 0, HL_ERR_AGAIN or HL_ERR_OTHER;
 * after an error `out` is still the caller's. */
static int post_record(struct hl_rx_outbound *out, int peer, const struct hl_wire_rec *rec,
                       const void *payload) HL_REQUIRES(hl_rx_numbers)
{
    uint64_t number = hl_rx_streams_number(peer, rec->op);
    write_message(out->bytes, number, rec, payload);
    out->len = message_len(rec);
    out->to = peer_rx[peer] - 1;
    out->peer = peer;
    int rc = hl_rx_sends_post(out);
    if (rc == 0) {
        hl_rx_streams_left(peer, number);
    }
    return rc;
}

int hl_rx_net_send(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    if (!hl_rx_has_network()) {
        return hl_err_say(HL_ERR_INTERN, "the network is not open");
    }
    int rc = peer_rx[peer] == 0 ? insert_peer(peer) : 0;
    if (rc != 0) {
        return rc;
    }
    struct hl_rx_outbound *out = hl_rx_sends_new();
    if (out == NULL) {
        return HL_ERR_AGAIN;
    }
    hl_mutex_lock(&hl_rx_numbers);
    rc = post_record(out, peer, rec, payload);
    hl_mutex_unlock(&hl_rx_numbers);
    if (rc != 0) {
        hl_rx_sends_recycle(out);
    }
    return rc == HL_ERR_OTHER ? hl_err_say(rc, "the provider refuses a message to rank %d", peer) : rc;
}

bool hl_rx_net_send_at_once(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    /* A provider that may have to be called again gets it from the thread that will do so. */
    if (!hl_rx_has_network() || hl_rx_may_be_silent()) {
        return false;
    }
    struct hl_rx_outbound *out = hl_rx_sends_new();
    bool left = false;
    if (out != NULL && hl_mutex_try(&hl_rx_numbers)) {
        left = hl_rx_streams_spoken_to(peer) && post_record(out, peer, rec, payload) == 0;
        hl_mutex_unlock(&hl_rx_numbers);
    }
    if (out != NULL && !left) {
        hl_rx_sends_recycle(out);
    }
    return left;
}

/* ---- opening and closing ---- */

int hl_rx_listen(struct hl_fab_ep *at, size_t count)
{
    void *memory = hl_mem_buffer_take(count * hl_fab_receive_size());
    return memory != NULL ? hl_fab_ep_listen(at, memory, count) : -FI_ENOMEM;
}

int hl_rx_listen_fail(const struct hl_fab_ep *at, int rc)
{
    return at->receives != NULL
               ? hl_fab_ep_fail("posting receives", rc)
               : hl_err_say(HL_ERR_NO_MEM, "no memory for receive buffers: %s", hl_err_text(HL_ERR_NO_MEM));
}

bool hl_rx_close_ep(struct hl_fab_ep *of)
{
    void *memory = of->receives;
    bool closed = hl_fab_ep_close(of);
    hl_mem_buffer_give(closed ? memory : NULL);
    return closed;
}

/* HL_ERR_OTHER when this host has only the loopback address (no cable, say): it leads other hosts to
 * themselves. */
static int check_name(void)
{
    struct hl_fab_host host;
    if (!hl_fab.loopback && hl_fab_link_host(ep.name, ep.name_len, &host) && hl_fab_host_is_loopback(&host)) {
        return hl_err_say(
            HL_ERR_OTHER,
            "no network interface of this host is up but the loopback, and the job has ranks on "
            "other hosts (see `ip link`; FI_TCP_IFACE names an interface)");
    }
    return 0;
}

static int publish_endpoint(void)
{
    struct hl_mr mr;
    int rc = check_name();
    rc = rc == 0 ? hl_mr_register(&heartbeat, sizeof heartbeat, &mr) : rc;
    if (rc != 0) {
        return rc;
    }
    heartbeat_region = mr.id;
    struct hl_rx_card card = {.name_len = ep.name_len, .heartbeat_addr = mr.addr, .heartbeat_key = mr.key};
    memcpy(card.name, ep.name, ep.name_len);
    return hl_fab_card_put(HL_FAB_PART_RX, &card, sizeof card);
}

static int listen_to_all(void)
{
    peer_rx = calloc((size_t)hl_job.size, sizeof *peer_rx);
    if (peer_rx == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the addresses of %d ranks", hl_job.size);
    }
    int rc = hl_rx_streams_open();
    if (rc != 0) {
        return rc;
    }
    rc = hl_rx_listen(&ep, BUFFERS);
    return rc == 0 ? 0 : hl_rx_listen_fail(&ep, rc);
}

int hl_rx_net_open(void)
{
    int rc = hl_fab_open();
    if (rc != 0) {
        return rc;
    }
    rc = hl_fab_ep_open(HL_FAB_RX, &ep);
    if (rc != 0) {
        hl_fab_close();
        return rc;
    }
    hl_rx_sends_open(&ep);
    rc = listen_to_all();
    rc = rc == 0 ? hl_mr_open(&ep) : rc;
    rc = rc == 0 ? publish_endpoint() : rc;
    if (rc != 0) {
        hl_rx_net_close();
        hl_fab_close();
    }
    return rc;
}

void hl_rx_net_close(void)
{
    if (heartbeat_region != 0) {
        hl_mr_unregister(heartbeat_region);
        heartbeat_region = 0;
    }
    hl_mr_close();
    (void)hl_rx_close_ep(&ep); /* what it sends is leaked, too: it is in no list (sends.c) */
    hl_rx_sends_close();
    free(peer_rx);
    hl_rx_streams_close();
    peer_rx = NULL;
    hl_rx_answers_close();
    hl_rx_unordered_close();
}

const char *hl_rx_provider(void)
{
    return hl_fab.provider;
}

bool hl_rx_may_be_silent(void)
{
    return hl_fab_is_open() && hl_fab.row->wait != HL_PROVIDER_WAKES;
}
