/* Rows of records of which most are equal. */
#include "repeat.h"

#include <fcntl.h>

struct pair {
    uint64_t a, b;
};

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "VmRSS: %ld", &kib);
    }
    fclose(f);
    return kib;
}

/* Number of records that are not `one`, the `step`-th ones aside, which are their own numbers. */
static size_t wrong_pairs(const struct pair *row, size_t count, struct pair one, size_t step)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct pair right = i % step == 0 ? (struct pair){i, ~i} : one;
        wrong += row[i].a != right.a || row[i].b != right.b;
    }
    return wrong;
}

static void check_row(size_t count, const struct pair *record)
{
    struct pair one = record != NULL ? *record : (struct pair){0};
    struct hl_repeat r = {count, sizeof one, record};
    struct pair *row = hl_mem_repeat(&r, -1), *other = hl_mem_repeat(&r, -1);
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(other);
    for (size_t i = 0; i < count; i += 777) {
        row[i] = (struct pair){i, ~i};
    }
    ck_assert_uint_eq(wrong_pairs(row, count, one, 777), 0);
    for (size_t i = 0; i < count; i += 777) { /* the other row has not heard of it */
        ck_assert(other[i].a == one.a && other[i].b == one.b);
    }
    hl_mem_repeat_free(row, count, sizeof one);
    hl_mem_repeat_free(other, count, sizeof one);
}

static const struct pair example = {UINT64_C(0x8000123456789abc), 7};

START_TEST(rows_have_their_record_everywhere)
{
    static const size_t counts[] = {0, 1, 2, 4095, 4096, 4097, 100000, 524288, 1000001};
    for (size_t i = 0; i < HL_COUNT_OF(counts); i++) {
        check_row(counts[i], NULL);
        check_row(counts[i], &example);
    }
    const unsigned char byte = 9;
    unsigned char *bytes = hl_mem_repeat(&(struct hl_repeat){100001, 1, &byte}, -1);
    ck_assert(bytes[0] == 9 && bytes[65536] == 9 && bytes[100000] == 9);
    hl_mem_repeat_free(bytes, 100001, 1);
    hl_mem_repeat_free(NULL, 10, 8);
    hl_mem_repeat_free(NULL, 1000000, 8);
}
END_TEST

START_TEST(long_rows_take_little_memory)
{
    enum { COUNT = 2000000, ROWS = 100 };
    if (SANITIZED) {
        return;
    }
    struct pair *rows[ROWS];
    long before = resident_kib();
    for (uint64_t i = 0; i < ROWS; i++) {
        struct pair one = {i + 1, i + 2};
        rows[i] = hl_mem_repeat(&(struct hl_repeat){COUNT, sizeof one, &one}, -1);
        ck_assert_ptr_nonnull(rows[i]);
        rows[i][COUNT / 2] = (struct pair){0};
    }
    ck_assert_int_le(resident_kib() - before, ROWS * 16); /* the kernel counts roughly */
    for (uint64_t i = 0; i < ROWS; i++) {
        ck_assert(rows[i][COUNT - 1].a == i + 1 && rows[i][COUNT - 1].b == i + 2);
        ck_assert(rows[i][COUNT / 2].a == 0 && rows[i][COUNT / 2 + 1].b == i + 2);
        hl_mem_repeat_free(rows[i], COUNT, sizeof *rows[i]);
    }
    ck_assert_int_le(resident_kib() - before, 1024);
}
END_TEST

