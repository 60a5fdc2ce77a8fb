/* A rank that has died: cases of test_match.c. */
#ifndef HL_MATCH_DEATH_H
#define HL_MATCH_DEATH_H

#include "deaths.h"
#include "kernel_copies.h"
#include "port.h"
#include "slots.h"
#include "split_copy.h"

#include <rdma/fi_errno.h>

static hl_a32 rank_1_died; /* atomic: relaxed, hl_deaths_note orders it for who must know */

static bool is_dead(int world)
{
    return world == 1 && hl_a32_load_relaxed(&rank_1_died) != 0; /* relaxed: as said */
}

static int lost_member(uint64_t ctx)
{
    return ctx == 8 && hl_a32_load_relaxed(&rank_1_died) != 0 ? 1 : -1; /* relaxed: as said */
}

static void kill_rank_1(void)
{
    hl_prog_unregister(hl_matcher_poll, &ranks[1]);
    hl_a32_store_relaxed(&rank_1_died, 1); /* relaxed: as said */
    hl_deaths_note(&ranks[0]);
}

static void must_be_told(struct hl_req *r)
{
    hl_req_wait(r);
    ck_assert_int_eq(hl_req_finish(r, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    ck_assert_str_eq(hl_err_text(HL_ERR_PROC_ABORTED), "rank 1 of the job has ended");
}

static void open_mortals(unsigned inboxes, bool cma)
{
    hl_a32_store_relaxed(&rank_1_died, 0); /* relaxed: nobody else is here */
    open_ranks(3, inboxes, true, cma);
    for (int i = 0; i < 3; i++) {
        ranks[i].is_dead = is_dead;
        ranks[i].lost_member = lost_member;
    }
}

static void close_mortals(void)
{
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[1], 1), 0);
    close_ranks();
}

START_TEST(what_waits_for_a_dead_rank_is_told)
{
    enum { FULL = 2000 };
    open_mortals(_i == 0 ? 1 : 4, true);
    static struct hl_req *req[FULL], *r[5];
    static char big[20000], in[8];
    struct hl_recv from_1 = receiving(1, 0, in, 8), any = receiving(MPI_ANY_SOURCE, 0, in, 8),
                   from_2 = receiving(2, 0, in, 8), other = receiving(MPI_ANY_SOURCE, 0, in, 8);
    struct hl_send sync = sending(0, 1, 0, in, 8), large = sending(0, 1, 1, big, sizeof(big)),
                   small = sending(0, 1, 2, in, 8), back = sending(2, 0, 0, "seven..", 8);
    other.ctx = 16; /* without rank 1 */
    sync.mode = HL_SEND_SYNC;
    hl_prog_unregister(hl_matcher_poll, &ranks[1]);
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &from_1, &r[0]), 0);
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &any, &r[1]), 0);
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &from_2, &r[2]), 0);
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &other, &r[3]), 0);
    ck_assert_int_eq(hl_match_isend(&ranks[0], &sync, &r[4]), 0);
    for (int i = 0; i < FULL; i++) {
        ck_assert_int_eq(hl_match_isend(&ranks[0], i == 7 ? &large : &small, &req[i]), 0);
    }
    kill_rank_1();
    must_be_told(r[0]);
    must_be_told(r[1]);
    must_be_told(r[4]);
    must_be_told(req[7]);
    must_be_told(req[FULL - 1]);
    ck_assert(req[0] == hl_req_completed());
    for (int i = 1; i < FULL - 1; i++) {
        if (i != 7) {
            hl_req_wait(req[i]);
            hl_req_finish(req[i], MPI_STATUS_IGNORE);
        }
    }
    ck_assert(!hl_req_is_done(r[2]) && !hl_req_is_done(r[3]));
    ck_assert_int_eq(hl_match_send(&ranks[0], &sync), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_match_recv(&ranks[0], &from_1, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    struct hl_message *message = NULL;
    ck_assert_int_eq(hl_match_mprobe(&ranks[0], &any, &message, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    bool found = false;
    ck_assert_int_eq(hl_match_iprobe_now(&ranks[0], &from_1, &found, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_match_send(&ranks[2], &back), 0); /* the living go on */
    hl_req_wait(r[2]);
    ck_assert_int_eq(hl_req_finish(r[2], MPI_STATUS_IGNORE), 0);
    ck_assert_str_eq(in, "seven..");
    hl_match_cancel_now(&ranks[0], r[3]);
    ck_assert_int_eq(hl_req_finish(r[3], MPI_STATUS_IGNORE), 0);
    close_mortals();
}
END_TEST

START_TEST(what_a_dead_rank_had_sent_is_received)
{
    enum { N = 500 };
    open_mortals(1, true);
    hl_prog_unregister(hl_matcher_poll, &ranks[0]);
    for (int i = 0; i < N; i++) {
        struct hl_send s = sending(1, 0, 0, &i, sizeof(i));
        ck_assert_int_eq(hl_match_send(&ranks[1], &s), 0);
    }
    kill_rank_1();
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[0], 1), 0);
    for (int i = 0; i < N; i++) {
        int v = -1;
        struct hl_recv r = receiving(i % 2 == 0 ? 1 : MPI_ANY_SOURCE, 0, &v, sizeof(v));
        ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), 0);
        ck_assert_int_eq(v, i);
    }
    int v;
    struct hl_recv r = receiving(1, 0, &v, sizeof(v));
    ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    close_mortals();
}
END_TEST

