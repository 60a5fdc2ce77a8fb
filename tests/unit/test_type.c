/* Datatypes against a model that does what the library never does: flatten every type into the list of its
 * basic elements, straight from the standard's definitions. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "gaps.h"
#include "type.h"
#include "unit.h"

#define MAX_ENTRIES 3000
#define MAX_ROWS 5

/* ---- The model ---- */

struct entry {
    int64_t disp;
    int bytes;
};

struct model {
    int n;
    int64_t lb, ub, marked_lb, marked_ub;
    bool has_lb, has_ub, any;
    int align;
    struct entry e[MAX_ENTRIES];
};

static int64_t model_lb(const struct model *m)
{
    return m->has_lb ? m->marked_lb : m->lb;
}

static int64_t model_ub(const struct model *m)
{
    return m->has_ub ? m->marked_ub : m->ub;
}

static int64_t model_extent(const struct model *m)
{
    return model_ub(m) - model_lb(m);
}

/* One copy of `old` at `at`; false when the model would become too large. */
static bool model_add(struct model *m, const struct model *old, int64_t at)
{
    int64_t lb = at + model_lb(old), ub = at + model_ub(old);

    if (m->n + old->n > MAX_ENTRIES) {
        return false;
    }
    if (old->n == 0 && !old->has_lb && !old->has_ub) {
        return true; /* nothing has no place */
    }
    for (int i = 0; i < old->n; i++) {
        m->e[m->n++] = (struct entry){at + old->e[i].disp, old->e[i].bytes};
    }
    m->lb = !m->any || lb < m->lb ? lb : m->lb;
    m->ub = !m->any || ub > m->ub ? ub : m->ub;
    m->any = true;
    if (old->has_lb) {
        m->marked_lb = !m->has_lb || lb < m->marked_lb ? lb : m->marked_lb;
        m->has_lb = true;
    }
    if (old->has_ub) {
        m->marked_ub = !m->has_ub || ub > m->marked_ub ? ub : m->marked_ub;
        m->has_ub = true;
    }
    m->align = old->align > m->align ? old->align : m->align;
    return true;
}

static int64_t model_size(const struct model *m)
{
    int64_t size = 0;

    for (int i = 0; i < m->n; i++) {
        size += m->e[i].bytes;
    }
    return size;
}

/* ---- Random types ---- */

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

struct pair {
    struct hl_type *t;
    struct model m;
};

static MPI_Datatype some_basic(void)
{
    static const uintptr_t handles[] = {0x209, 0x214, 0x243, 0x208, 0x229, 0x22c, 0x22b, 0x220, 0x22d, 0x216};

    return (MPI_Datatype)handles[draw(sizeof handles / sizeof *handles)];
}

static void set_basic(struct pair *p, MPI_Datatype basic)
{
    p->t = hl_type_of(basic);
    memset(&p->m, 0, offsetof(struct model, e));
    enum hl_basic b = (enum hl_basic)p->t->basic;
    int size = (int)hl_op_size(b), extent = (int)hl_op_extent(b);
    if (hl_op_is_pair(b)) {
        int value = size == extent ? size / 2 : size - 4;
        p->m.n = 2;
        p->m.e[0] = (struct entry){0, value};
        p->m.e[1] = (struct entry){extent / 2, size - value};
    } else {
        p->m.n = 1;
        p->m.e[0] = (struct entry){0, size};
    }
    p->m.ub = extent;
    p->m.any = true;
    p->m.align = (int)p->t->align;
}

static bool random_contiguous(struct pair *p, const struct pair *old)
{
    int64_t n = (int64_t)draw(4);
    bool ok = true;

    for (int64_t i = 0; i < n; i++) {
        ok = ok && model_add(&p->m, &old->m, i * model_extent(&old->m));
    }
    ck_assert_int_eq(hl_type_make_contiguous(n, old->t, &p->t), 0);
    return ok;
}

