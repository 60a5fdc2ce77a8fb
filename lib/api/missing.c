/* The MPI functions that this library does not have. */
#include "missing.h"

#include <stddef.h>

static const char *const names[] = {
    /* these are in spawn.c, with errors of their own */
    "MPI_Close_port",
    "MPI_Comm_accept",
    "MPI_Comm_connect",
    "MPI_Comm_join",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_Lookup_name",
    "MPI_Open_port",
    "MPI_Publish_name",
    "MPI_Unpublish_name",
    NULL};

const char *const *hl_api_missing(void)
{
    return names;
}