/* So long that a dead rank's claims are passed over. */
static void poll_for_long(void)
{
    for (int i = 0; i < 20; i++) {
        usleep(300);
        hl_prog_poll();
    }
}

/* Rank 2 fills the slot that it has claimed, late. */
static void fill_slot(struct hl_match_part *part, struct hl_ring_slot *slow, uint64_t claimed,
                      const int *word, size_t len)
{
    slow->head =
        (struct hl_msg_head){.ctx = 8, .src = 2, .len = (uint32_t)len, .kind = HL_MSG_EAGER, .from = 2};
    if (len > 0) {
        memcpy(slow->area.data, word, len);
    }
    hl_ring_publish(part, slow, claimed);
}

static void must_have_got(struct hl_req *req, const int *got, int word)
{
    hl_req_wait(req);
    ck_assert_int_eq(hl_req_finish(req, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(*got, word);
}

START_TEST(what_a_dead_rank_has_claimed_is_passed_over)
{
    open_mortals(1, true);
    struct hl_match_part *part = hl_match_part_of(&ranks[0], 0);
    uint64_t claimed;
    int got = -1, word = 42;
    struct hl_req *req;
    struct hl_recv r = receiving(2, 0, &got, sizeof(got));
    ck_assert_ptr_nonnull(hl_ring_claim(&ranks[1], part, 0, &claimed));
    ck_assert_ptr_nonnull(hl_ring_claim(&ranks[1], part, 0, &claimed));
    struct hl_ring_slot *slow = hl_ring_claim(&ranks[2], part, 0, &claimed);
    kill_rank_1();
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &req), 0);
    poll_for_long();
    /* relaxed: one thread. Rank 2 lives and is about to fill its slot. */
    ck_assert_uint_eq(hl_a64_load_relaxed(&ranks[0].inbox[0].head), 2);
    ck_assert(!hl_req_is_done(req));
    fill_slot(part, slow, claimed, &word, sizeof(word));
    must_have_got(req, &got, 42);
    close_mortals();
}
END_TEST

/* Messages of others, which never stop, hold up nobody who waits for the dead: what the dead rank had sent is
 * received, and the rest is told. */
START_TEST(who_waits_for_a_dead_rank_is_told_while_others_send)
{
    enum { ROUNDS = 5000, EACH = 40 };
    open_mortals(1, true);
    int first = 1, got[2] = {-1, -1};
    bool found;
    struct hl_req *req[2];
    struct hl_send flood = sending(2, 0, 7, NULL, 0), last = sending(1, 0, 3, &first, sizeof first);
    struct hl_recv r[2] = {receiving(1, 3, &got[0], sizeof got[0]), receiving(1, 3, &got[1], sizeof got[1])};
    const struct hl_inbox *ib = &ranks[0].inbox[0];
    hl_prog_unregister(hl_matcher_poll, &ranks[0]);
    for (int i = 0; i < EACH; i++) {
        ck_assert_int_eq(hl_match_send(&ranks[2], &flood), 0);
    }
    ck_assert_int_eq(hl_match_send(&ranks[1], &last), 0);
    kill_rank_1();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r[i], &req[i]), 0);
    }
    for (int i = 0; i < ROUNDS && !hl_req_is_done(req[1]); i++) {
        /* relaxed: one thread */
        while (hl_mpsc_end(&ib->ring->q) - hl_a64_load_relaxed(&ib->head) < EACH) {
            ck_assert_int_eq(hl_match_send(&ranks[2], &flood), 0);
        }
        hl_matcher_poll(&ranks[0]);
    }
    ck_assert_uint_lt(hl_a64_load_relaxed(&ib->head), hl_mpsc_end(&ib->ring->q)); /* relaxed: one thread */
    ck_assert(hl_req_is_done(req[0]) && hl_req_is_done(req[1]));
    ck_assert_int_eq(hl_req_finish(req[0], MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(got[0], 1);
    must_be_told(req[1]);
    ck_assert_int_eq(hl_match_iprobe_now(&ranks[0], &r[0], &found, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[0], 1), 0);
    close_mortals();
}
END_TEST

/* A slot that a living rank has claimed and not filled stands before the last message of the dead. */
START_TEST(what_a_dead_rank_had_sent_behind_a_slow_one_is_received)
{
    open_mortals(1, true);
    struct hl_match_part *part = hl_match_part_of(&ranks[0], 0);
    uint64_t claimed = 0;
    int got = -1, word = 42;
    struct hl_req *req;
    struct hl_recv r = receiving(1, 0, &got, sizeof got);
    struct hl_send last = sending(1, 0, 0, &word, sizeof word);
    struct hl_ring_slot *slow = hl_ring_claim(&ranks[2], part, 0, &claimed);
    ck_assert_ptr_nonnull(slow);
    ck_assert_int_eq(hl_match_send(&ranks[1], &last), 0);
    kill_rank_1();
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &req), 0);
    poll_for_long();
    ck_assert(!hl_req_is_done(req));
    fill_slot(part, slow, claimed, NULL, 0);
    must_have_got(req, &got, 42);
    close_mortals();
}
END_TEST

