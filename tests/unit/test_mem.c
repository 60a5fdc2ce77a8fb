/* mem: pieces never overlap, freed pages go back, every shortage is an error code, lookups tell living from
 * dead. */
#include "../seed.h"
#include "unit.h"

#include "mem_wish.h"

#include "blocks.h"
#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "mem.h"
#include "sys.h"
#include "topo.h"
#include "util.h"

#include <fcntl.h>
#include <numaif.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t seed;

static void take_seed(void)
{
    seed = seed_of_run();
    printf("TEST_SEED=0x%llx\n", (unsigned long long)seed);
    fflush(stdout);
}

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return hl_mix64(*state);
}

static size_t blocks_of(const struct hl_seg *seg)
{
    struct stat st;
    ck_assert_int_eq(fstat(seg->fd, &st), 0);
    return (size_t)st.st_blocks * 512;
}

#include "mem_blocks.h"

/* ---- pieces ---- */

#define MOST 300

struct live {
    struct hl_piece p;
    unsigned char fill;
};

static void check_fill(const struct live *l)
{
    const unsigned char *at = l->p.addr;
    ck_assert_uint_eq(at[0], l->fill);
    ck_assert_uint_eq(at[l->p.len - 1], l->fill);
    ck_assert_uint_eq(at[l->p.len / 2], l->fill);
}

/* Random requests of many sizes and alignments by one thread. */
static void churn(uint64_t state, int steps)
{
    struct live *lives = calloc(MOST, sizeof *lives);
    int count = 0;
    for (int step = 0; step < steps; step++) {
        uint64_t r = next(&state);
        if (r % 2 == 0 && count < MOST) {
            size_t len = (r >> 8) % ((r >> 4) % 16 == 0 ? 10u << 20 : 20000u);
            struct hl_mem_ask ask = {.align = (size_t)1 << (r >> 40) % 14,
                                     .own_segment = (r >> 60) == 0,
                                     .only_mine = (r >> 59) % 2 == 0};
            struct live *l = &lives[count];
            ck_assert_int_eq(hl_mem_alloc(len, &ask, &l->p), 0);
            ck_assert_uint_ge(l->p.len, len);
            ck_assert_uint_eq((uintptr_t)l->p.addr % ask.align, 0);
            ck_assert_ptr_eq(hl_mem_find(l->p.addr, l->p.len), l->p.seg);
            struct hl_piece again;
            ck_assert_int_eq(hl_mem_piece_at(l->p.addr, &again), ask.only_mine ? 0 : HL_ERR_BASE);
            ck_assert(!ask.only_mine || again.len == l->p.len);
            l->fill = (unsigned char)r;
            memset(l->p.addr, l->fill, l->p.len);
            count++;
        } else if (count > 0) {
            int i = (int)((r >> 8) % (unsigned)count);
            check_fill(&lives[i]);
            hl_mem_free(&lives[i].p);
            lives[i] = lives[--count];
        }
    }
    while (count > 0) {
        check_fill(&lives[--count]);
        hl_mem_free(&lives[count].p);
    }
    free(lives);
}

static void *churn_thread(void *arg)
{
    churn((uint64_t)(uintptr_t)arg, 300);
    return NULL;
}

START_TEST(threads_churn_without_overlap)
{
    static const int counts[] = {1, 2, 8, 32};
    int n = counts[_i];
    pthread_t t[32];
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, churn_thread, (void *)(uintptr_t)(seed + (uint64_t)i)),
                         0);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(t[i], NULL);
    }
    /* Everything was freed: no arena holds a page any more. */
    for (uint64_t place = 0; place < 64 * 1024; place++) {
        for (uint64_t generation = 1; generation < 3; generation++) {
            const struct hl_seg *seg = hl_mem_by_id(generation << 18 | place);
            ck_assert(seg == NULL || (seg->arena && blocks_of(seg) == 0));
        }
    }
}
END_TEST

