/* match: messages meet their receives in MPI's order, whatever their size and whoever polls. Ranks are
 * threads of one process here. */
#include "unit.h"

#include "err.h"
#include "match_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- The model: one rank sends to itself as many sources; lists say what must happen ---- */

#define MODEL_STEPS 20000
#define MODEL_OPEN 400
#define MODEL_SRC 5
#define MODEL_TAGS 3
#define MODEL_CTX 3

struct model_msg {
    uint64_t ctx, id;
    int src, tag;
};
struct model_recv {
    uint64_t ctx, got;
    int src, tag;
    struct hl_req *req;
};
static struct model {
    struct model_msg msg[MODEL_OPEN]; /* unexpected, oldest first */
    int n_msg;
    struct model_recv *recv[MODEL_OPEN]; /* posted, oldest first */
    int n_recv;
    uint64_t next_id, rnd;
    bool one_inbox;
} model;

static void wait_all(int n, struct hl_req *const *reqs)
{
    for (int i = 0; i < n; i++) {
        hl_req_wait(reqs[i]);
    }
}

static bool fits(const struct model_recv *r, const struct model_msg *m)
{
    return r->ctx == m->ctx && (r->src == m->src || r->src == MPI_ANY_SOURCE) &&
           (r->tag == m->tag || r->tag == MPI_ANY_TAG);
}

/* A message `id` may be the answer to r if no older one of its source fits, nor with one inbox any older. */
static int model_find(const struct model_recv *r, uint64_t id)
{
    int found = -1;
    for (int i = 0; i < model.n_msg; i++) {
        if (!fits(r, &model.msg[i])) {
            continue;
        }
        if (model.msg[i].id == id) {
            found = i;
            break;
        }
        if (model.one_inbox) {
            return -1;
        }
    }
    for (int i = 0; found > 0 && i < found; i++) {
        if (model.msg[i].src == model.msg[found].src && fits(r, &model.msg[i])) {
            return -1;
        }
    }
    return found;
}

static bool model_any(const struct model_recv *r)
{
    for (int i = 0; i < model.n_msg; i++) {
        if (fits(r, &model.msg[i])) {
            return true;
        }
    }
    return false;
}

static void model_drop_msg(int i)
{
    memmove(&model.msg[i], &model.msg[i + 1], (size_t)(model.n_msg - i - 1) * sizeof(model.msg[0]));
    model.n_msg--;
}

static void finish_model_recv(int i, uint64_t id, int src, int tag)
{
    struct model_recv *r = model.recv[i];
    MPI_Status st = {0};
    ck_assert(hl_req_is_done(r->req));
    ck_assert_int_eq(hl_req_finish(r->req, &st), 0);
    ck_assert_uint_eq(r->got, id);
    ck_assert_int_eq(st.MPI_SOURCE, src);
    ck_assert_int_eq(st.MPI_TAG, tag);
    ck_assert_int_eq(hl_req_status_bytes(&st), 8);
    free(r);
    memmove(&model.recv[i], &model.recv[i + 1], (size_t)(model.n_recv - i - 1) * sizeof(model.recv[0]));
    model.n_recv--;
}

static void model_send(void)
{
    struct model_msg m = {random_next(&model.rnd) % MODEL_CTX, ++model.next_id,
                          (int)(random_next(&model.rnd) % MODEL_SRC),
                          (int)(random_next(&model.rnd) % MODEL_TAGS)};
    struct hl_send s = sending(m.src, 0, m.tag, &m.id, 8);
    s.ctx = m.ctx;
    ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    while (hl_prog_poll() > 0) {
    }
    for (int i = 0; i < model.n_recv; i++) {
        if (fits(model.recv[i], &m)) {
            finish_model_recv(i, m.id, m.src, m.tag);
            return;
        }
    }
    model.msg[model.n_msg++] = m;
}