/* Its process number may be another process's by now: here it is this one's. */
START_TEST(the_kernel_copies_nothing_of_a_dead_rank)
{
    if (!does_kernel_copy()) {
        return;
    }
    open_mortals(1, true);
    struct hl_match_part *part = hl_match_part_of(&ranks[0], 1);
    struct hl_peer *p = &ranks[0].near[1];
    uint64_t theirs = 1, mine = 0, at = (uint64_t)(uintptr_t)&theirs;
    part->process++; /* no thread of this process */
    ck_assert(hl_cma_works(&ranks[0], p));
    ck_assert_int_eq(hl_cma_access(&ranks[0], p, HL_NEAR_READ, at, &mine, sizeof mine), 0);
    ck_assert_uint_eq(mine, 1);
    theirs = 2;
    kill_rank_1();
    ck_assert_int_eq(hl_cma_access(&ranks[0], p, HL_NEAR_READ, at, &mine, sizeof mine), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_cma_access(&ranks[0], p, HL_NEAR_WRITE, at, &mine, sizeof mine), HL_ERR_PROC_ABORTED);
    ck_assert(mine == 1 && theirs == 2);
    part->process--;
    close_mortals();
}
END_TEST

/* ---- Over the network: ports at which nothing arrives ---- */

static ssize_t read_nothing(struct fid_cq *cq, void *buf, size_t count)
{
    (void)cq, (void)buf, (void)count;
    return -FI_EAGAIN;
}

/* A matcher whose rank 1 is far. */
static void open_far(struct hl_matcher *m, struct hl_net *net, struct hl_port *port)
{
    static struct fi_ops_cq ops = {.read = read_nothing};
    static struct fid_cq queue = {.ops = &ops};
    static const int zero;
    struct hl_matcher_setup s = {.world_size = 2,
                                 .node_size = 1,
                                 .node_world = &zero,
                                 .inboxes = 1,
                                 .threads = true,
                                 .is_dead = is_dead};
    s.board = aligned_alloc(4096, hl_match_board_bytes(1));
    memset(s.board, 0, hl_match_board_bytes(1));
    ck_assert_int_eq(hl_matcher_open(m, &s), 0);
    struct hl_peer *p = calloc(1, sizeof(*p));
    *p = (struct hl_peer){.world = 1, .node = -1, .ports = 2, .lock = HL_MUTEX_INIT};
    p->state = &p->far_state;
    p->tail = &p->head;
    p->deferred_tail = &p->deferred;
    m->far_list[0] = p;
    hl_a32_store_relaxed(&m->n_far, 1); /* relaxed, both: one thread */
    hl_aptr_store_relaxed(&m->peers[1], p);
    port[0].ep.cq = port[1].ep.cq = &queue;
    *net = (struct hl_net){.m = m, .bell = -1, .n = 2, .port = port};
    m->net = net;
}