START_TEST(freed_pages_go_back)
{
    struct hl_piece small, mid, big;
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &small), 0);
    ck_assert_int_eq(hl_mem_alloc(1 << 20, NULL, &mid), 0);
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &big), 0);
    ck_assert_ptr_eq(small.seg, mid.seg);
    ck_assert(small.seg->arena);
    ck_assert_uint_eq(blocks_of(mid.seg), 0);
    memset(small.addr, 1, small.len);
    memset(mid.addr, 2, mid.len);
    memset(big.addr, 3, big.len);
    size_t page = mid.seg->page;
    ck_assert_uint_ge(blocks_of(mid.seg), 1 << 20);
    hl_mem_free(&mid);
    ck_assert_uint_le(blocks_of(small.seg), 2 * page);
    ck_assert_uint_eq(*(unsigned char *)small.addr, 1);
    ck_assert_uint_eq(*(unsigned char *)big.addr, 3);
    hl_mem_free(&small);
    hl_mem_free(&big);
    ck_assert_uint_eq(blocks_of(small.seg), 0);
}
END_TEST

START_TEST(populate_takes_the_pages_now)
{
    struct hl_mem_ask ask = {.populate = true};
    struct hl_piece p, q;
    ck_assert_int_eq(hl_mem_alloc(300000, &ask, &p), 0);
    ck_assert_uint_ge(blocks_of(p.seg), 300000);
    ck_assert_uint_le(blocks_of(p.seg), 300000 + 2 * p.seg->page);
    ask.own_segment = true;
    ck_assert_int_eq(hl_mem_alloc(300000, &ask, &q), 0);
    ck_assert_ptr_ne(q.seg, p.seg);
    ck_assert_uint_eq(blocks_of(q.seg), q.seg->len);
    hl_mem_free(&q);
    hl_mem_free(&p);
}
END_TEST

START_TEST(own_segments_are_aligned_as_asked)
{
    for (size_t align = 1; align <= (size_t)1 << 30; align *= 8) {
        struct hl_mem_ask ask = {.align = align, .own_segment = true};
        struct hl_piece p;
        ck_assert_int_eq(hl_mem_alloc(5000, &ask, &p), 0);
        ck_assert_uint_eq((uintptr_t)p.addr % align, 0);
        ck_assert_uint_eq((uintptr_t)p.addr % HL_MEM_SEG_ALIGN, 0);
        ck_assert_int_eq(fcntl(p.seg->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, (size_t)1 << 62, (size_t)1 << 50};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int own = 0; own < 2; own++) {
            struct hl_mem_ask ask = {.own_segment = own, .align = own ? 4096 : 0};
            struct hl_piece p = {.len = 77};
            ck_assert_int_eq(hl_mem_alloc(sizes[i], &ask, &p), HL_ERR_NO_MEM);
            ck_assert_uint_eq(p.len, 77);
            ck_assert_ptr_nonnull(
                strstr(hl_err_text(HL_ERR_NO_MEM), "more than memory and swap of this machine"));
        }
    }
    struct hl_mem_ask odd = {.align = 24}, far = {.align = (size_t)1 << 63};
    struct hl_piece p;
    ck_assert_int_eq(hl_mem_alloc(10, &odd, &p), HL_ERR_ARG);
    ck_assert_int_eq(hl_mem_alloc(10, &far, &p), HL_ERR_NO_MEM);
}
END_TEST

/* Every kind of process limit: an error with the limit's name, nothing left behind, and life goes on. */
static void refused_under(__rlimit_resource_t what, rlim_t soft, const char *word)
{
    struct rlimit before, tight;
    ck_assert_int_eq(getrlimit(what, &before), 0);
    tight = before;
    tight.rlim_cur = soft;
    int next_fd = dup(0);
    close(next_fd);
    ck_assert_int_eq(setrlimit(what, &tight), 0);
    struct hl_piece p;
    int rc = hl_mem_alloc((size_t)200 << 20, NULL, &p);
    setrlimit(what, &before);
    ck_assert_int_eq(rc, HL_ERR_NO_MEM);
    ck_assert_msg(strstr(hl_err_text(rc), word) != NULL, "%s", hl_err_text(rc));
    int fd = dup(0);
    ck_assert_int_eq(fd, next_fd);
    close(fd);
    ck_assert_int_eq(hl_mem_alloc((size_t)200 << 20, NULL, &p), 0);
    hl_mem_free(&p);
}

