/* Groups are sets of world ranks however they are kept; communicators have contexts of their own and live as
 * long as somebody uses them. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "err.h"
#include "errh.h"
#include "info.h"
#include "job.h"
#include "shape.h"
#include "unit.h"

#include "comm_infos.h"

/* These tests play rank 3 of 8. */
static void be_rank_3_of_8(void)
{
    hl_job.rank = 3;
    hl_job.size = 8;
}

static struct hl_group *group_of(int n, const int *world)
{
    struct hl_group *g = NULL;

    ck_assert_int_eq(hl_group_make(world, n, &g), 0);
    return g;
}

#define GROUP(...) group_of(sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

static void check_members(struct hl_group *g, int n, const int *world)
{
    ck_assert_int_eq(g->size, n);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(hl_group_world(g, i), world[i]);
        ck_assert_int_eq(hl_group_rank(g, world[i]), i);
    }
    ck_assert_int_eq(g->rank, hl_group_rank(g, 3));
    ck_assert_ptr_eq(hl_group_of(g->handle), g);
}

#define MEMBERS(g, ...) check_members(g, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

START_TEST(progressions_need_no_table)
{
    struct hl_group *up = GROUP(1, 3, 5, 7), *down = GROUP(6, 5, 4, 3), *one = GROUP(3),
                    *odd = GROUP(4, 0, 7, 3);

    ck_assert_ptr_null(up->world);
    ck_assert_ptr_null(down->world);
    ck_assert_ptr_nonnull(odd->world);
    MEMBERS(up, 1, 3, 5, 7);
    MEMBERS(down, 6, 5, 4, 3);
    MEMBERS(one, 3);
    MEMBERS(odd, 4, 0, 7, 3);
    ck_assert_int_eq(hl_group_rank(up, 2), MPI_UNDEFINED);
    ck_assert_int_eq(hl_group_rank(up, 9), MPI_UNDEFINED);
    ck_assert_int_eq(hl_group_rank(up, 0), MPI_UNDEFINED);
    ck_assert_int_eq(hl_group_rank(down, 7), MPI_UNDEFINED);
    ck_assert_int_eq(hl_group_rank(odd, 5), MPI_UNDEFINED);
    hl_group_unref(up);
    hl_group_unref(down);
    hl_group_unref(one);
    hl_group_unref(odd);
}
END_TEST

static void answer_nothing(void *object, int *code, ...)
{
    (void)object, (void)code;
}

/* Else a program that makes a communicator and a handler again and again fills its memory. */
START_TEST(freed_communicators_share_handlers_that_do_the_same)
{
    for (uint64_t i = 0; i < 100; i++) {
        struct hl_comm c = {.ctx = 8 * (1000 + i)};
        ck_assert_int_eq(hl_errh_make(HL_ERRH_COMM, answer_nothing, &c.errh), 0);
        hl_errh_keep(&c);
        ck_assert_uint_eq(hl_a32_load_relaxed(&c.errh->refs), i == 0 ? 2 : 1);
        hl_errh_unref(c.errh);
    }
    hl_errh_forget_freed();
}
END_TEST

START_TEST(nobody_left_is_the_empty_group)
{
    struct hl_group *g = GROUP(1, 2), *none = NULL;
    int all[] = {0, 1};

    ck_assert_int_eq(hl_group_choose(g, 2, all, false, &none), 0);
    ck_assert_ptr_eq(none, &hl_group_empty);
    ck_assert_ptr_eq(hl_group_of(MPI_GROUP_EMPTY), none);
    ck_assert_ptr_null(hl_group_of(MPI_GROUP_NULL));
    ck_assert_int_eq(hl_group_choose(g, 0, NULL, true, &none), 0);
    ck_assert_ptr_eq(none, &hl_group_empty);
    ck_assert_int_eq(hl_group_rank(none, 0), MPI_UNDEFINED);
    hl_group_unref(none);
    hl_group_unref(g);
    ck_assert_ptr_null(hl_group_of((MPI_Group)(void *)g));
}
END_TEST

START_TEST(each_error_of_the_tool_interface_has_words)
{
    char last[MPI_MAX_ERROR_STRING] = "", text[MPI_MAX_ERROR_STRING];

    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; code++) {
        ck_assert_int_eq(hl_errh_string(code, text), 0);
        ck_assert_str_ne(text, last);
        memcpy(last, text, sizeof last);
    }
    ck_assert_str_eq(text, "MPI_T: the counter cannot be read and written in one step");
    ck_assert_int_eq(hl_errh_string(MPI_T_ERR_INVALID_INDEX, text), 0);
    ck_assert_str_eq(text, "MPI_T: the index is out of range");
}
END_TEST

