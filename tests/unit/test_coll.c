/* Every algorithm gives every rank what the standard says, whatever the number of ranks, the order in which
 * messages arrive, the datatypes, the counts and the root; and touches nothing else. All ranks run in this
 * process over a model of matching (coll_sim.h). */
#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "coll_cases.h"
#include "coll_cells.h"
#include "err.h"
#include "shape.h"
#include "unit.h"
#include "util.h"

/* ---- Reductions ---- */

struct affine {
    uint32_t a, b;
};

/* Composition of x -> a x + b: associative, and the order of operands matters. */
static struct affine compose(struct affine f, struct affine g)
{
    return (struct affine){g.a * f.a, g.a * f.b + g.b};
}

static void compose_all(char *in, char *inout, int64_t len, MPI_Datatype handle)
{
    struct hl_type *t = hl_type_of(handle);

    for (int64_t i = 0; i < len; i++) {
        struct affine f, g;
        int64_t at = i * hl_type_extent(t);
        hl_type_pack(t, 1, in + at, 0, &f, sizeof f);
        hl_type_pack(t, 1, inout + at, 0, &g, sizeof g);
        g = compose(f, g);
        hl_type_unpack(t, 1, inout + at, 0, &g, sizeof g);
    }
}

static void compose_small(void *in, void *inout, int *len, MPI_Datatype *type)
{
    compose_all(in, inout, *len, *type);
}

static void compose_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    compose_all(in, inout, *len, *type);
}

static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    for (int i = 0; i < *len; i++) {
        ((uint32_t *)inout)[i] *= ((uint32_t *)in)[i];
    }
}

static struct hl_op_user *ops[3];

/* What is reduced: one element's packed bytes, and left = left op right over them. */
enum reduction { COMPOSE, COMPOSE_LARGE, MULTIPLY, SUM_I32, SUM_F64, MINLOC, REDUCTIONS };
static const int element_bytes[REDUCTIONS] = {8, 8, 4, 4, 8, 12};

static MPI_Op op_of(enum reduction r)
{
    return r == SUM_I32 || r == SUM_F64 ? MPI_SUM : r == MINLOC ? MPI_MINLOC : (MPI_Op)(void *)ops[r];
}

static struct hl_type *type_for(enum reduction r)
{
    switch (r) {
    case SUM_F64:
        return hl_type_of(MPI_DOUBLE);
    case MINLOC:
        return hl_type_of(MPI_DOUBLE_INT);
    case COMPOSE:
    case COMPOSE_LARGE:
        return types[8][rand() % TYPES];
    default:
        return hl_type_of(MPI_INT);
    }
}

static void random_element(enum reduction r, char *out)
{
    int32_t index = rand() % 100;
    uint32_t words[2] = {(uint32_t)rand() | 1, (uint32_t)rand()};
    double value = rand() % 1000;

    if (r == SUM_F64 || r == MINLOC) {
        value = r == MINLOC ? (int)value % 4 : value;
        memcpy(out, &value, 8);
        memcpy(out + 8, &index, (size_t)element_bytes[r] - 8);
    } else {
        memcpy(out, words, (size_t)element_bytes[r]);
    }
}

static void reduce_element(enum reduction r, char *left, const char *right)
{
    struct affine f, g;
    uint32_t a, b;
    double x, y;
    int32_t i, k;

    if (r == COMPOSE || r == COMPOSE_LARGE) {
        memcpy(&f, left, 8);
        memcpy(&g, right, 8);
        f = compose(f, g);
        memcpy(left, &f, 8);
        return;
    }
    if (r == MULTIPLY || r == SUM_I32) {
        memcpy(&a, left, 4);
        memcpy(&b, right, 4);
        a = r == MULTIPLY ? a * b : a + b;
        memcpy(left, &a, 4);
        return;
    }
    memcpy(&x, left, 8);
    memcpy(&y, right, 8);
    if (r == SUM_F64) {
        x += y;
        memcpy(left, &x, 8);
        return;
    }
    memcpy(&i, left + 8, 4);
    memcpy(&k, right + 8, 4);
    if (y < x || (y == x && k < i)) {
        memcpy(left, right, 12);
    }
}

