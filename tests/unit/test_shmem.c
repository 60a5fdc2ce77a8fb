/* Symmetric addresses: what is found, where, and what is not. (Calls over several PEs: tests/shmem.) */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "parts.h"
#include "pinned.h"
#include "shm.h"
#include "sym.h"
#include "tree.h"
#include "turn.h"

#define PE_BASE ((uint64_t)1 << 40)

#define HEAP_LEN ((size_t)3 << HL_SYM_GRANULE)
static char heap[4 << HL_SYM_GRANULE], statics[100];
static struct hl_sym_reach heap_pes[2], part_pes[3][2], static_pes[2];
static hl_a8 part_of[4];

/* Two PEs; the heap's middle belongs to nobody, what follows it to the library; PE 1 is far. */
static void set_up(void)
{
    static const uint8_t indices[] = {0, 255, 1, 2};
    for (int i = 0; i < 4; i++) {
        hl_a8_store_relaxed(&part_of[i], indices[i]); /* relaxed: one thread. */
    }
    heap_pes[0].where = (uint64_t)(uintptr_t)heap;
    heap_pes[1].where = HL_SYM_FAR;
    for (int i = 0; i < 3; i++) {
        uint64_t granule = i == 0 ? 0 : 1 + (uint64_t)i;
        part_pes[i][0].where = (uint64_t)(uintptr_t)heap + (granule << HL_SYM_GRANULE);
        part_pes[i][1] = (struct hl_sym_reach){HL_SYM_FAR | (PE_BASE * (uint64_t)(i + 1)), 70 + (uint64_t)i};
    }
    static_pes[1] = (struct hl_sym_reach){HL_SYM_FAR | 4096, 99};
    static struct hl_sym_area area;
    area = (struct hl_sym_area){statics, sizeof statics, static_pes};
    hl_sym = (struct hl_sym){.heap = {heap, HEAP_LEN, heap_pes},
                             .n_pes = 2,
                             .n_parts = 3,
                             .own = 2,
                             .part_of = part_of,
                             .statics = &area,
                             .n_statics = 1};
    hl_sym.parts[0] = (struct hl_sym_area){heap, 1 << HL_SYM_GRANULE, part_pes[0]};
    hl_sym.parts[1] = (struct hl_sym_area){heap + (2 << HL_SYM_GRANULE), 1 << HL_SYM_GRANULE, part_pes[1]};
    hl_sym.parts[2] = (struct hl_sym_area){heap + HEAP_LEN, 1 << HL_SYM_GRANULE, part_pes[2]};
}

START_TEST(objects_are_found_by_part_and_area)
{
    struct hl_sym_addr s;
    set_up();
    ck_assert(hl_sym_find(heap + 8, 8, 0, &s));
    ck_assert(hl_sym_addr_is_mapped(&s));
    ck_assert_uint_eq(s.where, (uint64_t)(uintptr_t)heap + 8);
    ck_assert(hl_sym_find(heap + (2 << HL_SYM_GRANULE) + 16, 8, 1, &s));
    ck_assert_uint_eq(s.where, HL_SYM_FAR | (2 * PE_BASE + 16));
    ck_assert_uint_eq(s.key, 71);
    uint64_t token = s.token;
    ck_assert(hl_sym_find(heap, 1, 1, &s));
    ck_assert(s.token != token && s.token != 0);
    ck_assert(hl_sym_find(statics + 99, 1, 1, &s));
    ck_assert_uint_eq(s.where, HL_SYM_FAR | (4096 + 99));
    ck_assert_uint_eq(s.key, 99);
}
END_TEST

START_TEST(what_is_not_symmetric_is_not_found)
{
    struct hl_sym_addr s;
    uint64_t where;
    char local = 0;
    set_up();
    ck_assert(!hl_sym_find(&local, 1, 0, &s));
    ck_assert(!hl_sym_find(heap + (1 << HL_SYM_GRANULE), 1, 0, &s));     /* between parts */
    ck_assert(!hl_sym_find(heap + (1 << HL_SYM_GRANULE) - 4, 8, 0, &s)); /* beyond the end of one */
    ck_assert(!hl_sym_find(statics + 99, 2, 0, &s));
    ck_assert(!hl_sym_find(heap, 1, 2, &s));
    ck_assert(!hl_sym_find(heap, 1, -1, &s));
    ck_assert(!hl_sym_short((const char *)((uintptr_t)heap - 1), 1, 0, &where));
    ck_assert(!hl_sym_short(heap, 1, 2, &where));
    ck_assert(!hl_sym_short(heap + HEAP_LEN - 4, 8, 0, &where)); /* into the library's part */
    ck_assert(!hl_sym_short(heap + HEAP_LEN, 8, 0, &where));
    ck_assert(!hl_sym_find(heap + HEAP_LEN - 4, 8, 0, &s));
    ck_assert(!hl_sym_find(heap + HEAP_LEN, 1, 1, &s));
    ck_assert(!hl_sym_is(heap + HEAP_LEN, 1));
    ck_assert_uint_eq(hl_sym_own(heap + HEAP_LEN + 8, 0).where, (uint64_t)(uintptr_t)heap + HEAP_LEN + 8);
    ck_assert_uint_eq(hl_sym_own(heap + HEAP_LEN + 8, 1).where, HL_SYM_FAR | (3 * PE_BASE + 8));
    ck_assert(hl_sym_short(heap + 8, 8, 0, &where));
    ck_assert_uint_eq(where, (uint64_t)(uintptr_t)heap + 8);
    hl_sym = (struct hl_sym){.n_pes = 0};
    ck_assert(!hl_sym_short(heap, 1, 0, &where));
    ck_assert(!hl_sym_find(heap, 1, 0, &s));
}
END_TEST

