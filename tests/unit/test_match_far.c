/* match over the network, on the model provider: messages keep their order whatever order their receives
 * complete in. A rank's ports send to themselves here, as another rank's would. */
#include "../seed.h"
#include "match_internal.h"
#include "port.h"
#include "unit.h"

#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "model_stubborn.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define PORTS 2
#define MESSAGES 1500
#define LONGEST (HL_EAGER_SEGMENTS * (MODEL_EAGER - sizeof(struct hl_far_head)))
#define OPEN 60 /* sends under way at most */
#define SOURCES 3

static struct hl_matcher m;
static hl_a32 is_gone; /* rank 1 counts as dead */

static bool is_dead(int rank)
{
    return rank == 1 && hl_a32_load_relaxed(&is_gone) != 0; /* relaxed: one thread */
}

/* Rank 1's ports are this rank's. */
static void meet_myself(void)
{
    struct hl_peer *p = calloc(1, sizeof(*p));
    *p = (struct hl_peer){.world = 1, .node = -1, .ports = PORTS, .lock = HL_MUTEX_INIT};
    p->state = &p->far_state;
    p->tail = &p->head;
    p->deferred_tail = &p->deferred;
    for (int i = 0; i < PORTS; i++) {
        uint64_t name;
        memcpy(&name, m.net->port[i].ep.name, sizeof(name));
        p->addr[i] = name;
    }
    m.far_list[0] = p;
    hl_a32_store_relaxed(&m.n_far, 1); /* relaxed, both: one thread */
    hl_aptr_store_relaxed(&m.peers[1], p);
}

static void open_net(bool any_order)
{
    static const int zero;
    printf("TEST_SEED=%u\n", model_seed = (unsigned)seed_of_run());
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_job.size = 2;
    hl_job.nonce = 77;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    model.any_order = any_order;
    ck_assert_int_eq(hl_fab_open(), 0);
    hl_fab.ordered = !any_order;
    struct hl_matcher_setup s = {
        .world_size = 2, .node_size = 1, .node_world = &zero, .inboxes = 1, .is_dead = is_dead};
    s.board = aligned_alloc(4096, hl_match_board_bytes(1));
    memset(s.board, 0, hl_match_board_bytes(1));
    ck_assert_int_eq(hl_req_open(), 0);
    ck_assert_int_eq(hl_matcher_open(&m, &s), 0);
    ck_assert_int_eq(hl_net_open(&m, PORTS), 0);
    meet_myself();
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &m, 1), 0);
}

static void close_net(void)
{
    void *homes = m.parts;
    hl_prog_unregister(hl_matcher_poll, &m);
    hl_net_close(&m);
    hl_matcher_close(&m);
    free(homes);
    hl_req_close();
    ck_assert_int_eq(model.objects, 0);
}

START_TEST(buffers_of_ports_that_do_not_close_are_kept)
{
    const void *memory[PORTS];
    open_net(false);
    size_t bytes = HL_PORT_TX * hl_round_up(sizeof(struct hl_port_buf) + m.net->max, 64);
    for (int i = 0; i < PORTS; i++) {
        memory[i] = m.net->port[i].memory;
    }
    model_be_stubborn();
    hl_prog_unregister(hl_matcher_poll, &m);
    hl_net_close(&m);
    for (int i = 0; i < PORTS; i++) {
        must_be_kept(memory[i], bytes, hl_mem_buffer_take);
    }
}
END_TEST

static unsigned char byte_of(uint64_t number, size_t at)
{
    return (unsigned char)(number * 131 + at * 7);
}

static size_t length_of(uint64_t number)
{
    return hl_mix64(number) % 3 != 0 ? hl_mix64(number) % 64 : hl_mix64(number) % LONGEST;
}

/* What has arrived of a source's, in its order; messages in several buffers among them. */
static void receive_one(int src, uint64_t number)
{
    static unsigned char in[LONGEST];
    struct hl_recv r = {.ctx = 8,
                        .src = src,
                        .src_world = 0,
                        .tag = MPI_ANY_TAG,
                        .buf = in,
                        .count = sizeof(in),
                        .type = hl_type_of(MPI_BYTE)};
    MPI_Status st;
    ck_assert_int_eq(hl_match_recv(&m, &r, &st), 0);
    ck_assert_int_eq(st.MPI_TAG, (int)number);
    ck_assert_uint_eq((size_t)hl_req_status_bytes(&st), length_of(number));
    size_t same = 0;
    while (same < length_of(number) && in[same] == byte_of(number, same)) {
        same++;
    }
    ck_assert_uint_eq(same, length_of(number));
}

static void send_one(int src, uint64_t number)
{
    static unsigned char out[LONGEST];
    for (size_t i = 0; i < length_of(number); i++) {
        out[i] = byte_of(number, i);
    }
    struct hl_send s = {.ctx = 8,
                        .me = src,
                        .dest_world = 1,
                        .tag = (int)number,
                        .buf = out,
                        .count = (int64_t)length_of(number),
                        .type = hl_type_of(MPI_BYTE)};
    ck_assert_int_eq(hl_match_send(&m, &s), 0);
}