START_TEST(an_error_without_words_does_not_get_those_of_the_last_one)
{
    struct hl_errh *slot = hl_errh_of(MPI_ERRORS_RETURN);
    struct hl_errh_site site = {&slot, HL_ERRH_COMM, NULL, "a test"};
    char text[MPI_MAX_ERROR_STRING];

    ck_assert_int_eq(hl_errh_raise(&site, "MPI_First", hl_err_say(HL_ERR_COUNT, "count -3")), MPI_ERR_COUNT);
    ck_assert_int_eq(hl_errh_string(MPI_ERR_COUNT, text), 0);
    ck_assert_str_eq(text, "invalid count: MPI_First by rank 3 on a test: count -3");
    ck_assert_int_eq(hl_errh_raise(&site, "MPI_Second", HL_ERR_COUNT), MPI_ERR_COUNT);
    ck_assert_int_eq(hl_errh_string(MPI_ERR_COUNT, text), 0);
    ck_assert_str_eq(text, "invalid count: MPI_Second by rank 3 on a test: invalid count");
}
END_TEST

START_TEST(members_are_chosen_by_rank)
{
    struct hl_group *g = GROUP(7, 3, 1, 0, 5), *made = NULL;

    ck_assert_int_eq(hl_group_choose(g, 3, (int[]){4, 0, 1}, true, &made), 0);
    MEMBERS(made, 5, 7, 3);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_choose(g, 2, (int[]){1, 4}, false, &made), 0);
    MEMBERS(made, 7, 1, 0);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_choose_ranges(g, 2, (const int[][3]){{4, 0, -2}, {1, 1, 5}}, true, &made), 0);
    MEMBERS(made, 5, 1, 7, 3);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_choose_ranges(g, 1, (const int[][3]){{0, 3, 2}}, false, &made), 0);
    MEMBERS(made, 3, 0, 5);
    hl_group_unref(made);
    hl_group_unref(g);
}
END_TEST

