/* Ranks put, get, update and send to each other by lanes, many threads at once, and find what they should.
 *
 * Run by mpiexec with HOTLANE_NEAR=0. Usage: pair THREADS ROUNDS SEED */
#include "boot.h"
#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "fab.h"
#include "job.h"
#include "lane.h"
#include "log.h"
#include "mem.h"
#include "mr.h"
#include "near.h"
#include "prog.h"
#include "rx.h"
#include "stat.h"
#include "util.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SPAN ((size_t)3 << 20) /* bytes of a thread's area: longer than one piece */
#define CALL(x) call((x), #x, __LINE__)

static int threads, rounds;
static unsigned seed;
static struct hl_piece window;
static uint64_t region;     /* hl_mr_register's id of it */
static struct hl_mr *peers; /* [size] */
static hl_a32 *errors;      /* [size] */
static uint64_t *sums;      /* [size] at the head of each window: added to by everybody */

static void call(int rc, const char *what, int line)
{
    if (rc != 0) {
        hl_log(HL_LOG_ERROR, "line %d: %s: %s", line, what, hl_err_text(rc));
        hl_job_abort(3);
    }
}

static void check(bool ok, const char *what, uint64_t got, uint64_t wanted)
{
    if (!ok) {
        hl_log(HL_LOG_ERROR, "seed %u: %s: %llx instead of %llx", seed, what, (unsigned long long)got,
               (unsigned long long)wanted);
        hl_job_abort(4);
    }
}

static int accumulate(const struct hl_rx_msg *msg)
{
    static struct hl_near_lock lock;
    const struct hl_wire_rec *rec = msg->rec;
    size_t len = rec->count * hl_op_extent((enum hl_basic)rec->basic);
    const struct hl_seg *seg = hl_mem_by_id(rec->region);
    if (seg == NULL || rec->offset > seg->len || len > seg->len - rec->offset || rec->len != len) {
        return HL_ERR_RMA_RANGE;
    }
    void *fetched = rec->op == HL_WIRE_GET_ACC ? hl_rx_reply_room(msg, len) : NULL;
    return hl_near_acc((enum hl_op_kind)rec->kind, (enum hl_basic)rec->basic, seg->base + rec->offset,
                       msg->payload, fetched, rec->count, &lock);
}

static hl_a32 notices;

static int notice(const struct hl_rx_msg *msg)
{
    check(msg->rec->len == 8 && memcmp(msg->payload, &msg->rec->aux, 8) == 0, "notice", msg->rec->len, 8);
    hl_a32_add_full(&notices, 1);
    return 0;
}

static void flush(int peer)
{
    hl_lane_flush(peer, HL_REMOTE);
    CALL(hl_lane_error_take(&errors[peer]));
}

/* Each thread of each rank owns a part of each window. */
static uint64_t area(int id)
{
    return 4096 + ((uint64_t)hl_job.rank * (unsigned)threads + (unsigned)id) * SPAN;
}

static struct hl_xfer transfer(int peer, uint64_t offset, void *buf, size_t len)
{
    return (struct hl_xfer){.peer = peer,
                            .addr = peers[peer].addr + offset,
                            .key = peers[peer].key,
                            .buf = buf,
                            .len = len,
                            .error = &errors[peer]};
}

static void put_get(int id, unsigned *state, char *mine, char *back)
{
    static const size_t sizes[] = {1, 8, 64, 4096, 20000, (1 << 20) + 8, SPAN};
    int peer = (int)(rand_r(state) % (unsigned)hl_job.size);
    size_t len = sizes[rand_r(state) % HL_COUNT_OF(sizes)];
    for (size_t i = 0; i < len; i += 97) {
        mine[i] = (char)rand_r(state);
    }
    struct hl_xfer out = transfer(peer, area(id), mine, len);
    CALL(hl_lane_write(&out));
    flush(peer);
    struct hl_xfer in = transfer(peer, area(id), back, len);
    CALL(hl_lane_read(&in));
    flush(peer);
    check(memcmp(mine, back, len) == 0, "bytes read back", len, len);
}