START_TEST(process_limits_are_errors_not_signals)
{
    refused_under(RLIMIT_FSIZE, 1 << 20, "ulimit -f");
    refused_under(RLIMIT_NOFILE, 3, "ulimit -n");
}
END_TEST

START_TEST(address_space_limit_is_an_error)
{
    if (SANITIZED) {
        return; /* the sanitizer's own address space is far above any limit */
    }
    refused_under(RLIMIT_AS, (rlim_t)150 << 20, "ulimit -v");
    struct rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    /* Too little for an arena, enough for the piece. */
    tight = before;
    tight.rlim_cur = (rlim_t)48 << 20;
    setrlimit(RLIMIT_AS, &tight);
    struct hl_piece p;
    int rc = hl_mem_alloc(1000, NULL, &p);
    setrlimit(RLIMIT_AS, &before);
    ck_assert_int_eq(rc, 0);
    ck_assert(!p.seg->arena);
    memset(p.addr, 1, p.len);
    hl_mem_free(&p);
}
END_TEST

/* ---- placement: this machine's node 0, and nodes that no machine has ---- */

static bool may_place(void)
{
    unsigned long mask = 1;
    if (set_mempolicy(MPOL_BIND, &mask, 65) == 0 && set_mempolicy(MPOL_DEFAULT, NULL, 0) == 0) {
        return true;
    }
    printf("skipped: this process may not place memory\n");
    return false;
}

