/* New groups from old ones: chosen members, ranges, set operations. */
#include <stdlib.h>

#include "err.h"
#include "group.h"
#include "util.h"

/* An array for n world ranks; never NULL for n == 0. */
static int *new_list(int64_t n)
{
    int *list = calloc((size_t)n + 1, sizeof(int));

    if (list == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no memory for a list of %lld ranks", (long long)n);
    }
    return list;
}

static int make_and_free(int *world, int n, struct hl_group **made)
{
    int err = hl_group_make(world, n, made);

    free(world);
    return err;
}

/* Marks ranks[i] in seen[] (zeroed, one byte for each member). HL_ERR_RANK for a rank outside or a repeated
 * one. */
static int mark_ranks(const struct hl_group *g, int64_t n, const int *ranks, char *seen)
{
    for (int64_t i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= g->size) {
            return hl_err_say(HL_ERR_RANK, "rank %d is not in the group of %d rank%s", ranks[i], g->size,
                              hl_plural(g->size));
        }
        if (seen[ranks[i]]) {
            return hl_err_say(HL_ERR_RANK, "rank %d is named twice", ranks[i]);
        }
        seen[ranks[i]] = 1;
    }
    return 0;
}

/* Checks the ranks. *seen: an array of marks, or NULL; the caller frees it, also after errors. */
static int check_ranks(const struct hl_group *g, int64_t n, const int *ranks, char **seen)
{
    *seen = NULL;
    if (n < 0) {
        return hl_err_say(HL_ERR_ARG, "n, %lld, is negative", (long long)n);
    }
    *seen = calloc((size_t)g->size + 1, 1);
    if (*seen == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a list of %d ranks", g->size);
    }
    return mark_ranks(g, n, ranks, *seen);
}

int hl_group_choose(const struct hl_group *g, int64_t n, const int *ranks, bool with, struct hl_group **made)
{
    char *seen;
    int err = check_ranks(g, n, ranks, &seen), size = 0;
    int *world = err == 0 ? new_list(with ? n : g->size - n) : NULL;

    err = err == 0 && world == NULL ? HL_ERR_NO_MEM : err;
    for (int64_t i = 0; err == 0 && with && i < n; i++) {
        world[size++] = hl_group_world(g, ranks[i]);
    }
    for (int i = 0; err == 0 && !with && i < g->size; i++) {
        if (!seen[i]) {
            world[size++] = hl_group_world(g, i);
        }
    }
    free(seen);
    return err == 0 ? make_and_free(world, size, made) : err;
}

/* Number of ranks that a range names, or HL_ERR_ARG, HL_ERR_RANK. */
static int64_t range_length(const struct hl_group *g, const int range[3])
{
    int64_t first = range[0], last = range[1], stride = range[2];

    if (stride == 0) {
        return hl_err_say(HL_ERR_ARG, "range (%d, %d, 0) has stride 0", range[0], range[1]);
    }
    if ((last - first) / stride < 0 || ((stride > 0) != (last > first) && last != first)) {
        return hl_err_say(HL_ERR_ARG, "range (%d, %d, %d) is empty", range[0], range[1], range[2]);
    }
    int64_t n = (last - first) / stride + 1;
    int64_t end = first + (n - 1) * stride;
    if (first < 0 || first >= g->size || end < 0 || end >= g->size) {
        return hl_err_say(HL_ERR_RANK, "range (%d, %d, %d) leaves the group, which has ranks 0 to %d",
                          range[0], range[1], range[2], g->size - 1);
    }
    return n;
}

/* Lists the ranks of all ranges: the caller frees *ranks; *total is their number. */
static int expand_ranges(const struct hl_group *g, int n, const int (*ranges)[3], int **ranks, int64_t *total)
{
    int64_t sum = 0, at = 0;

    if (n < 0) {
        return hl_err_say(HL_ERR_ARG, "n, %d, is negative", n);
    }
    for (int i = 0; i < n; i++) {
        int64_t len = range_length(g, ranges[i]);
        if (len < 0) {
            return (int)len;
        }
        sum += len;
    }
    int *list = new_list(sum);
    if (list == NULL) {
        return HL_ERR_NO_MEM;
    }
    for (int i = 0; i < n; i++) {
        int64_t len = range_length(g, ranges[i]);
        for (int64_t k = 0; k < len; k++) {
            list[at++] = (int)(ranges[i][0] + k * ranges[i][2]);
        }
    }
    *ranks = list;
    *total = sum;
    return 0;
}

int hl_group_choose_ranges(const struct hl_group *g, int n, const int (*ranges)[3], bool with,
                           struct hl_group **made)
{
    int64_t total = 0;
    int *ranks = NULL;
    int err = expand_ranges(g, n, ranges, &ranks, &total);

    err = err == 0 ? hl_group_choose(g, total, ranks, with, made) : err;
    free(ranks);
    return err;
}

/* Writes the members of `a` that are (or are not) in `b`, in a's order, to world[]; returns how many. */
static int select_members(const struct hl_group *a, const struct hl_group *b, bool in_b, int *world)
{
    int n = 0;

    for (int i = 0; i < a->size; i++) {
        int member = hl_group_world(a, i);
        if ((hl_group_rank(b, member) != MPI_UNDEFINED) == in_b) {
            world[n++] = member;
        }
    }
    return n;
}

int hl_group_union(const struct hl_group *a, const struct hl_group *b, struct hl_group **made)
{
    int *world = new_list((int64_t)a->size + b->size);

    if (world == NULL) {
        return HL_ERR_NO_MEM;
    }
    for (int i = 0; i < a->size; i++) {
        world[i] = hl_group_world(a, i);
    }
    return make_and_free(world, a->size + select_members(b, a, false, world + a->size), made);
}

int hl_group_intersection(const struct hl_group *a, const struct hl_group *b, struct hl_group **made)
{
    int *world = new_list(a->size);

    return world == NULL ? HL_ERR_NO_MEM : make_and_free(world, select_members(a, b, true, world), made);
}

int hl_group_difference(const struct hl_group *a, const struct hl_group *b, struct hl_group **made)
{
    int *world = new_list(a->size);

    return world == NULL ? HL_ERR_NO_MEM : make_and_free(world, select_members(a, b, false, world), made);
}
