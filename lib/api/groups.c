/* Entry points of groups. */
#include "api.h"
#include "args.h"

/* The end of a call that makes a group and began with hl_api_enter. `from`: a group of which it was made. */
static int give_group(const char *func, int err, const struct hl_group *from, struct hl_group *made,
                      MPI_Group *newgroup)
{
    if (err == 0) {
        if (made != &hl_group_empty) {
            made->origin = from->origin;
        }
        *newgroup = hl_group_give(made);
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Group_size);
int PMPI_Group_size(MPI_Group group, int *size)
{
    struct hl_group *g;
    int err = hl_api_enter(hl_api_get_group(group, &g));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        *size = g->size;
    }
    return hl_api_leave(NULL, "MPI_Group_size", err);
}

HL_API(MPI_Group_rank);
int PMPI_Group_rank(MPI_Group group, int *rank)
{
    struct hl_group *g;
    int err = hl_api_enter(hl_api_get_group(group, &g));

    err = err == 0 ? hl_api_check_out(rank, "rank") : err;
    if (err == 0) {
        *rank = g->rank;
    }
    return hl_api_leave(NULL, "MPI_Group_rank", err);
}

HL_API(MPI_Group_compare);
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    struct hl_group *a, *b;
    int err = hl_api_enter(hl_api_get_group(group1, &a));

    err = err == 0 ? hl_api_get_group(group2, &b) : err;
    err = err == 0 ? hl_api_check_out(result, "result") : err;
    if (err == 0) {
        *result = hl_group_compare(a, b);
    }
    return hl_api_leave(NULL, "MPI_Group_compare", err);
}

HL_API(MPI_Group_translate_ranks);
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    struct hl_group *a, *b;
    int err = hl_api_enter(hl_api_get_group(group1, &a));

    err = err == 0 ? hl_api_get_group(group2, &b) : err;
    err = err == 0 ? hl_api_check_count(n) : err;
    err = err == 0 ? hl_api_check_list(n, ranks1, "ranks1") : err;
    err = err == 0 ? hl_api_check_list(n, ranks2, "ranks2") : err;
    err = err == 0 ? hl_group_translate(a, n, ranks1, b, ranks2) : err;
    return hl_api_leave(NULL, "MPI_Group_translate_ranks", err);
}

/* A set operation on two groups. */
typedef int set_fn(const struct hl_group *a, const struct hl_group *b, struct hl_group **made);

static int combine_groups(const char *func, set_fn *fn, MPI_Group group1, MPI_Group group2,
                          MPI_Group *newgroup)
{
    struct hl_group *a = NULL, *b = NULL, *made = NULL;
    int err = hl_api_enter(hl_api_get_group(group1, &a));

    err = err == 0 ? hl_api_get_group(group2, &b) : err;
    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    err = err == 0 ? fn(a, b, &made) : err;
    return give_group(func, err, a != &hl_group_empty ? a : b, made, newgroup);
}

HL_API(MPI_Group_union);
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine_groups("MPI_Group_union", hl_group_union, group1, group2, newgroup);
}

HL_API(MPI_Group_intersection);
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine_groups("MPI_Group_intersection", hl_group_intersection, group1, group2, newgroup);
}

HL_API(MPI_Group_difference);
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine_groups("MPI_Group_difference", hl_group_difference, group1, group2, newgroup);
}

/* A choice of members by a list of ranks. */
typedef int list_fn(const struct hl_group *g, int n, const int *ranks, struct hl_group **made);

static int choose_members(const char *func, list_fn *fn, MPI_Group group, int n, const int ranks[],
                          MPI_Group *newgroup)
{
    struct hl_group *g = NULL, *made = NULL;
    int err = hl_api_enter(hl_api_get_group(group, &g));

    err = err == 0 ? hl_api_check_list(n, ranks, "ranks") : err;
    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    err = err == 0 ? fn(g, n, ranks, &made) : err;
    return give_group(func, err, g, made, newgroup);
}

HL_API(MPI_Group_incl);
int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return choose_members("MPI_Group_incl", hl_group_incl, group, n, ranks, newgroup);
}

HL_API(MPI_Group_excl);
int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return choose_members("MPI_Group_excl", hl_group_excl, group, n, ranks, newgroup);
}

HL_API(MPI_Group_range_incl);
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct hl_group *g = NULL, *made = NULL;
    int err = hl_api_enter(hl_api_get_group(group, &g));

    err = err == 0 ? hl_api_check_list(n, ranges, "ranges") : err;
    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    err = err == 0 ? hl_group_range_incl(g, n, (const int(*)[3])ranges, &made) : err;
    return give_group("MPI_Group_range_incl", err, g, made, newgroup);
}

HL_API(MPI_Group_range_excl);
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct hl_group *g = NULL, *made = NULL;
    int err = hl_api_enter(hl_api_get_group(group, &g));

    err = err == 0 ? hl_api_check_list(n, ranges, "ranges") : err;
    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    err = err == 0 ? hl_group_range_excl(g, n, (const int(*)[3])ranges, &made) : err;
    return give_group("MPI_Group_range_excl", err, g, made, newgroup);
}

HL_API(MPI_Group_free);
int PMPI_Group_free(MPI_Group *group)
{
    struct hl_group *g;
    int err = hl_api_enter(hl_api_check_out(group, "group"));

    err = err == 0 ? hl_api_get_group(*group, &g) : err;
    if (err == 0) {
        err = hl_group_take_back(g);
    }
    if (err == 0) {
        *group = MPI_GROUP_NULL;
    }
    return hl_api_leave(NULL, "MPI_Group_free", err);
}
