/* The symmetric heap on a network that pins what is registered, and opens after the heap has its memory. One
 * PE, which reaches itself by that network; calls of coll, rx and lane are answered here. */
#include "locked.h"
#include "unit.h"

#include "coll.h"
#include "conf.h"
#include "ctx.h"
#include "err.h"
#include "heap.h"
#include "job.h"
#include "lane.h"
#include "life.h"
#include "mr.h"
#include "parts.h"
#include "pinned.h"
#include "shm.h"
#include "short.h"
#include "state.h"
#include "xfer.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)

static struct hl_lane a_lane;

static struct {
    bool open;
    uint64_t bytes, limit; /* registered; refused beyond it */
    uint64_t lens[100];    /* by registration id, from 1 on */
    uint64_t count;
    int level, flushes;
} nic;

int __wrap_hl_coll_least(struct hl_comm *comm, int value, int *least);
int __wrap_hl_coll_least(struct hl_comm *comm, int value, int *least)
{
    (void)comm;
    *least = value;
    return 0;
}

int __wrap_hl_coll_agree(struct hl_comm *comm, int value);
int __wrap_hl_coll_agree(struct hl_comm *comm, int value)
{
    (void)comm;
    return value;
}

int __wrap_hl_coll_first_failed(struct hl_comm *comm, int code, int *rank, char text[HL_ERR_TEXT]);
int __wrap_hl_coll_first_failed(struct hl_comm *comm, int code, int *rank, char text[HL_ERR_TEXT])
{
    (void)comm, (void)code, (void)text;
    *rank = 0;
    return 0;
}

int __wrap_hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all);
int __wrap_hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all)
{
    (void)comm;
    memcpy(all, mine, len);
    return 0;
}

int __wrap_hl_rx_start(void);
int __wrap_hl_rx_start(void)
{
    return 0;
}

int __wrap_hl_rx_network(void);
int __wrap_hl_rx_network(void)
{
    nic.open = true;
    return 0;
}

int __wrap_hl_lane_open(void);
int __wrap_hl_lane_open(void)
{
    hl_pool.head.lanes[0] = &a_lane;
    hl_pool.head.chain_max = 64;
    hl_a32_store_relaxed(&hl_pool.head.count, 1); /* relaxed: one thread. */
    hl_lane_preferred = 0;
    return 0;
}

bool __wrap_hl_mr_pins(void);
bool __wrap_hl_mr_pins(void)
{
    return nic.open;
}

int __wrap_hl_mr_register(void *base, size_t len, struct hl_mr *out);
int __wrap_hl_mr_register(void *base, size_t len, struct hl_mr *out)
{
    if (len > nic.limit - nic.bytes) {
        return hl_err_say(HL_ERR_NO_MEM, "the limit of locked memory");
    }
    nic.bytes += len;
    nic.lens[++nic.count] = len;
    *out = (struct hl_mr){.id = nic.count, .key = nic.count, .addr = (uint64_t)(uintptr_t)base, .len = len};
    return 0;
}

void __wrap_hl_mr_unregister(uint64_t id);
void __wrap_hl_mr_unregister(uint64_t id)
{
    nic.bytes -= nic.lens[id];
    nic.lens[id] = 0;
}

int __wrap_hl_lane_write_on(struct hl_lane *lane, const struct hl_xfer *x);
int __wrap_hl_lane_write_on(struct hl_lane *lane, const struct hl_xfer *x)
{
    (void)lane, (void)x;
    return 0;
}

void __wrap_hl_lane_flush(int peer, enum hl_lane_scope scope);
void __wrap_hl_lane_flush(int peer, enum hl_lane_scope scope)
{
    ck_assert(peer == -1 && scope == HL_REMOTE);
    nic.flushes++;
}

int __wrap_hl_life_level(void);
int __wrap_hl_life_level(void)
{
    return nic.level;
}

static int open_heap(uint64_t bytes, uint64_t lockable)
{
    static struct hl_comm comm = {.rank = 0, .size = 1};
    static int me = 0;
    be_a_user(lockable);
    nic.limit = lockable;
    hl_conf.near = "none";
    hl_conf.shmem_size = bytes;
    hl_job.size = hl_job.node_size = 1;
    hl_job.node_world = &me;
    hl_shmem_comm = &comm;
    hl_sym.n_pes = 1;
    hl_sym.my_pe = 0;
    return hl_heap_open();
}