START_TEST(wrong_ranks_are_refused)
{
    struct hl_group *g = GROUP(7, 3, 1, 0, 5), *made = NULL;

    ck_assert_int_eq(hl_group_choose(g, 1, (int[]){5}, true, &made), HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose(g, 1, (int[]){-1}, true, &made), HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose(g, 2, (int[]){2, 2}, true, &made), HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose(g, 2, (int[]){2, 2}, false, &made), HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose(g, -1, NULL, true, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_group_choose_ranges(g, 1, (const int[][3]){{0, 1, 0}}, true, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_group_choose_ranges(g, 1, (const int[][3]){{0, 5, 1}}, true, &made), HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose_ranges(g, 1, (const int[][3]){{2, 0, 1}}, true, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_group_choose_ranges(g, 2, (const int[][3]){{0, 2, 1}, {2, 2, 1}}, true, &made),
                     HL_ERR_RANK);
    ck_assert_int_eq(hl_group_choose_ranges(g, 1, (const int[][3]){{-1, 2, 1}}, false, &made), HL_ERR_RANK);
    hl_group_unref(g);
}
END_TEST

START_TEST(sets_combine_in_the_first_ones_order)
{
    struct hl_group *a = GROUP(4, 0, 3, 1), *b = GROUP(1, 2, 3), *made = NULL;

    ck_assert_int_eq(hl_group_union(a, b, &made), 0);
    MEMBERS(made, 4, 0, 3, 1, 2);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_intersection(a, b, &made), 0);
    MEMBERS(made, 3, 1);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_difference(a, b, &made), 0);
    MEMBERS(made, 4, 0);
    hl_group_unref(made);
    ck_assert_int_eq(hl_group_difference(a, a, &made), 0);
    ck_assert_ptr_eq(made, &hl_group_empty);
    hl_group_unref(a);
    hl_group_unref(b);
}
END_TEST

START_TEST(groups_compare_and_translate)
{
    struct hl_group *a = GROUP(0, 1, 2), *b = GROUP(2, 1, 0), *c = GROUP(0, 1, 3), *d = GROUP(0, 1, 2);
    int out[4];

    ck_assert_int_eq(hl_group_compare(a, d), MPI_IDENT);
    ck_assert_int_eq(hl_group_compare(a, b), MPI_SIMILAR);
    ck_assert_int_eq(hl_group_compare(a, c), MPI_UNEQUAL);
    ck_assert_int_eq(hl_group_translate(a, 4, (int[]){2, MPI_PROC_NULL, 0, 2}, b, out), 0);
    ck_assert_int_eq(out[0], 0);
    ck_assert_int_eq(out[1], MPI_PROC_NULL);
    ck_assert_int_eq(out[2], 2);
    ck_assert_int_eq(hl_group_translate(a, 1, (int[]){2}, c, out), 0);
    ck_assert_int_eq(out[0], MPI_UNDEFINED);
    ck_assert_int_eq(hl_group_translate(a, 1, (int[]){3}, c, out), HL_ERR_RANK);
    hl_group_unref(a);
    hl_group_unref(b);
    hl_group_unref(c);
    hl_group_unref(d);
}
END_TEST

/* Every operation against marks in a table, on random groups. */
START_TEST(random_groups_agree_with_tables)
{
    unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srand(seed);
    for (int round = 0; round < 200; round++) {
        int world[40], n = rand() % 40, picked[40], k = 0;
        struct hl_group *g, *part, *rest, *all;
        for (int i = 0; i < n; i++) {
            int at = rand() % (i + 1);
            world[i] = world[at];
            world[at] = i;
        }
        g = group_of(n, world);
        check_members(g, n, world);
        for (int i = 0; i < n; i++) {
            if (rand() % 2) {
                picked[k++] = i;
            }
        }
        ck_assert_int_eq(hl_group_choose(g, k, picked, true, &part), 0);
        ck_assert_int_eq(hl_group_choose(g, k, picked, false, &rest), 0);
        ck_assert_int_eq(part->size + rest->size, n);
        ck_assert_int_eq(hl_group_union(part, rest, &all), 0);
        ck_assert_int_ne(hl_group_compare(all, g), MPI_UNEQUAL);
        hl_group_unref(all);
        ck_assert_int_eq(hl_group_intersection(part, rest, &all), 0);
        ck_assert_int_eq(all->size, 0);
        ck_assert_int_eq(hl_group_difference(g, part, &all), 0);
        ck_assert_int_eq(hl_group_compare(all, rest), MPI_IDENT);
        hl_group_unref(all);
        hl_group_unref(part);
        hl_group_unref(rest);
        hl_group_unref(g);
    }
}
END_TEST

START_TEST(predefined_ones_live_between_open_and_close)
{
    char name[MPI_MAX_OBJECT_NAME];

    ck_assert_ptr_null(hl_comm_of(MPI_COMM_WORLD));
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(hl_comm_open(), 0);
        struct hl_comm *world = hl_comm_of(MPI_COMM_WORLD), *self = hl_comm_of(MPI_COMM_SELF);
        ck_assert_ptr_nonnull(world);
        ck_assert_int_eq(world->rank, hl_job.rank);
        ck_assert_int_eq(world->size, hl_job.size);
        ck_assert_int_eq(self->rank, 0);
        ck_assert_int_eq(self->size, 1);
        ck_assert_int_eq(hl_comm_world(self, 0), hl_job.rank);
        ck_assert_uint_ne(world->ctx, self->ctx);
        ck_assert_uint_eq(world->ctx % 8, HL_PLANE_P2P);
        hl_comm_get_name(world, name);
        ck_assert_str_eq(name, "MPI_COMM_WORLD");
        ck_assert_ptr_null(hl_comm_of(MPI_COMM_NULL));
        ck_assert_ptr_null(hl_comm_of((MPI_Comm)0));
        ck_assert_ptr_null(hl_comm_of((MPI_Comm)12345678));
        hl_comm_close();
        ck_assert_ptr_null(hl_comm_of(MPI_COMM_WORLD));
        ck_assert_ptr_null(hl_comm_of(MPI_COMM_SELF));
    }
}
END_TEST

