/* Statuses: fields, counts, elements. */

#include "api.h"
#include "args.h"
#include "req.h"

/* The number of whole datatypes in so many bytes; MPI_UNDEFINED when they end inside one. */
static int64_t whole_types(const struct hl_type *t, int64_t bytes)
{
    if (t->size == 0) {
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    }
    return bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
}

static int64_t whole_elements(const struct hl_type *t, int64_t bytes)
{
    int64_t n = hl_type_elements(t, bytes);

    return n < 0 ? MPI_UNDEFINED : n;
}

typedef int64_t count_fn(const struct hl_type *t, int64_t bytes);

static int count_in(const MPI_Status *status, MPI_Datatype datatype, count_fn *fn, const void *out,
                    int64_t *n)
{
    struct hl_type *t;
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    err = err == 0 ? hl_api_check_out(out, "count") : err;
    *n = err == 0 ? fn(t, hl_req_status_bytes(status)) : 0;
    return err;
}

/* One row for each function: name, type of the count, what is counted. */
#define COUNT_ROWS(X)                                                                                        \
    X(MPI_Get_count, int, whole_types)                                                                       \
    X(MPI_Get_count_c, MPI_Count, whole_types)                                                               \
    X(MPI_Get_elements, int, whole_elements)                                                                 \
    X(MPI_Get_elements_c, MPI_Count, whole_elements)                                                         \
    X(MPI_Get_elements_x, MPI_Count, whole_elements)

#define X(name, number, fn)                                                                                  \
    HL_API(name);                                                                                            \
    int P##name(const MPI_Status *status, MPI_Datatype datatype, number *count)                              \
    {                                                                                                        \
        int64_t n;                                                                                           \
        int err = count_in(status, datatype, fn, count, &n);                                                 \
                                                                                                             \
        if (err == 0) {                                                                                      \
            *count = sizeof *count == sizeof(int) ? hl_api_narrow(n) : (number)n;                            \
        }                                                                                                    \
        return hl_api_end(NULL, #name, err);                                                                 \
    }
/* Defines: MPI_Get_count MPI_Get_count_c MPI_Get_elements MPI_Get_elements_c MPI_Get_elements_x */
COUNT_ROWS(X)
#undef X

static int set_elements(const char *func, MPI_Status *status, MPI_Datatype datatype, int64_t count)
{
    struct hl_type *t;
    int64_t most;
    int err = hl_api_check_out(status, "status");

    err = err == 0 ? hl_api_check_count(count) : err;
    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    if (err == 0 && t->elements > 0 &&
        !hl_type_bytes(t, count / t->elements + (count % t->elements != 0), &most)) {
        err = hl_err_say(HL_ERR_COUNT, "%lld elements of the datatype have more bytes than fit 63 bits",
                         (long long)count);
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