enum { LONGEST = 200 };
static char operands[SIM_RANKS][LONGEST * 12], prefix[SIM_RANKS + 1][LONGEST * 12];

/* prefix[i] = operands 0 .. i combined. */
static void make_operands(enum reduction r, int64_t count)
{
    int unit = element_bytes[r];

    for (int i = 0; i < sim_size; i++) {
        for (int64_t e = 0; e < count; e++) {
            random_element(r, operands[i] + e * unit);
        }
        memcpy(prefix[i], i == 0 ? operands[0] : prefix[i - 1], (size_t)(count * unit));
        for (int64_t e = 0; e < count && i > 0; e++) {
            reduce_element(r, prefix[i] + e * unit, operands[i] + e * unit);
        }
    }
}

/* The result that rank i must see (elements from *from on, *n of them), or NULL for none. */
static const char *result_of(const struct hl_coll_call *c, int64_t *from, int64_t *n, int64_t total)
{
    int i = c->comm->rank;

    *from = 0;
    *n = total;
    switch (c->what) {
    case HL_COLL_REDUCE:
        return i == c->root ? prefix[sim_size - 1] : NULL;
    case HL_COLL_SCAN:
        return prefix[i];
    case HL_COLL_EXSCAN:
        return i > 0 ? prefix[i - 1] : NULL;
    case HL_COLL_REDUCE_SCATTER:
        for (int k = 0; k < i; k++) {
            *from += c->recv.counts != NULL ? c->recv.counts[k] : c->recv.count;
        }
        *n = c->recv.counts != NULL ? c->recv.counts[i] : c->recv.count;
        return prefix[sim_size - 1];
    default:
        return prefix[sim_size - 1];
    }
}

static void begin_reduction(const struct hl_coll_row *row, int i, enum reduction r, int64_t total,
                            bool in_place)
{
    struct hl_coll_call *c = &calls[i];
    int64_t from, n;

    c->op = op_of(r);
    c->recv.type = type_for(r);
    send_images[i] = image_of(c->recv.type, 0, total);
    recv_images[i] = image_of(c->recv.type, 0, total);
    c->send.buf = send_images[i].buf;
    c->recv.buf = recv_images[i].buf;
    fill(&send_images[i], hl_data(c->send.buf, total, c->recv.type), operands[i], true);
    if (in_place && (row->what != HL_COLL_REDUCE || i == c->root)) {
        fill(&recv_images[i], hl_data(c->recv.buf, total, c->recv.type), operands[i], true);
        c->send.buf = MPI_IN_PLACE;
    }
    const char *result = result_of(c, &from, &n, total);
    if (result != NULL) {
        fill(&recv_images[i], hl_data(c->recv.buf, n, c->recv.type), result + from * element_bytes[r], false);
    }
}

static void run_reduction(const struct hl_coll_row *row)
{
    enum reduction r = rand() % REDUCTIONS;
    int64_t counts[SIM_RANKS], total = rand() % 4 == 0 ? rand() % 3 : rand() % LONGEST;
    bool spread = row->what == HL_COLL_REDUCE_SCATTER, equal = rand() % 2, in_place = rand() % 2;
    int root = rand() % sim_size;

    if ((row->needs & HL_NEED_PREDEFINED) && r < SUM_I32) {
        r = SUM_F64;
    }
    if ((row->needs & HL_NEED_MANY) && total < sim_size) {
        total = sim_size;
    }
    if (spread) {
        total = 0;
        for (int i = 0; i < sim_size; i++) {
            counts[i] = equal && i > 0 ? counts[0] : rand() % (LONGEST / sim_size);
            total += counts[i];
        }
    }
    make_operands(r, total);
    for (int i = 0; i < sim_size; i++) {
        begin_call(row, i, root);
        calls[i].recv.count = spread ? counts[0] : total;
        calls[i].recv.counts = spread && !equal ? counts : NULL;
        begin_reduction(row, i, r, total, in_place);
    }
    sim_run(row, calls);
    for (int i = 0; i < sim_size && r == MINLOC; i++) {
        for (int64_t e = 0; e < total; e++) { /* padding may be written */
            memcpy(recv_images[i].want + 32 + 16 * e + 12, recv_images[i].mem + 32 + 16 * e + 12, 4);
        }
    }
    check_all(row);
}

