/* A type that several threads commit. Part of test_type.c. */
#ifndef TYPE_COMMIT_H
#define TYPE_COMMIT_H

#include "type.h"
#include "unit.h"

#include <pthread.h>

static struct hl_type *committed_by_all;
static hl_a32 may_commit; /* atomic: threads begin at once */

static void *commit_and_use(void *unused)
{
    int64_t in[6] = {1, 2, 3, 4, 5, 6}, packed[3] = {0};
    while (hl_a32_load_relaxed(&may_commit) == 0) {
    }
    ck_assert_int_eq(hl_type_commit(committed_by_all), 0);
    ck_assert(!committed_by_all->dense);
    ck_assert_int_eq(hl_type_pack(committed_by_all, 1, in, 0, packed, sizeof packed), 0);
    ck_assert_int_eq(packed[2], 5);
    return NULL;
}

START_TEST(threads_commit_one_type_at_once)
{
    for (int round = 0; round < 200; round++) {
        pthread_t t[4];
        hl_type_make_vector(3, 1, 2, false, hl_type_of(MPI_INT64_T), &committed_by_all);
        hl_a32_store_relaxed(&may_commit, 0);
        for (int i = 0; i < 4; i++) {
            pthread_create(&t[i], NULL, commit_and_use, NULL);
        }
        hl_a32_store_relaxed(&may_commit, 1);
        for (int i = 0; i < 4; i++) {
            pthread_join(t[i], NULL);
        }
        hl_type_free(committed_by_all);
    }
}
END_TEST

#endif
