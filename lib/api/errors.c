/* Error handlers of communicators; error codes and their texts. */
#include <string.h>

#include "api.h"
#include "args.h"

HL_API(MPI_Comm_create_errhandler);
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct hl_errh *e;
    int err =
        hl_api_enter(hl_api_check_out((const void *)(uintptr_t)comm_errhandler_fn, "comm_errhandler_fn"));

    err = err == 0 ? hl_api_check_out(errhandler, "errhandler") : err;
    err = err == 0 ? hl_errh_make(HL_ERRH_COMM, (hl_errh_fn *)comm_errhandler_fn, &e) : err;
    if (err == 0) {
        *errhandler = hl_errh_give(e);
    }
    return hl_api_leave(NULL, "MPI_Comm_create_errhandler", err);
}

HL_API(MPI_Comm_set_errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct hl_comm *c;
    struct hl_errh *e;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_get_errh(errhandler, &e) : err;
    err = err == 0 ? hl_errh_set(&c->errh, HL_ERRH_COMM, e) : err;
    return hl_api_leave(c, "MPI_Comm_set_errhandler", err);
}

HL_API(MPI_Comm_get_errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(errhandler, "errhandler") : err;
    if (err == 0) {
        *errhandler = hl_errh_give(hl_errh_get(&c->errh));
    }
    return hl_api_leave(c, "MPI_Comm_get_errhandler", err);
}

HL_API(MPI_Comm_call_errhandler);
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    if (err == 0) {
        char what[HL_ERRH_WHAT];
        hl_errh_comm_words(c, what);
        struct hl_errh_site site = {&c->errh, HL_ERRH_COMM, &c->handle, what};
        hl_errh_call(&site, "MPI_Comm_call_errhandler", errorcode);
    }
    return hl_api_leave(c, "MPI_Comm_call_errhandler", err);
}

HL_API(MPI_Errhandler_free);
int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    struct hl_errh *e;
    int err = hl_api_enter(hl_api_check_out(errhandler, "errhandler"));

    err = err == 0 ? hl_api_get_errh(*errhandler, &e) : err;
    if (err == 0) {
        err = hl_errh_take_back(e);
    }
    if (err == 0) {
        *errhandler = MPI_ERRHANDLER_NULL;
    }
    return hl_api_leave(NULL, "MPI_Errhandler_free", err);
}

HL_API(MPI_Error_class);
int PMPI_Error_class(int errorcode, int *errorclass)
{
    int err = hl_api_check_out(errorclass, "errorclass");

    if (err == 0) {
        *errorclass = hl_errh_class(errorcode);
    }
    return hl_api_end(NULL, "MPI_Error_class", err);
}

HL_API(MPI_Error_string);
int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    int err = hl_api_enter(hl_api_check_out(string, "string"));

    err = err == 0 ? hl_api_check_out(resultlen, "resultlen") : err;
    err = err == 0 ? hl_errh_string(errorcode, string) : err;
    if (err == 0) {
        *resultlen = (int)strlen(string);
    }
    return hl_api_leave(NULL, "MPI_Error_string", err);
}

HL_API(MPI_Add_error_class);
int PMPI_Add_error_class(int *errorclass)
{
    int err = hl_api_enter(hl_api_check_out(errorclass, "errorclass"));

    err = err == 0 ? hl_errh_add_class(errorclass) : err;
    return hl_api_leave(NULL, "MPI_Add_error_class", err);
}

HL_API(MPI_Add_error_code);
int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    int err = hl_api_enter(hl_api_check_out(errorcode, "errorcode"));

    err = err == 0 ? hl_errh_add_code(errorclass, errorcode) : err;
    return hl_api_leave(NULL, "MPI_Add_error_code", err);
}

HL_API(MPI_Add_error_string);
int PMPI_Add_error_string(int errorcode, const char *string)
{
    int err = hl_api_enter(hl_api_check_out(string, "string"));

    err = err == 0 ? hl_errh_set_string(errorcode, string) : err;
    return hl_api_leave(NULL, "MPI_Add_error_string", err);
}

HL_API(MPI_Remove_error_class);
int PMPI_Remove_error_class(int errorclass)
{
    int err = hl_api_enter(0);

    err = hl_errh_remove_class(errorclass);
    return hl_api_leave(NULL, "MPI_Remove_error_class", err);
}

HL_API(MPI_Remove_error_code);
int PMPI_Remove_error_code(int errorcode)
{
    int err = hl_api_enter(0);

    err = hl_errh_remove_code(errorcode);
    return hl_api_leave(NULL, "MPI_Remove_error_code", err);
}

HL_API(MPI_Remove_error_string);
int PMPI_Remove_error_string(int errorcode)
{
    int err = hl_api_enter(0);

    err = hl_errh_set_string(errorcode, NULL);
    return hl_api_leave(NULL, "MPI_Remove_error_string", err);
}