/* ---- The tests ---- */

static void run_row(const struct hl_coll_row *row)
{
    switch (row->what) {
    case HL_COLL_BARRIER:
        for (int i = 0; i < sim_size; i++) {
            begin_call(row, i, 0);
        }
        sim_run(row, calls);
        break;
    case HL_COLL_BCAST:
        run_bcast(row);
        break;
    case HL_COLL_GATHER:
    case HL_COLL_GATHERV:
        run_gather(row, row->what == HL_COLL_GATHERV, false);
        break;
    case HL_COLL_ALLGATHER:
    case HL_COLL_ALLGATHERV:
        run_gather(row, row->what == HL_COLL_ALLGATHERV, true);
        break;
    case HL_COLL_SCATTER:
    case HL_COLL_SCATTERV:
        run_scatter(row, row->what == HL_COLL_SCATTERV);
        break;
    case HL_COLL_ALLTOALL:
    case HL_COLL_ALLTOALLV:
        run_alltoall(row, row->what == HL_COLL_ALLTOALLV);
        break;
    default:
        run_reduction(row);
        break;
    }
}

static void start(void)
{
    unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srand(seed);
    make_types();
    ck_assert_int_eq(hl_op_user_make(compose_small, NULL, false, &ops[COMPOSE]), 0);
    ck_assert_int_eq(hl_op_user_make(NULL, compose_large, false, &ops[COMPOSE_LARGE]), 0);
    ck_assert_int_eq(hl_op_user_make(multiply, NULL, true, &ops[MULTIPLY]), 0);
}

static void stop(void)
{
    free_types();
    for (size_t i = 0; i < HL_COUNT_OF(ops); i++) {
        hl_op_user_free(ops[i]);
    }
}

START_TEST(an_algorithm_is_right_for_any_ranks)
{
    const struct hl_coll_row *row = &hl_coll_rows[_i];

    for (int size = 1; size <= 17; size++) {
        for (int round = 0; round < 25; round++) {
            sim_open(size);
            run_row(row);
        }
    }
    sim_open(SIM_RANKS); /* more messages than the window lets fly */
    run_row(row);
}
END_TEST

/* Sums of floating-point numbers depend on the order, which must be the same for all. */
START_TEST(all_ranks_get_the_same_bits)
{
    static double in[SIM_RANKS][64], out[SIM_RANKS][64];

    for (int k = 0; k < hl_coll_row_count; k++) {
        if (hl_coll_rows[k].what != HL_COLL_ALLREDUCE) {
            continue;
        }
        for (int size = 2; size <= 17; size++) {
            sim_open(size);
            for (int i = 0; i < size; i++) {
                for (int e = 0; e < 64; e++) {
                    in[i][e] = rand() % 7 == 0 ? 0.0 / (e - 5.0) : rand() / 1e3 - rand() * 1e6;
                }
                begin_call(&hl_coll_rows[k], i, 0);
                calls[i].op = size % 2 ? MPI_SUM : MPI_MAX;
                calls[i].send.buf = in[i];
                calls[i].recv =
                    (struct hl_coll_side){.buf = out[i], .count = 64, .type = hl_type_of(MPI_DOUBLE)};
            }
            sim_run(&hl_coll_rows[k], calls);
            for (int i = 1; i < size; i++) {
                ck_assert_mem_eq(out[i], out[0], sizeof out[0]);
            }
        }
    }
}
END_TEST

