/* Small pieces of what was wished: cut by memkind or by ourselves. */
#include "fixed.h"

#include <sys/wait.h>

/* Random pieces, memkind's and our own: none overlaps, each that is the program's is found by its address and
 * by no other, all pages go back. */
static void churn_small(bool only_mine)
{
    struct hl_mem_wish wish = {.page = 2 << 20};
    struct hl_mem_ask ask = {.wish = &wish, .only_mine = only_mine};
    struct live lives[MOST];
    struct hl_piece again;
    size_t count = 0;
    const struct hl_seg *seg = NULL;
    for (int step = 0; step < 3000; step++) {
        uint64_t r = next(&seed);
        if (r % 16 < 9 && count < MOST) {
            struct live *l = &lives[count++];
            size_t len = (r >> 8) % ((size_t)1 << (r >> 40) % 20) + 1;
            ask.align = (size_t)1 << (r >> 32) % 12;
            ck_assert_int_eq(hl_mem_alloc(len, &ask, &l->p), 0);
            l->fill = (unsigned char)r;
            memset(l->p.addr, l->fill, l->p.len);
            ck_assert_uint_ge(l->p.len, len);
            ck_assert_uint_eq((uintptr_t)l->p.addr % hl_max_size(ask.align, HL_MEM_ALIGN), 0);
            ck_assert_ptr_eq(hl_mem_find(l->p.addr, l->p.len), l->p.seg);
            ck_assert_ptr_nonnull(l->p.seg->arena);
            seg = l->p.seg;
        } else if (count > 0) {
            struct live l = lives[(r >> 8) % count];
            check_fill(&l);
            ck_assert_int_eq(hl_mem_piece_at(l.p.addr, &again), only_mine ? 0 : HL_ERR_BASE);
            ck_assert(!only_mine || again.len == l.p.len);
            ck_assert_int_eq(hl_mem_piece_at((char *)l.p.addr + 1, &again), HL_ERR_BASE);
            ck_assert(l.p.len <= 64 || hl_mem_piece_at((char *)l.p.addr + 64, &again) == HL_ERR_BASE);
            lives[(r >> 8) % count] = lives[count - 1];
            count--;
            hl_mem_free(&l.p);
            ck_assert_int_eq(hl_mem_piece_at(l.p.addr, &again), HL_ERR_BASE);
        }
    }
    while (count > 0) {
        check_fill(&lives[--count]);
        hl_mem_free(&lives[count].p);
    }
    ck_assert_uint_eq(blocks_of(seg), 0);
}

START_TEST(small_pieces_are_cut_with_memkind_and_without)
{
    static char page[1 << 20];
    struct hl_memkind *k = hl_memkind_open(page, sizeof page);
    ck_assert_int_eq(k != NULL, HL_MEMKIND); /* what the build found is opened here */
    hl_memkind_close(k);
    churn_small(true);
    churn_small(false);
}
END_TEST

/* A child of fork may end as it likes: what its parent's pieces hold, and the records of them, stay. */
START_TEST(a_child_that_ends_changes_nothing)
{
    struct hl_mem_wish wish = {.page = 2 << 20};
    struct hl_mem_ask ask = {.wish = &wish, .only_mine = true};
    struct hl_piece p[64], again;
    int status;
    for (size_t i = 0; i < 64; i++) {
        ck_assert_int_eq(hl_mem_alloc(30 * i + 1, &ask, &p[i]), 0);
        memset(p[i].addr, (int)i, p[i].len);
    }
    hl_mem_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        hl_mem_fork_child();
        exit(0);
    }
    hl_mem_fork_parent();
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    for (size_t i = 0; i < 64; i++) {
        const unsigned char *at = p[i].addr;
        ck_assert(at[0] == i && at[p[i].len - 1] == i);
        ck_assert_int_eq(hl_mem_piece_at(at, &again), 0);
        ck_assert_uint_eq(again.len, p[i].len);
        hl_mem_free(&p[i]);
    }
    ck_assert_uint_eq(blocks_of(p[0].seg), 0);
}
END_TEST

static struct {
    char *at;
    size_t len;
} removed;

static int note_removed(void *addr, size_t len, int advice)
{
    if (advice == MADV_REMOVE) {
        removed.at = addr;
        removed.len = len;
    }
    return madvise(addr, len, advice);
}

/* Registration caches watch what is given back by address, and only that. */
START_TEST(freed_pages_go_by_their_address)
{
    struct hl_piece p;
    hl_sys.madvise = note_removed;
    ck_assert_int_eq(hl_mem_alloc(100000, NULL, &p), 0);
    memset(p.addr, 1, p.len);
    hl_mem_free(&p);
    hl_sys.madvise = madvise;
    ck_assert(removed.at <= (char *)p.addr + hl_topo_page());
    ck_assert_uint_ge(removed.len, p.len - 2 * hl_topo_page());
    ck_assert_uint_eq(blocks_of(p.seg), 0);
    ck_assert_int_eq(((char *)p.addr)[p.len / 2], 0);
}
END_TEST
