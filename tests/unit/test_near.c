/* near: every accumulate equals the serial kernel, contended updates add up exactly, fences forbid what they
 * should, and peers' memory is mapped, shared, refused and lost as its header says. */
#include "../seed.h"
#include "unit.h"

#include "commons.h"
#include "err.h"
#include "gaps.h"
#include "job.h"
#include "log.h"
#include "mem.h"
#include "near.h"
#include "near_internal.h"
#include "near_litmus.h"
#include "near_lock.h"
#include "near_map.h"
#include "op_apply.h"
#include "util.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed;

static void take_seed(void)
{
    seed = seed_of_run();
    printf("TEST_SEED=0x%llx\n", (unsigned long long)seed);
    fflush(stdout);
}

static uint64_t next(void)
{
    seed += 0x9e3779b97f4a7c15u;
    return hl_mix64(seed);
}

static void fill(void *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)at)[i] = (unsigned char)next();
    }
}

/* ---- accumulate against the serial kernel ---- */

#define N 300 /* more than one locked piece */
#define ROOM (N * 32 + 64)

static _Alignas(64) unsigned char target[ROOM], expected[ROOM], origin[ROOM], fetched[ROOM], before[ROOM];

/* Which of two that are no numbers comes out of a sum is the compiler's choice, so reals and parts of complex
 * numbers are numbers. */
static void only_numbers(unsigned char *at, enum hl_basic basic, size_t n)
{
    bool single = basic == HL_BASIC_F32 || basic == HL_BASIC_C32;
    size_t part = single ? sizeof(float) : sizeof(double);
    if (!single && basic != HL_BASIC_F64 && basic != HL_BASIC_C64) {
        return;
    }
    for (size_t end = part; end <= n * hl_op_extent(basic); end += part) {
        if ((at[end - 1] & 0x7f) == 0x7f) { /* the exponent's upper bits */
            at[end - 1] &= 0xbf;
        }
    }
}

static void one_combination(enum hl_op_kind op, enum hl_basic basic, size_t shift, size_t n)
{
    size_t bytes = n * hl_op_extent(basic);
    struct hl_near_lock lock = {.holder = {0}};
    for (int with_fetch = 0; with_fetch < 2; with_fetch++) {
        fill(target, ROOM);
        fill(origin, ROOM);
        only_numbers(target + shift, basic, n);
        only_numbers(origin + 3, basic, n);
        memset(fetched, 0xee, ROOM);
        memcpy(before, target, ROOM);
        memcpy(expected, target, ROOM);
        int want = apply_op(op, basic, expected + shift, origin + 3, n);
        int rc =
            hl_near_acc(op, basic, target + shift, origin + 3, with_fetch ? fetched + 5 : NULL, n, &lock);
        ck_assert_msg(rc == want, "%s on %s", hl_op_kind_name(op), hl_op_basic_name(basic));
        ck_assert_msg(memcmp(target, expected, ROOM) == 0, "%s on %s, shift %zu, %zu elements",
                      hl_op_kind_name(op), hl_op_basic_name(basic), shift, n);
        ck_assert(are_elements(basic, target + shift, target + shift, before + shift, n));
        if (with_fetch && rc == 0) {
            unsigned char untouched[ROOM];
            memset(untouched, 0xee, ROOM);
            ck_assert(are_elements(basic, fetched + 5, before + shift, untouched, n));
        }
        ck_assert_uint_eq(fetched[4], 0xee);
        ck_assert_uint_eq(fetched[5 + bytes], 0xee);
        ck_assert_uint_eq(hl_a32_load_relaxed(&lock.holder), 0);
    }
}

START_TEST(accumulate_equals_the_serial_kernel)
{
    for (int basic = 0; basic < HL_BASICS; basic++) {
        for (size_t shift = 0; shift < 2; shift++) {
            one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, shift * 3, 1);
            one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, shift * 4, N);
            one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, shift, 7);
            one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, shift * 8, N - 1);
            one_combination((enum hl_op_kind)_i, (enum hl_basic)basic,
                            16 - hl_op_size((enum hl_basic)basic) % 16, 64 + shift);
        }
        one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, 0, 0);
    }
}
END_TEST