/* Whatever sizes and pages: no gap, every part at a multiple of its pages and of 2 MiB, the library's own
 * last, and nothing depends on the order in which they were named. */
START_TEST(parts_of_the_heap_leave_no_gap)
{
    static const size_t pages[] = {4096, 65536, 2 << 20, 32 << 20, 512 << 20, 1 << 30};
    for (int step = 0; step < 2000; step++) {
        struct hl_heap_part parts[HL_SYM_PARTS], again[HL_SYM_PARTS];
        int count = 1 + rand() % HL_SYM_PARTS, own = rand() % count;
        for (int i = 0; i < count; i++) {
            parts[i] = (struct hl_heap_part){.id = i == own ? 0 : i + 1 + rand() % 2 * 20,
                                             .page = i == own ? 4096 : pages[rand() % 6],
                                             .size = (uint64_t)(1 + rand() % 2000) << HL_SYM_GRANULE};
            parts[i].wish.page = parts[i].page;
            again[count - 1 - i] = parts[i];
        }
        uint64_t len = hl_parts_lay(parts, count), at = 0;
        for (int i = 0; i < count; i++) {
            ck_assert_uint_eq(parts[i].off, at);
            ck_assert_uint_eq(at % parts[i].page, 0);
            ck_assert_uint_eq(at % ((size_t)1 << HL_SYM_GRANULE), 0);
            ck_assert(parts[i].len >= parts[i].size && parts[i].len < parts[i].size + parts[i].page);
            at += parts[i].len;
        }
        ck_assert_uint_eq(at, len);
        ck_assert_uint_eq(hl_parts_lay(again, count), len);
        for (int i = 0; i < count; i++) {
            ck_assert_int_eq(again[i].id, parts[i].id);
            ck_assert_uint_eq(again[i].off, parts[i].off);
        }
        ck_assert_int_eq(parts[count - 1].id, 0);
    }
}
END_TEST

/* Registered piece by piece, in whatever order blocks come: each granule of a block finds a piece that
 * reaches to the block's end, and no piece was longer than it had to be. */
START_TEST(blocks_lie_in_the_piece_of_each_granule)
{
    enum { GRANULES = 64, BLOCKS = 60 };
    const uint64_t granule = (uint64_t)1 << HL_SYM_GRANULE, len = GRANULES * granule;
    for (int step = 0; step < 60; step++) {
        struct hl_pinned_range at[GRANULES] = {{0, 0}}, blocks[BLOCKS];
        uint64_t covered = 0, limit = (uint64_t)(rand() % 40 + 1) << 18;
        for (int i = 0; i < BLOCKS; i++) {
            uint64_t off = (uint64_t)rand() % len / 64 * 64,
                     most = len - off < 9 * granule ? len - off : 9 * granule;
            uint64_t end = off + 1 + (uint64_t)rand() % most;
            blocks[i] = (struct hl_pinned_range){off, end};
            if (at[off / granule].end < end) {
                struct hl_pinned_range r = hl_pinned_choose(off, end, covered, len, limit);
                uint64_t need = end > covered ? end : covered;
                ck_assert(r.begin <= off && off - r.begin < granule && r.begin % granule == 0);
                ck_assert(r.end >= need && r.end <= len && r.end < need + limit + ((uint64_t)64 << 10));
                covered = r.end;
                for (uint64_t g = r.begin / granule; g <= (r.end - 1) / granule; g++) {
                    at[g] = r;
                }
            }
            for (int k = 0; k <= i; k++) {
                for (uint64_t g = blocks[k].begin / granule; g <= (blocks[k].end - 1) / granule; g++) {
                    ck_assert_uint_ge(at[g].end, blocks[k].end);
                    ck_assert(at[g].begin <= blocks[k].begin || at[g].begin <= g * granule);
                }
            }
        }
    }
    struct hl_pinned_range first = hl_pinned_choose(0, 1000, 0, len, UINT64_MAX);
    ck_assert(first.begin == 0 && first.end == 64 << 10); /* little at first, */
    struct hl_pinned_range second = hl_pinned_choose(first.end, first.end + 1, first.end, len, UINT64_MAX);
    ck_assert(second.end == 128 << 10); /* then twice as much each time */
}
END_TEST