START_TEST(a_network_that_opens_late_pins_no_more_than_its_share)
{
    ck_assert_msg(open_heap(64 * MIB, 8 * MIB) == 0, "%s", hl_err_text(HL_ERR_NO_MEM));
    ck_assert_uint_eq(nic.bytes, 8 * MIB / 32);
    ck_assert_uint_eq(hl_heap.own, nic.bytes);
    ck_assert_ptr_nonnull(hl_heap_internal_alloc(hl_heap.own));
    hl_heap_close();
    ck_assert_uint_eq(nic.bytes, 0);
}
END_TEST

/* The key under which the first word of the heap is found. */
static uint64_t key_of_first(void)
{
    struct hl_sym_addr s;
    ck_assert(hl_sym_find(hl_heap.base, 8, 0, &s));
    return s.key;
}

/* Blocks that grow in their place (shmem_malloc and shmem_free in turns, or shmem_realloc): with threads that
 * may use the old keys, all of them stay; else what is registered is what is used, and an eighth of the limit. */
START_TEST(blocks_that_grow_are_registered_once)
{
    static const uint64_t lens[] = {4 * MIB, 8 * MIB, 12 * MIB, 20 * MIB, 28 * MIB};
    bool threads = _i == 1;
    nic.level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    ck_assert_int_eq(open_heap(64 * MIB, 256 * MIB), 0);
    hl_heap.lockable = nic.limit = 64 * MIB;
    uint64_t own = nic.bytes, all = own;
    for (int i = 0; i < 5; i++) {
        int rc = hl_pinned_cover(0, 0, lens[i]);
        ck_assert_int_eq(rc, threads && i == 4 ? HL_ERR_NO_MEM : 0);
        uint64_t last = nic.lens[key_of_first()];
        all += rc == 0 ? last : 0;
        ck_assert_uint_ge(last, lens[rc == 0 ? i : i - 1]);
        ck_assert_uint_eq(nic.bytes, threads ? all : own + last);
        ck_assert_uint_le(last, lens[i] + 8 * MIB);
    }
    ck_assert_int_eq(nic.flushes, threads ? 0 : 4);
    hl_heap_close();
    ck_assert_uint_eq(nic.bytes, 0);
}
END_TEST

/* What was registered before a block that cannot be is so again, and other areas stay all the time. */
START_TEST(a_refused_block_leaves_the_others_reachable)
{
    struct hl_sym_addr s;
    ck_assert_int_eq(open_heap(64 * MIB, 256 * MIB), 0);
    hl_heap.lockable = nic.limit = 64 * MIB;
    ck_assert_int_eq(hl_pinned_cover(0, 0, 4 * MIB), 0);
    ck_assert_int_eq(hl_pinned_cover(0, 4 * MIB, 2 * MIB), 0);
    uint64_t bytes = nic.bytes, first = key_of_first();
    nic.limit = bytes + MIB;
    ck_assert_int_eq(hl_pinned_cover(0, 4 * MIB, 16 * MIB), HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "the limit of locked memory"));
    ck_assert_uint_eq(nic.bytes, bytes);
    ck_assert_uint_eq(key_of_first(), first);
    ck_assert(hl_sym_find(hl_heap.base + 4 * MIB, 2 * MIB, 0, &s));
    ck_assert_uint_ge(nic.lens[s.key], 2 * MIB);
    nic.limit = 64 * MIB;
    ck_assert_int_eq(hl_pinned_cover(0, 4 * MIB, 16 * MIB), 0);
    ck_assert(hl_sym_find(hl_heap.base + 4 * MIB, 16 * MIB, 0, &s));
    hl_heap_close();
    ck_assert_uint_eq(nic.bytes, 0);
}
END_TEST

static Suite *make_suite(void)
{
    TCase *t = tcase_create("pinned");
    tcase_add_test(t, a_network_that_opens_late_pins_no_more_than_its_share);
    tcase_add_loop_test(t, blocks_that_grow_are_registered_once, 0, 2);
    tcase_add_test(t, a_refused_block_leaves_the_others_reachable);
    Suite *s = suite_create("shmem_pinned");
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