static void small_puts(int id, unsigned *state, uint64_t *words)
{
    for (int i = 0; i < 64; i++) {
        int peer = (int)(rand_r(state) % (unsigned)hl_job.size);
        words[i] = (uint64_t)rand_r(state);
        struct hl_xfer out = transfer(peer, area(id) + (uint64_t)i * 8, &words[i], 8);
        CALL(hl_lane_write(&out));
        struct hl_xfer in = transfer(peer, area(id) + (uint64_t)i * 8, &words[64 + i], 8);
        flush(peer);
        CALL(hl_lane_read(&in));
    }
    hl_lane_flush(-1, HL_REMOTE);
    for (int i = 0; i < 64; i++) {
        check(words[i] == words[64 + i], "word", words[64 + i], words[i]);
    }
}

static void add(int peer, bool by_message, bool fetch)
{
    uint64_t one = 1, before = UINT64_MAX;
    if (!by_message && hl_lane_can_atomic(HL_OP_SUM, HL_BASIC_U64, fetch, false)) {
        struct hl_lane_atomic a = {.x = transfer(peer, 0, &one, 8),
                                   .op = HL_OP_SUM,
                                   .basic = HL_BASIC_U64,
                                   .n = 1,
                                   .result = fetch ? &before : NULL};
        CALL(hl_lane_atomic(&a));
    } else {
        struct hl_wire_rec rec = {.op = fetch ? HL_WIRE_GET_ACC : HL_WIRE_ACC,
                                  .kind = HL_OP_SUM,
                                  .basic = HL_BASIC_U64,
                                  .len = 8,
                                  .region = peers[peer].id,
                                  .offset = (uint64_t)window.off,
                                  .count = 1};
        struct hl_lane_message m = {.peer = peer,
                                    .rec = &rec,
                                    .payload = &one,
                                    .reply = fetch ? &before : NULL,
                                    .reply_cap = fetch ? 8 : 0,
                                    .error = &errors[peer]};
        CALL(hl_lane_message(&m));
    }
    flush(peer);
    check(!fetch || before < UINT64_C(1) << 32, "value fetched", before, 0);
}

/* Not checked by the provider here: swaps a word of my area until it was what it must be. */
static void swap(int id, int peer)
{
    uint64_t base = 0x55, replace = 0x77, result = 0;
    struct hl_xfer out = transfer(peer, area(id), &base, 8);
    CALL(hl_lane_write(&out));
    flush(peer);
    struct hl_lane_atomic a = {.x = transfer(peer, area(id), &replace, 8),
                               .op = HL_OP_REPLACE,
                               .basic = HL_BASIC_U64,
                               .n = 1,
                               .compare = &base,
                               .result = &result};
    if (hl_lane_can_atomic(HL_OP_REPLACE, HL_BASIC_U64, true, true)) {
        CALL(hl_lane_atomic(&a));
        flush(peer);
        check(result == 0x55, "compared", result, 0x55);
        uint64_t now = 0;
        struct hl_xfer in = transfer(peer, area(id), &now, 8);
        CALL(hl_lane_read(&in));
        flush(peer);
        check(now == 0x77, "swapped", now, 0x77);
    }
}

static void *work(void *arg)
{
    int id = (int)(intptr_t)arg;
    unsigned state = seed + (unsigned)(hl_job.rank * 1000 + id);
    char *mine = calloc(2, SPAN);
    uint64_t words[128];
    for (int round = 0; round < rounds; round++) {
        put_get(id, &state, mine, mine + SPAN);
        small_puts(id, &state, words);
        for (int peer = 0; peer < hl_job.size; peer++) {
            for (int way = 0; way < 4; way++) {
                add(peer, way & 1, way & 2);
            }
            swap(id, peer);
        }
    }
    free(mine);
    return NULL;
}

static void *start_job(void)
{
    void *board;
    CALL(hl_conf_load());
    hl_log_limit((enum hl_log_level)hl_conf.log);
    CALL(hl_boot_open());
    hl_log_identify("rank", hl_job.rank);
    hl_prog_crowd(hl_job.size, 2);
    CALL(hl_boot_node_share(hl_rx_board_bytes(hl_job.node_size), hl_mem_buffer_board, &board));
    return board;
}