static struct model_recv random_recv(void)
{
    struct model_recv r = {.ctx = random_next(&model.rnd) % MODEL_CTX,
                           .src = (int)(random_next(&model.rnd) % (MODEL_SRC + 2)),
                           .tag = (int)(random_next(&model.rnd) % (MODEL_TAGS + 1))};
    r.src = r.src >= MODEL_SRC ? MPI_ANY_SOURCE : r.src;
    r.tag = r.tag == MODEL_TAGS ? MPI_ANY_TAG : r.tag;
    return r;
}

static void model_receive(void)
{
    struct model_recv *r = malloc(sizeof(*r));
    *r = random_recv();
    struct hl_recv want = receiving(r->src, r->tag, &r->got, 8);
    want.ctx = r->ctx;
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &want, &r->req), 0);
    bool there = model_any(r);
    ck_assert_int_eq(hl_req_is_done(r->req), there);
    if (!there) {
        model.recv[model.n_recv++] = r;
        return;
    }
    int i = model_find(r, r->got);
    ck_assert_int_ge(i, 0);
    struct model_msg m = model.msg[i];
    model_drop_msg(i);
    model.recv[model.n_recv++] = r;
    finish_model_recv(model.n_recv - 1, m.id, m.src, m.tag);
}

static void model_cancel(void)
{
    if (model.n_recv == 0) {
        return;
    }
    int i = (int)(random_next(&model.rnd) % (uint64_t)model.n_recv);
    struct model_recv *r = model.recv[i];
    MPI_Status st = {0};
    ck_assert_int_eq(hl_match_cancel_now(&ranks[0], r->req), 0);
    ck_assert(hl_req_is_done(r->req));
    ck_assert_int_eq(hl_req_finish(r->req, &st), 0);
    ck_assert(hl_req_status_cancelled(&st));
    free(r);
    memmove(&model.recv[i], &model.recv[i + 1], (size_t)(model.n_recv - i - 1) * sizeof(model.recv[0]));
    model.n_recv--;
}

static void model_probe(void)
{
    struct model_recv r = random_recv();
    struct hl_recv want = receiving(r.src, r.tag, NULL, 0);
    want.ctx = r.ctx;
    bool found = false;
    MPI_Status st = {0};
    ck_assert_int_eq(hl_match_iprobe_now(&ranks[0], &want, &found, &st), 0);
    ck_assert_int_eq(found, model_any(&r));
    struct hl_message *message = NULL;
    ck_assert_int_eq(hl_match_improbe(&ranks[0], &want, &message, &st), 0);
    ck_assert_int_eq(message != NULL, model_any(&r));
    if (message == NULL) {
        return;
    }
    ck_assert_ptr_eq(hl_match_message_of(hl_match_message_handle(message)), message);
    uint64_t id = 0;
    struct hl_recv into = receiving(0, 0, &id, 8);
    ck_assert_int_eq(hl_match_mrecv(&ranks[0], message, &into, &st), 0);
    ck_assert_ptr_null(hl_match_message_of(hl_match_message_handle(message)));
    int i = model_find(&r, id);
    ck_assert_int_ge(i, 0);
    ck_assert_int_eq(st.MPI_SOURCE, model.msg[i].src);
    ck_assert_int_eq(st.MPI_TAG, model.msg[i].tag);
    model_drop_msg(i);
}

START_TEST(matching_follows_the_model)
{
    const unsigned inboxes[] = {1, 2, 8};
    open_ranks(1, inboxes[_i % 3], _i >= 3, true);
    memset(&model, 0, sizeof(model));
    model.rnd = seed_now("model");
    model.one_inbox = inboxes[_i % 3] == 1;
    for (int step = 0; step < MODEL_STEPS; step++) {
        uint64_t dice = random_next(&model.rnd) % 100;
        if (dice < 45 && model.n_msg < MODEL_OPEN) {
            model_send();
        } else if (dice < 90 && model.n_recv < MODEL_OPEN - 1) {
            model_receive();
        } else if (dice < 94) {
            model_cancel();
        } else {
            model_probe();
        }
    }
    while (model.n_recv > 0) {
        model_cancel();
    }
    close_ranks();
}
END_TEST