START_TEST(an_object_outlives_its_handle)
{
    struct hl_group *g = GROUP(1, 3, 4);
    struct hl_comm *c = NULL, *d = NULL;
    char name[MPI_MAX_OBJECT_NAME], big[2 * MPI_MAX_OBJECT_NAME];

    ck_assert_int_eq(hl_comm_make(g, hl_comm_ctx_new(), &c), 0);
    ck_assert_int_eq(hl_comm_make(g, hl_comm_ctx_new(), &d), 0);
    hl_group_unref(g);
    ck_assert_int_eq(c->rank, 1);
    ck_assert_int_eq(hl_comm_compare(c, d), MPI_CONGRUENT);
    ck_assert_int_eq(hl_comm_compare(c, c), MPI_IDENT);
    ck_assert_ptr_eq(hl_comm_of(c->handle), c);
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    ck_assert_int_eq(hl_comm_set_name(c, big), 0);
    hl_comm_get_name(c, name);
    ck_assert_uint_eq(strlen(name), MPI_MAX_OBJECT_NAME - 1);
    hl_comm_ref(c);
    MPI_Comm handle = c->handle;
    hl_comm_free(c);
    ck_assert_ptr_null(hl_comm_of(handle));
    ck_assert_int_eq(hl_comm_world(c, 2), 4);
    hl_comm_unref(c);
    hl_comm_free(d);
}
END_TEST

static void *free_it(void *comm)
{
    hl_comm_free(comm);
    return NULL;
}

/* Meanwhile another thread frees the handle. */
static void look_long(struct hl_comm *c, void *thread)
{
    ck_assert_int_eq(pthread_create(thread, NULL, free_it, c), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_uint_eq(c->h.kind, HL_KIND_COMM);
        ck_assert_int_eq(hl_comm_world(c, 2), 4);
        usleep(100);
    }
}

START_TEST(who_is_found_by_context_stays_while_looked_at)
{
    struct hl_group *g = GROUP(1, 3, 4);
    struct hl_comm *c = NULL;
    pthread_t thread;

    ck_assert_int_eq(hl_comm_make(g, hl_comm_ctx_new(), &c), 0);
    hl_group_unref(g);
    uint64_t ctx = c->ctx;
    ck_assert_ptr_eq(hl_comm_ref_ctx(ctx + HL_PLANE_COLL), c);
    ck_assert(hl_comm_look(ctx, look_long, &thread));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_ptr_null(hl_comm_ref_ctx(ctx));
    ck_assert_int_eq(hl_comm_world(c, 2), 4); /* by the first reference */
    hl_comm_unref(c);
    ck_assert(!hl_comm_look(0, look_long, &thread));
}
END_TEST

START_TEST(an_intercommunicator_has_two_groups_and_one_of_its_own)
{
    struct hl_group *mine = GROUP(1, 3), *other = GROUP(0, 2, 5);
    struct hl_comm *local[2], *a = NULL, *b = NULL, *plain = NULL;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(hl_comm_make(mine, hl_comm_ctx_new(), &local[i]), 0);
    }
    ck_assert_int_eq(hl_comm_make_inter(local[0], other, hl_comm_ctx_new(), &a), 0);
    ck_assert_int_eq(hl_comm_make_inter(local[1], other, hl_comm_ctx_new(), &b), 0);
    ck_assert_int_eq(hl_comm_make(mine, hl_comm_ctx_new(), &plain), 0);
    ck_assert(hl_comm_is_inter(a) && !hl_comm_is_inter(plain));
    ck_assert_int_eq(a->rank, 1);
    ck_assert_int_eq(a->size, 2);
    ck_assert_int_eq(a->n_peers, 3);
    ck_assert_int_eq(hl_comm_world(a, 2), 5);
    ck_assert_int_eq(hl_comm_world(plain, 0), 1);
    ck_assert_int_eq(hl_comm_compare(a, b), MPI_CONGRUENT);
    ck_assert_int_eq(hl_comm_compare(a, plain), MPI_UNEQUAL);
    MPI_Comm own = local[0]->handle;
    hl_comm_free(a);
    ck_assert_ptr_null(hl_comm_of(own));
    hl_comm_free(b);
    hl_comm_free(plain);
    hl_group_unref(mine);
    hl_group_unref(other);
}
END_TEST

START_TEST(named_contexts_are_of_nobody)
{
    struct hl_group *some = GROUP(1, 3, 4), *others = GROUP(1, 4, 3);
    uint64_t ctx = hl_comm_ctx_named(some, "a");

    ck_assert_uint_eq(ctx, hl_comm_ctx_named(some, "a"));
    ck_assert_uint_ne(ctx, hl_comm_ctx_named(some, "b"));
    ck_assert_uint_ne(ctx, hl_comm_ctx_named(others, "a"));
    ck_assert_uint_eq(ctx % 8, 0);
    ck_assert_uint_eq(ctx >> 40, 0xffffff);
    hl_group_unref(some);
    hl_group_unref(others);
}
END_TEST