/* What `n` blocks of `len` at places do is what an accumulate of each does. */
static void compare_blocks(enum hl_op_kind op, enum hl_basic basic, const struct hl_near_blocks *b)
{
    static unsigned char one_by_one[ROOM], result[ROOM];
    size_t bytes = b->len * hl_op_extent(basic);
    struct hl_near_lock lock = {.holder = {0}};
    fill(target, ROOM);
    fill(origin, ROOM);
    only_numbers(origin, basic, b->len * b->times);
    only_numbers(target, basic, ROOM / hl_op_extent(basic));
    memcpy(one_by_one, target, ROOM);
    memset(fetched, 0, ROOM);
    memset(result, 0, ROOM);
    int rc = hl_near_acc_blocks(op, basic, b, origin, fetched, &lock), want = 0;
    for (size_t i = 0; i < b->times; i++) {
        unsigned char *at = one_by_one + ((unsigned char *)b->base - target) +
                            (b->disp != NULL ? b->disp[i] : (int64_t)i * b->stride);
        want = hl_near_acc(op, basic, at, origin + i * bytes, result + i * bytes, b->len, &lock);
    }
    ck_assert_int_eq(rc, want);
    ck_assert_msg(memcmp(target, one_by_one, ROOM) == 0, "%s on %s", hl_op_kind_name(op),
                  hl_op_basic_name(basic));
    ck_assert_mem_eq(fetched, result, ROOM);
    ck_assert_uint_eq(hl_a32_load_relaxed(&lock.holder), 0);
}

START_TEST(accumulates_of_blocks_are_those_of_each)
{
    static const int64_t far[] = {512, 0, 1024, 96}, odd[] = {512, 4, 1021, 96};
    for (int b = 0; b < HL_BASICS; b++) {
        enum hl_basic basic = (enum hl_basic)b;
        char *base = (char *)target;
        int64_t stride = 3 * (int64_t)hl_op_extent(basic);
        for (size_t len = 1; len <= 3; len++) {
            compare_blocks((enum hl_op_kind)_i, basic, &(struct hl_near_blocks){base, len, stride, 20, NULL});
            compare_blocks((enum hl_op_kind)_i, basic,
                           &(struct hl_near_blocks){base + 2, len, stride, 20, NULL});
            compare_blocks((enum hl_op_kind)_i, basic,
                           &(struct hl_near_blocks){base, len, stride + 2, 20, NULL});
            compare_blocks((enum hl_op_kind)_i, basic,
                           &(struct hl_near_blocks){base + 4096, len, -stride, 20, NULL});
            compare_blocks((enum hl_op_kind)_i, basic, &(struct hl_near_blocks){base, len, 0, 4, far});
            compare_blocks((enum hl_op_kind)_i, basic, &(struct hl_near_blocks){base, len, 0, 4, odd});
        }
    }
}
END_TEST

START_TEST(compare_and_swap_compares_bytes)
{
    struct hl_near_lock lock = {.holder = {0}};
    for (int b = 0; b < HL_BASICS; b++) {
        enum hl_basic basic = (enum hl_basic)b;
        bool allowed = b == HL_BASIC_BYTE || (b >= HL_BASIC_I8 && b <= HL_BASIC_L128);
        size_t size = hl_op_size(basic);
        for (size_t shift = 0; shift < 2; shift++) {
            fill(target, 64);
            fill(origin, 64);
            memcpy(before, target, 64);
            int rc = hl_near_cas(basic, target + shift, origin + 1, before + shift, fetched + 3, &lock);
            ck_assert_int_eq(rc, allowed ? 0 : HL_ERR_TYPE);
            ck_assert_mem_eq(target + shift, allowed ? origin + 1 : before + shift, size);
            if (allowed) {
                ck_assert_mem_eq(fetched + 3, before + shift, size);
                target[shift] ^= 1;
                memcpy(expected, target, 64);
                ck_assert_int_eq(hl_near_cas(basic, target + shift, before, origin + 1, fetched + 3, &lock),
                                 0);
                ck_assert_mem_eq(target, expected, 64);
                ck_assert_mem_eq(fetched + 3, expected + shift, size);
            }
        }
    }
}
END_TEST

START_TEST(mechanism_follows_type_and_address)
{
    ck_assert(hl_near_is_cpu(HL_BASIC_I64, target));
    ck_assert(!hl_near_is_cpu(HL_BASIC_I64, target + 4));
    ck_assert(hl_near_is_cpu(HL_BASIC_I32, target + 4));
    ck_assert(hl_near_is_cpu(HL_BASIC_U8, target + 1));
    ck_assert(hl_near_is_cpu(HL_BASIC_F64, target + 8));
    ck_assert(!hl_near_is_cpu(HL_BASIC_2INT, target));
    ck_assert(!hl_near_is_cpu(HL_BASIC_I128, target));
    ck_assert(!hl_near_is_cpu(HL_BASIC_C64, target));
}
END_TEST

