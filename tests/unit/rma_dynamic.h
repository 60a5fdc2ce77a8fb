/* What a rank remembers of the memory that is attached to a dynamic window. Part of test_rma.c. */
#ifndef RMA_DYNAMIC_H
#define RMA_DYNAMIC_H

#include "dyn.h"

/* Memory that is detached from `leaver` as soon as it has been described to somebody; NULL: none. */
static const void *leaving;
static MPI_Win leaver;

int __real_hl_dyn_describe(struct hl_win *w, uint64_t at, int world, struct hl_region *out);
int __wrap_hl_dyn_describe(struct hl_win *w, uint64_t at, int world, struct hl_region *out);
int __wrap_hl_dyn_describe(struct hl_win *w, uint64_t at, int world, struct hl_region *out)
{
    int rc = __real_hl_dyn_describe(w, at, world, out);
    const void *base = leaving;
    leaving = NULL;
    if (base != NULL) {
        ck_assert_int_eq(PMPI_Win_detach(leaver, base), MPI_SUCCESS);
    }
    return rc;
}

/* An answer that describes a region is out of date when it comes: the target is asked again. */
START_TEST(a_region_that_goes_while_it_is_described_is_not_remembered)
{
    static char memory[64];
    uint64_t at = (uint64_t)(uintptr_t)memory;
    struct hl_place place;
    int provided;
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert_int_eq(PMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &leaver), MPI_SUCCESS);
    ck_assert_int_eq(PMPI_Win_attach(leaver, memory, sizeof memory), MPI_SUCCESS);
    leaving = memory;
    ck_assert_int_eq(hl_dyn_find(hl_win_of(leaver), 0, at, &place), HL_ERR_RMA_RANGE);
    ck_assert_int_eq(PMPI_Win_attach(leaver, memory, sizeof memory), MPI_SUCCESS);
    ck_assert_int_eq(hl_dyn_find(hl_win_of(leaver), 0, at + 8, &place), 0);
    ck_assert_uint_eq(place.len, sizeof memory - 8);
    ck_assert_int_eq(PMPI_Win_detach(leaver, memory), MPI_SUCCESS);
    stop_alone(&leaver);
}
END_TEST

#endif