/* ---- Order and contents between ranks of several threads ---- */

#define PAIR_MSGS 300

#define PAIR_BYTES 300001
static const int64_t sizes[] = {0, 1, 8, 32, 33, 4000, 8192, 8193, 70000, PAIR_BYTES};

struct pair_thread {
    struct hl_matcher *m;
    int me, peer, tag;
    uint64_t seed;
    pthread_t thread;
};

static void fill_message(unsigned char *buf, int64_t n, int tag, int i)
{
    for (int64_t k = 0; k < n; k++) {
        buf[k] = (unsigned char)(k + 7 * tag + 13 * i);
    }
}

static void *pair_sender(void *arg)
{
    struct pair_thread *t = arg;
    uint64_t rnd = t->seed;
    struct hl_req *req[8];
    unsigned char *buf[8];
    for (int k = 0; k < 8; k++) {
        buf[k] = malloc(PAIR_BYTES);
    }
    for (int i = 0; i < PAIR_MSGS; i++) {
        int k = i % 8;
        if (i >= 8) {
            hl_req_wait(req[k]);
            ck_assert_int_eq(hl_req_finish(req[k], MPI_STATUS_IGNORE), 0);
        }
        int64_t n = sizes[random_next(&rnd) % HL_COUNT_OF(sizes)];
        fill_message(buf[k], n, t->tag, i);
        struct hl_send s = sending(t->me, t->peer, t->tag, buf[k], n);
        s.mode = i % 11 == 0 ? HL_SEND_SYNC : HL_SEND_STANDARD;
        ck_assert_int_eq(hl_match_isend(t->m, &s, &req[k]), 0);
    }
    wait_all(8, req);
    for (int k = 0; k < 8; k++) {
        hl_req_finish(req[k], MPI_STATUS_IGNORE);
        free(buf[k]);
    }
    return NULL;
}

static void *pair_receiver(void *arg)
{
    struct pair_thread *t = arg;
    uint64_t rnd = t->seed;
    unsigned char *buf = malloc(PAIR_BYTES), *want = malloc(PAIR_BYTES);
    for (int i = 0; i < PAIR_MSGS; i++) {
        int64_t n = sizes[random_next(&rnd) % HL_COUNT_OF(sizes)];
        fill_message(want, n, t->tag, i);
        MPI_Status st = {0};
        struct hl_recv r = receiving(i % 3 == 0 ? MPI_ANY_SOURCE : t->peer, t->tag, buf, PAIR_BYTES);
        ck_assert_int_eq(hl_match_recv(t->m, &r, &st), 0);
        ck_assert_int_eq(st.MPI_SOURCE, t->peer);
        ck_assert_int_eq(hl_req_status_bytes(&st), n);
        ck_assert_int_eq(memcmp(buf, want, (size_t)n), 0);
    }
    free(buf);
    free(want);
    return NULL;
}

static void run_pairs(int threads, unsigned inboxes, bool cma)
{
    hl_prog_crowd(1, cma ? 1024 : 0); /* many: senders help, however many threads there are */
    open_ranks(2, inboxes, true, cma);
    static struct pair_thread t[64];
    uint64_t seed = seed_now("pairs");
    for (int i = 0; i < threads; i++) {
        t[2 * i] = (struct pair_thread){&ranks[0], 0, 1, i, seed + (uint64_t)i, 0};
        t[2 * i + 1] = (struct pair_thread){&ranks[1], 1, 0, i, seed + (uint64_t)i, 0};
        ck_assert_int_eq(pthread_create(&t[2 * i].thread, NULL, pair_sender, &t[2 * i]), 0);
        ck_assert_int_eq(pthread_create(&t[2 * i + 1].thread, NULL, pair_receiver, &t[2 * i + 1]), 0);
    }
    for (int i = 0; i < 2 * threads; i++) {
        pthread_join(t[i].thread, NULL);
    }
    while (hl_prog_poll() > 0) { /* offers of help that came too late */
    }
    close_ranks();
    hl_prog_crowd(1, 0);
}

