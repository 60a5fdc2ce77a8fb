/* Pieces that share huge pages, and the library's own buffers on them. Part of test_mem_pages.c. */
#ifndef MEM_CARVED_H
#define MEM_CARVED_H

#include "buffer.h"

#include <sys/statfs.h>

#define CARVED 200

/* Random pieces until the pool of 8 is empty, and back: touching one never ends in a signal, a piece is only
 * refused when no page is free, and pages without pieces are free at once. */
START_TEST(carved_pieces_hold_only_pages_that_they_lie_on)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    struct hl_mem_ask how = {.wish = &wish, .only_mine = _i == 1, .caller = "MPI_Alloc_mem"};
    struct hl_piece p[CARVED], again;
    uint64_t seed = 1;
    int count = 0, refused = 0;
    if (!pools || pool_set(2 * M, 8, 0) < 8) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    for (int step = 0; step < 3000; step++) {
        uint64_t r = hl_mix64(seed++);
        /* Filling and emptying in turns. */
        if (r % 16 < (step / 300 % 2 == 0 ? 12u : 4u) && count < CARVED) {
            size_t len = (r >> 8) % ((r >> 60) < 4 ? 1000 : M - 1) + 1;
            int rc = hl_mem_alloc(len, &how, &p[count]);
            ck_assert_msg(rc == 0 || (rc == HL_ERR_NO_MEM && pool_free(2 * M) == 0), "%d, %ld free", rc,
                          pool_free(2 * M));
            refused += rc != 0;
            if (rc == 0) {
                memset(p[count].addr, count, p[count].len);
                ck_assert_uint_eq(p[count++].seg->page, 2 * M);
            }
        } else if (count > 0) {
            int which = (int)((r >> 8) % (uint64_t)count);
            const char *at = p[which].addr;
            ck_assert(at[0] == at[p[which].len - 1]);
            ck_assert_int_eq(hl_mem_piece_at(at, &again), how.only_mine ? 0 : HL_ERR_BASE);
            ck_assert(!how.only_mine || again.len == p[which].len);
            hl_mem_free(&p[which]);
            p[which] = p[--count];
        }
    }
    ck_assert_int_gt(refused, 0);
    while (count > 0) {
        hl_mem_free(&p[--count]);
    }
    ck_assert_int_eq(pool_free(2 * M), 8);
}
END_TEST

/* What small pieces leave of a pool, others can have to the last page. */
START_TEST(carving_refuses_nothing_that_an_exact_request_could_have)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    struct hl_mem_ask how = {.wish = &wish, .only_mine = true, .caller = "MPI_Alloc_mem"};
    struct hl_piece small, exact[8];
    if (!pools || pool_set(2 * M, 8, 0) < 8) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    ck_assert_int_eq(hl_mem_alloc(2 * M, &how, &exact[7]), 0);
    ck_assert_int_eq(hl_mem_alloc(100, &how, &small), 0);
    ck_assert_int_eq(pool_free(2 * M), 6);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(hl_mem_alloc(2 * M, &how, &exact[i]), 0);
        memset(exact[i].addr, 1, 2 * M);
    }
    ck_assert_int_eq(hl_mem_alloc(2 * M, &how, &exact[6]), HL_ERR_NO_MEM);
    hl_mem_free(&small);
    ck_assert_int_eq(hl_mem_alloc(2 * M, &how, &exact[6]), 0);
    for (int i = 0; i < 8; i++) {
        hl_mem_free(&exact[i]);
    }
    ck_assert_int_eq(pool_free(2 * M), 8);
}
END_TEST

/* From half a page to 8 MiB: whole pages of an arena, whose number of descriptors does not grow with theirs.
 */
START_TEST(larger_pieces_have_whole_pages_of_an_arena)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 4 * M}, little = {.page = 2 * M};
    struct hl_piece p[8], small, large;
    if (!pools || pool_set(2 * M, 32, 0) < 32) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 8; i++) {
            ck_assert_int_eq(ask(i % 2 == 0 ? M : 3 * M + 5, &wish, &p[i]), 0);
            ck_assert_ptr_nonnull(p[i].seg->arena);
            ck_assert_ptr_eq(p[i].seg, p[0].seg);
            ck_assert_uint_eq((uintptr_t)p[i].addr % (4 * M), 0);
            ck_assert_uint_eq(p[i].len, i % 2 == 0 ? 2 * M : 4 * M);
            ck_assert_uint_eq(smaps_page(p[i].addr), 2 * M);
            memset(p[i].addr, i, p[i].len);
        }
        ck_assert_int_eq(pool_free(2 * M), 32 - 4 * (1 + 2));
        ck_assert_int_eq(ask(1000, &little, &small), 0);
        ck_assert_int_eq(pool_free(2 * M), 32 - 4 * (1 + 2) - 1); /* on a page of its own */
        ck_assert_int_eq(ask(8 * M, &wish, &large), 0);
        ck_assert_ptr_null(large.seg->arena);
        hl_mem_free(&large);
        hl_mem_free(&small);
        for (int i = 0; i < 8; i++) {
            const char *at = p[i].addr;
            ck_assert(at[0] == i && at[p[i].len - 1] == i);
            hl_mem_free(&p[i]);
        }
        ck_assert_int_eq(pool_free(2 * M), 32);
    }
}
END_TEST