START_TEST(every_operation_has_an_algorithm_of_last_resort)
{
    struct hl_coll_facts worst = {.bytes = UINT64_MAX, .size = 1 << 24};
    struct hl_coll_facts small = {.bytes = 8, .size = 4, .count = 1, .predefined = true};

    for (int what = 0; what < HL_COLL_NEIGHBOR_ALLGATHER; what++) { /* these have one */
        ck_assert_int_eq(hl_coll_choose(what, &worst)->what, what);
    }
    ck_assert_str_eq(hl_coll_choose(HL_COLL_ALLTOALL, &small)->name, "bruck");
    ck_assert_str_eq(hl_coll_choose(HL_COLL_ALLREDUCE, &small)->name, "doubling");
    small = (struct hl_coll_facts){.bytes = 1 << 20, .size = 4, .count = 1 << 17, .predefined = true};
    ck_assert_str_eq(hl_coll_choose(HL_COLL_ALLREDUCE, &small)->name, "rabenseifner");
    small.predefined = false;
    ck_assert_str_eq(hl_coll_choose(HL_COLL_ALLREDUCE, &small)->name, "doubling");
    ck_assert_str_eq(hl_coll_choose(HL_COLL_BCAST, &small)->name, "scatter+ring");
}
END_TEST

START_TEST(wrong_operations_and_counts_are_refused)
{
    struct hl_sched s;
    struct hl_coll_call c = {.what = HL_COLL_ALLREDUCE, .comm = &sim_comms[0], .op = MPI_BAND};

    sim_open(1);
    c.recv = (struct hl_coll_side){.buf = &s, .count = 1, .type = hl_type_of(MPI_DOUBLE)};
    hl_sched_init(&s, &sim_net, &sim_comms[0], HL_PLANE_COLL);
    ck_assert_int_eq(hl_coll_build(&s, &c), HL_ERR_OP);
    c.op = MPI_REPLACE;
    ck_assert_int_eq(hl_coll_build(&s, &c), HL_ERR_OP);
    c.op = (MPI_Op)(void *)&s;
    ck_assert_int_eq(hl_coll_build(&s, &c), HL_ERR_OP);
    c.op = MPI_SUM;
    c.recv.type = types[8][1];
    ck_assert_int_eq(hl_coll_build(&s, &c), HL_ERR_OP);
    c.recv.type = hl_type_of(MPI_DOUBLE);
    c.recv.count = INT64_MAX / 4;
    ck_assert_int_eq(hl_coll_build(&s, &c), HL_ERR_COUNT);
    hl_sched_fini(&s);
}
END_TEST

/* A persistent one: what it uses is freed, the data changes from run to run. */
START_TEST(a_held_schedule_runs_again)
{
    static uint32_t in[SIM_RANKS][2], out[SIM_RANKS][2];
    struct affine want;

    for (int k = 0; k < hl_coll_row_count; k++) {
        const struct hl_coll_row *row = &hl_coll_rows[k];
        struct hl_type *pair = NULL;
        struct hl_op_user *op = NULL;
        if (row->what != HL_COLL_SCAN && (row->what != HL_COLL_ALLREDUCE || row->needs != 0)) {
            continue;
        }
        sim_open(2 + rand() % 9);
        ck_assert_int_eq(hl_type_make_contiguous(2, hl_type_of(MPI_UINT32_T), &pair), 0);
        ck_assert_int_eq(hl_type_commit(pair), 0);
        ck_assert_int_eq(hl_op_user_make(compose_small, NULL, false, &op), 0);
        for (int i = 0; i < sim_size; i++) {
            begin_call(row, i, 0);
            calls[i].op = (MPI_Op)(void *)op;
            calls[i].send.buf = in[i];
            calls[i].recv = (struct hl_coll_side){.buf = out[i], .count = 1, .type = pair};
        }
        sim_build(row, calls);
        for (int i = 0; i < sim_size; i++) {
            hl_sched_hold(&sim_scheds[i]);
        }
        hl_type_free(pair);
        hl_op_user_free(op);
        for (int run = 0; run < 3; run++) {
            for (int i = 0; i < sim_size; i++) {
                in[i][0] = (uint32_t)rand() | 1;
                in[i][1] = (uint32_t)rand();
                hl_sched_rewind(&sim_scheds[i]);
            }
            sim_go(row);
            want = (struct affine){in[0][0], in[0][1]};
            for (int i = 1; i < sim_size; i++) {
                want = compose(want, (struct affine){in[i][0], in[i][1]});
            }
            ck_assert_mem_eq(out[sim_size - 1], &want, sizeof want);
        }
        ck_assert_uint_eq(pair->refs.v > 0, 1);
        for (int i = 0; i < sim_size; i++) {
            hl_sched_fini(&sim_scheds[i]);
        }
        ck_assert_uint_eq(pair->refs.v, 0);
        ck_assert_uint_eq(op->refs.v, 0);
    }
}
END_TEST