START_TEST(messages_keep_their_order)
{
    model.recv_again = 40;
    open_net(_i == 1);
    uint64_t sent[SOURCES] = {0}, received[SOURCES] = {0}, all = 0;
    unsigned seed = model_seed;
    hl_conf.read_min = 0; /* all of them in buffers */
    while (all < MESSAGES) {
        int src = rand_r(&seed) % SOURCES;
        uint64_t open = sent[src] - received[src];
        if (open == 0 || (open < OPEN / SOURCES && rand_r(&seed) % 3 != 0)) {
            send_one(src, ++sent[src]);
        } else {
            receive_one(src, ++received[src]);
            all++;
        }
    }
    for (int src = 0; src < SOURCES; src++) {
        while (received[src] < sent[src]) {
            receive_one(src, ++received[src]);
        }
    }
    while (!hl_net_idle(m.net)) {
        hl_prog_poll();
    }
    for (int i = 0; i < PORTS; i++) {
        ck_assert_ptr_null(m.net->port[i].window.gaps);
    }
    close_net();
}
END_TEST

/* ---- gaps ---- */

/* A message of rank 0 comes in by port 0. */
static void arrive(uint64_t seq)
{
    struct hl_far_head h = {.nonce = hl_job.nonce, .seq = seq};
    h.head = (struct hl_msg_head){.ctx = 8, .tag = (int)seq, .kind = HL_MSG_EAGER};
    uint64_t name;
    memcpy(&name, m.net->port[0].ep.name, sizeof(name));
    ck_assert_int_eq((int)model_route(name, &h, sizeof(h)), 0);
    for (int i = 0; i < 100; i++) {
        hl_prog_poll();
    }
}

static int has_come(int tag)
{
    bool found = false;
    struct hl_recv r = {.ctx = 8, .src = 0, .tag = tag, .type = hl_type_of(MPI_BYTE)};
    ck_assert_int_eq(hl_match_iprobe_now(&m, &r, &found, MPI_STATUS_IGNORE), 0);
    return found;
}

/* A COUNT that overtakes messages says nothing yet. */
START_TEST(a_count_that_overtakes_is_no_loss)
{
    open_net(true);
    arrive(4 | HL_FAR_COUNT);
    arrive(3);
    arrive(4 | HL_FAR_COUNT);
    arrive(4);
    ck_assert(!has_come(3) && !has_come(4));
    arrive(1);
    ck_assert(has_come(1) && !has_come(3));
    arrive(2);
    ck_assert(has_come(2) && has_come(3) && has_come(4));
    arrive(4 | HL_FAR_COUNT);
    ck_assert_ptr_null(m.net->port[0].window.gaps);
    uint64_t heard = m.net->port[0].heard[0];
    ck_assert_uint_eq(heard, 4);
    arrive(4); /* a stranger's */
    ck_assert_uint_eq(m.net->port[0].heard[0], heard);
}
END_TEST

/* Shown by two probes, a second apart; at once where receives complete in order. */
START_TEST(a_message_that_stays_away_ends_the_job)
{
    uint64_t begin = hl_now_ns();
    int status;
    pid_t child = fork();
    if (child == 0) {
        open_net(_i == 1);
        arrive(2);
        while (_i == 1 && hl_now_ns() - begin < 20 * HL_RX_WINDOW_NS) {
            arrive(2 | HL_FAR_COUNT);
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    ck_assert(_i == 0 || hl_now_ns() - begin >= HL_RX_WINDOW_NS);
}
END_TEST

/* Nothing that the dead say does. */
START_TEST(the_dead_lose_nothing)
{
    open_net(_i == 1);
    hl_a32_store_relaxed(&is_gone, 1); /* relaxed: one thread */
    struct hl_far_head h = {.nonce = hl_job.nonce, .seq = 7 | HL_FAR_COUNT, .from = 1};
    struct hl_work w;
    hl_work_start(&w);
    ck_assert(hl_port_own(&m.net->port[0], false));
    (void)hl_tail_take(m.net, &m.net->port[0], &h, &w);
    if (_i == 1) {
        m.net->port[0].window.gaps->probed_ns = 1; /* long ago */
    }
    (void)hl_tail_take(m.net, &m.net->port[0], &h, &w);
    hl_port_leave(&m.net->port[0]);
    close_net();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("match_far");
    TCase *t = tcase_create("match_far");
    tcase_set_timeout(t, 100);
    tcase_add_loop_test(t, messages_keep_their_order, 0, 2);
    tcase_add_test(t, buffers_of_ports_that_do_not_close_are_kept);
    tcase_add_test(t, a_count_that_overtakes_is_no_loss);
    tcase_add_loop_test(t, a_message_that_stays_away_ends_the_job, 0, 2);
    tcase_add_loop_test(t, the_dead_lose_nothing, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
