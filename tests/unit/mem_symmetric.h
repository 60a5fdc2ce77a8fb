/* Pieces at addresses that are the same in all processes that call alike. */

static struct hl_piece symmetric_piece(size_t len, void *place)
{
    struct hl_piece p;
    struct hl_mem_ask ask = {.symmetric = true, .place = place};
    ck_assert_int_eq(hl_mem_alloc(len, &ask, &p), 0);
    memset(p.addr, 1, 1);
    return p;
}

#define ONE ((size_t)8 << 20)

START_TEST(symmetric_pieces_lie_where_the_calls_say)
{
    enum { LENS = 6 };
    static const size_t lens[LENS] = {100, ONE, ONE + 1, 5000, 3 * ONE, 64};
    void *theirs[LENS];
    int pipes[2], status;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    hl_mem_symmetric_begin(77);
    hl_mem_symmetric_begin(78); /* changes nothing */
    if (child == 0) {           /* its other memory lies elsewhere */
        (void)plain_piece(ONE);
        (void)plain_piece(100);
    }
    void *mine[LENS];
    for (int i = 0; i < LENS; i++) {
        mine[i] = symmetric_piece(lens[i], NULL).addr;
    }
    if (child == 0) {
        _exit(write(pipes[1], mine, sizeof mine) == sizeof mine ? 0 : 1);
    }
    ck_assert_int_eq(read(pipes[0], theirs, sizeof theirs), sizeof theirs);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    for (int i = 0; i < LENS && !SANITIZED; i++) {
        ck_assert_ptr_eq(mine[i], theirs[i]);
    }
}
END_TEST

START_TEST(places_of_freed_symmetric_pieces_come_again)
{
    ck_assert_ptr_null(hl_mem_symmetric_top());
    struct hl_piece p = symmetric_piece(ONE, NULL); /* anywhere */
    hl_mem_free(&p);
    hl_mem_symmetric_begin(5);
    struct hl_piece a = symmetric_piece(ONE, NULL), b = symmetric_piece(2 * ONE, NULL),
                    c = symmetric_piece(ONE, NULL);
    if (SANITIZED) {
        return;
    }
    char *top = hl_mem_symmetric_top(), *hole = a.addr;
    ck_assert_ptr_eq(top, (char *)c.addr + ONE);
    hl_mem_free(&a);
    ck_assert_ptr_eq(mmap(hole, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), hole); /* it is free */
    a = symmetric_piece(ONE, NULL); /* somebody has its place */
    ck_assert_ptr_ne(a.addr, hole);
    hl_mem_free(&a);
    munmap(hole, 4096);
    a = symmetric_piece(ONE, NULL);
    ck_assert_ptr_eq(a.addr, hole);
    hl_mem_free(&b);
    hl_mem_free(&c);
    ck_assert_ptr_eq(hl_mem_symmetric_top(), (char *)a.addr + ONE);
    /* A place that is named: free, taken, unaligned. */
    b = symmetric_piece(ONE, top + ONE);
    ck_assert_ptr_eq(b.addr, top + ONE);
    c = symmetric_piece(ONE, top + ONE);
    ck_assert_ptr_ne(c.addr, top + ONE);
    hl_mem_free(&c);
    c = symmetric_piece(ONE, top + 8 * ONE + 4096);
    ck_assert_ptr_ne(c.addr, top + 8 * ONE + 4096);
    hl_mem_free(&c);
    for (int i = 0; i < 3000; i++) {
        c = symmetric_piece(ONE, NULL);
        ck_assert(c.addr != NULL && hl_mem_find(c.addr, ONE) == c.seg);
        hl_mem_free(&c);
    }
    ck_assert_ptr_eq(hl_mem_symmetric_top(), (char *)b.addr + ONE);
}
END_TEST

/* The slice for symmetric arenas lies where ranks have theirs that have no commons. */
START_TEST(symmetric_slices_lie_at_one_address)
{
    int fd = hl_mem_commons_make(4), status;
    uint64_t theirs;
    hl_mem_symmetric_begin(9);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child != 0) {
        hl_mem_commons_join(fd, 4, 2);
    }
    struct hl_piece small = symmetric_piece(100, NULL), plain = plain_piece(100),
                    large = symmetric_piece(ONE, NULL);
    if (child == 0) { /* without commons */
        _exit((uintptr_t)small.addr >> 21 & 127);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_ptr_ne(small.seg, plain.seg);
    ck_assert_ptr_eq(hl_mem_commons_find(2, plain.seg->id, &theirs), plain.seg->base);
    if (!SANITIZED) {
        ck_assert_int_eq(WEXITSTATUS(status), (uintptr_t)small.addr >> 21 & 127);
        ck_assert_ptr_eq(hl_mem_commons_find(2, small.seg->id, &theirs), small.seg->base);
        ck_assert_uint_eq(theirs, (uintptr_t)small.seg->base);
        ck_assert(hl_mem_symmetric_top() == (char *)large.addr + ONE);
    }
}
END_TEST