/* Another process of the node has the pattern; what it writes into its row is its own. */
START_TEST(processes_share_a_pattern)
{
    struct hl_repeat r = {100000, sizeof example, &example},
                     unlike = {100000, sizeof example, &(struct pair){1, 2}},
                     longer = {10000000, sizeof example, &example}, brief = {100, sizeof example, &example};
    int fd = hl_mem_pattern_make(&r), status;
    ck_assert_int_ge(fd, 0);
    struct pair *mine = hl_mem_repeat(&r, fd);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(fd);
        int got = hl_mem_pattern_open(&r, getppid(), fd);
        struct pair *row = hl_mem_repeat(&r, got);
        for (size_t i = 0; i < r.count; i += 777) {
            row[i] = (struct pair){i, ~i};
        }
        _exit(got < 0 ? 2 : wrong_pairs(row, r.count, example, 777) == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(mine[777].a == example.a && mine[0].b == example.b);
    /* What is no pattern of the row is not taken. */
    ck_assert_int_eq(hl_mem_pattern_open(&unlike, getpid(), fd), -1);
    ck_assert_int_eq(hl_mem_pattern_open(&longer, getpid(), fd), -1);
    ck_assert_int_eq(hl_mem_pattern_open(&brief, getpid(), fd), -1);
    ck_assert_int_eq(hl_mem_pattern_open(&r, getpid(), -1), -1);
    ck_assert_int_eq(hl_mem_pattern_make(&brief), -1);
    ck_assert_int_lt(pwrite(fd, "x", 1, 0), 0); /* nobody can change it */
    close(fd);
    ck_assert_int_eq(hl_mem_pattern_open(&r, getpid(), fd), -1);
    int file = memfd_create("unsealed", MFD_ALLOW_SEALING);
    ck_assert_int_eq(hl_mem_pattern_open(&r, getpid(), file), -1);
    close(file);
    hl_mem_repeat_free(mine, r.count, r.len);
}
END_TEST

static int refusals, mappings; /* which call of mmap fails, counted down; those so far */
static void *refuse_some(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    mappings++;
    if (refusals > 0 && --refusals == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return mmap(addr, len, prot, flags, fd, off);
}

static int no_memfd(const char *name, unsigned flags)
{
    (void)name;
    (void)flags;
    errno = EMFILE;
    return -1;
}

static void check_filled(size_t count)
{
    struct hl_repeat r = {count, sizeof example, &example};
    struct pair *row = hl_mem_repeat(&r, -1);
    ck_assert_ptr_nonnull(row);
    row[0] = (struct pair){0, ~(uint64_t)0};
    ck_assert_uint_eq(wrong_pairs(row, count, example, count), 0);
    hl_mem_repeat_free(row, count, sizeof example);
}

/* Whatever the kernel refuses, the row is right, or there is none. */
START_TEST(a_row_is_right_whatever_is_refused)
{
    const size_t count = 100000;
    struct hl_repeat r = {count, sizeof example, &example};
    struct hl_sys real = hl_sys;
    hl_sys.mmap = refuse_some;
    refusals = 1;
    ck_assert_ptr_null(hl_mem_repeat(&r, -1));
    for (int which = 2; which < 20; which++) {
        refusals = which;
        check_filled(count);
    }
    ck_assert_int_ge(mappings, 19);
    hl_sys = real;
    hl_sys.memfd_create = no_memfd;
    check_filled(count);
    hl_sys = real;
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 4096; /* a larger file would end the process */
    setrlimit(RLIMIT_FSIZE, &none);
    check_filled(count);
    setrlimit(RLIMIT_FSIZE, &before);
}
END_TEST

START_TEST(pieces_become_zero)
{
    static const size_t lens[] = {1, 100, 4096, 65536, 70000, 3 << 20};
    for (size_t i = 0; i < HL_COUNT_OF(lens); i++) {
        struct hl_piece before, p;
        ck_assert_int_eq(hl_mem_alloc(200, NULL, &before), 0);
        memset(before.addr, 5, 200);
        ck_assert_int_eq(hl_mem_alloc(lens[i] + 64, NULL, &p), 0);
        memset(p.addr, 5, lens[i] + 64);
        hl_mem_zero(&p, lens[i]);
        const char *bytes = p.addr;
        size_t wrong = 0;
        for (size_t k = 0; k < lens[i] + 64; k++) {
            wrong += bytes[k] != (k < lens[i] ? 0 : 5);
        }
        ck_assert_uint_eq(wrong, 0);
        ck_assert_int_eq(((const char *)before.addr)[199], 5);
        hl_mem_free(&p);
        hl_mem_free(&before);
    }
}
END_TEST