static void open_network(void *board)
{
    CALL(hl_rx_open(board));
    CALL(hl_rx_handle(HL_WIRE_ACC, accumulate));
    CALL(hl_rx_handle(HL_WIRE_GET_ACC, accumulate));
    CALL(hl_rx_handle(HL_WIRE_NOTICE, notice));
    CALL(hl_rx_network());
    hl_lane_threads(true, 4);
    CALL(hl_lane_open());
}

static void exchange(int generation)
{
    char key[16];
    size_t bytes = 4096 + (size_t)hl_job.size * (size_t)threads * SPAN;
    struct hl_mem_ask ask = {.own_segment = true};
    CALL(hl_mem_alloc(bytes, &ask, &window));
    memset(window.addr, 0, 4096);
    sums = window.addr;
    struct hl_mr mr, reach; /* a segment of its own is not registered where registration locks memory */
    hl_mr_of(window.seg, &mr);
    CALL(hl_mr_register(window.addr, bytes, &reach));
    mr.addr = reach.addr;
    mr.key = reach.key;
    region = reach.id;
    peers = calloc((size_t)hl_job.size, sizeof *peers);
    errors = calloc((size_t)hl_job.size, sizeof *errors);
    snprintf(key, sizeof key, "window-%d", generation);
    CALL(hl_boot_put(key, &mr, sizeof mr));
    CALL(hl_boot_fence());
    for (int r = 0; r < hl_job.size; r++) {
        size_t len;
        CALL(hl_boot_get(r, key, &peers[r], sizeof peers[r], &len));
    }
}

static bool all_noticed(void *unused)
{
    (void)unused;
    return hl_a32_load_acquire(&notices) == (uint32_t)hl_job.size * 10;
}

static void send_notices(void)
{
    for (int i = 0; i < 10; i++) {
        for (int r = 0; r < hl_job.size; r++) {
            struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE, .len = 8, .aux = (uint64_t)i * 77 + 1};
            CALL(hl_rx_send(r, &rec, &rec.aux));
        }
    }
    hl_prog_wait(all_noticed, NULL);
}

/* Internet sockets of this process that an exec would keep open. */
static int leaking(void)
{
    int leaks = 0;
    for (int fd = 0; fd < 1024; fd++) {
        int domain = 0, flags = fcntl(fd, F_GETFD);
        socklen_t len = sizeof domain;
        bool inet =
            flags >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_INET;
        leaks += inet && (flags & FD_CLOEXEC) == 0;
    }
    return leaks;
}

static bool is_cloexec(void *unused)
{
    (void)unused;
    return leaking() == 0;
}

static void run_threads(void)
{
    pthread_t t[64];
    for (int i = 0; i < threads; i++) {
        pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
}

/* The network opened, used and closed. */
static void generation(void *board, int number)
{
    open_network(board);
    exchange(number);
    run_threads();
    hl_a32_store_relaxed(&notices, 0);
    CALL(hl_boot_fence());
    send_notices();
    hl_prog_wait(is_cloexec, NULL); /* a moment later: the receive threads do it */
    CALL(hl_boot_fence());
    uint64_t wanted = (uint64_t)hl_job.size * (unsigned)threads * (unsigned)rounds * 4;
    check(*sums == wanted, "sum of all additions", *sums, wanted);
    if (hl_job.rank == 0) {
        printf("%s; sum %llu\n", hl_fab_why(), (unsigned long long)*sums);
    }
    hl_lane_close();
    hl_mr_unregister(region);
    hl_mem_free(&window);
    hl_rx_stop();
    free(peers);
    free(errors);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    threads = atoi(argv[1]);
    rounds = atoi(argv[2]);
    seed = (unsigned)atoi(argv[3]);
    void *board = start_job();
    generation(board, 1);
    generation(board, 2); /* as after MPI was closed and opened again */
    hl_stat_print();
    CALL(hl_boot_close(true));
    return 0;
}