/* Members from `root` on, up to the first that is not below it; counts them, and how deep they are. */
static int walk(int size, int root, int depth, int *deepest)
{
    struct hl_tree_node p, below;
    int next = root + 1;
    *deepest = depth > *deepest ? depth : *deepest;
    hl_tree_place(size, root, &p);
    for (int i = 0; i < p.children; i++) {
        ck_assert_int_eq(p.child[i], next); /* runs of members, in order */
        hl_tree_place(size, next, &below);
        ck_assert_int_eq(below.parent, root);
        ck_assert_int_eq(below.index, i);
        next = walk(size, next, depth + 1, deepest);
    }
    return next;
}

START_TEST(trees_hold_everybody_once_in_order)
{
    for (int size = 1; size < 1200; size += size < 100 ? 1 : 37) {
        int deepest = 0;
        struct hl_tree_node root;
        hl_tree_place(size, 0, &root);
        ck_assert_int_eq(root.parent, -1);
        ck_assert_int_eq(walk(size, 0, 0, &deepest), size);
        ck_assert_int_le(deepest, size <= 9 ? 1 : size <= 73 ? 2 : size <= 585 ? 3 : 4);
    }
}
END_TEST

static void join_nothing(struct hl_meet *m, const void *theirs, size_t len)
{
    memcpy(m->data, theirs, len);
}

/* PE 1's message in the root's box says that it is longer than the root has room for: the job ends. */
START_TEST(a_message_is_no_longer_than_its_room)
{
    static const int node[] = {0, 1};
    uint64_t data[2] = {0};
    struct hl_team team = {.start = 0, .stride = 1, .size = 2, .rank = 0, .boxes = HEAP_LEN};
    struct hl_call call = {"a test", hl_call_what(HL_CALL_SPLIT, 0, 0), &team, NULL};
    struct hl_meet meet = {data, sizeof data, sizeof data[0], join_nothing, NULL};
    struct hl_box *box = ((struct hl_team_boxes *)(void *)(heap + HEAP_LEN))->up;
    set_up();
    hl_job.size = hl_job.node_size = 2;
    hl_job.node_world = node;
    ck_assert_int_eq(hl_job_index_node(), 0);
    box->call = call.what;
    box->len = sizeof data + 1;
    hl_a64_store_relaxed(&box->flag, 1); /* relaxed: one thread. */
    hl_tree_meet(&call, &meet);
}
END_TEST

/* One list: a round is as long as the list. Two lists whose searches alternate: every begin is drawn. */
START_TEST(searches_of_lists_begin_everywhere)
{
    int a[5] = {0}, b[3] = {0}, begun_a[5] = {0}, begun_b[3] = {0};
    hl_turn_told(a, 5, 2);
    for (size_t k = 0; k < 10; k++) {
        ck_assert_uint_eq(hl_turn_begin(a, 5), (3 + k) % 5);
        hl_turn_told(a, 5, (3 + k) % 5);
    }
    ck_assert_uint_lt(hl_turn_begin(a, 2), 2); /* a shorter list at the same place */
    ck_assert_uint_eq(hl_turn_begin(a, 1), 0);
    ck_assert_uint_eq(hl_turn_begin(NULL, 0), 0);
    for (int k = 0; k < 200; k++) {
        size_t i = hl_turn_begin(a, 5), j;
        hl_turn_told(a, 5, i);
        begun_a[i]++;
        j = hl_turn_begin(b, 3);
        hl_turn_told(b, 3, j);
        begun_b[j]++;
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_int_gt(begun_a[i], 10);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_int_gt(begun_b[i], 10);
    }
}
END_TEST

/* Errors of the modules below are told in the words of OpenSHMEM, and names stay what they are. */
START_TEST(errors_speak_of_pes)
{
    char out[64];
    hl_shmem_words("rank 3 has ended; 2 ranks wait (hl_rank, ranks_of, franks)", out, sizeof out);
    ck_assert_str_eq(out, "PE 3 has ended; 2 PEs wait (hl_rank, ranks_of, franks)");
    hl_shmem_words("a rank", out, sizeof out);
    ck_assert_str_eq(out, "a PE");
    hl_shmem_words("ranks", out, 3);
    ck_assert_str_eq(out, "PE");
}
END_TEST

static Suite *shmem_suite(void)
{
    Suite *s = suite_create("shmem");
    TCase *t = tcase_create("addresses");
    tcase_add_test(t, objects_are_found_by_part_and_area);
    tcase_add_test(t, what_is_not_symmetric_is_not_found);
    tcase_add_test(t, parts_of_the_heap_leave_no_gap);
    tcase_add_test(t, blocks_lie_in_the_piece_of_each_granule);
    tcase_add_test(t, trees_hold_everybody_once_in_order);
    tcase_add_exit_test(t, a_message_is_no_longer_than_its_room, 1);
    tcase_add_test(t, searches_of_lists_begin_everywhere);
    tcase_add_test(t, errors_speak_of_pes);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(shmem_suite)