START_TEST(copies_of_every_length)
{
    for (size_t len = 0; len < 70; len++) {
        for (size_t shift = 0; shift < 64; shift++) {
            fill(origin, 200);
            memset(target, 0, 200);
            hl_near_copy(target + 8 + shift / 8, origin + shift % 8, len);
            ck_assert_mem_eq(target + 8 + shift / 8, origin + shift % 8, len);
            ck_assert_uint_eq(target[7 + shift / 8] | target[8 + shift / 8 + len], 0);
        }
    }
}
END_TEST

/* ---- contention ---- */

/* Memory that forked children share too. */
struct arena {
    struct hl_near_lock lock;
    _Alignas(64) hl_a32 go;
    hl_a32 at;
    _Alignas(64) unsigned char bytes[4096];
};

static struct arena *arena;

static void make_arena(void)
{
    arena = mmap(NULL, sizeof *arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(arena != MAP_FAILED);
}

struct job {
    enum hl_basic basic;
    size_t shift, rounds, n;
};

static const struct job jobs[] = {
    {HL_BASIC_I8, 0, 300, 3},   {HL_BASIC_U16, 0, 300, 3},     {HL_BASIC_I32, 0, 1000, 2},
    {HL_BASIC_I64, 0, 1000, 2}, {HL_BASIC_I64, 3, 1000, 2},    {HL_BASIC_F32, 0, 300, 2},
    {HL_BASIC_F64, 0, 1000, 2}, {HL_BASIC_F64, 4, 1000, 2},    {HL_BASIC_C32, 0, 300, 2},
    {HL_BASIC_C64, 0, 300, 2},  {HL_BASIC_LDOUBLE, 0, 300, 2}, {HL_BASIC_I128, 0, 300, 2},
    {HL_BASIC_I64, 4, 20, 400}, {HL_BASIC_U8, 5, 50, 90},      {HL_BASIC_F32, 4, 50, 75},
    {HL_BASIC_I64, 8, 50, 24},  {HL_BASIC_F64, 0, 50, 40},     {HL_BASIC_C32, 8, 50, 20},
};

/* Ones of a type: value 1 in each element. */
static void ones(enum hl_basic basic, void *out, size_t n)
{
    size_t size = hl_op_size(basic);
    float f = 1;
    double d = 1;
    long double ld = 1;
    memset(out, 0, n * size);
    for (size_t i = 0; i < n; i++) {
        char *at = (char *)out + i * size;
        switch (basic) {
        case HL_BASIC_F32:
        case HL_BASIC_C32:
            memcpy(at, &f, sizeof f);
            break;
        case HL_BASIC_F64:
        case HL_BASIC_C64:
            memcpy(at, &d, sizeof d);
            break;
        case HL_BASIC_LDOUBLE:
            memcpy(at, &ld, sizeof ld);
            break;
        default:
            *at = 1;
        }
    }
}

static void *add_thread(void *arg)
{
    const struct job *j = arg;
    unsigned char one[400 * 16];
    ones(j->basic, one, j->n);
    size_t size = hl_op_size(j->basic);
    for (size_t r = 0; r < j->rounds; r++) {
        size_t by = r % 2 == 0 ? j->n : 1; /* all at once, or one after the other */
        for (size_t i = 0; i < j->n; i += by) {
            ck_assert_int_eq(hl_near_acc(HL_OP_SUM, j->basic, arena->bytes + j->shift + i * size,
                                         one + i * size, NULL, by, &arena->lock),
                             0);
        }
    }
    return NULL;
}

static void run_threads(int threads, void *(*fn)(void *), void *arg)
{
    pthread_t t[32];
    for (int i = 0; i < threads; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, fn, arg), 0);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
}

/* What `updates` serial additions of one give. */
static void check_sum(const struct job *j, size_t updates)
{
    unsigned char one[400 * 16], want[400 * 16];
    ones(j->basic, one, j->n);
    memset(want, 0, sizeof want);
    for (size_t i = 0; i < updates; i++) {
        apply_op(HL_OP_SUM, j->basic, want, one, j->n);
    }
    ck_assert_mem_eq(arena->bytes + j->shift, want, j->n * hl_op_size(j->basic));
}

static const int thread_counts[] = {1, 2, 8, 32};