START_TEST(messages_arrive_whole_and_in_order)
{
    const int threads[] = {1, 2, 8};
    run_pairs(threads[_i / 4], _i % 2 == 0 ? 1 : 4, _i / 2 % 2 == 0);
}
END_TEST

/* ---- Any source: nothing lost, nothing twice ---- */

#define WILD_EACH 1000

static hl_a32 wild_seen[2][8][WILD_EACH];

static void *wild_sender(void *arg)
{
    struct pair_thread *t = arg;
    for (int i = 0; i < WILD_EACH; i++) {
        int v[2] = {t->tag, i};
        struct hl_send s = sending(t->tag, t->peer, 5, v, sizeof(v));
        ck_assert_int_eq(hl_match_send(t->m, &s), 0);
    }
    return NULL;
}

static void *wild_receiver(void *arg)
{
    struct pair_thread *t = arg;
    int last[8];
    memset(last, -1, sizeof(last));
    for (int i = 0; i < WILD_EACH; i++) {
        int v[2] = {-1, -1};
        MPI_Status st = {0};
        struct hl_recv r = receiving(MPI_ANY_SOURCE, 5, v, sizeof(v));
        ck_assert_int_eq(hl_match_recv(t->m, &r, &st), 0);
        ck_assert_int_eq(st.MPI_SOURCE, v[0]);
        ck_assert_int_gt(v[1], last[v[0]]); /* one thread sees a source in order */
        last[v[0]] = v[1];
        ck_assert_uint_eq(hl_a32_add_relaxed(&wild_seen[t->me][v[0]][v[1]], 1), 0);
    }
    return NULL;
}

START_TEST(any_source_takes_each_message_once)
{
    const int counts[] = {1, 2, 8};
    int threads = counts[_i / 2];
    open_ranks(2, _i % 2 == 0 ? 1 : 4, true, true);
    static struct pair_thread t[4][8];
    for (int i = 0; i < threads; i++) {
        for (int r = 0; r < 2; r++) {
            t[r][i] = (struct pair_thread){&ranks[r], r, 1 - r, i, 0, 0};
            t[r + 2][i] = t[r][i];
            ck_assert_int_eq(pthread_create(&t[r][i].thread, NULL, wild_sender, &t[r][i]), 0);
            ck_assert_int_eq(pthread_create(&t[r + 2][i].thread, NULL, wild_receiver, &t[r + 2][i]), 0);
        }
    }
    for (int i = 0; i < 4 * threads; i++) {
        pthread_join(t[i % 4][i / 4].thread, NULL);
    }
    close_ranks();
}
END_TEST

#include "match_cells.h"
#include "match_death.h"
#include "match_entries.h"
#include "match_flow.h"
#include "match_split.h"

/* ---- Single sentences ---- */

START_TEST(isend_never_waits_for_room)
{
    enum { N = 5000 };
    open_ranks(2, 1, false, true);
    static struct hl_req *req[N];
    for (int i = 0; i < N; i++) { /* the receiver does nothing meanwhile */
        struct hl_send s = sending(0, 1, 1, &i, sizeof(i));
        hl_prog_unregister(hl_matcher_poll, &ranks[1]);
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[i]), 0);
        ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[1], 1), 0);
        if (req[i] != hl_req_completed()) {
            static int later[N]; /* what has not left needs its buffer */
            hl_match_cancel_now(&ranks[0], req[i]);
            ck_assert(hl_req_is_done(req[i]));
            hl_req_finish(req[i], MPI_STATUS_IGNORE);
            later[i] = i;
            s.buf = &later[i];
            ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[i]), 0);
        }
    }
    ck_assert(!hl_req_is_done(req[N - 1]));
    for (int i = 0; i < N; i++) {
        int v = -1;
        struct hl_recv r = receiving(0, 1, &v, sizeof(v));
        ck_assert_int_eq(hl_match_recv(&ranks[1], &r, MPI_STATUS_IGNORE), 0);
        ck_assert_int_eq(v, i);
    }
    wait_all(N, req);
    for (int i = 0; i < N; i++) {
        hl_req_finish(req[i], MPI_STATUS_IGNORE);
    }
    close_ranks();
}
END_TEST