static bool random_vector(struct pair *p, const struct pair *old)
{
    int64_t n = (int64_t)draw(4), len = (int64_t)draw(4), stride = (int64_t)draw(9) - 4;
    bool bytes = draw(2), ok = true;
    int64_t apart = bytes ? stride * 5 : stride * model_extent(&old->m);

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < len; j++) {
            ok = ok && model_add(&p->m, &old->m, i * apart + j * model_extent(&old->m));
        }
    }
    ck_assert_int_eq(hl_type_make_vector(n, len, bytes ? stride * 5 : stride, bytes, old->t, &p->t), 0);
    return ok;
}

static bool random_indexed(struct pair *p, const struct pair *old)
{
    int64_t n = (int64_t)draw(MAX_ROWS), lens[MAX_ROWS], disps[MAX_ROWS], next = 0;
    bool bytes = draw(2), same = draw(2), ok = true;

    for (int64_t i = 0; i < n; i++) {
        lens[i] = same ? 2 : (int64_t)draw(4);
        disps[i] = draw(2) ? next : (int64_t)draw(30) - 10;
        next = disps[i] + lens[i] * (bytes ? model_extent(&old->m) : 1);
        for (int64_t j = 0; j < lens[i]; j++) {
            int64_t at = disps[i] * (bytes ? 1 : model_extent(&old->m)) + j * model_extent(&old->m);
            ok = ok && model_add(&p->m, &old->m, at);
        }
    }
    ck_assert_int_eq(hl_type_make_indexed(n, same ? NULL : lens, 2, disps, bytes, old->t, &p->t), 0);
    return ok;
}

static bool random_struct(struct pair *p, const struct pair *olds, int n_olds)
{
    int64_t n = (int64_t)draw(MAX_ROWS), lens[MAX_ROWS], disps[MAX_ROWS], next = 0;
    struct hl_type *types[MAX_ROWS];
    bool ok = true;

    for (int64_t i = 0; i < n; i++) {
        const struct pair *old = &olds[draw((uint64_t)n_olds)];
        types[i] = old->t;
        lens[i] = (int64_t)draw(3);
        disps[i] = draw(3) ? next : (int64_t)draw(60) - 20;
        next = disps[i] + lens[i] * model_extent(&old->m);
        for (int64_t j = 0; j < lens[i]; j++) {
            ok = ok && model_add(&p->m, &old->m, disps[i] + j * model_extent(&old->m));
        }
    }
    int64_t over = p->m.align > 1 ? (p->m.ub - model_lb(&p->m)) % p->m.align : 0;
    if (!p->m.has_ub && over != 0) {
        p->m.ub += p->m.align - over;
    }
    ck_assert_int_eq(hl_type_make_struct(n, lens, disps, types, &p->t), 0);
    return ok;
}

static bool random_resized(struct pair *p, const struct pair *old)
{
    int64_t lb = (int64_t)draw(20) - 10, extent = (int64_t)draw(40);

    p->m = old->m;
    p->m.has_lb = p->m.has_ub = true;
    p->m.marked_lb = lb;
    p->m.marked_ub = lb + extent;
    ck_assert_int_eq(hl_type_make_resized(old->t, lb, extent, &p->t), 0);
    return true;
}

static bool random_subarray(struct pair *p, const struct pair *old)
{
    int64_t sizes[2], subs[2], starts[2];
    bool c = draw(2), ok = true;
    struct hl_subarray a = {2, sizes, subs, starts, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN};

    for (int d = 0; d < 2; d++) {
        sizes[d] = 1 + (int64_t)draw(4);
        subs[d] = 1 + (int64_t)draw((uint64_t)sizes[d]);
        starts[d] = (int64_t)draw((uint64_t)(sizes[d] - subs[d] + 1));
    }
    int slow = c ? 0 : 1, fast = 1 - slow;
    for (int64_t i = 0; i < subs[slow]; i++) {
        for (int64_t j = 0; j < subs[fast]; j++) {
            int64_t at = (starts[slow] + i) * sizes[fast] + starts[fast] + j;
            ok = ok && model_add(&p->m, &old->m, at * model_extent(&old->m));
        }
    }
    p->m.has_lb = p->m.has_ub = true;
    p->m.marked_lb = 0;
    p->m.marked_ub = sizes[0] * sizes[1] * model_extent(&old->m);
    ck_assert_int_eq(hl_type_make_subarray(&a, old->t, &p->t), 0);
    return ok;
}

