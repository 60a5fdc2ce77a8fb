/* Blocks of a range, beside a map of every byte. */
#define RANGE 4096

struct taken {
    size_t off, len;
};

/* Does best fit answer `rc` and `off`? By looking at every byte: a free run of the least length that does, or
 * none. */
static bool model_takes(char *map, size_t len, int rc, size_t off)
{
    size_t best = SIZE_MAX, its = 0;
    for (size_t at = 0; at < RANGE;) {
        size_t end = at;
        while (end < RANGE && map[end] == map[at]) {
            end++;
        }
        if (map[at] == 0 && end - at >= len) {
            best = hl_min_size(best, end - at);
            its = at == off ? end - at : its;
        }
        at = end;
    }
    memset(rc == 0 ? map + off : map, 1, rc == 0 ? len : 0);
    return best == SIZE_MAX ? rc == HL_ERR_NO_MEM : rc == 0 && its == best;
}

/* A block of the map becomes longer or shorter in its place, if it can. */
static bool model_resize(char *map, const struct taken *t, size_t len)
{
    for (size_t at = t->off + t->len; at < t->off + len; at++) {
        if (at >= RANGE || map[at] != 0) {
            return false;
        }
    }
    memset(map + t->off, 0, t->len);
    memset(map + t->off, 1, len);
    return true;
}

static size_t model_largest(const char *map)
{
    size_t best = 0, run = 0;
    for (size_t at = 0; at < RANGE; at++) {
        run = map[at] == 0 ? run + 1 : 0;
        best = hl_max_size(best, run);
    }
    return best;
}

/* Structures of the library lie in its own buffers, and some want whole cache lines to themselves. */
START_TEST(short_buffers_leave_the_next_one_aligned)
{
    void *buffers[8];
    for (int i = 0; i < 8; i++) {
        buffers[i] = hl_mem_buffer_take(i % 2 == 0 ? 64 : 4000);
        ck_assert_ptr_nonnull(buffers[i]);
        ck_assert_uint_eq((uintptr_t)buffers[i] % HL_CACHELINE, 0);
    }
    for (int i = 0; i < 8; i++) {
        hl_mem_buffer_give(buffers[i]);
    }
}
END_TEST

/* The range begins at offset 0, and elsewhere. */
START_TEST(blocks_follow_best_fit)
{
    static char map[RANGE];
    static struct taken taken[RANGE];
    struct hl_blocks b, same; /* the same calls: the same offsets */
    size_t count = 0, first = 8 * (size_t)_i;
    ck_assert_int_eq(hl_blocks_init_at(&b, first, RANGE, 8), 0);
    ck_assert_int_eq(hl_blocks_init_at(&same, first, RANGE, 8), 0);
    for (int step = 0; step < 20000; step++) {
        uint64_t r = next(&seed);
        size_t len = (r >> 8) % (r % 7 == 0 ? 600 : 60) + 1, i = count > 0 ? (r >> 32) % count : 0;
        if (r % 6 < 3) {
            size_t off = 0, other = 0;
            int rc = hl_blocks_take(&b, len, 8, &off);
            ck_assert_int_eq(hl_blocks_take(&same, len, 8, &other), rc);
            ck_assert_uint_eq(off, other);
            ck_assert(model_takes(map, hl_round_up(len, 8), rc, off - first));
            if (rc == 0) {
                taken[count++] = (struct taken){off - first, hl_round_up(len, 8)};
            }
        } else if (count > 0 && r % 6 == 3) {
            bool fits = model_resize(map, &taken[i], hl_round_up(len, 8));
            ck_assert_int_eq(hl_blocks_resize(&b, first + taken[i].off, len), fits ? 0 : HL_ERR_NO_MEM);
            taken[i].len = fits ? hl_round_up(len, 8) : taken[i].len;
            (void)hl_blocks_resize(&same, first + taken[i].off, len);
        } else if (count > 0) {
            ck_assert_uint_eq(hl_blocks_len_at(&b, first + taken[i].off), taken[i].len);
            memset(map + taken[i].off, 0, taken[i].len);
            hl_blocks_give(&b, first + taken[i].off);
            hl_blocks_give(&same, first + taken[i].off);
            taken[i] = taken[--count];
        }
        ck_assert(hl_blocks_sane(&b));
        ck_assert_uint_eq(hl_blocks_largest(&b), model_largest(map));
    }
    ck_assert_uint_eq(hl_blocks_len_at(&b, first + 4), 0);
    ck_assert_int_eq(hl_blocks_take(&b, SIZE_MAX, 8, &first), HL_ERR_NO_MEM);
    hl_blocks_fini(&b);
    hl_blocks_fini(&same);
}
END_TEST

/* Does some multiple of `align` have `len` free bytes behind it? */
static bool model_holds(const char *map, size_t len, size_t align)
{
    for (size_t at = 0, end; at + len <= RANGE; at += align) {
        for (end = at; end < at + len && map[end] == 0; end++) {
        }
        if (end == at + len) {
            return true;
        }
    }
    return false;
}

/* And nothing is refused that some free block holds. */
START_TEST(blocks_keep_alignment)
{
    static char map[RANGE];
    size_t taken[64] = {0}; /* offsets + 1 */
    struct hl_blocks b;
    ck_assert_int_eq(hl_blocks_init(&b, RANGE, 8), 0);
    for (int step = 0; step < 20000; step++) {
        uint64_t r = next(&seed);
        size_t align = (size_t)8 << r % 7, len = (r >> 8) % 400 + 1, *off = &taken[(r >> 32) % 64];
        if (*off != 0) {
            memset(map + *off - 1, 0, hl_blocks_len_at(&b, *off - 1));
            hl_blocks_give(&b, *off - 1);
            *off = 0;
        } else if (hl_blocks_take(&b, len, align, off) == 0) {
            ck_assert_uint_eq(*off % align, 0);
            memset(map + *off, 1, hl_blocks_len_at(&b, *off));
            ++*off;
        } else {
            ck_assert(!model_holds(map, hl_round_up(len, 8), align));
        }
        ck_assert(hl_blocks_sane(&b));
    }
    hl_blocks_fini(&b);
}
END_TEST
