/* Processes that join later, by spawning or by ports and published names. A job has only the processes that
 * the launcher started, so these calls fail, each with the class that the standard has for it, and print once
 * what can be done instead. (MPI 5.0, chapter 11) */
#include "api.h"
#include "args.h"
#include "log.h"

/* Prints one line for unsupported calls of this sort, then returns the error. */
static int refuse_to_spawn(const char *func)
{
    hl_log_once("%s: processes cannot be added to a running job: start all of them with mpiexec, different "
                "programs as in mpiexec -n 4 ./one : -n 2 ./two",
                func);
    return hl_err_say(HL_ERR_SPAWN, "processes cannot be added to a running job");
}

static int refuse_ports(const char *func, int code)
{
    hl_log_once("%s: jobs cannot connect to each other: start all programs as one job with mpiexec and use "
                "MPI_Comm_split and MPI_Intercomm_create",
                func);
    return hl_err_say(code, code == HL_ERR_NAME   ? "no name is published: jobs cannot connect to each other"
                            : code == HL_ERR_PORT ? "no port is open: jobs cannot connect to each other"
                                                  : "jobs cannot connect to each other");
}

/* ---- Spawn ---- */

/* Fails a spawn; the root writes `n` error codes. */
static int fail_spawn(const char *func, MPI_Comm comm, int root, int n, MPI_Comm *intercomm, int codes[])
{
    struct hl_comm *c;
    int err = hl_api_get_comm(comm, &c);

    err = err == 0 ? hl_api_check_intra(c) : err;
    err = err == 0 ? hl_api_check_root(c, root) : err;
    err = err == 0 ? hl_api_check_out(intercomm, "intercomm") : err;
    if (err == 0) {
        *intercomm = MPI_COMM_NULL;
        for (int i = 0; codes != MPI_ERRCODES_IGNORE && i < n; i++) {
            codes[i] = MPI_ERR_SPAWN;
        }
        err = refuse_to_spawn(func);
    }
    return hl_api_end(c, func, err);
}

HL_API(MPI_Comm_spawn);
int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct hl_comm *c = hl_comm_of(comm);
    bool here = c != NULL && c->rank == root;

    return fail_spawn("MPI_Comm_spawn", comm, root, here ? maxprocs : 0, intercomm, array_of_errcodes);
}

HL_API(MPI_Comm_spawn_multiple);
int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                             MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct hl_comm *c = hl_comm_of(comm);
    int n = 0;

    for (int i = 0; c != NULL && c->rank == root && hl_is_address(array_of_maxprocs) && i < count; i++) {
        n += array_of_maxprocs[i];
    }
    return fail_spawn("MPI_Comm_spawn_multiple", comm, root, n, intercomm, array_of_errcodes);
}

/* ---- Ports ---- */

static int meet_parent(const char *func, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct hl_comm *c;
    int err = hl_api_get_comm(comm, &c);

    err = err == 0 ? hl_api_check_intra(c) : err;
    err = err == 0 ? hl_api_check_out(newcomm, "newcomm") : err;
    if (err == 0) {
        *newcomm = MPI_COMM_NULL;
        err = refuse_ports(func, HL_ERR_PORT);
    }
    return hl_api_end(c, func, err);
}

static int refuse_spawn(const char *func, int code)
{
    int err = hl_api_check_open();

    return hl_api_end(NULL, func, err == 0 ? refuse_ports(func, code) : err);
}

HL_CALL_RETURN(MPI_Comm_accept,
               (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
               meet_parent("MPI_Comm_accept", comm, newcomm))
HL_CALL_RETURN(MPI_Comm_connect,
               (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
               meet_parent("MPI_Comm_connect", comm, newcomm))
HL_CALL_RETURN(MPI_Comm_join, (int fd, MPI_Comm *intercomm),
               refuse_spawn("MPI_Comm_join", HL_ERR_UNSUPPORTED_OPERATION))
HL_CALL_RETURN(MPI_Open_port, (MPI_Info info, char *port_name),
               refuse_spawn("MPI_Open_port", HL_ERR_UNSUPPORTED_OPERATION))
HL_CALL_RETURN(MPI_Close_port, (const char *port_name), refuse_spawn("MPI_Close_port", HL_ERR_PORT))
HL_CALL_RETURN(MPI_Publish_name, (const char *service_name, MPI_Info info, const char *port_name),
               refuse_spawn("MPI_Publish_name", HL_ERR_PORT))
HL_CALL_RETURN(MPI_Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name),
               refuse_spawn("MPI_Unpublish_name", HL_ERR_SERVICE))
HL_CALL_RETURN(MPI_Lookup_name, (const char *service_name, MPI_Info info, char *port_name),
               refuse_spawn("MPI_Lookup_name", HL_ERR_NAME))
