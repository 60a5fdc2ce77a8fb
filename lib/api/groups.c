/* Entry points of groups. */
#include "api.h"
#include "args.h"

int hl_api_give_group(struct hl_group *g, MPI_Group *group)
{
    int err = hl_api_check_out(group, "group");

    if (err == 0) {
        hl_group_ref(g);
        *group = hl_group_give(g);
    }
    return err;
}

static int compare_groups(const struct hl_group *a, MPI_Group group2, int *result)
{
    struct hl_group *b;
    int err = hl_api_get_group(group2, &b);

    return err == 0 ? hl_api_give(result, "result", hl_group_compare(a, b)) : err;
}

static int translate_ranks(const struct hl_group *a, int n, const int ranks1[], MPI_Group group2,
                           int ranks2[])
{
    struct hl_group *b;
    int err = hl_api_get_group(group2, &b);

    err = err == 0 ? hl_api_check_count(n) : err;
    err = err == 0 ? hl_api_check_list(n, ranks1, "ranks1") : err;
    err = err == 0 ? hl_api_check_list(n, ranks2, "ranks2") : err;
    return err == 0 ? hl_group_translate(a, n, ranks1, b, ranks2) : err;
}

HL_CALL_GROUP(MPI_Group_size, (MPI_Group group, int *size), 0, hl_api_give(size, "size", g->size))
HL_CALL_GROUP(MPI_Group_rank, (MPI_Group group, int *rank), 0, hl_api_give(rank, "rank", g->rank))
HL_CALL_GROUP(MPI_Group_compare, (MPI_Group group, MPI_Group group2, int *result), 0,
              compare_groups(g, group2, result))
HL_CALL_GROUP(MPI_Group_translate_ranks,
              (MPI_Group group, int n, const int ranks1[], MPI_Group group2, int ranks2[]), 0,
              translate_ranks(g, n, ranks1, group2, ranks2))

/* Gives the user a group that was made, if there was no error. `from`: a group of which it was made. */
static int give_made(int err, const struct hl_group *from, struct hl_group *made, MPI_Group *newgroup)
{
    if (err == 0) {
        if (made != &hl_group_empty) {
            made->origin = from->origin;
        }
        *newgroup = hl_group_give(made);
    }
    return err;
}

/* A set operation on two groups. */
typedef int set_fn(const struct hl_group *a, const struct hl_group *b, struct hl_group **made);

static int combine_groups(set_fn *fn, const struct hl_group *a, MPI_Group group2, MPI_Group *newgroup)
{
    struct hl_group *b = NULL, *made = NULL;
    int err = hl_api_get_group(group2, &b);

    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    err = err == 0 ? fn(a, b, &made) : err;
    return give_made(err, a != &hl_group_empty ? a : b, made, newgroup);
}

HL_CALL_GROUP(MPI_Group_union, (MPI_Group group, MPI_Group group2, MPI_Group *newgroup), 0,
              combine_groups(hl_group_union, g, group2, newgroup))
HL_CALL_GROUP(MPI_Group_intersection, (MPI_Group group, MPI_Group group2, MPI_Group *newgroup), 0,
              combine_groups(hl_group_intersection, g, group2, newgroup))
HL_CALL_GROUP(MPI_Group_difference, (MPI_Group group, MPI_Group group2, MPI_Group *newgroup), 0,
              combine_groups(hl_group_difference, g, group2, newgroup))

/* A group with the members that a list names, or without them. */
static int choose_members(const struct hl_group *g, int n, const int ranks[], bool with, MPI_Group *newgroup)
{
    struct hl_group *made = NULL;
    int err = hl_api_check_out(newgroup, "newgroup");

    err = err == 0 ? hl_group_choose(g, n, ranks, with, &made) : err;
    return give_made(err, g, made, newgroup);
}

static int choose_ranges(const struct hl_group *g, int n, int ranges[][3], bool with, MPI_Group *newgroup)
{
    struct hl_group *made = NULL;
    int err = hl_api_check_out(newgroup, "newgroup");

    err = err == 0 ? hl_group_choose_ranges(g, n, (const int(*)[3])ranges, with, &made) : err;
    return give_made(err, g, made, newgroup);
}

HL_CALL_GROUP(MPI_Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup),
              hl_api_check_list(n, ranks, "ranks"), choose_members(g, n, ranks, true, newgroup))
HL_CALL_GROUP(MPI_Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup),
              hl_api_check_list(n, ranks, "ranks"), choose_members(g, n, ranks, false, newgroup))
HL_CALL_GROUP(MPI_Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup),
              hl_api_check_list(n, ranges, "ranges"), choose_ranges(g, n, ranges, true, newgroup))
HL_CALL_GROUP(MPI_Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup),
              hl_api_check_list(n, ranges, "ranges"), choose_ranges(g, n, ranges, false, newgroup))

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
