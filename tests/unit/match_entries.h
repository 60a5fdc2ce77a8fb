/* Memory of unexpected messages: cases of test_match.c. */
#ifndef HL_MATCH_ENTRIES_H
#define HL_MATCH_ENTRIES_H

#include <unistd.h>

/* Bytes of address space that this process has. */
static size_t mapped(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    ck_assert(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static struct hl_entry *keep_number(struct hl_entry_pool *pool, uint64_t number, size_t waiting)
{
    struct hl_arrival a = {
        .len = sizeof number, .kind = HL_MSG_EAGER, .tag = (int)number, .payload = &number};
    return hl_entry_keep(pool, &a, waiting);
}

/* Floods come and go, each in another order; what they took goes back to the system, all but one block. */
START_TEST(entries_of_a_flood_are_given_back)
{
    enum { N = 200000, ONE = 8 << 20 };
    static struct hl_entry *e[N];
    struct hl_entry_pool pool = {.spare = NULL};
    const size_t before = mapped();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < N; i++) {
            e[i] = keep_number(&pool, i, i);
        }
        ck_assert_uint_gt(mapped(), before + 2 * ONE);
        for (size_t i = 0; i < N; i++) { /* half of them, so that all blocks have holes, which are filled */
            if (i % 2 == 0) {
                hl_entry_drop(&pool, e[i]);
                e[i] = NULL;
            }
        }
        for (size_t i = 0; i < N; i += 2) {
            e[i] = keep_number(&pool, i, N / 2);
        }
        for (size_t i = 0; i < N; i++) {
            size_t k = round == 0 ? i : round == 1 ? N - 1 - i : (i * 7919) % N;
            uint64_t number;
            memcpy(&number, e[k]->payload, sizeof number);
            ck_assert(number == k && e[k]->tag == (int)k);
            hl_entry_drop(&pool, e[k]);
            e[k] = NULL;
        }
        ck_assert_uint_lt(mapped(), before + 2 * ONE);
    }
    const size_t idle = mapped();
    for (size_t i = 0; i < 100; i++) { /* at the edge of a flood: nothing is mapped anew */
        hl_entry_drop(&pool, keep_number(&pool, i, N));
        ck_assert_uint_eq(mapped(), idle);
    }
    hl_entry_pool_close(&pool);
    ck_assert_uint_lt(mapped(), before + ONE);
}
END_TEST

/* Messages of a flood that hold nothing take no room for payload, and others what they hold. */
START_TEST(entries_of_a_flood_are_as_long_as_they_must)
{
    enum { N = 400000, BLOCK = 8 << 20 };
    static struct hl_entry *e[N];
    static const size_t bytes[] = {0, 1, 16, 17, HL_MATCH_INLINE}, room[] = {0, 16, 16, 32, 32};
    char payload[2 * HL_MATCH_INLINE];
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
        struct hl_entry_pool pool = {.spare = NULL};
        struct hl_arrival a = {.len = bytes[k], .kind = HL_MSG_EAGER, .payload = payload};
        memset(payload, (int)k + 1, sizeof payload);
        const size_t before = mapped();
        for (size_t i = 0; i < N; i++) {
            a.tag = (int)i;
            e[i] = hl_entry_keep(&pool, &a, N);
        }
        ck_assert_uint_le(mapped() - before, N * (sizeof **e + room[k]) + BLOCK);
        for (size_t i = 0; i < N; i++) {
            ck_assert(e[i]->tag == (int)i && memcmp(e[i]->payload, payload, bytes[k]) == 0);
            hl_entry_drop(&pool, e[i]);
        }
        hl_entry_pool_close(&pool);
        ck_assert_uint_lt(mapped(), before + BLOCK);
    }
}
END_TEST

#endif
