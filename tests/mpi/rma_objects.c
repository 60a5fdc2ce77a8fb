/* Windows as objects: hints in use, attributes of every flavor and the user's callbacks, shared memory and
 * its alignment, handles as integers, several windows over one memory, MPI_BOTTOM, overlapping sources, the
 * assertions of a fence. "large": more than 2^31 elements in one call. usage: rma_objects [large] */
#include "rma.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static int one_node;

static const char *hint(MPI_Win win, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int len = sizeof value, flag;
    MPI_Win_get_info(win, &info);
    MPI_Info_get_string(info, key, &len, value, &flag);
    MPI_Info_free(&info);
    return flag ? value : "(none)";
}

static int is_hint(MPI_Win win, const char *key, const char *want)
{
    const char *now = hint(win, key);
    if (strcmp(now, want) != 0) {
        fprintf(stderr, "%s is %s, not %s\n", key, now, want);
        return 0;
    }
    return 1;
}

static MPI_Win allocate(MPI_Aint bytes, const char *key, const char *value, void *base)
{
    MPI_Win win;
    MPI_Info info = MPI_INFO_NULL;
    if (key != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, base, &win);
    if (key != NULL) {
        MPI_Info_free(&info);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

/* What is given at creation, and what is in use then. */
static void hints_at_creation(void)
{
    static const char *const rows[][3] = {
        {"no_locks", "false", "false"},
        {"no_locks", "yes", "false"},
        {"accumulate_ordering", "none", "none"},
        {"accumulate_ordering", "rar", "rar"},
        {"accumulate_ordering", "waw,rar", "waw,rar"},
        {"accumulate_ordering", "raw,war,waw", "raw,war,waw"},
        {"accumulate_ordering", "none,rar", "rar,raw,war,waw"},
        {"accumulate_ordering", "rar,none", "rar,raw,war,waw"},
        {"accumulate_ordering", "rar,,raw", "rar,raw,war,waw"},
        {"accumulate_ordering", "rwr", "rar,raw,war,waw"},
        {"accumulate_ops", "same_op", "same_op"},
        {"accumulate_ops", " same_op\t", "same_op"},
        {"accumulate_ops", "same_op_no_op", "same_op_no_op"},
        {"accumulate_ops", "any", "same_op_no_op"},
        {"mpi_accumulate_granularity", "4096", "4096"},
        {"mpi_accumulate_granularity", "-1", "0"},
        {"mpi_accumulate_granularity", "8k", "0"},
        {"same_size", "true", "true"},
        {"same_size", "1", "false"},
        {"same_disp_unit", "true", "true"},
        {"mpi_minimum_memory_alignment", "8192", "8192"},
        {"mpi_minimum_memory_alignment", "100", "64"},
        {"mpi_minimum_memory_alignment", "0", "64"},
        {"mpi_assert_memory_alloc_kinds", "system,mpi", "system,mpi"},
        {"mpi_assert_memory_alloc_kinds", "mpi:win_allocate", "mpi:win_allocate"},
        {"mpi_assert_memory_alloc_kinds", "system,cuda", "(none)"},
        {"alloc_shared_noncontig", "true", "(none)"}, /* not of this flavor */
        {"what_is_this", "true", "(none)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *base;
        MPI_Win win = allocate(16, rows[i][0], rows[i][1], &base);
        CHECK(is_hint(win, rows[i][0], rows[i][2]), "%s=%s", rows[i][0], rows[i][1]);
        CHECK((uintptr_t)base % 64 == 0, "base %p", (void *)base);
        MPI_Win_free(&win);
    }
    char *base;
    MPI_Win win = allocate(16, "mpi_minimum_memory_alignment", "65536", &base);
    CHECK((uintptr_t)base % 65536 == 0, "base %p", (void *)base);
    MPI_Win_free(&win);
    win = allocate(16 + 16 * me, "same_size", "true", &base);
    CHECK(is_hint(win, "same_size", ranks == 1 ? "true" : "false"), "sizes differ");
    CHECK(is_hint(win, "same_disp_unit", "false"), "not asserted");
    MPI_Win_free(&win);
}

/* How many lines of a file have the word: what the network says of itself may stand beside them. */
static int lines_with(int file, const char *word)
{
    char text[4096], *rest = text;
    ssize_t len = pread(file, text, sizeof text - 1, 0);
    int lines = 0;
    text[len > 0 ? len : 0] = '\0';
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        lines += strstr(line, word) != NULL;
    }
    return lines;
}

/* What a window says of itself may be set on it, without a word. */
static void hints_again(void)
{
    char *base;
    MPI_Info info;
    MPI_Win win = allocate(16, "no_locks", "false", &base);
    int words = memfd_create("words", 0), screen = dup(2);
    MPI_Win_get_info(win, &info);
    dup2(words, 2);
    int code = MPI_Win_set_info(win, info);
    dup2(screen, 2);
    CHECK(code == MPI_SUCCESS && lines_with(words, "hint") == 0, "the same again");
    close(screen);
    close(words);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* Locks in spite of no_locks are locks, after one line of a node at most. */
static void hint_broken(int all)
{
    char *base;
    long sum = 0, one = 1;
    MPI_Win win = allocate(16, "no_locks", "true", &base);
    int words = memfd_create("words", 0), screen = dup(2), lines, most;
    dup2(words, 2);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    *(long *)(void *)base = 0;
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 200; i++) { /* exclusive: nobody's increment is lost */
        long now = 0;
        if (all) {
            MPI_Win_lock_all(0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_unlock_all(win);
            continue;
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        now++;
        MPI_Put(&now, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    dup2(screen, 2);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK(sum == 200L * ranks, "%ld increments", sum);
    CHECK(is_hint(win, "no_locks", "false"), "the hint is gone");
    lines = lines_with(words, "no_locks");
    CHECK(lines <= 1, "%d lines", lines);
    MPI_Allreduce(&lines, &most, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(most >= 1 && most <= ranks, "%d ranks have told", most);
    close(screen);
    close(words);
    MPI_Win_free(&win);
}

static void hints_later(void)
{
    char *base;
    MPI_Info info;
    MPI_Win win = allocate(16, "no_locks", "true", &base);
    CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS, "fences stay");
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "accumulate_ops", "wrong");
    MPI_Info_set(info, "same_size", "true"); /* too late */
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    CHECK(is_hint(win, "no_locks", "false") && is_hint(win, "accumulate_ordering", "none") &&
              is_hint(win, "accumulate_ops", "same_op_no_op") && is_hint(win, "same_size", "false"),
          "after set_info");
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS, "locks are back");
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* ---- shared memory ---- */

static void shared_sizes(int apart)
{
    MPI_Aint mine = me % 2 == 0 ? 0 : 40 * me, size;
    MPI_Info info;
    MPI_Win win;
    char *base, *at, *expected = NULL;
    int unit, lowest = ranks > 1 ? 1 : 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192");
    MPI_Win_allocate_shared(mine, 1 + me, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    CHECK(is_hint(win, "alloc_shared_noncontig", apart ? "true" : "false"), "key");
    memset(base, 'a' + me, (size_t)mine);
    meet_outside(win);
    for (int t = 0; t < ranks; t++) {
        MPI_Win_shared_query(win, t, &size, &unit, &at);
        CHECK(size == (t % 2 == 0 ? 0 : 40 * t) && unit == 1 + t, "rank %d: %ld, %d", t, (long)size, unit);
        CHECK(t != me || at == base, "mine");
        for (int i = 0; i < size; i++) {
            CHECK(at[i] == 'a' + t, "rank %d [%d] = %d", t, i, at[i]);
        }
        /* One piece after the other, or each where it was asked to be. */
        CHECK(apart || expected == NULL || at == expected, "rank %d at %p, not %p", t, (void *)at,
              (void *)expected);
        CHECK(t != (apart ? me : 0) || size == 0 || (uintptr_t)at % 8192 == 0, "aligned: %p", (void *)at);
        expected = at + size;
    }
    MPI_Aint unit_c;
    char *first;
    MPI_Win_shared_query(win, lowest, &size, &unit, &at);
    MPI_Win_shared_query_c(win, MPI_PROC_NULL, &size, &unit_c, &first);
    CHECK(first == at && size == (ranks > 1 ? 40 : 0) && unit_c == 1 + lowest, "lowest rank with memory");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* ---- calls that do not fit together ---- */

enum { CREATE, ALLOCATE, SHARED, APART, DYNAMIC, KINDS };

static int make_kind(int kind, MPI_Comm comm, MPI_Win *win)
{
    static long memory[2];
    MPI_Info info;
    void *base;
    int code;
    switch (kind) {
    case CREATE:
        return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, win);
    case ALLOCATE:
        return MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, comm, &base, win);
    case DYNAMIC:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    default:
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", kind == APART ? "true" : "false");
        code = MPI_Win_allocate_shared(sizeof memory, 1, info, comm, &base, win);
        MPI_Info_free(&info);
        return code;
    }
}

/* The last rank calls for another window than the others: an error for all, that names the difference. */
static void mixed_kinds(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < KINDS * KINDS; i++) {
        int most = i / KINDS, last = i % KINDS,
            keys = (most == SHARED || most == APART) && (last == SHARED || last == APART);
        if (most == last || ranks == 1) {
            continue;
        }
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Win win;
        int code = make_kind(me == ranks - 1 ? last : most, comm, &win);
        MPI_Error_string(code, text, &len);
        if (one_node) {
            CHECK(class_of(code) == (keys ? MPI_ERR_INFO_VALUE : MPI_ERR_RMA_FLAVOR), "%d and %d: %.200s",
                  most, last, text);
            CHECK(strstr(text, keys ? "alloc_shared_noncontig" : "MPI_Win_") != NULL, "%.200s", text);
        }
        CHECK(code != MPI_SUCCESS, "%d and %d", most, last);
    }
    MPI_Comm_free(&comm);
}

/* Hints that differ: each rank has what it gave, or what holds. Nothing hangs, data arrive. */
static void mixed_hints(void)
{
    static const char *const keys[] = {"no_locks",       "same_size",
                                       "same_disp_unit", "accumulate_ordering",
                                       "accumulate_ops", "mpi_minimum_memory_alignment"};
    static const char *const given[] = {"true", "true", "true", "none", "same_op", "4096"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        long *base, one = 1;
        MPI_Win win = allocate(16, me == 0 ? NULL : keys[i], given[i], &base);
        CHECK(me == 0 || is_hint(win, keys[i], given[i]), "%s", keys[i]);
        base[0] = 0;
        MPI_Win_fence(0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        CHECK(base[0] == (me == 0 ? ranks : 0), "%s: %ld", keys[i], base[0]);
        MPI_Win_free(&win);
    }
}

/* ---- attributes ---- */

static void check_attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    void *value;
    int flag;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == base, "base %p, not %p", value, base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == size, "size");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit, "unit");
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor, "flavor %d", *(int *)value);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED, "model");
}

