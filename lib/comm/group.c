/* Groups and their storage. Arithmetic progressions of world ranks need no table. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "job.h"
#include "util.h"

struct hl_group hl_group_empty = {
    .h = {.kind = HL_KIND_GROUP},
    .handle = MPI_GROUP_EMPTY,
    .refs = {1},
    .rank = MPI_UNDEFINED,
    .stride = 1,
};

void hl_group_ref(struct hl_group *g)
{
    if (g != &hl_group_empty) {
        hl_refs_add(&g->refs);
    }
}

void hl_group_unref(struct hl_group *g)
{
    if (g == &hl_group_empty || !hl_refs_drop(&g->refs)) {
        return;
    }
    free(g->world);
    free(g->sorted);
    hl_handle_free(g);
}

MPI_Group hl_group_give(struct hl_group *g)
{
    hl_handles_give(&g->handles);
    return g->handle;
}

int hl_group_take_back(struct hl_group *g)
{
    if (g != &hl_group_empty && !hl_handles_take_back(&g->handles)) {
        return hl_err_say(HL_ERR_GROUP, "the group was freed as often as it was given out");
    }
    hl_group_unref(g);
    return 0;
}

static struct hl_group *new_group(int n)
{
    struct hl_group *g = hl_handle_new(HL_KIND_GROUP);

    if (g == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no handle is left for a group of %d rank%s: free some groups", n,
                   hl_plural(n));
        return NULL;
    }
    g->handle = (MPI_Group)(void *)g;
    hl_refs_begin(&g->refs);
    g->size = n;
    return g;
}

int hl_group_make_strided(int first, int stride, int n, struct hl_group **made)
{
    if (n == 0) {
        *made = &hl_group_empty;
        return 0;
    }
    struct hl_group *g = new_group(n);
    if (g == NULL) {
        return HL_ERR_NO_MEM;
    }
    g->first = first;
    g->stride = n == 1 ? 1 : stride;
    g->rank = hl_group_rank(g, hl_job.rank);
    *made = g;
    return 0;
}

static bool is_progression(const int *world, int n)
{
    for (int i = 2; i < n; i++) {
        if (world[i] - world[i - 1] != world[1] - world[0]) {
            return false;
        }
    }
    return true;
}

static int compare_world(const void *a, const void *b, void *table)
{
    const int *world = table;
    int x = world[*(const int *)a], y = world[*(const int *)b];

    return (x > y) - (x < y);
}

int hl_group_make(const int *world, int n, struct hl_group **made)
{
    if (n == 0 || is_progression(world, n)) {
        return hl_group_make_strided(n > 0 ? world[0] : 0, n > 1 ? world[1] - world[0] : 1, n, made);
    }
    struct hl_group *g = new_group(n);
    if (g == NULL) {
        return HL_ERR_NO_MEM;
    }
    g->world = malloc((size_t)n * sizeof(int));
    g->sorted = malloc((size_t)n * sizeof(int));
    if (g->world == NULL || g->sorted == NULL) {
        hl_group_unref(g);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a group of %d rank%s", n, hl_plural(n));
    }
    memcpy(g->world, world, (size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) {
        g->sorted[i] = i;
    }
    qsort_r(g->sorted, (size_t)n, sizeof(int), compare_world, g->world);
    g->rank = hl_group_rank(g, hl_job.rank);
    *made = g;
    return 0;
}

static int find_sorted(const struct hl_group *g, int world)
{
    int low = 0, high = g->size;

    while (low < high) {
        int mid = low + (high - low) / 2;
        int there = g->world[g->sorted[mid]];
        if (there == world) {
            return g->sorted[mid];
        }
        if (there < world) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return MPI_UNDEFINED;
}

int hl_group_rank(const struct hl_group *g, int world)
{
    if (g->world != NULL) {
        return find_sorted(g, world);
    }
    int distance = world - g->first;
    if (g->size == 0 || distance % g->stride != 0) {
        return MPI_UNDEFINED;
    }
    int rank = distance / g->stride;
    return rank >= 0 && rank < g->size ? rank : MPI_UNDEFINED;
}

int hl_group_compare(const struct hl_group *a, const struct hl_group *b)
{
    bool same = true;

    if (a->size != b->size) {
        return MPI_UNEQUAL;
    }
    for (int i = 0; i < a->size; i++) {
        int world = hl_group_world(a, i);
        if (world == hl_group_world(b, i)) {
            continue;
        }
        same = false;
        if (hl_group_rank(b, world) == MPI_UNDEFINED) {
            return MPI_UNEQUAL;
        }
    }
    return same ? MPI_IDENT : MPI_SIMILAR;
}

int hl_group_translate(const struct hl_group *a, int n, const int *ranks, const struct hl_group *b, int *out)
{
    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            out[i] = MPI_PROC_NULL;
        } else if (ranks[i] < 0 || ranks[i] >= a->size) {
            return hl_err_say(HL_ERR_RANK, "rank %d is not in the group of %d rank%s", ranks[i], a->size,
                              hl_plural(a->size));
        } else {
            out[i] = hl_group_rank(b, hl_group_world(a, ranks[i]));
        }
    }
    return 0;
}