START_TEST(a_flood_of_unexpected_messages_is_kept)
{
    enum { N = 100000 };
    open_ranks(1, _i == 0 ? 1 : 4, false, true);
    int v = 42;
    for (int i = 0; i < N; i++) {
        struct hl_send s = sending(i % 7, 0, i % 3, NULL, 0);
        ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    }
    struct hl_send s = sending(9, 0, 9, &v, sizeof(v));
    ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    v = 0;
    struct hl_recv r = receiving(9, 9, &v, sizeof(v));
    ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(v, 42);
    for (int i = 0; i < N; i++) {
        r = receiving(MPI_ANY_SOURCE, MPI_ANY_TAG, NULL, 0);
        ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), 0);
    }
    close_ranks();
}
END_TEST

/* Tags are taken up in the other order than they came: in time only if none passes all others. */
START_TEST(tags_do_not_stand_in_each_others_way)
{
    enum { N = 300000 };
    open_ranks(1, _i % 2 == 0 ? 1 : 4, _i != 0, true);
    struct hl_req **req = malloc(N * sizeof(*req));
    for (int i = 0; i < N; i++) {
        struct hl_recv r = receiving(1, i, NULL, 0);
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &req[i]), 0);
    }
    for (int i = 2 * N - 1; i >= 0; i--) { /* the first N for nobody yet, the others for who waits */
        struct hl_send s = sending(1, 0, i, NULL, 0);
        ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    }
    for (int i = 0; i < N; i++) {
        hl_req_wait(req[i]);
        hl_req_finish(req[i], MPI_STATUS_IGNORE);
        struct hl_recv r = receiving(1, N + i, NULL, 0);
        ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), 0);
    }
    free(req);
    close_ranks();
}
END_TEST

START_TEST(layouts_meet_layouts)
{
    open_ranks(1, 1, false, _i % 2 == 0);
    struct hl_type *column;
    ck_assert_int_eq(hl_type_make_vector(1000, 8, 24, false, hl_type_of(MPI_BYTE), &column), 0);
    ck_assert_int_eq(hl_type_commit(column), 0);
    const int64_t counts[] = {1, 2, 40};
    for (size_t k = 0; k < HL_COUNT_OF(counts); k++) {
        int64_t n = counts[k], extent = 1000 * 24;
        unsigned char *out = malloc((size_t)(n * extent)), *in = calloc(1, (size_t)(n * extent));
        fill_message(out, n * extent, 3, 3);
        struct hl_send s = sending(0, 0, 1, out, n);
        s.type = column;
        struct hl_recv r = receiving(0, 1, in, n);
        r.type = column;
        struct hl_req *req[2];
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &req[0]), 0);
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[1]), 0);
        wait_all(2, req);
        ck_assert_int_eq(hl_req_finish(req[0], MPI_STATUS_IGNORE), 0);
        ck_assert_int_eq(hl_req_finish(req[1], MPI_STATUS_IGNORE), 0);
        int64_t wide = hl_type_extent(column);
        for (int64_t e = 0; e < n; e++) {
            for (int64_t b = 0; b < 1000; b++) {
                int64_t at = e * wide + b * 24;
                ck_assert_int_eq(memcmp(in + at, out + at, 8), 0);
                ck_assert(b == 999 || in[at + 8] == 0);
            }
        }
        free(out);
        free(in);
    }
    hl_type_free(column);
    close_ranks();
}
END_TEST

static void *post_and_exit(void *arg)
{
    static int got[64];
    struct hl_req **req = arg;
    for (int i = 0; i < 64; i++) {
        struct hl_recv r = receiving(0, i, &got[i], sizeof(int));
        ck_assert_int_eq(hl_match_irecv(&ranks[1], &r, &req[i]), 0);
    }
    return NULL;
}

