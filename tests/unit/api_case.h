/* What the cases of test_api.c share: start, judging of codes, callbacks that leave traces. */
#ifndef HL_API_CASE_H
#define HL_API_CASE_H

#include <mpi.h>
#include <string.h>

#include "unit.h"

static void start(void)
{
    int provided;

    ck_assert_int_eq(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    ck_assert_int_eq(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int class_of(int code)
{
    int class_;

    MPI_Error_class(code, &class_);
    return class_;
}

#define FAILS(call, class_) ck_assert_int_eq(class_of(call), class_)

static int says(int code, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    ck_assert_int_eq(MPI_Error_string(code, text, &len), MPI_SUCCESS);
    ck_assert_int_eq(len, (int)strlen(text));
    return strstr(text, words) != NULL;
}

static int handler_code, handler_calls;
static MPI_Comm handler_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handler_comm = *comm;
    handler_code = *code;
    handler_calls++;
}

static int deleted[8], n_deleted;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted[n_deleted++] = *(int *)value;
    return extra == NULL ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void halve(void *in, void *inout, int *len, MPI_Datatype *type)
{
    for (int i = 0; i < *len; i++) {
        ((int *)inout)[i] = ((int *)in)[i] / 2;
    }
}

#endif