static void check_hint(const struct hl_comm *c, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL] = "";
    struct hl_info *shown;
    int len;

    ck_assert_int_eq(hl_comm_get_hints(c, &shown), 0);
    ck_assert_int_eq(hl_info_get(shown, key, value, sizeof value, &len), want != NULL);
    ck_assert_str_eq(value, want != NULL ? want : "");
    hl_info_free(shown);
}

START_TEST(only_known_hints_are_kept)
{
    struct hl_group *g = GROUP(3);
    struct hl_comm *c = NULL;
    struct hl_info *user;

    ck_assert_int_eq(hl_comm_make(g, hl_comm_ctx_new(), &c), 0);
    check_hint(c, "mpi_assert_no_any_tag", "false");
    ck_assert_int_eq(hl_info_make(&user), 0);
    hl_info_set(user, " mpi_assert_no_any_tag ", "\ttrue ");
    hl_info_set(user, "mpi_assert_exact_length", "perhaps");
    hl_info_set(user, "other", "true");
    ck_assert_int_eq(hl_comm_set_hints(c, user), 0);
    ck_assert_int_eq(hl_comm_set_hints(c, NULL), 0);
    check_hint(c, "mpi_assert_no_any_tag", "true");
    check_hint(c, "mpi_assert_exact_length", "false");
    check_hint(c, "other", NULL);
    hl_info_free(user);
    hl_comm_free(c);
    hl_group_unref(g);
}
END_TEST

enum { THREADS = 8, EACH = 2000 };

static void *draw(void *out)
{
    uint64_t *ids = out;

    for (int i = 0; i < EACH; i++) {
        ids[i] = hl_comm_ctx_new();
    }
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

START_TEST(contexts_are_never_the_same)
{
    static uint64_t ids[THREADS * EACH];
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, draw, ids + t * EACH);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    qsort(ids, THREADS * EACH, sizeof *ids, by_value);
    for (int i = 0; i < THREADS * EACH; i++) {
        ck_assert_uint_eq(ids[i] % 8, 0);
        ck_assert_uint_eq(ids[i] >> 40, (uint64_t)hl_job.rank);
        ck_assert(i == 0 || ids[i] != ids[i - 1]);
    }
}
END_TEST

/* ---- Topologies ---- */

static bool better(int k, const int *a, const int *b)
{
    int nearer = (a[0] - a[k - 1]) - (b[0] - b[k - 1]);

    for (int i = k - 1; i >= 0 && nearer == 0; i--) {
        nearer = b[i] - a[i];
    }
    return nearer < 0;
}

/* The best of all descending factors, by trying them: trial[0 .. at) are chosen. */
static void try_factors(int n, int k, int at, int *trial, int *best)
{
    if (at == k) {
        if (n == 1 && (best[0] == 0 || better(k, trial, best))) {
            memcpy(best, trial, (size_t)k * sizeof *best);
        }
        return;
    }
    for (int f = 1; f <= n && (at == 0 || f <= trial[at - 1]); f++) {
        if (n % f == 0) {
            trial[at] = f;
            try_factors(n / f, k, at + 1, trial, best);
        }
    }
}

START_TEST(grids_are_as_square_as_can_be)
{
    int best[5], trial[5], dims[5], large[3] = {0, 0, 0}, given[3] = {0, 3, 0};

    for (int n = 1; n <= 400; n++) {
        for (int k = 1; k <= 4; k++) {
            memset(dims, 0, sizeof dims);
            memset(best, 0, sizeof best);
            ck_assert_int_eq(hl_shape_balance(n, k, dims), 0);
            try_factors(n, k, 0, trial, best);
            ck_assert_mem_eq(dims, best, (size_t)k * sizeof *dims);
        }
    }
    ck_assert_int_eq(hl_shape_balance(2147483647, 3, large), 0);
    ck_assert(large[0] == 2147483647 && large[1] == 1 && large[2] == 1);
    ck_assert_int_eq(hl_shape_balance(24, 3, given), 0);
    ck_assert(given[0] == 4 && given[1] == 3 && given[2] == 2);
    ck_assert_int_eq(hl_shape_balance(24, 3, given), 0); /* nothing is open */
    ck_assert_int_eq(hl_shape_balance(25, 3, given), HL_ERR_DIMS);
    given[0] = -1;
    ck_assert_int_eq(hl_shape_balance(24, 3, given), HL_ERR_DIMS);
    given[0] = 0;
    given[1] = 5;
    ck_assert_int_eq(hl_shape_balance(24, 3, given), HL_ERR_DIMS);
    ck_assert_int_eq(hl_shape_balance(0, 0, given), HL_ERR_DIMS);
    ck_assert_int_eq(hl_shape_balance(7, 0, given), 0);
}
END_TEST

