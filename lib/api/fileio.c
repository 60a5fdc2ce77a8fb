/* The entry points of accesses to files, in all their forms. */

#include "api.h"
#include "args.h"
#include "files.h"

/* The user's arguments. */
struct access_args {
    const char *func;
    MPI_File fh;
    enum hl_io_where where;
    bool write;
    MPI_Offset offset;
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
};

/* Checks all arguments but the file, and fills *c, also after an error. */
static int check_access(const struct access_args *a, const struct hl_file *f, struct hl_io_call *c)
{
    struct hl_type *t = NULL;
    int err = hl_api_get_data(a->buf, a->count, a->type, &t);

    *c = (struct hl_io_call){.where = a->where,
                             .write = a->write,
                             .offset = a->offset,
                             .buf = (void *)(uintptr_t)a->buf,
                             .count = a->count,
                             .type = t};
    return err == 0 ? hl_file_check(f, c) : err;
}

static void set_status(MPI_Status *status, int64_t bytes)
{
    hl_req_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, bytes, false);
}

static int access_file(const struct access_args *a, MPI_Status *status)
{
    struct hl_file *f;
    struct hl_io_call c;
    int64_t bytes = 0;
    int err = hl_api_enter(hl_api_get_file(a->fh, &f));

    err = err == 0 ? check_access(a, f, &c) : err;
    err = err == 0 ? hl_file_move(f, &c, &bytes) : err;
    set_status(status, bytes);
    return hl_api_leave_file(f, a->func, err);
}

/* Starts a nonblocking access; `all`: a collective one. */
static int start_access(const struct access_args *a, bool all, MPI_Request *request)
{
    struct hl_file *f;
    struct hl_io_call c;
    struct hl_req *r = NULL;
    int err = hl_api_enter(hl_api_get_file(a->fh, &f));

    err = err == 0 ? hl_api_check_out(request, "request") : err;
    err = err == 0 ? check_access(a, f, &c) : err;
    err = err == 0 && all ? hl_file_check_split(f) : err;
    err = err == 0 ? hl_file_start(f, &c, &r) : err;
    if (err == 0) {
        *request = hl_req_handle(r);
    }
    return hl_api_leave_file(f, a->func, err);
}

static int access_file_all(const struct access_args *a, MPI_Status *status)
{
    struct hl_file *f;
    struct hl_io_call c;
    int64_t bytes = 0;
    int err = hl_api_enter(hl_api_get_file(a->fh, &f));

    if (err == 0) {
        err = hl_file_move_all(f, check_access(a, f, &c), &c, &bytes);
    }
    set_status(status, bytes);
    return hl_api_leave_file(f, a->func, err);
}

static int begin_split(const struct access_args *a, enum hl_io_split sort)
{
    struct hl_file *f;
    struct hl_io_call c;
    int err = hl_api_enter(hl_api_get_file(a->fh, &f));

    if (err == 0) {
        err = hl_file_begin(f, check_access(a, f, &c), sort, &c);
    }
    return hl_api_leave_file(f, a->func, err);
}

static int end_split(const struct access_args *a, enum hl_io_split sort, MPI_Status *status)
{
    struct hl_file *f;
    int64_t bytes = 0;
    int err = hl_api_enter(hl_api_get_file(a->fh, &f));

    err = err == 0 ? hl_file_end(f, sort, a->write, a->buf, &bytes) : err;
    set_status(status, bytes);
    return hl_api_leave_file(f, a->func, err);
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define ENTRY(name) HL_API(name)

/* Parameters of the functions, and the fields that they fill, by where and direction. */
#define HEAD_AT MPI_File fh, MPI_Offset offset,
#define HEAD_OWN MPI_File fh,
#define HEAD_SHARED MPI_File fh,
#define HEAD_TURN MPI_File fh,
#define VALUE_AT .where = HL_IO_AT, .offset = offset
#define VALUE_OWN .where = HL_IO_OWN
#define VALUE_SHARED .where = HL_IO_SHARED
#define VALUE_TURN .where = HL_IO_TURN
#define BUFFER_READ void
#define BUFFER_WRITE const void
#define WRITES_READ false
#define WRITES_WRITE true

#define FORM(name, at, way, rest, ...)                                                                       \
    ENTRY(NAMED(MPI_File_##name));                                                                           \
    int NAMED(PMPI_File_##name)(HEAD_##at BUFFER_##way * buf, COUNT count, MPI_Datatype datatype rest)       \
    {                                                                                                        \
        struct access_args a = {.func = TEXT(NAMED(MPI_File_##name)),                                        \
                                .fh = fh,                                                                    \
                                .write = WRITES_##way,                                                       \
                                .buf = buf,                                                                  \
                                .count = count,                                                              \
                                .type = datatype,                                                            \
                                VALUE_##at};                                                                 \
                                                                                                             \
        return __VA_ARGS__;                                                                                  \
    }
#define REST_STATUS , MPI_Status *status
#define REST_REQUEST , MPI_Request *request
#define REST_NONE

#define ONCE(name, at, way) FORM(name, at, way, REST_STATUS, access_file(&a, status))
#define START(name, at, way) FORM(name, at, way, REST_REQUEST, start_access(&a, false, request))
#define START_ALL(name, at, way) FORM(name, at, way, REST_REQUEST, start_access(&a, true, request))
#define TOGETHER(name, at, way) FORM(name, at, way, REST_STATUS, access_file_all(&a, status))
#define BEGIN(name, at, way, sort) FORM(name, at, way, REST_NONE, begin_split(&a, HL_IO_##sort))

#define NAMED(function) function
#define COUNT int
#include "file_rows.h"
#undef NAMED
#undef COUNT

#define NAMED(function) function##_c
#define COUNT MPI_Count
#include "file_rows.h"

/* The ends of split accesses, which have no count: MPI_File_read_all_end and the like. */
#define END(name, way, sort)                                                                                 \
    HL_API(MPI_File_##name##_end);                                                                           \
    int PMPI_File_##name##_end(MPI_File fh, BUFFER_##way *buf, MPI_Status *status)                           \
    {                                                                                                        \
        struct access_args a = {                                                                             \
            .func = TEXT(MPI_File_##name##_end), .fh = fh, .write = WRITES_##way, .buf = buf};               \
                                                                                                             \
        return end_split(&a, HL_IO_##sort, status);                                                          \
    }
/* Defines: MPI_File_read_at_all_end */
END(read_at_all, READ, AT_ALL)
/* Defines: MPI_File_write_at_all_end */
END(write_at_all, WRITE, AT_ALL)
/* Defines: MPI_File_read_all_end */
END(read_all, READ, ALL)
/* Defines: MPI_File_write_all_end */
END(write_all, WRITE, ALL)
/* Defines: MPI_File_read_ordered_end */
END(read_ordered, READ, ORDERED)
/* Defines: MPI_File_write_ordered_end */
END(write_ordered, WRITE, ORDERED)
