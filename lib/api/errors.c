/* Error handlers of communicators; error codes and their texts. */
#include <string.h>

#include "api.h"
#include "args.h"

int hl_api_make_errh(const char *func, enum hl_errh_sort sort, hl_errh_fn *fn, const char *what,
                     MPI_Errhandler *errhandler)
{
    struct hl_errh *e;
    int err = hl_api_enter(hl_api_check_out((const void *)(uintptr_t)fn, what));

    err = err == 0 ? hl_api_check_out(errhandler, "errhandler") : err;
    err = err == 0 ? hl_errh_make(sort, fn, &e) : err;
    if (err == 0) {
        *errhandler = hl_errh_give(e);
    }
    return hl_api_leave(NULL, func, err);
}

int hl_api_set_errh(struct hl_errh **slot, enum hl_errh_sort sort, MPI_Errhandler errhandler)
{
    struct hl_errh *e;
    int err = hl_api_get_errh(errhandler, &e);

    return err == 0 ? hl_errh_set(slot, sort, e) : err;
}

int hl_api_give_errh(struct hl_errh *const *slot, MPI_Errhandler *errhandler)
{
    int err = hl_api_check_out(errhandler, "errhandler");

    if (err == 0) {
        *errhandler = hl_errh_give(hl_errh_get(slot));
    }
    return err;
}

static int call_comm_errh(struct hl_comm *c, int errorcode)
{
    char what[HL_ERRH_WHAT];

    hl_errh_comm_words(c, what);
    struct hl_errh_site site = {&c->errh, HL_ERRH_COMM, &c->handle, what};
    hl_errh_call(&site, "MPI_Comm_call_errhandler", errorcode);
    return 0;
}

HL_API(MPI_Comm_create_errhandler);
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    return hl_api_make_errh("MPI_Comm_create_errhandler", HL_ERRH_COMM, (hl_errh_fn *)comm_errhandler_fn,
                            "comm_errhandler_fn", errhandler);
}

HL_CALL_COMM(MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), 0,
             hl_api_set_errh(&c->errh, HL_ERRH_COMM, errhandler))
HL_CALL_COMM(MPI_Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler), 0,
             hl_api_give_errh(&c->errh, errhandler))
HL_CALL_COMM(MPI_Comm_call_errhandler, (MPI_Comm comm, int errorcode), 0, call_comm_errh(c, errorcode))

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
    int err = hl_api_enter(hl_api_check_text(string, "string", resultlen));

    err = err == 0 ? hl_errh_string(errorcode, string) : err;
    if (err == 0) {
        *resultlen = (int)strlen(string);
    }
    return hl_api_leave(NULL, "MPI_Error_string", err);
}

HL_CALL_PLAIN(MPI_Add_error_class, (int *errorclass), hl_api_check_out(errorclass, "errorclass"),
              hl_errh_add_class(errorclass))
HL_CALL_PLAIN(MPI_Add_error_code, (int errorclass, int *errorcode), hl_api_check_out(errorcode, "errorcode"),
              hl_errh_add_code(errorclass, errorcode))
HL_CALL_PLAIN(MPI_Add_error_string, (int errorcode, const char *string), hl_api_check_out(string, "string"),
              hl_errh_set_string(errorcode, string))
HL_CALL_PLAIN(MPI_Remove_error_class, (int errorclass), 0, hl_errh_remove_class(errorclass))
HL_CALL_PLAIN(MPI_Remove_error_code, (int errorcode), 0, hl_errh_remove_code(errorcode))
HL_CALL_PLAIN(MPI_Remove_error_string, (int errorcode), 0, hl_errh_set_string(errorcode, NULL))
