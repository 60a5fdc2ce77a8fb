/* Memory at a given address of a reserved range. */

static bool is_reserved(const char *base, size_t len)
{
    char line[512];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f) != NULL) {
        uintptr_t low, high;
        char rights[5];
        found = found || (sscanf(line, "%lx-%lx %4s", &low, &high, rights) == 3 && low <= (uintptr_t)base &&
                          high >= (uintptr_t)base + len && strcmp(rights, "---p") == 0);
    }
    fclose(f);
    return found;
}

START_TEST(a_piece_lies_where_its_range_was_reserved)
{
    const size_t span = (size_t)64 << 20, at = (size_t)16 << 20, len = 5000;
    struct hl_mem_wish now = {.page = 4096}, huge = {.page = 2 << 20}, mandatory = huge;
    const struct hl_mem_wish *const wishes[] = {NULL, &now, &huge};
    struct hl_piece p, again;
    char *base, *other;
    ck_assert_int_eq(hl_mem_reserve(span, (size_t)32 << 20, &base), 0);
    ck_assert_uint_eq((uintptr_t)base % ((size_t)32 << 20), 0);
    ck_assert(is_reserved(base, span));
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        struct hl_mem_ask ask = {.at = base + at, .wish = wishes[i]};
        ck_assert_int_eq(hl_mem_alloc(len, &ask, &p), 0);
        ck_assert_ptr_eq(p.addr, base + at);
        ck_assert_ptr_null(p.seg->arena); /* of its own, however small */
        memset(p.addr, 1, p.len);
        ck_assert_ptr_eq(hl_mem_find(base + at, len), p.seg);
        ck_assert_int_eq(hl_mem_piece_at(base + at, &again), HL_ERR_BASE); /* not the program's to free */
        ck_assert(!is_reserved(base + at, p.len));
        ck_assert(is_reserved(base, at));
        /* A peer's view, in the same range. */
        ck_assert_int_eq(hl_mem_map_peer(p.seg->fd, 0, p.seg->len, base, &other), 0);
        ck_assert_ptr_eq(other, base);
        other[9] = 9;
        ck_assert_int_eq(base[at + 9], 9);
        hl_mem_unmap(other, p.seg->len, true);
        ck_assert(is_reserved(base, at));
        ck_assert_int_eq(base[at + 9], 9);
        hl_mem_free(&p);
        ck_assert_ptr_null(hl_mem_find(base + at, 1));
        ck_assert(is_reserved(base, span));
    }
    /* No room for so many huge pages anywhere, or a crooked address: the range is as it was. */
    mandatory.rule = HL_MEM_MANDATORY;
    struct hl_mem_ask much = {.at = base, .wish = &mandatory}, crooked = {.at = base + 4096};
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = hl_mem_alloc(span, &much, &p);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(rc, HL_ERR_NO_MEM);
    ck_assert(is_reserved(base, span));
    ck_assert_int_eq(hl_mem_alloc(len, &crooked, &p), HL_ERR_ARG);
    ck_assert(is_reserved(base, span));
    hl_mem_unreserve(base, span);
    ck_assert(!is_reserved(base, span));
    ck_assert_int_eq(hl_mem_reserve(SIZE_MAX / 8, HL_MEM_SEG_ALIGN, &base), HL_ERR_NO_MEM);
}
END_TEST

START_TEST(untouched_pages_come_and_go)
{
    const size_t len = (size_t)8 << 20, page = hl_topo_page();
    struct hl_mem_wish now = {.page = 4096, .rule = HL_MEM_MANDATORY, .rule_on_base = true},
                       huge = {.page = 2 << 20};
    struct hl_mem_ask lazy = {.own_segment = true}, taken = {.own_segment = true, .populate = true},
                      wished = {.own_segment = true, .wish = &now, .populate = true},
                      most = {.own_segment = true, .wish = &huge, .page_most = page};
    struct hl_piece p;
    ck_assert_int_eq(hl_mem_alloc(len, &lazy, &p), 0);
    memset(p.addr, 1, len);
    size_t before = blocks_of(p.seg);
    ck_assert(hl_mem_discard(&p, 100, len - 100));
    ck_assert_uint_eq(blocks_of(p.seg), page);
    ck_assert_uint_eq(before, len);
    ck_assert_int_eq(((char *)p.addr)[99] + ((char *)p.addr)[page - 1], 2); /* not whole: kept */
    ck_assert_int_eq(((char *)p.addr)[page], 0);
    p.seg->pinned = true;
    ck_assert(!hl_mem_discard(&p, 0, len));
    p.seg->pinned = false;
    hl_mem_free(&p);
    const struct hl_mem_ask *const kept[] = {&taken, &wished, &most};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        ck_assert_int_eq(hl_mem_alloc(len, kept[i], &p), 0);
        ck_assert_uint_eq(p.seg->page, page);
        ck_assert(!hl_mem_discard(&p, 0, len));
        ck_assert_uint_eq(blocks_of(p.seg), len);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(fair_sizes_obey_limits)
{
    uint64_t one = hl_mem_fair_size(1), four = hl_mem_fair_size(4);
    ck_assert(one > 0 && four <= one / 3);
    struct rlimit as, file, low;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &as) | getrlimit(RLIMIT_FSIZE, &file), 0);
    low = file;
    low.rlim_cur = 5 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &low), 0);
    ck_assert_uint_le(hl_mem_fair_size(1), 5 << 20);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &file), 0);
    if (SANITIZED) {
        return; /* sanitizers map terabytes */
    }
    low = as;
    low.rlim_cur = (rlim_t)4 << 30;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &low), 0);
    ck_assert_uint_le(hl_mem_fair_size(2), (uint64_t)1 << 30);
    low.rlim_cur = 1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &low), 0);
    uint64_t none = hl_mem_fair_size(1); /* has more than that already */
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &as), 0);
    ck_assert_uint_eq(none, 0);
}
END_TEST