START_TEST(requests_outlive_the_thread_that_posted)
{
    open_ranks(2, 2, true, true);
    struct hl_req *req[64];
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, post_and_exit, req), 0);
    pthread_join(t, NULL);
    for (int i = 0; i < 64; i += 2) {
        hl_req_orphan(req[i]);
    }
    for (int i = 0; i < 64; i++) {
        struct hl_send s = sending(0, 1, i, &i, sizeof(i));
        ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    }
    for (int i = 1; i < 64; i += 2) {
        hl_req_wait(req[i]);
        ck_assert_int_eq(hl_req_finish(req[i], MPI_STATUS_IGNORE), 0);
    }
    close_ranks();
}
END_TEST

#include "match_probe.h"

START_TEST(ranks_that_nobody_spoke_to_cost_nothing)
{
    enum { MANY = 100000 };
    static const int zero;
    static struct hl_matcher m;
    struct hl_matcher_setup s = {.world_size = MANY, .node_size = 1, .node_world = &zero, .inboxes = 1};
    s.board = aligned_alloc(4096, hl_match_board_bytes(1));
    memset(s.board, 0, hl_match_board_bytes(1));
    double before = unit_resident();
    ck_assert_int_eq(hl_matcher_open(&m, &s), 0);
    double each = (unit_resident() - before) / MANY;
    printf("%d ranks: %.1f bytes each\n", MANY, each);
    ck_assert(SANITIZED || each <= 4);
    hl_matcher_close(&m);
    free(s.board);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("match");
    TCase *c = tcase_create("match");
    tcase_set_timeout(c, 100);
    tcase_add_loop_test(c, matching_follows_the_model, 0, 6);
    tcase_add_loop_test(c, messages_arrive_whole_and_in_order, 0, 12);
    tcase_add_loop_test(c, any_source_takes_each_message_once, 0, 6);
    tcase_add_test(c, cells_of_a_message_lie_one_behind_the_other);
    tcase_add_test(c, isend_never_waits_for_room);
    tcase_add_loop_test(c, a_flood_of_unexpected_messages_is_kept, 0, 2);
    tcase_add_loop_test(c, tags_do_not_stand_in_each_others_way, 0, 2);
    tcase_add_loop_test(c, a_flood_takes_bounded_memory, 0, 4);
    tcase_add_test(c, entries_of_a_flood_are_given_back);
    tcase_add_test(c, entries_of_a_flood_are_as_long_as_they_must);
    tcase_add_test(c, who_sends_little_is_not_throttled);
    tcase_add_loop_test(c, what_waits_for_a_dead_rank_is_told, 0, 2);
    tcase_add_test(c, what_a_dead_rank_had_sent_is_received);
    tcase_add_test(c, what_a_dead_rank_has_claimed_is_passed_over);
    tcase_add_test(c, who_waits_for_a_dead_rank_is_told_while_others_send);
    tcase_add_test(c, what_a_dead_rank_had_sent_behind_a_slow_one_is_received);
    tcase_add_test(c, the_kernel_copies_nothing_of_a_dead_rank);
    tcase_add_test(c, what_a_ports_owner_may_handle_is_left_to_him);
    tcase_add_test(c, an_end_does_not_wait_for_messages_to_the_dead);
    tcase_add_test(c, a_ports_message_that_is_refused_is_kept_or_told);
    tcase_add_loop_test(c, senders_that_wait_help_to_copy, 0, 2);
    tcase_add_test(c, receivers_do_without_senders_and_these_come_late);
    tcase_add_test(c, a_sender_that_dies_while_it_copies_is_named);
    tcase_add_loop_test(c, long_messages_are_cut_and_say_so, 0, 2);
    tcase_add_loop_test(c, layouts_meet_layouts, 0, 2);
    tcase_add_test(c, requests_outlive_the_thread_that_posted);
    tcase_add_loop_test(c, matched_probe_waits_for_its_message, 0, 2);
    tcase_add_test(c, matched_probe_takes_the_message_itself);
    tcase_add_test(c, ranks_that_nobody_spoke_to_cost_nothing);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
