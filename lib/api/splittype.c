/* Splitting by what processes share: memory, hardware, process sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "coll.h"
#include "job.h"
#include "session.h"
#include "topo.h"

#define RESOURCES 24

static const char type_key[] = "mpi_hw_resource_type";
static const char memory[] = "mpi_shared_memory", scheme[] = "hwloc://";

/* The instance of a kind of hardware ("hwloc://Package") to which this process is confined, or
 * MPI_UNDEFINED. */
static int instance_of(const char *uri)
{
    struct hl_topo_resource all[RESOURCES];

    if (strncmp(uri, scheme, strlen(scheme)) != 0) {
        return MPI_UNDEFINED;
    }
    int n = hl_topo_resources(all, RESOURCES);
    for (int i = 0; i < n; i++) {
        if (strcmp(all[i].name, uri + strlen(scheme)) == 0) {
            return all[i].instance >= 0 ? all[i].instance : MPI_UNDEFINED;
        }
    }
    return MPI_UNDEFINED;
}

/* ---- All ranks take part in one split of the parent, also those that ask for nothing: they do not know what
 * the others ask for. Further splits are among the ranks that stay. ---- */

/* The color of the first split. */
static int first_color(int split_type, const struct hl_info *info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int len, set;

    if (split_type == MPI_UNDEFINED) {
        return MPI_UNDEFINED;
    }
    if (split_type == MPI_COMM_TYPE_HW_UNGUIDED) {
        return 0;
    }
    if (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED &&
        hl_info_hint(info, "mpi_pset_name", value, sizeof value, &len)) {
        return hl_pset_find(value, &set) == 0 ? hl_pset_color(set) : MPI_UNDEFINED;
    }
    if (split_type != MPI_COMM_TYPE_SHARED && !hl_info_hint(info, type_key, value, sizeof value, &len)) {
        return MPI_UNDEFINED; /* a guided split without a resource's name gives no rank a communicator */
    }
    return hl_job.node_world[0]; /* a node's color is its lowest world rank */
}

/* The color of the second split, by the kind of hardware that the user names. An unknown name gives no
 * communicator. */
static HL_NOINLINE int color_of(const struct hl_info *info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int len;

    hl_info_hint(info, type_key, value, sizeof value, &len);
    return instance_of(value);
}

static int split_guided(struct hl_comm *node, const struct hl_info *info, struct hl_comm **made)
{
    return hl_coll_comm_split(node, color_of(info), 0, made);
}

/* Is the first split the result? */
static bool is_enough(int split_type, const struct hl_info *info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int len;

    return split_type == MPI_COMM_TYPE_SHARED ||
           (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED &&
            hl_info_hint(info, "mpi_pset_name", NULL, 0, &len)) ||
           (split_type != MPI_COMM_TYPE_HW_UNGUIDED &&
            hl_info_hint(info, type_key, value, sizeof value, &len) && strcmp(value, memory) == 0);
}

/* The outermost kind of hardware of which the members, on one node, have different instances, or -1. all[]:
 * instances as [rank][kind]. */
static int find_dividing_kind(const int *all, int ranks, int kinds)
{
    for (int k = 0; k < kinds; k++) {
        bool known = true, differ = false;
        for (int i = 0; i < ranks; i++) {
            known = known && all[i * RESOURCES + k] >= 0;
            differ = differ || all[i * RESOURCES + k] != all[k];
        }
        if (known && differ) {
            return k;
        }
    }
    return -1;
}

static int give_resource_name(struct hl_info *info, const char *prefix, const char *name)
{
    char uri[64];

    snprintf(uri, sizeof uri, "%s%s", prefix, name);
    return info != NULL ? hl_info_set(info, type_key, uri) : 0;
}

/* Splits by the outermost kind of hardware that divides the members; writes its name to `info`. */
static int split_unguided(struct hl_comm *c, struct hl_info *info, struct hl_comm **made)
{
    struct hl_topo_resource kinds[RESOURCES];
    int mine[RESOURCES], err;

    if (!c->one_node) {
        err = hl_coll_comm_split_node(c, 0, made);
        return err == 0 ? give_resource_name(info, "", memory) : err;
    }
    int n = hl_topo_resources(kinds, RESOURCES);
    int *all = malloc((size_t)c->size * sizeof mine);
    for (int i = 0; i < RESOURCES; i++) {
        mine[i] = i < n ? kinds[i].instance : -1;
    }
    if (all == NULL) {
        return hl_coll_unable(c, hl_err_say(HL_ERR_NO_MEM, "no memory for the places of %d ranks", c->size));
    }
    err = hl_coll_allgather_bytes(c, mine, sizeof mine, all);
    err = hl_coll_all_or_none(c, err, "splitting");
    int by = err == 0 ? find_dividing_kind(all, c->size, n) : -1;
    free(all);
    if (by >= 0) {
        err = hl_coll_comm_split(c, mine[by], 0, made);
        err = err == 0 ? give_resource_name(info, scheme, kinds[by].name) : err;
    }
    return err;
}

static int split_by_type(struct hl_comm *c, int split_type, int key, struct hl_info *info,
                         struct hl_comm **made)
{
    struct hl_comm *first = NULL;
    int err = hl_coll_comm_split(c, first_color(split_type, info), key, &first);

    if (err == HL_ERR_NO_MEM && !is_enough(split_type, info)) {
        return hl_coll_unable(c, err); /* the others wait in the next split */
    }
    if (err != 0 || first == NULL || is_enough(split_type, info)) {
        *made = first;
        return err;
    }
    err = split_type == MPI_COMM_TYPE_HW_UNGUIDED ? split_unguided(first, info, made)
                                                  : split_guided(first, info, made);
    hl_comm_free(first);
    return err;
}

static int check_split_type(const struct hl_comm *c, int split_type)
{
    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
    case MPI_UNDEFINED:
        return 0;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        return hl_api_check_intra(c);
    default:
        return hl_err_say(HL_ERR_ARG, "split_type %d is none of MPI_COMM_TYPE_*", split_type);
    }
}

HL_API(MPI_Comm_split_type);
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_info *hints;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    if (err != 0) {
        return hl_api_leave(c, "MPI_Comm_split_type", err);
    }
    err = hl_api_get_info(info, &hints);
    err = err == 0 ? hl_api_check_out(newcomm, "newcomm") : err;
    err = err == 0 ? check_split_type(c, split_type) : err;
    if (err != 0) {
        hl_coll_comm_refuse(c, err); /* otherwise the others would wait */
        return hl_api_leave(c, "MPI_Comm_split_type", err);
    }
    err = split_by_type(c, split_type, key, hints, &made);
    return hl_api_leave_made(c, "MPI_Comm_split_type", err, made, newcomm);
}

HL_API(MPI_Get_hw_resource_info);
int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    struct hl_topo_resource all[RESOURCES];
    struct hl_info *made = NULL;
    int n = hl_topo_resources(all, RESOURCES), err = hl_api_enter(hl_api_check_out(hw_info, "hw_info"));

    err = err == 0 ? hl_info_make(&made) : err;
    for (int i = 0; err == 0 && i < n; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "%s%.*s", scheme, (int)sizeof all[i].name, all[i].name);
        err = hl_info_set(made, uri, all[i].instance >= 0 ? "true" : "false");
    }
    err = err == 0 ? hl_info_set(made, memory, "true") : err;
    if (err == 0) {
        *hw_info = made->handle;
    } else {
        hl_info_free(made);
    }
    return hl_api_leave(NULL, "MPI_Get_hw_resource_info", err);
}
