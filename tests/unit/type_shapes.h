/* Layouts of many blocks, regular or not, copied into each other, and the reach of arrays: included by test_type.c. */

enum shape { VECTOR, SUBARRAY, INDEXED, UNEVEN, STRETCHES, SHAPES };
#define SHAPE_ROWS 300

static int64_t shape_lens[SHAPE_ROWS], shape_disps[SHAPE_ROWS];

/* Rows in elements of the base: of `len`, or of some times that, at random distances. */
static int64_t draw_rows(enum shape shape, int64_t len)
{
    int64_t n = 2 + (int64_t)draw(SHAPE_ROWS - 2), next = 0;
    for (int64_t i = 0; i < n; i++) {
        bool again = i > 0 && (shape == INDEXED || (shape == STRETCHES && draw(20) != 0));
        shape_lens[i] = again ? shape_lens[i - 1] : len * (1 + (int64_t)draw(3));
        shape_disps[i] = next + (int64_t)draw(3);
        next = shape_disps[i] + shape_lens[i];
    }
    return n;
}

/* The rows of a part of an array of three dimensions. */
static int64_t subarray_rows(int64_t len, struct pair *p, const struct pair *base)
{
    int64_t subs[3] = {1 + (int64_t)draw(12), 1 + (int64_t)draw(20), len}, sizes[3], starts[3], n = 0;
    for (int d = 0; d < 3; d++) {
        starts[d] = (int64_t)draw(2);
        sizes[d] = starts[d] + subs[d] + (int64_t)draw(3);
    }
    struct hl_subarray a = {3, sizes, subs, starts, MPI_ORDER_C};
    ck_assert_int_eq(hl_type_make_subarray(&a, base->t, &p->t), 0);
    for (int64_t i = 0; i < subs[0]; i++) {
        for (int64_t j = 0; j < subs[1]; j++, n++) {
            shape_lens[n] = len;
            shape_disps[n] = ((starts[0] + i) * sizes[1] + starts[1] + j) * sizes[2] + starts[2];
        }
    }
    p->m.has_lb = p->m.has_ub = true;
    p->m.marked_ub = sizes[0] * sizes[1] * sizes[2] * model_extent(&base->m);
    return n;
}

/* False: too large for the model. */
static bool random_shape(struct pair *p)
{
    static const MPI_Datatype bases[] = {MPI_CHAR,      MPI_SHORT, MPI_INT, MPI_LONG, MPI_C_DOUBLE_COMPLEX,
                                         MPI_DOUBLE_INT};
    static struct pair base;
    enum shape shape = (enum shape)draw(SHAPES);
    int64_t len = 1 + (int64_t)draw(5), n, ext;
    bool ok = true;

    set_basic(&base, bases[draw(sizeof bases / sizeof bases[0])]);
    ext = model_extent(&base.m);
    memset(&p->m, 0, offsetof(struct model, e));
    if (shape == SUBARRAY) {
        n = subarray_rows(len, p, &base);
    } else if (shape == VECTOR) {
        int64_t stride = len + 1 + (int64_t)draw(3);
        n = 1 + (int64_t)draw(SHAPE_ROWS);
        for (int64_t i = 0; i < n; i++) {
            shape_lens[i] = len;
            shape_disps[i] = i * stride;
        }
        ck_assert_int_eq(hl_type_make_vector(n, len, stride, false, base.t, &p->t), 0);
    } else {
        n = draw_rows(shape, len);
        ck_assert_int_eq(hl_type_make_indexed(n, shape_lens, 0, shape_disps, false, base.t, &p->t), 0);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < shape_lens[i]; j++) {
            ok = ok && model_add(&p->m, &base.m, (shape_disps[i] + j) * ext);
        }
    }
    ck_assert_int_eq(hl_type_commit(p->t), 0);
    return ok;
}

/* From byte `skip` of one layout to byte `leave` of the other, until either ends. */
static void check_copy_within(const struct pair *to, int64_t to_count, int64_t leave, const struct pair *from,
                              int64_t from_count, int64_t skip)
{
    static char mine[2 * AREA], models[2 * AREA];
    int64_t have = model_pack(from, from_count, area + AREA) - skip, room = to->t->size * to_count - leave;
    struct hl_type_cursor t, f;

    memset(mine, 0, sizeof mine);
    memset(models, 0, sizeof models);
    ck_assert_int_eq(hl_type_cursor_init(&t, HL_WALK_BYTES, to->t, to_count, mine + AREA, leave), 0);
    ck_assert_int_eq(hl_type_cursor_init(&f, HL_WALK_BYTES, from->t, from_count, area + AREA, skip), 0);
    hl_type_cursor_copy(&t, &f);
    hl_type_cursor_fini(&t);
    hl_type_cursor_fini(&f);
    int64_t n = have < room ? have : room;
    memmove(flat + leave, flat + skip, (size_t)n);
    model_unpack(to, to_count, models + AREA, leave, leave + n);
    ck_assert_int_eq(memcmp(mine, models, sizeof mine), 0);
}

START_TEST(layouts_of_many_blocks_do_what_the_flat_model_does)
{
    static struct pair a, b;

    seed = (uint64_t)_i * 104729 + 5;
    int64_t a_count = 1 + (int64_t)draw(2), b_count = 1 + (int64_t)draw(2);
    for (size_t i = 0; i < sizeof area; i++) {
        area[i] = (char)draw(256);
    }
    bool ok = random_shape(&a), too = random_shape(&b);
    if (ok && too && fits(&a, a_count) && fits(&b, b_count)) {
        check_packing(&a, a_count);
        check_unpacking(&a, a_count);
        check_walk(&a, a_count);
        check_runs(&a, a_count);
        for (int i = 0; i < 4; i++) {
            int64_t skip = i < 2 ? 0 : (int64_t)draw((uint64_t)(a.t->size * a_count));
            int64_t leave = i % 2 == 0 ? 0 : (int64_t)draw((uint64_t)(b.t->size * b_count));
            check_copy_within(&b, b_count, leave, &a, a_count, skip);
            check_copy_within(&a, a_count, skip, &b, b_count, leave);
        }
    }
    hl_type_free(a.t);
    hl_type_free(b.t);
}
END_TEST

/* Extents forward, backward and none; data that begin at any byte. */
START_TEST(an_array_lies_in_its_reach)
{
    static const struct {
        int64_t at, extent, count, low, bytes;
    } rows[] = {{0, 4, 1, 0, 4},     {0, 4, 10, 0, 40},   {100, 4, 2, 64, 44}, {-1, 4, 2, -64, 71},
                {0, -8, 3, -64, 68}, {-64, 0, 9, -64, 4}, {63, 1, 1, 0, 67},   {64, -64, 2, 0, 68}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hl_type *moved, *t;
        int64_t low, one = 1;
        ck_assert_int_eq(
            hl_type_make_struct(1, &one, &rows[i].at, (struct hl_type *const[]){hl_type_of(MPI_INT)}, &moved),
            0);
        ck_assert_int_eq(hl_type_make_resized(moved, rows[i].at, rows[i].extent, &t), 0);
        ck_assert_int_eq(hl_type_reach(t, rows[i].count, &low), rows[i].bytes);
        ck_assert_int_eq(low, rows[i].low);
        hl_type_unref(t);
        hl_type_unref(moved);
    }
}
END_TEST
