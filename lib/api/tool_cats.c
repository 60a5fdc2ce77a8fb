/* Categories of the tool interface: one for each part of the library, with its variables and counters. */
#include <string.h>

#include "api.h"
#include "stat.h"
#include "tool.h"
#include "util.h"

enum part { GENERAL, START, NODE, LANES, RECEIVING, MESSAGES, MEMORY, SHMEM };

static const struct {
    const char *name, *desc;
} parts[] = {
    [GENERAL] = {"general", "what the library says, and what fits nowhere else"},
    [START] = {"start", "how the ranks of a job find each other"},
    [NODE] = {"node", "ranks that share a node's memory"},
    [LANES] = {"lanes", "network endpoints of one-sided operations"},
    [RECEIVING] = {"receiving", "the receive thread"},
    [MESSAGES] = {"messages", "matched messages"},
    [MEMORY] = {"memory", "kinds of memory and sizes of pages"},
    [SHMEM] = {"shmem", "OpenSHMEM"},
};

static enum part part_of_cvar(const struct hl_var *v)
{
    static const struct {
        const void *field;
        enum part part;
    } homes[] = {{&hl_conf.boot, START},           {&hl_conf.near, NODE},
                 {&hl_conf.cliques, NODE},         {&hl_conf.cma, NODE},
                 {&hl_conf.provider, LANES},       {&hl_conf.lanes, LANES},
                 {&hl_conf.rma_mode, LANES},       {&hl_conf.chain, LANES},
                 {&hl_conf.peer_timeout, LANES},   {&hl_conf.small, LANES},
                 {&hl_conf.inboxes, MESSAGES},     {&hl_conf.ports, MESSAGES},
                 {&hl_conf.fastmem_nodes, MEMORY}, {&hl_conf.mem_report, MEMORY},
                 {&hl_conf.internal_page, MEMORY}, {&hl_conf.env_display, MEMORY},
                 {&hl_conf.statics, SHMEM}};

    for (size_t i = 0; i < HL_COUNT_OF(homes); i++) {
        if (hl_conf_var_of(homes[i].field) == v) {
            return homes[i].part;
        }
    }
    return strncmp(v->name, "SHMEM_", 6) == 0              ? SHMEM
           : strncmp(v->name, "MPICH_ALLOC_MEM_", 16) == 0 ? MEMORY
                                                           : GENERAL;
}

static enum part part_of_pvar(int index)
{
    const char *name = hl_stat_name(index);

    if (strncmp(name, "rx_", 3) == 0) {
        return RECEIVING;
    }
    return strcmp(name, "near_locks") == 0 || strcmp(name, "cma_copies") == 0 || strcmp(name, "trays") == 0
               ? NODE
               : LANES;
}

/* Returns the number of a part's control variables and writes the indices of the first `len`. */
static int cvars_of(int part, int len, int *indices)
{
    size_t all;
    const struct hl_var *v = hl_conf_vars(&all);
    int n = 0;

    for (size_t i = 0; i < all; i++) {
        if (part_of_cvar(&v[i]) == (enum part)part) {
            if (n < len) {
                indices[n] = (int)i;
            }
            n++;
        }
    }
    return n;
}

static int pvars_of(int part, int len, int *indices)
{
    int n = 0;

    for (int i = 0; i < hl_stat_count(); i++) {
        if (part_of_pvar(i) == (enum part)part) {
            if (n < len) {
                indices[n] = i;
            }
            n++;
        }
    }
    return n;
}

static int check_part(int cat_index)
{
    return hl_tool_check_index(cat_index, (int)HL_COUNT_OF(parts));
}

static int check_indices(int cat_index, int len, const int indices[])
{
    int err = check_part(cat_index);

    return err == MPI_SUCCESS && (len < 0 || (len > 0 && indices == NULL)) ? MPI_T_ERR_INVALID : err;
}

HL_API(MPI_T_category_get_num);
int PMPI_T_category_get_num(int *num_cat)
{
    int err = hl_tool_check_out(num_cat);

    if (err == MPI_SUCCESS) {
        *num_cat = (int)HL_COUNT_OF(parts);
    }
    return err;
}

HL_API(MPI_T_category_get_info);
int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    int err = check_part(cat_index);

    if (err == MPI_SUCCESS) {
        hl_tool_give_text(parts[cat_index].name, name, name_len);
        hl_tool_give_text(parts[cat_index].desc, desc, desc_len);
        hl_tool_give(num_cvars, cvars_of(cat_index, 0, NULL));
        hl_tool_give(num_pvars, pvars_of(cat_index, 0, NULL));
        hl_tool_give(num_categories, 0);
    }
    return err;
}

HL_API(MPI_T_category_get_num_events);
int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
    int err = check_part(cat_index);

    err = err == MPI_SUCCESS ? hl_tool_check_out(num_events) : err;
    if (err == MPI_SUCCESS) {
        *num_events = 0;
    }
    return err;
}

HL_API(MPI_T_category_get_index);
int PMPI_T_category_get_index(const char *name, int *cat_index)
{
    int err = hl_tool_check_out(cat_index);

    if (err != MPI_SUCCESS || name == NULL) {
        return err != MPI_SUCCESS ? err : MPI_T_ERR_INVALID;
    }
    for (size_t i = 0; i < HL_COUNT_OF(parts); i++) {
        if (strcmp(parts[i].name, name) == 0) {
            *cat_index = (int)i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

HL_API(MPI_T_category_get_cvars);
int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    int err = check_indices(cat_index, len, indices);

    if (err == MPI_SUCCESS) {
        cvars_of(cat_index, len, indices);
    }
    return err;
}

HL_API(MPI_T_category_get_pvars);
int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    int err = check_indices(cat_index, len, indices);

    if (err == MPI_SUCCESS) {
        pvars_of(cat_index, len, indices);
    }
    return err;
}

/* No category contains others. */
HL_API(MPI_T_category_get_categories);
int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return check_indices(cat_index, len, indices);
}

HL_API(MPI_T_category_get_events);
int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
    return check_indices(cat_index, len, indices);
}

HL_API(MPI_T_category_changed);
int PMPI_T_category_changed(int *update_number)
{
    int err = hl_tool_check_out(update_number);

    if (err == MPI_SUCCESS) {
        *update_number = 0; /* categories never change */
    }
    return err;
}