START_TEST(a_grid_knows_its_neighbours_and_parts)
{
    int dims[3] = {3, 1, 2}, periods[3] = {0, 7, 1}, coords[3], beyond[3] = {2, -5, 9}, remain[3] = {1, 0, 1};
    const int want[6] = {1, 5, 3, 3, 2, 2};
    struct hl_shape *grid, *part;

    ck_assert_int_eq(hl_shape_make_cart(3, dims, periods, 3, &grid), 0); /* at 1, 0, 1 */
    ck_assert_int_eq(grid->n_in, 6);
    ck_assert_mem_eq(grid->in, want, sizeof want);
    hl_shape_coords(grid, 5, 2, coords);
    ck_assert(coords[0] == 2 && coords[1] == 0);
    ck_assert_int_eq(hl_shape_rank(grid, beyond), 5);
    beyond[0] = 3;
    ck_assert_int_eq(hl_shape_rank(grid, beyond), MPI_PROC_NULL);
    ck_assert_int_eq(hl_shape_step(grid, 0, -2), MPI_PROC_NULL);
    ck_assert_int_eq(hl_shape_step(grid, 2, -(int64_t)INT32_MIN), 3);
    ck_assert_int_eq(hl_shape_make_sub(grid, remain, &part), 0);
    ck_assert(part->ndims == 2 && part->dims[1] == 2 && part->periods[0] == 0 && part->periods[1] == 1);
    ck_assert(part->coords[0] == 1 && part->coords[1] == 1);
    hl_shape_unref(part);
    hl_shape_unref(grid);
    dims[0] = dims[1] = 100000;
    ck_assert_int_eq(hl_shape_cells(2, dims), INT64_MAX);
    ck_assert_int_eq(hl_shape_cells(0, dims), 1);
}
END_TEST

static Suite *comm_suite(void)
{
    Suite *s = suite_create("comm");
    TCase *groups = tcase_create("groups"), *comms = tcase_create("communicators");

    tcase_add_checked_fixture(groups, be_rank_3_of_8, NULL);
    tcase_add_test(groups, progressions_need_no_table);
    tcase_add_test(groups, nobody_left_is_the_empty_group);
    tcase_add_test(groups, freed_communicators_share_handlers_that_do_the_same);
    tcase_add_test(groups, each_error_of_the_tool_interface_has_words);
    tcase_add_test(groups, an_error_without_words_does_not_get_those_of_the_last_one);
    tcase_add_test(groups, members_are_chosen_by_rank);
    tcase_add_test(groups, wrong_ranks_are_refused);
    tcase_add_test(groups, sets_combine_in_the_first_ones_order);
    tcase_add_test(groups, groups_compare_and_translate);
    tcase_add_test(groups, random_groups_agree_with_tables);
    suite_add_tcase(s, groups);
    tcase_add_checked_fixture(comms, be_rank_3_of_8, NULL);
    tcase_add_test(comms, predefined_ones_live_between_open_and_close);
    tcase_add_test(comms, an_object_outlives_its_handle);
    tcase_add_test(comms, who_is_found_by_context_stays_while_looked_at);
    tcase_add_test(comms, contexts_are_never_the_same);
    tcase_add_test(comms, an_intercommunicator_has_two_groups_and_one_of_its_own);
    tcase_add_test(comms, named_contexts_are_of_nobody);
    tcase_add_test(comms, only_known_hints_are_kept);
    tcase_add_test(comms, many_info_keys_keep_their_order_and_cost_no_square);
    tcase_add_test(comms, grids_are_as_square_as_can_be);
    tcase_add_test(comms, a_grid_knows_its_neighbours_and_parts);
    suite_add_tcase(s, comms);
    return s;
}

UNIT_MAIN(comm_suite)
