/* Peers' memory, mapped: two processes, each with a receiving thread. */

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
        ck_assert_int_eq(hl_near_serve(buf, (size_t)got, 1 - hl_job.node_rank, fd), 0);
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

/* What saves questions. */
enum saves { NOTHING, COMMONS /* both have mapped the node's */, LISTS /* both list their segments */ };

static pid_t start_peer(enum saves saves, int *from, int *to)
{
    int up[2], down[2], ends[2], fd = saves == COMMONS ? hl_mem_commons_make(2) : -1;
    void *board =
        mmap(NULL, hl_near_map_board_bytes(2), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(board, MAP_FAILED);
    ck_assert_int_eq(pipe(up) | pipe(down) | socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    hl_near_send = send_pair;
    hl_job.node_size = 2;
    pid_t child = fork();
    hl_job.node_rank = child == 0;
    my_end = ends[child == 0];
    if (saves == COMMONS) {
        hl_mem_commons_join(fd, 2, hl_job.node_rank);
    } else if (saves == LISTS) {
        ck_assert_int_eq(hl_near_map_open(board), 0);
    }
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
    enum saves saves = (enum saves)_i;
    int from, to, status;
    struct offer o[2];
    pid_t child = start_peer(saves, &from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    struct hl_near_want w[3] = {{.node_rank = 1, .seg_id = o[0].id, .seg_len = o[0].len},
                                {.node_rank = 1, .seg_id = o[1].id, .seg_len = o[1].len},
                                {.node_rank = 1, .seg_id = o[0].id, .seg_len = o[0].len}};
    if (saves != NOTHING) { /* the arena is there without a message */
        ck_assert_int_eq(hl_near_map_all(w + 1, 1), 0);
        ck_assert_uint_eq(hl_a32_load_relaxed(&sent), 0);
        hl_near_unmap(1, o[1].id);
    }
    ck_assert_int_eq(hl_near_map_all(w, 3), 0);
    if (saves == LISTS) { /* so is the other segment */
        ck_assert_uint_eq(hl_a32_load_relaxed(&sent), 0);
    }
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

START_TEST(peers_memory_lies_where_its_range_was_reserved)
{
    int from, to, status;
    struct offer o[2];
    char *span, *base;
    pid_t child = start_peer(_i == 0 ? NOTHING : LISTS, &from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    size_t len = o[0].len + 2 * HL_MEM_SEG_ALIGN;
    ck_assert_int_eq(hl_mem_reserve(len, HL_MEM_SEG_ALIGN, &span), 0);
    struct hl_near_want w = {
        .node_rank = 1, .seg_id = o[0].id, .seg_len = o[0].len, .at = span + HL_MEM_SEG_ALIGN};
    ck_assert_int_eq(hl_near_map_all(&w, 1), 0);
    ck_assert_ptr_eq(w.base, w.at);
    ck_assert_int_eq(w.base[99999], 'a');
    /* Others take it as it is, but for those that want it elsewhere. */
    ck_assert_int_eq(hl_near_map(1, o[0].id, o[0].len, &base), 0);
    ck_assert_ptr_eq(base, w.at);
    struct hl_near_want elsewhere = w;
    elsewhere.at = span;
    ck_assert_int_eq(hl_near_map_all(&elsewhere, 1), HL_ERR_RMA_SHARED);
    ck_assert_ptr_null(elsewhere.base);
    ck_assert(!hl_near_unmap(1, o[0].id));
    ck_assert_int_eq(w.base[99999], 'a');
    ck_assert(hl_near_unmap(1, o[0].id));
    ck_assert(is_mapped(w.at)); /* reserved again: no hole */
    hl_mem_unreserve(span, len);
    ck_assert(!is_mapped(w.at));
    close(to);
    waitpid(child, &status, 0);
}
END_TEST

/* What is listed may be out of date: another file, or none, has the descriptor's number. Then the owner is asked. */
START_TEST(a_list_that_is_wrong_is_not_believed)
{
    int from, to, status;
    struct offer o[2];
    char *base;
    pid_t child = start_peer(LISTS, &from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    struct hl_near_offer *listed = &hl_near_offers(1)[o[0].id % HL_NEAR_OFFERS];
    ck_assert_uint_eq(hl_a64_load_acquire(&listed->id), o[0].id);
    int fd = listed->fd, pid = listed->pid;
    uint64_t ino = listed->ino;
    listed->fd = _i == 0 ? 0 : _i == 1 ? 1000000 : fd;
    listed->ino = _i == 2 ? ino + 1 : ino;
    listed->pid = _i == 3 ? 1 : pid;
    ck_assert_int_eq(hl_near_map(1, o[0].id, o[0].len, &base), 0);
    ck_assert_uint_ge(hl_a32_load_relaxed(&sent), 1);
    ck_assert_int_eq(base[99999], 'a');
    hl_near_unmap(1, o[0].id);
    *listed = (struct hl_near_offer){.pid = pid, .fd = fd}; /* not listed at all */
    hl_a32_store_relaxed(&sent, 0);
    ck_assert_int_eq(hl_near_map(1, o[0].id, o[0].len, &base), 0);
    ck_assert_uint_ge(hl_a32_load_relaxed(&sent), 1);
    close(to);
    waitpid(child, &status, 0);
}
END_TEST

/* Mine: one place for each segment while it lives, none for another one that wants the same place. */
START_TEST(my_segments_are_listed_while_they_live)
{
    struct hl_mem_ask own = {.own_segment = true};
    struct hl_piece p[HL_NEAR_OFFERS + 3];
    ck_assert_int_eq(hl_near_map_open(calloc(1, hl_near_map_board_bytes(1))), 0);
    const struct hl_near_offer *list = hl_near_offers(0);
    int listed = 0;
    for (size_t i = 0; i < HL_COUNT_OF(p); i++) {
        ck_assert_int_eq(hl_mem_alloc(4096, &own, &p[i]), 0);
    }
    for (size_t i = 0; i < HL_COUNT_OF(p); i++) {
        const struct hl_near_offer *o = &list[p[i].seg->id % HL_NEAR_OFFERS];
        listed += hl_a64_load_acquire(&o->id) == p[i].seg->id;
    }
    ck_assert_int_eq(listed, HL_NEAR_OFFERS);
    for (size_t i = 0; i < HL_COUNT_OF(p); i++) {
        hl_mem_free(&p[i]);
    }
    for (int i = 0; i < HL_NEAR_OFFERS; i++) {
        ck_assert_uint_eq(hl_a64_load_acquire(&list[i].id), 0);
    }
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
    pid_t child = start_peer(NOTHING, &from, &to);
    ck_assert_int_eq(read(from, o, sizeof o), sizeof o);
    run_threads(8, map_thread, o);
    close(to);
    int status;
    waitpid(child, &status, 0);
}
END_TEST

/* A node of many ranks, all of whom refuse: by a thread, in the order in which they were asked. */
#define MANY 300
static struct near_msg asked[MANY];
static int asked_of[MANY];
static hl_a32 n_asked, n_answered, most_open;

static int send_to_many(int node_rank, const void *msg, size_t len, int fd)
{
    (void)len, (void)fd;
    uint32_t n = hl_a32_load_relaxed(&n_asked), open = n + 1 - hl_a32_load_relaxed(&n_answered);
    for (uint32_t i = 0; i < n; i++) {
        if (asked_of[i] == node_rank) {
            return 0; /* again, as the answer to come is late */
        }
    }
    ck_assert_uint_lt(n, MANY);
    memcpy(&asked[n], msg, sizeof asked[n]);
    asked_of[n] = node_rank;
    if (open > hl_a32_load_relaxed(&most_open)) {
        hl_a32_store_relaxed(&most_open, open);
    }
    hl_a32_store_release(&n_asked, n + 1);
    return 0;
}

static void *refuse_all(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < MANY - 1; i++) {
        while (hl_a32_load_acquire(&n_asked) == i) {
            sched_yield();
        }
        struct near_msg m = asked[i];
        m.kind = NEAR_REFUSE;
        hl_a32_store_relaxed(&n_answered, i + 1);
        ck_assert_int_eq(hl_near_serve(&m, sizeof m, asked_of[i], -1), 0);
    }
    return NULL;
}

START_TEST(many_peers_are_asked_a_few_at_a_time)
{
    static struct hl_near_want w[MANY];
    static int world[MANY];
    pthread_t t;
    hl_near_send = send_to_many;
    hl_job.node_size = MANY;
    hl_job.node_rank = 7;
    hl_job.node_world = world;
    for (int i = 0; i < MANY; i++) {
        world[i] = i;
        w[i] = (struct hl_near_want){.node_rank = i, .seg_id = (uint64_t)i + 1000, .seg_len = 4096};
    }
    ck_assert_int_eq(pthread_create(&t, NULL, refuse_all, NULL), 0);
    ck_assert_int_eq(hl_near_map_all(w, MANY), HL_ERR_RMA_SHARED);
    pthread_join(t, NULL);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(w[i].rc, HL_ERR_RMA_SHARED);
    }
    ck_assert_int_eq(hl_a32_load_relaxed(&n_asked), MANY - 1);
    ck_assert_int_eq(asked_of[0], 7 + 1); /* each rank begins with another one: behind itself */
    ck_assert_uint_le(hl_a32_load_relaxed(&most_open), 4);
}
END_TEST

START_TEST(mine_is_mapped_already)
{
    struct hl_piece p;
    char *base;
    ck_assert_int_eq(hl_mem_alloc(10, NULL, &p), 0);
    ck_assert_int_eq(hl_near_map(hl_job.node_rank, p.seg->id, p.seg->len, &base), 0);
    ck_assert_ptr_eq(base, p.seg->base);
    hl_near_unmap(hl_job.node_rank, p.seg->id);
    ck_assert_int_eq(hl_near_map(hl_job.node_rank, 999, 1, &base), HL_ERR_RMA_SHARED);
    ck_assert_int_eq(hl_near_serve("someone else's", 14, 1, -1), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(hl_near_serve("Ne", 2, 1, -1), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(hl_near_serve("Near", 4, 1, -1), 0); /* ours, but cut off: dropped */
}
END_TEST