/* More neighbours than messages fly elsewhere, each of them several times and in an order of its own. */
START_TEST(neighbours_meet_edge_by_edge)
{
    static const struct hl_coll_row neighbours = {HL_COLL_NEIGHBOR_ALLTOALL, "neighbours", UINT64_MAX, 0,
                                                  hl_build_neighbors};
    static struct hl_edge edges[SIM_RANKS];
    static int in[7][SIM_RANKS], out[7][SIM_RANKS], seen[7][7];

    for (int round = 0; round < 200; round++) {
        sim_open(1 + rand() % 7);
        for (int i = 0; i < sim_size; i++) {
            int n = 0, times = SIM_RANKS / 2 / sim_size, first = rand() % sim_size;
            for (int k = 0; k < times * sim_size; k++) {
                int peer = (first + k) % sim_size;
                out[i][k] = (i * 7 + peer) * SIM_RANKS + k / sim_size;
                edges[n++] = (struct hl_edge){peer, 1, 0};
            }
            for (int k = 0; k < times * sim_size; k++) {
                edges[n++] = (struct hl_edge){(first + 2 * sim_size - k % sim_size) % sim_size, 1, 1};
            }
            ck_assert_int_eq(hl_shape_make_dist(edges, n, false, &sim_comms[i].shape), 0);
            struct hl_coll_side side = {.count = 1, .type = hl_type_of(MPI_INT)};
            calls[i] = (struct hl_coll_call){
                .what = HL_COLL_NEIGHBOR_ALLTOALL, .comm = &sim_comms[i], .send = side, .recv = side};
            calls[i].send.buf = out[i];
            calls[i].recv.buf = in[i];
        }
        sim_run(&neighbours, calls);
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < sim_size; i++) {
            const struct hl_shape *shape = sim_comms[i].shape;
            for (int k = 0; k < shape->n_in; k++) {
                int from = shape->in[k];
                NEED(in[i][k] == (from * 7 + i) * SIM_RANKS + seen[from][i], "edge %d of %d", k, i);
                seen[from][i]++;
            }
            hl_shape_unref(sim_comms[i].shape);
            sim_comms[i].shape = NULL;
        }
    }
}
END_TEST

static Suite *coll_suite(void)
{
    Suite *s = suite_create("coll");
    TCase *t = tcase_create("schedules");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, start, stop);
    tcase_add_loop_test(t, an_algorithm_is_right_for_any_ranks, 0, hl_coll_row_count);
    tcase_add_test(t, all_ranks_get_the_same_bits);
    tcase_add_test(t, every_operation_has_an_algorithm_of_last_resort);
    tcase_add_test(t, a_held_schedule_runs_again);
    tcase_add_test(t, neighbours_meet_edge_by_edge);
    tcase_add_test(t, wrong_operations_and_counts_are_refused);
    tcase_add_test(t, a_cell_has_no_more_bytes_than_it_can_hold);
    tcase_add_test(t, a_table_of_blocks_names_bytes_of_its_cell);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(coll_suite)