/* A type of a random constructor over the types before it; false: too large for the model. */
static bool random_type(struct pair *p, const struct pair *olds, int n_olds)
{
    const struct pair *old = &olds[draw((uint64_t)n_olds)];

    memset(&p->m, 0, offsetof(struct model, e));
    switch (draw(7)) {
    case 0:
        return random_contiguous(p, old);
    case 1:
        return random_vector(p, old);
    case 2:
        return random_indexed(p, old);
    case 3:
    case 4:
        return random_struct(p, olds, n_olds);
    case 5:
        return random_resized(p, old);
    default:
        return random_subarray(p, old);
    }
}

/* ---- Comparison ---- */

#define AREA 200000
static char area[2 * AREA], flat[AREA], out[AREA];

static void check_bounds(const struct pair *p)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;

    for (int i = 0; i < p->m.n; i++) {
        lo = p->m.e[i].disp < lo ? p->m.e[i].disp : lo;
        hi = p->m.e[i].disp + p->m.e[i].bytes > hi ? p->m.e[i].disp + p->m.e[i].bytes : hi;
    }
    ck_assert_int_eq(p->t->size, model_size(&p->m));
    ck_assert_int_eq(p->t->lb, model_lb(&p->m));
    ck_assert_int_eq(p->t->ub, model_ub(&p->m));
    ck_assert_int_eq(p->t->elements, p->m.n);
    if (p->m.n > 0) {
        ck_assert_int_eq(p->t->true_lb, lo);
        ck_assert_int_eq(p->t->true_ub, hi);
    }
}

/* Packs `count` by the model. */
static int64_t model_pack(const struct pair *p, int64_t count, const char *buf)
{
    int64_t at = 0;

    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < p->m.n; i++) {
            memcpy(flat + at, buf + k * model_extent(&p->m) + p->m.e[i].disp, (size_t)p->m.e[i].bytes);
            at += p->m.e[i].bytes;
        }
    }
    return at;
}

static void model_unpack(const struct pair *p, int64_t count, char *buf, int64_t from, int64_t to)
{
    int64_t at = 0;

    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < p->m.n; i++) {
            for (int b = 0; b < p->m.e[i].bytes; b++, at++) {
                if (at >= from && at < to) {
                    buf[k * model_extent(&p->m) + p->m.e[i].disp + b] = flat[at];
                }
            }
        }
    }
}

static void check_packing(const struct pair *p, int64_t count)
{
    char *buf = area + AREA;
    int64_t bytes = model_pack(p, count, buf);

    ck_assert_int_eq(hl_type_pack(p->t, count, buf, 0, out, bytes), 0);
    ck_assert_int_eq(memcmp(out, flat, (size_t)bytes), 0);
    for (int round = 0; round < 3 && bytes > 0; round++) {
        int64_t from = (int64_t)draw((uint64_t)bytes), n = (int64_t)draw((uint64_t)(bytes - from)) + 1;
        memset(out, 0, (size_t)n);
        ck_assert_int_eq(hl_type_pack(p->t, count, buf, from, out, n), 0);
        ck_assert_int_eq(memcmp(out, flat + from, (size_t)n), 0);
    }
}

/* Overlapping entries are written in packing order by both, so results agree there too. */
static void check_unpacking(const struct pair *p, int64_t count)
{
    int64_t bytes = p->t->size * count;
    int64_t from = bytes > 0 ? (int64_t)draw((uint64_t)bytes) : 0;
    int64_t n = bytes > 0 ? (int64_t)draw((uint64_t)(bytes - from)) + 1 : 0;
    static char mine[2 * AREA], models[2 * AREA];

    for (int64_t i = 0; i < bytes; i++) {
        flat[i] = (char)draw(256);
    }
    memset(mine, 0, sizeof mine);
    memset(models, 0, sizeof models);
    ck_assert_int_eq(hl_type_unpack(p->t, count, mine + AREA, from, flat + from, n), 0);
    model_unpack(p, count, models + AREA, from, from + n);
    ck_assert_int_eq(memcmp(mine, models, sizeof mine), 0);
}