static void attributes_of_flavors(void)
{
    static long memory[8];
    MPI_Win win;
    void *base;
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, memory, sizeof memory, 8, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&win);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(100, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    check_attributes(win, base, 100, 4, MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    CHECK(is_hint(win, "mpi_minimum_memory_alignment", "(none)") && is_hint(win, "no_locks", "false"),
          "hints");
    MPI_Win_free(&win);
    if (one_node) {
        MPI_Win_allocate_shared_c(24, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        check_attributes(win, base, 24, 2, MPI_WIN_FLAVOR_SHARED);
        MPI_Win_free(&win);
    }
}

static int deleted, copied;
static void *last_value, *last_extra;

static int copy(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag)
{
    copied++;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Win win, int keyval, void *value, void *extra)
{
    deleted++;
    last_value = value;
    last_extra = extra;
    return MPI_SUCCESS;
}

static void user_attributes(void)
{
    int key, other, flag;
    char *base, words[] = "ab";
    void *value;
    MPI_Win win = allocate(16, NULL, NULL, &base);
    MPI_Win_create_keyval(copy, delete, &key, words);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(!flag, "nothing yet");
    MPI_Win_set_attr(win, key, words);
    MPI_Win_set_attr(win, other, &flag);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value == words, "as set");
    MPI_Win_set_attr(win, key, words + 1);
    CHECK(deleted == 1 && last_value == words && last_extra == words, "replaced: %d", deleted);
    MPI_Win_delete_attr(win, key);
    CHECK(deleted == 2 && last_value == words + 1, "deleted: %d", deleted);
    MPI_Win_set_attr(win, key, words);
    MPI_Win_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID && deleted == 2, "the key lives on while it is used");
    MPI_Win_free(&win);
    CHECK(deleted == 3 && last_value == words && copied == 0, "freed: %d", deleted);
    MPI_Win_free_keyval(&other);
}