START_TEST(base_pages_go_where_the_wish_says)
{
    hl_conf.fastmem_nodes = "0";
    if (!may_place()) {
        return;
    }
    for (int i = 0; i < 6; i++) {
        struct hl_mem_wish wish = {
            .kind = HL_MEM_FAST, .rule = (enum hl_mem_rule)(i / 2), .page = 4096, .rule_on_base = true};
        struct hl_mem_ask ask = {.wish = &wish, .own_segment = i % 2 == 1};
        struct hl_piece p, plain;
        uint64_t bytes[64];
        ck_assert_int_eq(hl_mem_alloc(100000, &ask, &p), 0);
        ck_assert_int_eq(hl_mem_alloc(100000, NULL, &plain), 0);
        ck_assert_ptr_ne(p.seg, plain.seg);
        ck_assert_int_eq(hl_mem_where(&p, bytes, 64), 0);
        ck_assert_uint_ge(bytes[0], p.len);
        ck_assert_uint_eq(bytes[1], 0);
        hl_mem_free(&plain);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(kinds_that_are_not_there)
{
    struct hl_mem_wish wish = {.kind = HL_MEM_FAST, .rule = HL_MEM_MANDATORY, .rule_on_base = true};
    struct hl_mem_ask ask = {.wish = &wish};
    const struct hl_topo *t = hl_topo_here();
    struct hl_piece p;
    if (t == NULL || t->fast != 0) {
        printf("skipped: this machine has fast memory\n");
        return;
    }
    ck_assert_int_eq(hl_mem_alloc(1000, &ask, &p), HL_ERR_NO_MEM);
    ck_assert_msg(strstr(hl_err_text(HL_ERR_NO_MEM), "policy M on fast memory: ") != NULL, "%s",
                  hl_err_text(HL_ERR_NO_MEM));
    for (wish.rule = HL_MEM_PREFERRED; wish.rule <= HL_MEM_INTERLEAVED; wish.rule += 2) {
        ck_assert_int_eq(hl_mem_alloc(1000, &ask, &p), 0);
        memset(p.addr, 1, p.len);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(what_was_got_is_told)
{
    struct hl_mem_wish wish = {.kind = HL_MEM_DDR, .page = 4 << 20};
    struct hl_mem_ask ask = {.wish = &wish, .own_segment = true};
    struct hl_mem_got got;
    struct hl_piece p;
    char text[HL_MEM_NODES_TEXT];
    uint64_t sum = 0;
    ck_assert_int_eq(hl_mem_alloc(3 << 20, &ask, &p), 0);
    ck_assert_uint_eq((uintptr_t)p.addr % wish.page, 0);
    if (hl_mem_got(&p, &got) != 0) {
        printf("skipped: %s\n", hl_err_text(HL_ERR_OTHER));
        return;
    }
    for (int i = 0; i < HL_MEM_NODES; i++) {
        sum += got.bytes[i];
    }
    ck_assert_uint_eq(sum, p.len);
    ck_assert_uint_ge(got.align, wish.page);
    ck_assert_uint_eq(got.page, p.seg->page);
    hl_mem_free(&p);
    got = (struct hl_mem_got){.bytes = {[3] = 16 << 20, [7] = 48 << 20, [9] = 1536, [63] = 100}};
    ck_assert_str_eq(hl_mem_got_nodes_text(&got, text, sizeof text), "7:48M,3:16M,9:1536,63:100");
    ck_assert_str_eq(hl_mem_got_nodes_text(&got, text, 8), "7:48M,3");
    got = (struct hl_mem_got){0};
    ck_assert_str_eq(hl_mem_got_nodes_text(&got, text, sizeof text), "");
}
END_TEST

/* ---- lookups ---- */

START_TEST(lookups_tell_living_from_dead)
{
    struct hl_mem_ask own = {.own_segment = true};
    struct hl_piece p, q;
    ck_assert_int_eq(hl_mem_alloc(9000, &own, &p), 0);
    uint64_t id = p.seg->id;
    char *base = p.addr;
    ck_assert_uint_eq(p.len, 3 * p.seg->page);
    ck_assert_ptr_eq(hl_mem_by_id(id), p.seg);
    ck_assert_ptr_eq(hl_mem_find(base + p.len - 1, 1), p.seg);
    ck_assert_ptr_null(hl_mem_find(base + p.len - 1, 2));
    ck_assert_ptr_null(hl_mem_find(base + p.len, 0));
    ck_assert_ptr_null(hl_mem_find(base, SIZE_MAX));
    ck_assert_ptr_null(hl_mem_find(base - 1, 1));
    ck_assert_ptr_null(hl_mem_find(&p, 1));
    ck_assert_ptr_null(hl_mem_find(NULL, 0));
    ck_assert_ptr_null(hl_mem_find((void *)UINTPTR_MAX, 1));
    ck_assert_int_eq(hl_mem_piece_at(base + 64, &q), HL_ERR_BASE);
    ck_assert_int_eq(hl_mem_piece_at(&p, &q), HL_ERR_BASE);
    hl_mem_free(&p);
    ck_assert_ptr_null(hl_mem_by_id(id));
    ck_assert_ptr_null(hl_mem_find(base, 1));
    ck_assert_ptr_null(hl_mem_by_id(0));
    ck_assert_ptr_null(hl_mem_by_id(UINT64_MAX));
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(hl_mem_alloc(1, &own, &p), 0);
        ck_assert_uint_ne(p.seg->id, id);
        ck_assert_ptr_null(hl_mem_by_id(id));
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(large_segments_are_found_everywhere)
{
    struct hl_piece p;
    size_t len = (size_t)100 << 20;
    ck_assert_int_eq(hl_mem_alloc(len, NULL, &p), 0);
    ck_assert(!p.seg->arena);
    for (size_t off = 0; off < len; off += 1 << 20) {
        ck_assert_ptr_eq(hl_mem_find((char *)p.addr + off, len - off), p.seg);
    }
    hl_mem_free(&p);
}
END_TEST

/* ---- watchers ---- */

static int born_count, dying_count, born_limit = 1000;

static int on_born(struct hl_seg *seg)
{
    if (born_count - dying_count >= born_limit) {
        return hl_err_say(HL_ERR_OTHER, "too many for this test");
    }
    born_count++;
    seg->mr = &born_count;
    return 0;
}

static void on_dying(struct hl_seg *seg)
{
    ck_assert_ptr_eq(seg->mr, &born_count);
    seg->mr = NULL;
    dying_count++;
}

START_TEST(watchers_see_every_segment_once)
{
    struct hl_mem_ask own = {.own_segment = true};
    struct hl_piece a, b, c;
    ck_assert_int_eq(hl_mem_alloc(10, &own, &a), 0);
    ck_assert_int_eq(hl_mem_alloc(10, NULL, &b), 0);
    ck_assert_int_eq(hl_mem_watch(on_born, on_dying), 0);
    ck_assert_int_eq(hl_mem_watch(on_born, on_dying), 0);
    ck_assert_int_eq(born_count, 2);
    ck_assert_int_eq(hl_mem_alloc(10, &own, &c), 0);
    ck_assert_int_eq(born_count, 3);
    hl_mem_free(&c);
    hl_mem_free(&a);
    ck_assert_int_eq(dying_count, 2);
    hl_mem_free(&b);
    ck_assert_int_eq(dying_count, 2); /* arenas live on */
    born_limit = 2;
    ck_assert_int_eq(hl_mem_alloc(10, &own, &a), 0);
    ck_assert_int_eq(hl_mem_alloc(10, &own, &c), HL_ERR_OTHER);
    ck_assert_str_eq(hl_err_text(HL_ERR_OTHER), "too many for this test");
    ck_assert_int_eq(born_count - dying_count, 2);
    hl_mem_free(&a);
}
END_TEST

START_TEST(a_late_watcher_that_refuses_leaves_nothing)
{
    struct hl_mem_ask own = {.own_segment = true};
    struct hl_piece p[3];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(hl_mem_alloc(10, &own, &p[i]), 0);
    }
    born_limit = 2;
    ck_assert_int_eq(hl_mem_watch(on_born, on_dying), HL_ERR_OTHER);
    ck_assert_int_eq(born_count, 2);
    ck_assert_int_eq(dying_count, 2);
    for (int i = 0; i < 3; i++) {
        hl_mem_free(&p[i]);
    }
    ck_assert_int_eq(dying_count, 2);
}
END_TEST

#include "mem_reserved.h"
#include "mem_small.h"

static Suite *mem_suite(void)
{
    Suite *s = suite_create("mem");
    TCase *c = tcase_create("mem");
    take_seed();
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, blocks_follow_best_fit, 0, 3);
    tcase_add_test(c, blocks_keep_alignment);
    tcase_add_loop_test(c, threads_churn_without_overlap, 0, 4);
    tcase_add_test(c, short_buffers_leave_the_next_one_aligned);
    tcase_add_test(c, freed_pages_go_back);
    tcase_add_test(c, populate_takes_the_pages_now);
    tcase_add_test(c, own_segments_are_aligned_as_asked);
    tcase_add_test(c, impossible_sizes_are_refused);
    tcase_add_test(c, process_limits_are_errors_not_signals);
    tcase_add_test(c, address_space_limit_is_an_error);
    tcase_add_test(c, base_pages_go_where_the_wish_says);
    tcase_add_test(c, kinds_that_are_not_there);
    tcase_add_test(c, what_was_got_is_told);
    tcase_add_test(c, a_piece_lies_where_its_range_was_reserved);
    tcase_add_test(c, untouched_pages_come_and_go);
    tcase_add_test(c, fair_sizes_obey_limits);
    tcase_add_test(c, small_pieces_are_cut_with_memkind_and_without);
    tcase_add_test(c, freed_pages_go_by_their_address);
    tcase_add_test(c, a_child_that_ends_changes_nothing);
    tcase_add_test(c, lookups_tell_living_from_dead);
    tcase_add_test(c, large_segments_are_found_everywhere);
    tcase_add_test(c, watchers_see_every_segment_once);
    tcase_add_test(c, a_late_watcher_that_refuses_leaves_nothing);
    suite_add_tcase(s, c);
    suite_add_tcase(s, wish_cases());
    return s;
}

UNIT_MAIN(mem_suite)