/* Every span of a byte walk, cut at random, in the order of packing. */
static void check_walk(const struct pair *p, int64_t count)
{
    struct hl_type_cursor c;
    char *buf = area + AREA, *at;
    int64_t bytes = model_pack(p, count, buf), done = bytes > 0 ? (int64_t)draw((uint64_t)bytes) : 0;

    ck_assert_int_eq(hl_type_cursor_init(&c, HL_WALK_BYTES, p->t, count, buf, done), 0);
    for (int64_t n; (n = hl_type_cursor_next(&c, 1 + (int64_t)draw(40), &at)) > 0;) {
        ck_assert_int_eq(memcmp(at, flat + done, (size_t)n), 0);
        done += n;
    }
    hl_type_cursor_fini(&c);
    ck_assert_int_eq(done, bytes);
}

/* The same run by run, at most some bytes in each. */
static void check_runs(const struct pair *p, int64_t count)
{
    struct hl_type_cursor c;
    struct hl_run run;
    char *buf = area + AREA;
    int64_t bytes = model_pack(p, count, buf), done = bytes > 0 ? (int64_t)draw((uint64_t)bytes) : 0;

    ck_assert_int_eq(hl_type_cursor_init(&c, HL_WALK_BYTES, p->t, count, buf, done), 0);
    for (int64_t max; hl_type_cursor_run(&c, max = 1 + (int64_t)draw(100), &run);) {
        ck_assert_int_le(run.n * run.times, max);
        for (int64_t i = 0; i < run.times; i++, done += run.n) {
            ck_assert_int_eq(memcmp(hl_run_block(&run, i), flat + done, (size_t)run.n), 0);
        }
    }
    hl_type_cursor_fini(&c);
    ck_assert_int_eq(done, bytes);
}

/* What one layout has arrives in another as if it was packed and unpacked; the shorter one ends it. */
static void check_copy(const struct pair *to, int64_t to_count, const struct pair *from, int64_t from_count)
{
    int64_t have = model_pack(from, from_count, area + AREA), want = to->t->size * to_count;
    static char mine[2 * AREA], models[2 * AREA];

    memset(mine, 0, sizeof mine);
    memset(models, 0, sizeof models);
    ck_assert_int_eq(hl_type_copy(to->t, to_count, mine + AREA, from->t, from_count, area + AREA), 0);
    model_unpack(to, to_count, models + AREA, 0, have < want ? have : want);
    ck_assert_int_eq(memcmp(mine, models, sizeof mine), 0);
}

static void check_elements(const struct pair *p)
{
    int64_t at = 0;

    for (int i = 0; i < p->m.n && i < 50; i++) {
        ck_assert_int_eq(hl_type_elements(p->t, at), i);
        ck_assert_int_eq(hl_type_element_bytes(p->t, i), at);
        if (p->m.e[i].bytes > 1) {
            ck_assert_int_eq(hl_type_elements(p->t, at + 1), -1);
        }
        at += p->m.e[i].bytes;
    }
    ck_assert_int_eq(hl_type_elements(p->t, 3 * p->t->size), 3 * p->m.n);
}

static bool fits(const struct pair *p, int64_t count)
{
    int64_t reach = count * llabs(model_extent(&p->m)) + llabs(p->t->true_lb) + llabs(p->t->true_ub);

    return reach < AREA && p->t->size * count < AREA;
}