static void handles(void)
{
    char *base;
    MPI_Win win = allocate(16, NULL, NULL, &base);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win, "back from an integer");
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL, "back from an integer");
    MPI_Win_free(&win);
}

/* ---- data ---- */

/* Two windows over one memory, the second over its end: both reach it, each by its own displacements. */
static void same_memory(void)
{
    static long memory[16];
    MPI_Win whole, end;
    int t = (me + 1) % ranks;
    long value = 1000 + me, got = 0;
    memset(memory, 0, sizeof memory);
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
    MPI_Win_create(memory + 8, 8 * sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &end);
    MPI_Win_fence(0, whole);
    MPI_Win_fence(0, end);
    MPI_Put(&value, 1, MPI_LONG, t, 9, 1, MPI_LONG, whole);
    MPI_Accumulate(&value, 1, MPI_LONG, t, 2 * (MPI_Aint)sizeof(long), 1, MPI_LONG, MPI_SUM, end);
    MPI_Win_fence(0, whole);
    MPI_Win_fence(0, end);
    MPI_Get(&got, 1, MPI_LONG, t, sizeof(long), 1, MPI_LONG, end);
    MPI_Win_fence(0, end);
    MPI_Win_fence(0, whole);
    CHECK(got == value, "got %ld", got);
    CHECK(memory[10] == 1000 + (me + ranks - 1) % ranks, "%ld", memory[10]);
    MPI_Win_free(&end);
    MPI_Win_free(&whole);
}

