/* Categories of the tool interface: one for each part of the library, with its variables and counters. */
#include <string.h>

#include "api.h"
#include "stat.h"
#include "tool.h"
#include "util.h"

enum category { GENERAL, START, NODE, LANES, RECEIVING, MESSAGES, MEMORY, SHMEM };

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

static enum category part_of_cvar(const struct hl_var *v)
{
    static const struct {
        const void *field;
        enum category part;
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

static enum category part_of_pvar(int index)
{
    const char *name = hl_stat_name(index);

    if (strncmp(name, "rx_", 3) == 0) {
        return RECEIVING;
    }
    return strcmp(name, "near_locks") == 0 || strcmp(name, "cma_copies") == 0 || strcmp(name, "trays") == 0
               ? NODE
               : LANES;
}

static bool is_cvar_in(int part, int i)
{
    size_t n;

    return part_of_cvar(&hl_conf_vars(&n)[i]) == (enum category)part;
}

static bool is_pvar_in(int part, int i)
{
    return part_of_pvar(i) == (enum category)part;
}

static int cvar_count(void)
{
    size_t n;

    hl_conf_vars(&n);
    return (int)n;
}

/* Returns the number of a part's variables of `all`, and writes the indices of the first `len`. */
static int list_part(int part, bool (*is_in)(int part, int i), int all, int len, int *indices)
{
    int n = 0;

    for (int i = 0; i < all; i++) {
        if (is_in(part, i)) {
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

HL_API(MPI_T_category_get_info);
int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    int err = check_part(cat_index);

    if (err == MPI_SUCCESS) {
        hl_tool_give_text(parts[cat_index].name, name, name_len);
        hl_tool_give_text(parts[cat_index].desc, desc, desc_len);
        hl_tool_give(num_cvars, list_part(cat_index, is_cvar_in, cvar_count(), 0, NULL));
        hl_tool_give(num_pvars, list_part(cat_index, is_pvar_in, hl_stat_count(), 0, NULL));
        hl_tool_give(num_categories, 0);
    }
    return err;
}

static int give_num_events(int cat_index, int *num_events)
{
    int err = check_part(cat_index);

    return err == MPI_SUCCESS ? hl_tool_give_number(num_events, 0) : err;
}

static const char *part_name(int i)
{
    return parts[i].name;
}

static int give_cvars(int cat_index, int len, int indices[])
{
    int err = check_indices(cat_index, len, indices);

    if (err == MPI_SUCCESS) {
        list_part(cat_index, is_cvar_in, cvar_count(), len, indices);
    }
    return err;
}

static int give_pvars(int cat_index, int len, int indices[])
{
    int err = check_indices(cat_index, len, indices);

    if (err == MPI_SUCCESS) {
        list_part(cat_index, is_pvar_in, hl_stat_count(), len, indices);
    }
    return err;
}

/* Categories never change, and none contains others. */
HL_CALL_RETURN(MPI_T_category_get_num, (int *num_cat), hl_tool_give_number(num_cat, (int)HL_COUNT_OF(parts)))
HL_CALL_RETURN(MPI_T_category_get_num_events, (int cat_index, int *num_events),
               give_num_events(cat_index, num_events))
HL_CALL_RETURN(MPI_T_category_get_index, (const char *name, int *cat_index),
               hl_tool_find(name, (int)HL_COUNT_OF(parts), part_name, cat_index))
HL_CALL_RETURN(MPI_T_category_get_cvars, (int cat_index, int len, int indices[]),
               give_cvars(cat_index, len, indices))
HL_CALL_RETURN(MPI_T_category_get_pvars, (int cat_index, int len, int indices[]),
               give_pvars(cat_index, len, indices))
HL_CALL_RETURN(MPI_T_category_get_categories, (int cat_index, int len, int indices[]),
               check_indices(cat_index, len, indices))
HL_CALL_RETURN(MPI_T_category_get_events, (int cat_index, int len, int indices[]),
               check_indices(cat_index, len, indices))
HL_CALL_RETURN(MPI_T_category_changed, (int *update_number), hl_tool_give_number(update_number, 0))
