/* near: every accumulate equals the serial kernel, contended updates add up exactly, fences forbid what they
 * should, and peers' memory is mapped, shared, refused and lost as its header says. */
#include "unit.h"

#include "boot.h"
#include "err.h"
#include "inside.h"
#include "log.h"
#include "mem.h"
#include "near.h"
#include "near_litmus.h"
#include "util.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed;

static void take_seed(void)
{
    hl_random_bytes(&seed, sizeof seed);
    const char *set = getenv("HL_TEST_SEED");
    seed = set != NULL ? strtoull(set, NULL, 0) : seed;
    printf("HL_TEST_SEED=0x%llx\n", (unsigned long long)seed);
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

static void one_combination(enum hl_op_kind op, enum hl_basic basic, size_t shift, size_t n)
{
    size_t bytes = n * hl_op_extent(basic), size = hl_op_size(basic), extent = hl_op_extent(basic);
    struct hl_near_lock lock = {.holder = {0}};
    for (int with_fetch = 0; with_fetch < 2; with_fetch++) {
        fill(target, ROOM);
        fill(origin, ROOM);
        memset(fetched, 0xee, ROOM);
        memcpy(before, target, ROOM);
        memcpy(expected, target, ROOM);
        int want = hl_op_apply(op, basic, expected + shift, origin + 3, n);
        int rc =
            hl_near_acc(op, basic, target + shift, origin + 3, with_fetch ? fetched + 5 : NULL, n, &lock);
        ck_assert_msg(rc == want, "%s on %s", hl_op_kind_name(op), hl_op_basic_name(basic));
        if (op == HL_OP_REPLACE) { /* padding may or may not be copied */
            for (size_t i = 0; i < n; i++) {
                ck_assert_mem_eq(target + shift + i * extent, expected + shift + i * extent, size);
            }
        } else {
            ck_assert_msg(memcmp(target, expected, ROOM) == 0, "%s on %s, shift %zu, %zu elements",
                          hl_op_kind_name(op), hl_op_basic_name(basic), shift, n);
        }
        for (size_t i = 0; with_fetch && rc == 0 && i < n; i++) {
            ck_assert_mem_eq(fetched + 5 + i * extent, before + shift + i * extent, size);
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
        }
        one_combination((enum hl_op_kind)_i, (enum hl_basic)basic, 0, 0);
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
    {HL_BASIC_I64, 4, 20, 400},
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
    for (size_t r = 0; r < j->rounds; r++) {
        ck_assert_int_eq(
            hl_near_acc(HL_OP_SUM, j->basic, arena->bytes + j->shift, one, NULL, j->n, &arena->lock), 0);
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
        hl_op_apply(HL_OP_SUM, j->basic, want, one, j->n);
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
            hl_boot.node_rank = 1;
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

static int send_nowhere(int node_rank, const void *msg, size_t len, int fd)
{
    return node_rank == dead_rank ? HL_ERR_PROC_ABORTED : 0;
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
    hl_near_send = send_nowhere;
    hl_near_patience_ns = 1000000;
    hl_boot.node_size = 2;
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

/* ---- mapping: two processes, each with a receiving thread ---- */

static int my_end = -1;
static hl_a32 sent;

static int send_pair(int node_rank, const void *msg, size_t len, int fd)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } c = {.room = {0}};
    struct iovec v = {(void *)(uintptr_t)msg, len};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = c.room;
        m.msg_controllen = sizeof c.room;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
    /* Every third message is refused, as a full socket would: askers ask again. */
    if (hl_a32_add_relaxed(&sent, 1) % 3 == 2) {
        return HL_ERR_AGAIN;
    }
    return sendmsg(my_end, &m, MSG_NOSIGNAL) == (ssize_t)len ? 0 : HL_ERR_PROC_ABORTED;
}

static void *receive(void *arg)
{
    for (;;) {
        union {
            char room[CMSG_SPACE(sizeof(int))];
            struct cmsghdr align;
        } c;
        char buf[256];
        struct iovec v = {buf, sizeof buf};
        struct msghdr m = {
            .msg_iov = &v, .msg_iovlen = 1, .msg_control = c.room, .msg_controllen = sizeof c.room};
        ssize_t got = recvmsg(my_end, &m, MSG_CMSG_CLOEXEC);
        if (got <= 0) {
            return NULL;
        }
        int fd = -1;
        if (CMSG_FIRSTHDR(&m) != NULL) {
            memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
        }
        ck_assert_int_eq(hl_near_serve(buf, (size_t)got, 1 - hl_boot.node_rank, fd), 0);
    }
}

struct offer {
    uint64_t id;
    size_t len, off;
};

/* The peer: offers an own segment and a piece of an arena, waits, checks what was written there. */
static void peer(int up, int down)
{
    struct hl_mem_ask own = {.own_segment = true};
    struct hl_piece p[2];
    struct offer o[2];
    for (int i = 0; i < 2; i++) {
        if (hl_mem_alloc(100000, i == 0 ? &own : NULL, &p[i]) != 0) {
            _exit(2);
        }
        memset(p[i].addr, 'a' + i, p[i].len);
        o[i] = (struct offer){p[i].seg->id, p[i].seg->len, p[i].off};
    }
    char word;
    bool good = write(up, o, sizeof o) == sizeof o && read(down, &word, 1) == 1 &&
                ((char *)p[0].addr)[99] == 'X' && ((char *)p[1].addr)[99] == 'X';
    hl_mem_free(&p[0]);
    good = good && write(up, "y", 1) == 1 && read(down, &word, 1) == 1;
    _exit(good ? 0 : 1);
}

static pid_t start_peer(int *from, int *to)
{
    int up[2], down[2], ends[2];
    ck_assert_int_eq(pipe(up) | pipe(down) | socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    hl_near_send = send_pair;
    hl_boot.node_size = 2;
    pid_t child = fork();
    hl_boot.node_rank = child == 0;
    my_end = ends[child == 0];
    close(ends[child != 0]);
    close(child == 0 ? up[0] : up[1]);
    close(child == 0 ? down[1] : down[0]);
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, receive, NULL), 0);
    if (child == 0) {
        peer(up[1], down[0]);
    }
    pthread_detach(t);
    *from = up[0];
    *to = down[1];
    return child;
}

static bool is_mapped(char *at)
{
    unsigned char resident;
    return mincore(at, 4096, &resident) == 0 || errno != ENOMEM;
}

START_TEST(peers_memory_is_mapped_by_request)
{
    int from, to, status;
    struct offer o[2];
    pid_t child = start_peer(&from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    struct hl_near_want w[3] = {{.node_rank = 1, .seg_id = o[0].id, .seg_len = o[0].len},
                                {.node_rank = 1, .seg_id = o[1].id, .seg_len = o[1].len},
                                {.node_rank = 1, .seg_id = o[0].id, .seg_len = o[0].len}};
    ck_assert_int_eq(hl_near_map_all(w, 3), 0);
    ck_assert_ptr_eq(w[0].base, w[2].base);
    ck_assert_uint_eq((uintptr_t)w[1].base % HL_MEM_SEG_ALIGN, 0);
    ck_assert_int_eq(hl_near_owner(w[0].base + 99), 1);
    ck_assert_int_eq(hl_near_owner(w[0].base + w[0].seg_len - 1), 1);
    ck_assert_int_eq(hl_near_owner(&w), -1);
    ck_assert_int_eq(w[0].base[99999], 'a');
    ck_assert_int_eq(w[1].base[o[1].off + 99999], 'b');
    w[0].base[99] = w[1].base[o[1].off + 99] = 'X';
    char *base, word;
    ck_assert_int_eq(write(to, "x", 1), 1);
    ck_assert_int_eq(read(from, &word, 1), 1);
    ck_assert_int_eq(w[0].base[99999], 'a'); /* freed there, alive here */
    /* The last reference unmaps an own segment, an arena stays. */
    hl_near_unmap(1, o[0].id);
    ck_assert(is_mapped(w[0].base));
    hl_near_unmap(1, o[0].id);
    ck_assert(!is_mapped(w[0].base));
    hl_near_unmap(1, o[1].id);
    ck_assert(is_mapped(w[1].base));
    ck_assert_int_eq(hl_near_map(1, o[1].id, o[1].len, &base), 0);
    ck_assert_ptr_eq(base, w[1].base);
    /* Gone, unknown, or of another length: the network. */
    ck_assert_int_eq(hl_near_map(1, o[0].id, o[0].len, &base), HL_ERR_RMA_SHARED);
    ck_assert_int_eq(hl_near_map(1, 12345, 4096, &base), HL_ERR_RMA_SHARED);
    ck_assert_int_eq(hl_near_map(1, 12345, 4096, &base), HL_ERR_RMA_SHARED);
    ck_assert_int_eq(hl_near_map(1, o[1].id, 4096, &base), HL_ERR_RMA_SHARED);
    /* The owner dies: an error, not a wait. */
    ck_assert_int_eq(write(to, "x", 1), 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(hl_near_map(1, 777, 4096, &base), HL_ERR_PROC_ABORTED);
}
END_TEST

static void *map_thread(void *arg)
{
    const struct offer *o = arg;
    for (int i = 0; i < 50; i++) {
        char *base;
        ck_assert_int_eq(hl_near_map(1, o[i % 2].id, o[i % 2].len, &base), 0);
        ck_assert_int_eq(base[o[i % 2].off + 1], 'a' + i % 2);
        hl_near_unmap(1, o[i % 2].id);
    }
    return NULL;
}

START_TEST(threads_map_and_unmap_at_once)
{
    int from, to;
    struct offer o[2];
    pid_t child = start_peer(&from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    run_threads(8, map_thread, o);
    close(to);
    int status;
    waitpid(child, &status, 0);
}
END_TEST

START_TEST(mine_is_mapped_already)
{
    struct hl_piece p;
    char *base;
    ck_assert_int_eq(hl_mem_alloc(10, NULL, &p), 0);
    ck_assert_int_eq(hl_near_map(hl_boot.node_rank, p.seg->id, p.seg->len, &base), 0);
    ck_assert_ptr_eq(base, p.seg->base);
    hl_near_unmap(hl_boot.node_rank, p.seg->id);
    ck_assert_int_eq(hl_near_map(hl_boot.node_rank, 999, 1, &base), HL_ERR_RMA_SHARED);
    ck_assert_int_eq(hl_near_serve("someone else's", 14, 1, -1), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(hl_near_serve("Ne", 2, 1, -1), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(hl_near_serve("Near", 4, 1, -1), 0); /* ours, but cut off: dropped */
}
END_TEST

static Suite *near_suite(void)
{
    Suite *s = suite_create("near");
    TCase *c = tcase_create("near");
    take_seed();
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, accumulate_equals_the_serial_kernel, 0, HL_OP_KINDS);
    tcase_add_test(c, compare_and_swap_compares_bytes);
    tcase_add_test(c, mechanism_follows_type_and_address);
    tcase_add_test(c, copies_of_every_length);
    tcase_add_loop_test(c, contended_sums_are_exact, 0, (int)HL_COUNT_OF(thread_counts));
    tcase_add_test(c, contended_sums_of_two_processes_are_exact);
    tcase_add_loop_test(c, contended_compare_and_swap_counts, 0, (int)HL_COUNT_OF(thread_counts));
    tcase_add_test(c, the_lock_of_a_dead_holder_is_taken_over);
    tcase_add_loop_test(c, fences_forbid_between_threads, 0, (int)HL_COUNT_OF(litmus_tests));
    tcase_add_loop_test(c, fences_forbid_between_processes, 0, (int)HL_COUNT_OF(litmus_tests));
    tcase_add_test(c, peers_memory_is_mapped_by_request);
    tcase_add_test(c, threads_map_and_unmap_at_once);
    tcase_add_test(c, mine_is_mapped_already);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(near_suite)