START_TEST(contended_sums_are_exact)
{
    make_arena();
    for (size_t i = 0; i < HL_COUNT_OF(jobs); i++) {
        struct job j = jobs[i];
        memset(arena->bytes, 0, sizeof arena->bytes);
        run_threads(thread_counts[_i], add_thread, &j);
        check_sum(&j, j.rounds * (size_t)thread_counts[_i]);
    }
}
END_TEST

START_TEST(contended_sums_of_two_processes_are_exact)
{
    make_arena();
    for (size_t i = 0; i < HL_COUNT_OF(jobs); i++) {
        struct job j = jobs[i];
        memset(arena->bytes, 0, sizeof arena->bytes);
        pid_t child = fork();
        if (child == 0) {
            hl_job.node_rank = 1;
            run_threads(2, add_thread, &j);
            _exit(0);
        }
        run_threads(2, add_thread, &j);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        check_sum(&j, j.rounds * 4);
    }
}
END_TEST

/* Counts up by compare-and-swap, on the basic and shift of the job. */
static void *cas_thread(void *arg)
{
    const struct job *j = arg;
    size_t size = hl_op_size(j->basic);
    for (size_t r = 0; r < j->rounds; r++) {
        unsigned char seen[16] = {0}, wish[16], was[16];
        for (;;) {
            uint64_t low;
            memcpy(&low, seen, 8);
            low++;
            memset(wish, 0, sizeof wish);
            memcpy(wish, &low, hl_min_size(size, 8));
            ck_assert_int_eq(hl_near_cas(j->basic, arena->bytes + j->shift, wish, seen, was, &arena->lock),
                             0);
            if (memcmp(was, seen, size) == 0) {
                break;
            }
            memcpy(seen, was, size);
        }
    }
    return NULL;
}

START_TEST(contended_compare_and_swap_counts)
{
    static const struct job cas_jobs[] = {{HL_BASIC_U32, 0, 300, 1},
                                          {HL_BASIC_I64, 0, 300, 1},
                                          {HL_BASIC_I64, 1, 300, 1},
                                          {HL_BASIC_I128, 0, 300, 1}};
    make_arena();
    for (size_t i = 0; i < HL_COUNT_OF(cas_jobs); i++) {
        struct job j = cas_jobs[i];
        memset(arena->bytes, 0, sizeof arena->bytes);
        run_threads(thread_counts[_i], cas_thread, &j);
        uint64_t got = 0;
        memcpy(&got, arena->bytes + j.shift, hl_min_size(hl_op_size(j.basic), 8));
        ck_assert_uint_eq(got, 300u * (unsigned)thread_counts[_i]);
    }
}
END_TEST

/* ---- the lock of a dead holder ---- */

static int dead_rank = -1;

static bool lives(int node_rank)
{
    return node_rank != dead_rank;
}

static void *leave_later(void *arg)
{
    usleep(20000);
    hl_near_lock_leave(arg);
    return NULL;
}

START_TEST(the_lock_of_a_dead_holder_is_taken_over)
{
    hl_log_limit(HL_LOG_ERROR);
    hl_job.node_lives = lives;
    hl_near_holder_timeout_ns = 1000000;
    hl_job.node_size = 2;
    struct hl_near_lock lock = {.holder = {2}}; /* held by node rank 1 */
    pthread_t t;
    pthread_create(&t, NULL, leave_later, &lock);
    hl_near_lock_take(&lock); /* alive: waits for it */
    pthread_join(t, NULL);
    ck_assert_uint_eq(hl_a32_load_relaxed(&lock.holder), 1);
    hl_near_lock_leave(&lock);
    hl_a32_store_relaxed(&lock.holder, 2);
    dead_rank = 1;
    hl_near_lock_take(&lock);
    ck_assert_uint_eq(hl_a32_load_relaxed(&lock.holder), 1);
}
END_TEST

/* A peer can write the name of a lock while it is held: what was taken is given back. */
START_TEST(the_lock_that_was_taken_is_given_back)
{
    static struct hl_near_part board[2];
    struct hl_near_lock names = {.owner = 1};
    hl_job.node_size = 2;
    hl_near_open(board);
    struct hl_near_lock *held = hl_near_lock_take(&names);
    hl_a32_store_relaxed(&board[1].lock.holder, 2);
    names.owner = 2;
    hl_near_lock_leave(held);
    ck_assert_uint_eq(hl_a32_load_relaxed(&board[0].lock.holder), 0);
    ck_assert_uint_eq(hl_a32_load_relaxed(&board[1].lock.holder), 2);
}
END_TEST

/* ---- memory that is not mapped ---- */

