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

#endif
