/* The entry points of collective calls in all their forms; collective.c does the work. */
#include "api.h"
#include "args.h"
#include "collective.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define ENTRY(name) HL_API(name)
#define PARAMS(...) __VA_ARGS__,
#define ARRAYS(...)                                                                                          \
    .arrays = &(struct hl_api_arrays)                                                                        \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define COUNTS(array) .counts = {.WIDTH = array}
#define DISPLS(array) .has_displs = true, .displs = {.WIDTH = array}
#define TYPES(array) .has_types = true, .types = array
#define ON(name)                                                                                             \
    (struct hl_api_on)                                                                                       \
    {                                                                                                        \
        TEXT(name), comm                                                                                     \
    }

/* Three forms of one operation, in one macro: parameters with commas cannot be handed on to another macro. */
#define COLL(Name, name, what_, params, ...)                                                                 \
    ENTRY(NAMED(MPI_##Name));                                                                                \
    int NAMED(PMPI_##Name)(params MPI_Comm comm)                                                             \
    {                                                                                                        \
        struct hl_api_coll a = {.what = HL_COLL_##what_, __VA_ARGS__};                                       \
                                                                                                             \
        return hl_api_collective(ON(NAMED(MPI_##Name)), &a);                                                 \
    }                                                                                                        \
                                                                                                             \
    ENTRY(NAMED(MPI_I##name));                                                                               \
    int NAMED(PMPI_I##name)(params MPI_Comm comm, MPI_Request * request)                                     \
    {                                                                                                        \
        struct hl_api_coll a = {.what = HL_COLL_##what_, __VA_ARGS__};                                       \
                                                                                                             \
        return hl_api_icollective(ON(NAMED(MPI_I##name)), &a, request);                                      \
    }                                                                                                        \
                                                                                                             \
    ENTRY(NAMED(MPI_##Name##_init));                                                                         \
    int NAMED(PMPI_##Name##_init)(params MPI_Comm comm, MPI_Info info, MPI_Request * request)                \
    {                                                                                                        \
        struct hl_api_coll a = {.what = HL_COLL_##what_, __VA_ARGS__};                                       \
                                                                                                             \
        return hl_api_collective_init(ON(NAMED(MPI_##Name##_init)), &a, info, request);                      \
    }

#define NAMED(function) function
#define COUNT int
#define DISPL int
#define WIDTH narrow
/* Defines: MPI_Barrier MPI_Ibarrier MPI_Barrier_init */
COLL(Barrier, barrier, BARRIER, , .root = 0)
#include "coll_rows.h"
#undef NAMED
#undef COUNT
#undef DISPL
#undef WIDTH

#define NAMED(function) function##_c
#define COUNT MPI_Count
#define DISPL MPI_Aint
#define WIDTH wide
#include "coll_rows.h"