#define PAGE ((size_t)4096)

/* The child's pages hold 2, but for the last, which it does not have; ends well when the first one holds 3.
 */
static void unlike_parent(unsigned char *pages, int up, int down)
{
    char byte = 0;
    memset(pages, 2, 3 * PAGE);
    munmap(pages + 3 * PAGE, PAGE);
    bool ok = write(up, &byte, 1) == 1 && read(down, &byte, 1) == 1;
    for (size_t i = 0; i < PAGE; i++) {
        ok = ok && pages[i] == 3 && pages[PAGE + i] == 2;
    }
    _exit(ok ? 0 : 1);
}

START_TEST(the_kernel_copies_up_to_a_hole)
{
    static unsigned char mine[4 * PAGE];
    int up[2], down[2], status;
    char byte = 0;
    unsigned char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t theirs = (uint64_t)(uintptr_t)pages;
    ck_assert(pages != MAP_FAILED && pipe(up) == 0 && pipe(down) == 0);
    pid_t child = fork();
    if (child == 0) {
        unlike_parent(pages, up[1], down[0]);
    }
    ck_assert_int_eq(read(up[0], &byte, 1), 1);
    size_t got = hl_near_kernel_copy(child, HL_NEAR_READ, mine, theirs, 3 * PAGE);
    if (got == 0 && (errno == EPERM || errno == ENOSYS)) {
        printf("nothing is shown of it: the kernel copies no memory of other processes here\n");
        kill(child, SIGKILL);
        return;
    }
    ck_assert_uint_eq(got, 3 * PAGE);
    ck_assert(mine[0] == 2 && memcmp(mine, mine + 1, 3 * PAGE - 1) == 0);
    ck_assert_uint_eq(hl_near_kernel_copy(child, HL_NEAR_READ, mine, theirs, 0), 0);
    ck_assert_uint_eq(hl_near_kernel_copy(child, HL_NEAR_READ, mine, theirs + PAGE, 3 * PAGE), 2 * PAGE);
    ck_assert_int_eq(errno, EFAULT);
    memset(mine, 3, PAGE);
    ck_assert_uint_eq(hl_near_kernel_copy(child, HL_NEAR_WRITE, mine, theirs, PAGE), PAGE);
    ck_assert_int_eq(write(down[1], &byte, 1), 1);
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    ck_assert_uint_eq(hl_near_kernel_copy(child, HL_NEAR_READ, mine, theirs, 1), 0);
    ck_assert_int_eq(errno, ESRCH);
}
END_TEST

#include "near_mapped.h"

static Suite *near_suite(void)
{
    Suite *s = suite_create("near");
    TCase *c = tcase_create("near");
    take_seed();
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, accumulate_equals_the_serial_kernel, 0, HL_OP_KINDS);
    tcase_add_loop_test(c, accumulates_of_blocks_are_those_of_each, 0, HL_OP_KINDS);
    tcase_add_test(c, compare_and_swap_compares_bytes);
    tcase_add_test(c, mechanism_follows_type_and_address);
    tcase_add_test(c, copies_of_every_length);
    tcase_add_loop_test(c, contended_sums_are_exact, 0, (int)HL_COUNT_OF(thread_counts));
    tcase_add_test(c, contended_sums_of_two_processes_are_exact);
    tcase_add_loop_test(c, contended_compare_and_swap_counts, 0, (int)HL_COUNT_OF(thread_counts));
    tcase_add_test(c, the_lock_of_a_dead_holder_is_taken_over);
    tcase_add_test(c, the_lock_that_was_taken_is_given_back);
    tcase_add_test(c, the_kernel_copies_up_to_a_hole);
    tcase_add_loop_test(c, fences_forbid_between_threads, 0, (int)HL_COUNT_OF(litmus_tests));
    tcase_add_loop_test(c, fences_forbid_between_processes, 0, (int)HL_COUNT_OF(litmus_tests));
    tcase_add_loop_test(c, peers_memory_is_mapped_by_request, 0, 3);
    tcase_add_loop_test(c, peers_memory_lies_where_its_range_was_reserved, 0, 2);
    tcase_add_loop_test(c, a_list_that_is_wrong_is_not_believed, 0, 4);
    tcase_add_test(c, my_segments_are_listed_while_they_live);
    tcase_add_test(c, threads_map_and_unmap_at_once);
    tcase_add_test(c, many_peers_are_asked_a_few_at_a_time);
    tcase_add_test(c, mine_is_mapped_already);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(near_suite)
