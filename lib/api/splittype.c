/* Splitting by what processes share: memory, hardware, process sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "coll.h"
#include "topo.h"

#define RESOURCES 24

static const char type_key[] = "mpi_hw_resource_type";
static const char memory[] = "mpi_shared_memory", scheme[] = "hwloc://";

/* Which instance of a kind of hardware ("hwloc://Package") this process is confined to, or MPI_UNDEFINED. */
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

/* Within each node by `color`. */
static int split_within(struct hl_comm *c, int color, int key, struct hl_comm **made)
{
    struct hl_comm *node = NULL;
    int err = hl_coll_comm_split_node(c, 0, &node);

    if (err == 0 && node != NULL) {
        err = hl_coll_comm_split(node, color, key, made);
        hl_comm_free(node);
    }
    return err;
}

/* By the kind that the user names. A name that nobody knows gives nobody a communicator. */
static int split_guided(struct hl_comm *c, const struct hl_info *info, int key, struct hl_comm **made)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int len;

    if (!hl_info_get(info, type_key, value, sizeof value, &len)) {
        return hl_coll_comm_split(c, MPI_UNDEFINED, key, made);
    }
    if (strcmp(value, memory) == 0) {
        return hl_coll_comm_split_node(c, key, made);
    }
    return split_within(c, instance_of(value), key, made);
}

/* By a kind, or by a set of processes. */
static int split_resource(struct hl_comm *c, const struct hl_info *info, int key, struct hl_comm **made)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int len;

    if (!hl_info_get(info, "mpi_pset_name", value, sizeof value, &len)) {
        return split_guided(c, info, key, made);
    }
    int color = strcmp(value, "mpi://WORLD") == 0  ? 0
                : strcmp(value, "mpi://SELF") == 0 ? hl_comm_world_object.rank
                                                   : MPI_UNDEFINED;
    return hl_coll_comm_split(c, color, key, made);
}

/* The outermost kind of which members of one node have different instances, or -1. all[]: [rank][kind]. */
static int dividing(const int *all, int ranks, int kinds)
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

static int tell(struct hl_info *info, const char *prefix, const char *name)
{
    char uri[64];

    snprintf(uri, sizeof uri, "%s%s", prefix, name);
    return info != NULL ? hl_info_set(info, type_key, uri) : 0;
}

/* By the outermost kind that divides the members; its name goes into `info`. */
static int split_unguided(struct hl_comm *c, struct hl_info *info, int key, struct hl_comm **made)
{
    struct hl_topo_resource kinds[RESOURCES];
    int mine[RESOURCES], err;

    if (!c->one_node) {
        err = hl_coll_comm_split_node(c, key, made);
        return err == 0 ? tell(info, "", memory) : err;
    }
    int n = hl_topo_resources(kinds, RESOURCES);
    int *all = malloc((size_t)c->size * sizeof mine);
    for (int i = 0; i < RESOURCES; i++) {
        mine[i] = i < n ? kinds[i].instance : -1;
    }
    if (all == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the places of %d ranks", c->size);
    }
    err = hl_coll_allgather_bytes(c, mine, sizeof mine, all);
    int by = err == 0 ? dividing(all, c->size, n) : -1;
    free(all);
    if (by >= 0) {
        err = hl_coll_comm_split(c, mine[by], key, made);
        err = err == 0 ? tell(info, scheme, kinds[by].name) : err;
    }
    return err;
}

/* Who asks for nothing takes part in the split all the same. */
static int split_memory(struct hl_comm *c, bool nothing, int key, struct hl_comm **made)
{
    int err = hl_coll_comm_split_node(c, key, made);

    if (err == 0 && nothing && *made != NULL) {
        hl_comm_free(*made);
        *made = NULL;
    }
    return err;
}

HL_API(MPI_Comm_split_type)
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_info *hints;
    int err = hl_api_get_comm(comm, &c);

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_api_check_out(newcomm, "newcomm") : err;
    if (err != 0) {
        return hl_api_end(c, "MPI_Comm_split_type", err);
    }
    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
    case MPI_UNDEFINED:
        err = split_memory(c, split_type == MPI_UNDEFINED, key, &made);
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
        err = split_guided(c, hints, key, &made);
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        err = hl_api_check_intra(c);
        err = err == 0 ? split_unguided(c, hints, key, &made) : err;
        break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        err = split_resource(c, hints, key, &made);
        break;
    default:
        err = hl_err_say(HL_ERR_ARG, "%d is no kind of split", split_type);
    }
    if (err == 0) {
        hl_api_give_comm(c, made, newcomm);
    }
    return hl_api_end(c, "MPI_Comm_split_type", err);
}

HL_API(MPI_Get_hw_resource_info)
int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    struct hl_topo_resource all[RESOURCES];
    struct hl_info *made = NULL;
    int err = hl_api_check_out(hw_info, "hw_info"), n = hl_topo_resources(all, RESOURCES);

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
    return hl_api_end(NULL, "MPI_Get_hw_resource_info", err);
}