/* What comes of a message comes by the port of its name, and whoever owns that may just now handle it. */
START_TEST(what_a_ports_owner_may_handle_is_left_to_him)
{
    static struct hl_port port[2];
    static char in[8];
    struct hl_matcher m;
    struct hl_net net;
    struct hl_req *sent = NULL, *asked = NULL;
    uint64_t name;
    hl_a32_store_relaxed(&rank_1_died, 0); /* relaxed: nobody else is here */
    ck_assert_int_eq(hl_req_open(), 0);
    open_far(&m, &net, port);
    sent = hl_req_new(HL_REQ_SEND);
    *hl_send_body(sent) = (struct hl_send_body){.buf = in, .count = 8, .type = bytes(), .dest = 1};
    ck_assert(hl_name_give(&m.names, sent, &hl_send_body(sent)->cookie));
    asked = hl_req_new(HL_REQ_RECV);
    struct hl_recv r = receiving(1, 0, in, 8);
    hl_recv_setup(asked, &r, HL_COMMAND_RECV);
    hl_recv_body(asked)->fetch = (struct hl_fetch){.from = ~1};
    ck_assert(hl_name_give(&m.names, asked, &name));
    ck_assert_uint_ne(hl_send_body(sent)->cookie % 2, name % 2);
    hl_a32_store_relaxed(&rank_1_died, 1); /* relaxed: as said */
    hl_deaths_note(&m);
    ck_assert(hl_port_own(&port[hl_send_body(sent)->cookie % 2], false));
    while (!hl_req_is_done(asked)) {
        hl_deaths_run(&m, true);
    }
    ck_assert(!hl_req_is_done(sent));
    hl_port_leave(&port[hl_send_body(sent)->cookie % 2]);
    while (!hl_req_is_done(sent)) {
        hl_deaths_run(&m, true);
    }
    ck_assert_int_eq(hl_req_finish(asked, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_req_finish(sent, MPI_STATUS_IGNORE), HL_ERR_PROC_ABORTED);
    void *homes = m.parts;
    hl_matcher_close(&m);
    free(homes);
    hl_req_close();
}
END_TEST

static int post_code;

static ssize_t post_as_told(struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
    (void)ep, (void)m, (void)flags;
    return post_code;
}

/* What a port's provider does not take is kept by its caller, but where no descriptor is left. */
START_TEST(a_ports_message_that_is_refused_is_kept_or_told)
{
    static const struct {
        int code, left;
        const char *words;
    } rows[] = {{-FI_EAGAIN, 0, NULL},
                {-FI_ECONNREFUSED, 0, NULL},
                {-FI_ENOMEM, 0, NULL},
                {-FI_EMFILE, HL_ERR_OTHER, "ulimit -n"},
                {-ENFILE, HL_ERR_OTHER, "fs.file-max"},
                {0, 1, NULL}};
    static struct hl_port port[2];
    static uint8_t flying[2];
    static struct fi_ops_msg ops = {.sendmsg = post_as_told};
    static struct fid_ep endpoint = {.msg = &ops};
    struct hl_msg_head head = {0};
    union hl_msg_area area = {0};
    struct hl_matcher m;
    struct hl_net net;
    ck_assert_int_eq(hl_req_open(), 0);
    open_far(&m, &net, port);
    net.max = sizeof(struct hl_far_head);
    port[0].ep.ep = &endpoint;
    port[0].flying = flying;
    port[0].tx = calloc(1, sizeof *port[0].tx + net.max);
    struct hl_port_buf *only = port[0].tx;
    struct hl_far_out out = {.peer = m.far_list[0], .head = &head, .area = &area};
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        ck_assert_ptr_eq(port[0].tx, only);
        post_code = rows[i].code;
        int left = hl_net_post(&net, &out);
        ck_assert_int_eq(left, rows[i].left);
        ck_assert_msg(rows[i].words == NULL || strstr(hl_err_text(left), rows[i].words) != NULL, "%s",
                      hl_err_text(left));
        ck_assert_uint_eq(m.far_list[0]->sent[0], rows[i].code == 0);
    }
    ck_assert_ptr_null(port[0].tx);
    free(only);
    void *homes = m.parts;
    hl_matcher_close(&m);
    free(homes);
    hl_req_close();
}
END_TEST

/* Which their provider may never give back. */
START_TEST(an_end_does_not_wait_for_messages_to_the_dead)
{
    static struct hl_port port[2];
    static uint8_t flying[2][2];
    struct hl_matcher m;
    struct hl_net net;
    hl_a32_store_relaxed(&rank_1_died, 0); /* relaxed, all: nobody else is here */
    ck_assert_int_eq(hl_req_open(), 0);
    open_far(&m, &net, port);
    port[0].flying = flying[0];
    port[1].flying = flying[1];
    flying[0][1] = 2;
    hl_a32_store_relaxed(&port[0].in_flight, 2);
    ck_assert(!hl_matcher_idle(&m));
    hl_a32_store_relaxed(&rank_1_died, 1);
    hl_deaths_note(&m);
    ck_assert(hl_matcher_idle(&m));
    flying[1][0] = 1;
    hl_a32_store_relaxed(&port[1].in_flight, 1);
    ck_assert(!hl_matcher_idle(&m));
    void *homes = m.parts;
    hl_matcher_close(&m);
    free(homes);
    hl_req_close();
}
END_TEST

#endif