/* Absolute addresses on the origin's side; a source that names the same words twice. */
static void addresses(void)
{
    long *base, mine[4] = {10 * me, 10 * me + 1, 10 * me + 2, 10 * me + 3}, got[6];
    MPI_Win win = allocate(10 * sizeof(long), NULL, NULL, &base);
    MPI_Datatype absolute, again;
    MPI_Aint at;
    int t = (me + 1) % ranks, from = (me + ranks - 1) % ranks, four = 4;
    MPI_Get_address(mine, &at);
    MPI_Type_create_hindexed(1, &four, &at, MPI_LONG, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Type_create_hvector(3, 2, sizeof(long), MPI_LONG, &again);
    MPI_Type_commit(&again);
    MPI_Win_fence(0, win);
    MPI_Put(MPI_BOTTOM, 1, absolute, t, 0, 4, MPI_LONG, win);
    MPI_Put(mine, 1, again, t, 4 * (int)sizeof(long), 6, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 6, MPI_LONG, t, 0, 1, again, win); /* the target is the source now */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 6; i++) {
        CHECK(i >= 4 || base[i] == 10 * from + i, "[%d] = %ld", i, base[i]);
        CHECK(base[4 + i] == 10 * from + (i + 1) / 2, "[%d] = %ld", 4 + i, base[4 + i]);
        CHECK(got[i] == 10 * me + (i + 1) / 2, "got[%d] = %ld", i, got[i]);
    }
    MPI_Win_free(&win);
    MPI_Type_free(&absolute);
    MPI_Type_free(&again);
}

/* Every assertion of a fence changes its speed and nothing else. */
static void fences(void)
{
    static const int asserts[] = {0, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOSTORE | MPI_MODE_NOPUT};
    long *base, value, got;
    MPI_Win win = allocate(2 * sizeof(long), NULL, NULL, &base);
    int t = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    for (int i = 0; i < 4; i++) {
        value = 100 * i + me;
        base[1] = value;
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(&value, 1, MPI_LONG, t, 0, 1, MPI_LONG, win);
        MPI_Get(&got, 1, MPI_LONG, t, sizeof(long), 1, MPI_LONG, win);
        MPI_Win_fence(asserts[i] | MPI_MODE_NOSUCCEED, win);
        CHECK(base[0] == 100 * i + from && got == 100 * i + t, "%ld and %ld", base[0], got);
        MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
        CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, t, 0, 1, MPI_LONG, win)) == MPI_ERR_RMA_SYNC, "no epoch");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* More than 2^31 elements: as bytes, and as elements of no size. */
static int large(void)
{
    const MPI_Count n = ((MPI_Count)1 << 31) + 5;
    size_t free_ = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    int enough = free_ > (size_t)n * 5 / 2;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!enough) {
        printf("needs 5 GiB of free memory\n");
        MPI_Finalize();
        return 77;
    }
    char *base, *mine = NULL;
    MPI_Win win = allocate(me == ranks - 1 ? (MPI_Aint)n : 0, NULL, NULL, &base);
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Win_fence(0, win);
    if (me == 0) {
        mine = calloc(1, (size_t)n);
        CHECK(mine != NULL, "%lld bytes", (long long)n);
        mine[0] = 1, mine[n / 2] = 2, mine[n - 1] = 3;
        MPI_Put_c(mine, n, MPI_BYTE, ranks - 1, 0, n, MPI_BYTE, win);
        MPI_Put_c(mine, n, nothing, ranks - 1, 0, n, nothing, win);
        CHECK(class_of(MPI_Put_c(mine, n, MPI_BYTE, ranks - 1, 1, n, MPI_BYTE, win)) == MPI_ERR_RMA_RANGE,
              "range");
    }
    MPI_Win_fence(0, win);
    if (me == ranks - 1) {
        CHECK(base[0] == 1 && base[n / 2] == 2 && base[n - 1] == 3, "%d %d %d", base[0], base[n / 2],
              base[n - 1]);
        base[n - 1] = 4;
    }
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Get_c(mine, n, MPI_BYTE, ranks - 1, 0, n, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
    CHECK(me != 0 || (mine[0] == 1 && mine[n / 2] == 2 && mine[n - 1] == 4), "read back");
    MPI_Win_free(&win);
    free(mine);
    MPI_Type_free(&nothing);
    return finish_checks("rma_objects large");
}

static int node_is_one(void)
{
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n == ranks;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1) {
        return large();
    }
    one_node = node_is_one();
    hints_at_creation();
    hints_again();
    hint_broken(0);
    hint_broken(1);
    hints_later();
    if (one_node) {
        shared_sizes(0);
        shared_sizes(1);
    }
    mixed_kinds();
    mixed_hints();
    attributes_of_flavors();
    user_attributes();
    handles();
    same_memory();
    addresses();
    fences();
    return finish_checks("rma_objects");
}