static size_t page_under(const void *buffer)
{
    return hl_mem_find(buffer, 1)->page;
}

/* `auto` with two ranks and 64 free pages: four for the buffers of each, eight for the board. */
START_TEST(internal_buffers_are_modest)
{
    void *buffers[40];
    struct hl_piece user;
    struct hl_mem_wish wish = {.page = 2 * M};
    struct statfs fs;
    if (!pools || pool_set(2 * M, 64, 0) < 64) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    hl_conf.internal_page = UINT64_MAX;
    hl_conf.mem_page = 4096;
    hl_mem_buffer_ranks(2);
    for (int i = 0; i < 40; i++) {
        buffers[i] = hl_mem_buffer_take(M / 2);
        ck_assert_ptr_nonnull(buffers[i]);
        memset(buffers[i], i, M / 2);
        ck_assert_int_ge(pool_free(2 * M), 60);
    }
    ck_assert_uint_eq(page_under(buffers[0]), 2 * M);
    ck_assert_uint_eq(page_under(buffers[39]), hl_topo_page());
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(*(char *)buffers[i], i);
        hl_mem_buffer_give(buffers[i]);
    }
    ck_assert_int_eq(pool_free(2 * M), 64);
    int board = hl_mem_buffer_board(3 * M + 100);
    ck_assert_int_ge(board, 0);
    ck_assert_int_eq(fstatfs(board, &fs), 0);
    ck_assert_int_eq(fs.f_bsize, 2 * M);
    ck_assert_int_eq(pool_free(2 * M), 62);
    close(board);
    board = hl_mem_buffer_board(17 * M); /* would be felt at start-up */
    ck_assert_int_eq(fstatfs(board, &fs), 0);
    ck_assert_int_eq(fs.f_bsize, hl_topo_page());
    close(board);
    ck_assert_int_eq(ask(100, &wish, &user), 0); /* who uses the library comes first */
    buffers[0] = hl_mem_buffer_take(100);
    ck_assert_uint_eq(page_under(buffers[0]), hl_topo_page());
    hl_mem_buffer_give(buffers[0]);
    hl_mem_free(&user);
    ck_assert_int_eq(pool_free(2 * M), 64);
}
END_TEST

START_TEST(internal_buffers_leave_pages_to_partitions)
{
    struct statfs fs;
    if (!pools || pool_set(2 * M, 64, 0) < 64) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    setenv("HOTLANE_CONF", "", 1);
    setenv("SHMEM_SYMMETRIC_PARTITION1", "size=4M", 1);
    setenv("SMA_SYMMETRIC_PARTITION9", "size=4M:pgsize=2M", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_uint_eq(hl_conf.internal_page, UINT64_MAX);
    void *b = hl_mem_buffer_take(M / 2);
    ck_assert_uint_eq(page_under(b), hl_topo_page());
    hl_mem_buffer_give(b);
    int board = hl_mem_buffer_board(3 * M);
    ck_assert_int_eq(fstatfs(board, &fs), 0);
    ck_assert_int_eq(fs.f_bsize, hl_topo_page());
    close(board);
}
END_TEST

static struct hl_piece piece_of(void *at, size_t len)
{
    struct hl_seg *seg = hl_mem_find(at, len);
    return (struct hl_piece){.seg = seg, .off = (size_t)((char *)at - seg->base), .len = len, .addr = at};
}

START_TEST(internal_buffers_on_pages_that_were_asked_for)
{
    void *b, *c, *probe = mmap(NULL, M, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool can_join = madvise(probe, 0, 25) == 0; /* MADV_COLLAPSE, known since Linux 6.1 */
    struct hl_piece piece;
    struct hl_mem_got got;
    if (!pools || pool_set(2 * M, 1, 0) < 1) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    hl_conf.internal_page = 4 * M;
    b = hl_mem_buffer_take(1000);
    ck_assert_uint_eq(page_under(b), 2 * M);
    ck_assert_int_eq(pool_free(2 * M), 0);
    hl_mem_buffer_give(b);
    ck_assert_int_eq(pool_free(2 * M), 1);
    pool_set(2 * M, 0, 0);
    b = hl_mem_buffer_take(M); /* start-up: nothing that takes time */
    piece = piece_of(b, M);
    ck_assert_int_eq(hl_mem_got(&piece, &got), 0);
    ck_assert(got.pmd_share <= 0);
    hl_mem_buffer_started();
    c = hl_mem_buffer_take(2 * M);
    piece = piece_of(c, 2 * M);
    memset(c, 1, 2 * M);
    ck_assert_int_eq(hl_mem_got(&piece, &got), 0);
    ck_assert_uint_eq(got.page, hl_topo_page());
    ck_assert_msg(!can_join || got.pmd_share > 0 || got.pmd_share < 0, "%f", got.pmd_share);
    hl_mem_buffer_give(b);
    hl_mem_buffer_give(c);
}
END_TEST

#endif
