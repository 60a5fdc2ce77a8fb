/* Statuses: fields, counts, elements. */
#include <limits.h>

#include "api.h"
#include "args.h"
#include "req.h"

/* The number of whole datatypes in a status; MPI_UNDEFINED when the bytes end inside one. */
static int get_count(const char *func, const MPI_Status *status, MPI_Datatype datatype, int64_t *count)
{
    struct hl_type *t;
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    err = err == 0 ? hl_api_check_out(count, "count") : err;
    if (err == 0) {
        int64_t bytes = hl_req_status_bytes(status);
        if (t->size == 0) {
            *count = bytes == 0 ? 0 : MPI_UNDEFINED;
        } else {
            *count = bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
        }
    }
    return hl_api_end(NULL, func, err);
}

static int narrow_count(int64_t n)
{
    return n <= INT_MAX ? (int)n : MPI_UNDEFINED;
}

HL_API(MPI_Get_count);
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n = MPI_UNDEFINED;
    int code = get_count("MPI_Get_count", status, datatype, hl_is_address(count) ? &n : NULL);

    if (hl_is_address(count)) {
        *count = narrow_count(n);
    }
    return code;
}

HL_API(MPI_Get_count_c);
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_count("MPI_Get_count_c", status, datatype, count);
}

static int get_elements(const char *func, const MPI_Status *status, MPI_Datatype datatype, int64_t *count)
{
    struct hl_type *t;
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    err = err == 0 ? hl_api_check_out(count, "count") : err;
    if (err == 0) {
        int64_t n = hl_type_elements(t, hl_req_status_bytes(status));
        *count = n < 0 ? MPI_UNDEFINED : n;
    }
    return hl_api_end(NULL, func, err);
}

HL_API(MPI_Get_elements);
int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n = MPI_UNDEFINED;
    int code = get_elements("MPI_Get_elements", status, datatype, hl_is_address(count) ? &n : NULL);

    if (hl_is_address(count)) {
        *count = narrow_count(n);
    }
    return code;
}

HL_API(MPI_Get_elements_c);
int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_c", status, datatype, count);
}

HL_API(MPI_Get_elements_x);
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_x", status, datatype, count);
}

static int set_elements(const char *func, MPI_Status *status, MPI_Datatype datatype, int64_t count)
{
    struct hl_type *t;
    int64_t most;
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_check_count(count) : err;
    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    if (err == 0 && t->elements > 0 && !hl_type_bytes(t, count / t->elements + 1, &most)) {
        err = hl_err_say(HL_ERR_COUNT, "%lld elements do not fit 63 bits of bytes", (long long)count);
    }
    if (err == 0) {
        hl_req_set_status(status, status->MPI_SOURCE, status->MPI_TAG, hl_type_element_bytes(t, count),
                          hl_req_status_cancelled(status));
    }
    return hl_api_end(NULL, func, err);
}

HL_API(MPI_Status_set_elements);
int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

HL_API(MPI_Status_set_elements_c);
int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_c", status, datatype, count);
}

HL_API(MPI_Status_set_elements_x);
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

HL_API(MPI_Status_set_cancelled);
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    int err = hl_api_check_out(status, "status");

    if (err == 0) {
        hl_req_set_status(status, status->MPI_SOURCE, status->MPI_TAG, hl_req_status_bytes(status),
                          flag != 0);
    }
    return hl_api_end(NULL, "MPI_Status_set_cancelled", err);
}

HL_API(MPI_Test_cancelled);
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        *flag = hl_req_status_cancelled(status);
    }
    return hl_api_end(NULL, "MPI_Test_cancelled", err);
}

/* One row for each field: both functions and the member. */
#define FIELD_ROWS(X)                                                                                        \
    X(MPI_Status_get_source, MPI_Status_set_source, MPI_SOURCE)                                              \
    X(MPI_Status_get_tag, MPI_Status_set_tag, MPI_TAG)                                                       \
    X(MPI_Status_get_error, MPI_Status_set_error, MPI_ERROR)

#define X(get, set, member)                                                                                  \
    HL_API(get);                                                                                             \
    int P##get(const MPI_Status *status, int *value)                                                         \
    {                                                                                                        \
        int err = hl_api_check_out(status, "status");                                                        \
                                                                                                             \
        err = err == 0 ? hl_api_check_out(value, "value") : err;                                             \
        if (err == 0) {                                                                                      \
            *value = status->member;                                                                         \
        }                                                                                                    \
        return hl_api_end(NULL, #get, err);                                                                  \
    }                                                                                                        \
    HL_API(set);                                                                                             \
    int P##set(MPI_Status *status, int value)                                                                \
    {                                                                                                        \
        int err = hl_api_check_out(status, "status");                                                        \
                                                                                                             \
        if (err == 0) {                                                                                      \
            status->member = value;                                                                          \
        }                                                                                                    \
        return hl_api_end(NULL, #set, err);                                                                  \
    }
/* Defines: MPI_Status_get_source MPI_Status_set_source MPI_Status_get_tag MPI_Status_set_tag
 * MPI_Status_get_error MPI_Status_set_error */
FIELD_ROWS(X)
#undef X