START_TEST(random_trees_do_what_the_flat_model_does)
{
    enum { LIVE = 12 };
    static struct pair types[LIVE];
    uint64_t start = (uint64_t)_i * 7919 + 17;

    seed = start;
    if (_i % 100 == 0) {
        fprintf(stderr, "seeds from %llu\n", (unsigned long long)start);
    }
    for (size_t i = 0; i < sizeof area; i++) {
        area[i] = (char)draw(256);
    }
    int n = 4;
    for (int i = 0; i < n; i++) {
        set_basic(&types[i], some_basic());
    }
    for (; n < LIVE; n++) {
        if (!random_type(&types[n], types, n)) {
            hl_type_unref(types[n].t);
            break;
        }
        struct pair *p = &types[n];
        check_bounds(p);
        check_elements(p);
        ck_assert_int_eq(hl_type_commit(p->t), 0);
        int64_t count = (int64_t)draw(4);
        if (fits(p, count)) {
            check_packing(p, count);
            check_unpacking(p, count);
            check_walk(p, count);
            check_runs(p, count);
            const struct pair *other = &types[draw((uint64_t)n)];
            int64_t theirs = 1 + (int64_t)draw(3);
            if (fits(other, theirs)) {
                check_copy(p, count, other, theirs);
                check_copy(other, theirs, p, count);
            }
        }
    }
    for (int i = 4; i < n; i++) {
        hl_type_free(types[i].t);
    }
}
END_TEST

START_TEST(predefined_types_have_the_sizes_of_c)
{
    struct short_int {
        short value;
        int index;
    };
    const struct hl_type *t = hl_type_of(MPI_SHORT_INT);

    ck_assert_int_eq(t->size, sizeof(short) + sizeof(int));
    ck_assert_int_eq(hl_type_extent(t), sizeof(struct short_int));
    ck_assert_int_eq(hl_type_of(MPI_INT)->size, sizeof(int));
    ck_assert_int_eq(hl_type_of(MPI_LONG_DOUBLE)->size, sizeof(long double));
    ck_assert_int_eq(hl_type_of(MPI_AINT)->size, sizeof(MPI_Aint));
    ck_assert_ptr_eq(hl_type_of(MPI_INT)->handle, MPI_INT);
    ck_assert_str_eq(hl_type_of(MPI_LONG_DOUBLE_INT)->given, "MPI_LONG_DOUBLE_INT");
    for (uintptr_t h = 0x200; h < 0x300; h++) {
        const struct hl_type *p = hl_type_of((MPI_Datatype)h);
        ck_assert(p == NULL || (p->size > 0 && p->size <= p->ub && p->align > 0));
    }
}
END_TEST

START_TEST(only_living_handles_are_types)
{
    struct hl_type *t;
    char garbage[1024];

    ck_assert_ptr_null(hl_type_of(MPI_DATATYPE_NULL));
    ck_assert_ptr_null(hl_type_of((MPI_Datatype)0x211));
    ck_assert_ptr_null(hl_type_of((MPI_Datatype)MPI_COMM_WORLD));
    ck_assert_ptr_null(hl_type_of((MPI_Datatype)0x2000));
    ck_assert_ptr_null(hl_type_of((MPI_Datatype)(void *)garbage));
    ck_assert_int_eq(hl_type_make_contiguous(3, hl_type_of(MPI_INT), &t), 0);
    MPI_Datatype handle = t->handle;
    ck_assert_ptr_eq(hl_type_of(handle), t);
    ck_assert_ptr_null(hl_type_of((MPI_Datatype)(void *)((char *)t + 8)));
    hl_type_ref(t);
    hl_type_free(t);
    ck_assert_ptr_null(hl_type_of(handle));
    ck_assert_int_eq(t->size, 12);
    hl_type_unref(t);
    ck_assert_ptr_null(hl_type_of(handle));
}
END_TEST

#include "type_walks.h"

#include "type_shapes.h"

START_TEST(layouts_are_as_simple_as_they_can_be)
{
    struct hl_type *t, *u;
    int64_t lens[3] = {1, 1, 1}, disps[3] = {0, 8, 12};
    struct hl_type *types[3] = {hl_type_of(MPI_DOUBLE), hl_type_of(MPI_INT), hl_type_of(MPI_FLOAT)};

    ck_assert_int_eq(hl_type_make_struct(3, lens, disps, types, &t), 0);
    ck_assert_int_eq(t->basic, HL_BASIC_MIXED);
    hl_type_commit(t);
    ck_assert(t->dense);
    ck_assert_int_eq(hl_type_make_contiguous(100, t, &u), 0);
    hl_type_commit(u);
    ck_assert(u->dense && u->block);
    ck_assert_int_eq(hl_type_elements(u, 28), 5);
    hl_type_free(t);
    hl_type_free(u);
}
END_TEST

