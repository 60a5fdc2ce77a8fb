/* The node's commons: the first plain arena of each rank, which all of the node see. */
#include "commons.h"

static struct hl_piece plain_piece(size_t len)
{
    struct hl_piece p;
    ck_assert_int_eq(hl_mem_alloc(len, NULL, &p), 0);
    return p;
}

/* What the child, rank 1, tells of its piece. */
struct told {
    uint64_t id;
    size_t off;
    char *addr;
};

START_TEST(ranks_see_each_others_first_arena)
{
    int fd = hl_mem_commons_make(3), pipes[2], status;
    struct told t;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        hl_mem_commons_join(fd, 3, 1);
        struct hl_piece p = plain_piece(100);
        strcpy(p.addr, "of rank 1");
        t = (struct told){p.seg->id, p.off, p.seg->base};
        _exit(write(pipes[1], &t, sizeof t) == sizeof t ? 0 : 1);
    }
    hl_mem_commons_join(fd, 3, 0);
    ck_assert_int_eq(read(pipes[0], &t, sizeof t), sizeof t);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t theirs = 0;
    char *base = hl_mem_commons_find(1, t.id, &theirs);
    ck_assert_ptr_nonnull(base);
    ck_assert_str_eq(base + t.off, "of rank 1");
    ck_assert_uint_eq(theirs, (uintptr_t)t.addr);
    /* Neither other ids and ranks, nor my own before there is one. */
    ck_assert_ptr_null(hl_mem_commons_find(1, t.id + 1, &theirs));
    ck_assert_ptr_null(hl_mem_commons_find(1, 0, &theirs));
    ck_assert_ptr_null(hl_mem_commons_find(2, t.id, &theirs));
    ck_assert_ptr_null(hl_mem_commons_find(3, t.id, &theirs));
    ck_assert_ptr_null(hl_mem_commons_find(-1, t.id, &theirs));
    struct hl_piece mine = plain_piece(100);
    ck_assert_ptr_eq(hl_mem_commons_find(0, mine.seg->id, &theirs), mine.seg->base);
}
END_TEST

/* Pages of a slice come and go as those of other arenas, and its neighbours' stay. */
START_TEST(a_slice_behaves_as_an_arena)
{
    const size_t len = 4 << 20;
    int fd = hl_mem_commons_make(2);
    struct stat before, after;
    struct hl_mem_shared shared;
    char *again;
    hl_mem_commons_join(fd, 2, 1);
    struct hl_piece p = plain_piece(len);
    ck_assert_uint_eq(p.seg->file_off, HL_MEM_ARENA);
    memset(p.addr, 7, len);
    ck_assert_int_eq(fstat(fd, &before), 0);
    ck_assert_int_ge(before.st_blocks * 512, (blkcnt_t)len);
    /* A peer that could not map the file asks: it gets the place in it. */
    ck_assert_int_eq(hl_mem_share(p.seg->id, &shared), 0);
    ck_assert_int_eq(hl_mem_map_peer(shared.fd, shared.off, shared.len, NULL, &again), 0);
    ck_assert_int_eq(again[p.off + len - 1], 7);
    hl_mem_unmap(again, shared.len, false);
    close(shared.fd);
    hl_mem_free(&p);
    ck_assert_int_eq(fstat(fd, &after), 0);
    ck_assert_int_le(after.st_blocks * 512, before.st_blocks * 512 - (blkcnt_t)len + 8192);
    /* What has no room in it has a file of its own. */
    struct hl_piece all[9];
    for (int i = 0; i < 9; i++) {
        all[i] = plain_piece(((size_t)8 << 20) - 4096);
    }
    ck_assert_uint_eq(all[0].seg->file_off, HL_MEM_ARENA);
    ck_assert_uint_eq(all[8].seg->file_off, 0);
}
END_TEST

START_TEST(without_room_for_the_commons_arenas_have_their_own_files)
{
    int fd = hl_mem_commons_make(512);
    struct rlimit before, little;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    little = before;
    little.rlim_cur = (rlim_t)4 << 30;
    if (setrlimit(RLIMIT_AS, &little) != 0) {
        return;
    }
    hl_mem_commons_join(fd, 512, 5);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    struct hl_piece p = plain_piece(100);
    uint64_t theirs;
    ck_assert_uint_eq(p.seg->file_off, 0);
    ck_assert_ptr_null(hl_mem_commons_find(5, p.seg->id, &theirs));
}
END_TEST

START_TEST(commons_obey_the_limit_of_files)
{
    struct rlimit before, little;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = (rlim_t)100 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    int rc = hl_mem_commons_make(2);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(rc, HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(rc), "ulimit -f"));
}
END_TEST
