/* Hints of files: the standard's reserved keys are kept and shown as they were given. `file_perm` is used
 * when a file is made; the others change nothing. */
#include <stdio.h>

#include "cause.h"
#include "io.h"
#include "util.h"

static const char *const keys[] = {
    "access_style", "collective_buffering", "cb_block_size",   "cb_buffer_size", "cb_nodes",
    "chunked",      "chunked_item",         "chunked_size",    "file_perm",      "io_node_list",
    "nb_proc",      "num_io_nodes",         "striping_factor", "striping_unit",
};

static int lay_over(struct hl_file *f, const struct hl_info *user)
{
    struct hl_info *fresh;
    int err =
        hl_info_lay_over(&f->info, user, &(struct hl_info_keys){keys, HL_COUNT_OF(keys), false}, &fresh);

    if (err == 0) {
        hl_info_put(&f->info, fresh);
    }
    return err;
}

int hl_file_set_hints(struct hl_file *f, int err, const struct hl_info *user)
{
    return hl_io_agree(f->comm, err == 0 && user != NULL ? lay_over(f, user) : err);
}

int hl_file_get_hints(const struct hl_file *f, struct hl_info **made)
{
    char name[MPI_MAX_INFO_VAL]; /* longer ones are cut */
    int err = hl_info_copy(&f->info, made);

    snprintf(name, sizeof name, "%s", f->name);
    err = err == 0 ? hl_info_set(*made, "filename", name) : err;
    return err == 0 ? hl_info_set(*made, "mpi_memory_alloc_kinds", "mpi,system") : err;
}