#include "type_empty.h"

START_TEST(wrong_arguments_are_refused)
{
    const struct hl_type *t = hl_type_of(MPI_DOUBLE);
    int64_t minus = -1, zero = 0;
    struct hl_type *made = NULL;
    struct hl_subarray a = {1, (int64_t[]){4}, (int64_t[]){3}, (int64_t[]){2}, MPI_ORDER_C};

    ck_assert_int_eq(hl_type_make_contiguous(-1, t, &made), HL_ERR_COUNT);
    ck_assert_int_eq(hl_type_make_vector(1, -1, 1, false, t, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_type_make_indexed(1, &minus, 0, &zero, true, t, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_type_make_subarray(&a, t, &made), HL_ERR_ARG);
    ck_assert_int_eq(hl_type_make_contiguous(INT64_MAX, t, &made), HL_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(hl_type_make_vector(3, 1, INT64_MAX / 4, false, t, &made), HL_ERR_VALUE_TOO_LARGE);
    /* Both bounds fit, their distance does not. */
    int64_t ones[2] = {1, 1}, apart[2] = {INT64_MIN / 2, INT64_MAX / 2 + 1};
    struct hl_type *types[2] = {hl_type_of(MPI_DOUBLE), hl_type_of(MPI_DOUBLE)};
    ck_assert_int_eq(hl_type_make_indexed(2, ones, 0, apart, true, t, &made), HL_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(hl_type_make_struct(2, ones, apart, types, &made), HL_ERR_VALUE_TOO_LARGE);
    ck_assert_ptr_null(made);
}
END_TEST

#include "type_commit.h"

START_TEST(the_call_that_made_a_type_is_kept)
{
    struct hl_type *inner, *t;

    hl_type_make_contiguous(2, hl_type_of(MPI_INT), &inner);
    hl_type_make_contiguous(7, inner, &t);
    int count = 7;
    struct hl_type_args args = {
        .combiner = MPI_COMBINER_CONTIGUOUS, .n_ints = 1, .ints = &count, .n_types = 1, .types = &inner};
    ck_assert_int_eq(hl_type_keep_args(t, &args), 0);
    hl_type_free(inner);
    ck_assert_int_eq(t->args->ints[0], 7);
    ck_assert_int_eq(t->args->types[0]->size, 8);
    hl_type_free(t);
}
END_TEST

static Suite *type_suite(void)
{
    Suite *suite = suite_create("type");
    TCase *tc = tcase_create("type");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, random_trees_do_what_the_flat_model_does, 0, 300);
    tcase_add_loop_test(tc, layouts_of_many_blocks_do_what_the_flat_model_does, 0, 300);
    tcase_add_test(tc, predefined_types_have_the_sizes_of_c);
    tcase_add_test(tc, only_living_handles_are_types);
    tcase_add_test(tc, a_million_blocks_take_no_memory);
    tcase_add_test(tc, pairs_are_walked_whole_or_without_padding);
    tcase_add_test(tc, pairs_are_packed_at_their_extent);
    tcase_add_test(tc, layouts_are_copied_into_each_other);
    tcase_add_test(tc, layouts_are_as_simple_as_they_can_be);
    tcase_add_test(tc, empty_parts_have_no_place);
    tcase_add_test(tc, an_array_lies_in_its_reach);
    tcase_add_test(tc, wrong_arguments_are_refused);
    tcase_add_test(tc, threads_commit_one_type_at_once);
    tcase_add_test(tc, the_call_that_made_a_type_is_kept);
    suite_add_tcase(suite, tc);
    return suite;
}

UNIT_MAIN(type_suite)
