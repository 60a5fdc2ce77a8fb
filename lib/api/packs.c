/* Explicit packing: the packed form is the data's bytes as they are, or the standard's portable form,
 * external32. */
#include <string.h>

#include "api.h"
#include "args.h"

/* The typed and the packed side of one call. */
struct packing {
    const char *func;
    void *typed;
    int64_t count;
    MPI_Datatype type;
    void *packed;
    int64_t size;
    MPI_Comm comm;
};

static int refuse_small_buffer(const struct packing *p, int64_t bytes, int64_t position)
{
    return hl_err_say(HL_ERR_TRUNCATE,
                      "the packing buffer is too small: %lld bytes at position %lld of a buffer of %lld",
                      (long long)bytes, (long long)position, (long long)p->size);
}

/* Checks that the packed buffer has `bytes` from `position` on. */
static int check_packed(const struct packing *p, int64_t bytes, int64_t position)
{
    if (position < 0) {
        return hl_err_say(HL_ERR_ARG, "position %lld is negative", (long long)position);
    }
    if (position > p->size || bytes > p->size - position) {
        return refuse_small_buffer(p, bytes, position);
    }
    return HL_CHECKS && bytes > 0 && p->packed == NULL
               ? hl_err_say(HL_ERR_BUFFER, "the packing buffer is NULL for %lld bytes", (long long)p->size)
               : 0;
}

/* Packs or unpacks; moves *position on by the bytes done. */
static int convert_packing(const struct packing *p, bool pack, int64_t *position)
{
    struct hl_comm *c;
    struct hl_type *t = NULL;
    int64_t bytes = 0;
    int err = hl_api_enter(hl_api_get_comm(p->comm, &c));

    err = err == 0 ? hl_api_check_out(position, "position") : err;
    err = err == 0 ? hl_api_get_data(p->typed, p->count, p->type, &t) : err;
    if (err == 0) {
        err = hl_type_bytes(t, p->count, &bytes) ? check_packed(p, bytes, *position)
                                                 : refuse_small_buffer(p, bytes, *position);
    }
    if (err == 0) {
        char *at = (char *)p->packed + *position;
        err = pack ? hl_type_pack(t, p->count, p->typed, 0, at, bytes)
                   : hl_type_unpack(t, p->count, p->typed, 0, at, bytes);
        *position += bytes;
    }
    return hl_api_leave(c, p->func, err);
}

static int convert_int(const struct packing *p, bool pack, int *position)
{
    int64_t at = hl_is_address(position) ? *position : 0;
    int code = convert_packing(p, pack, hl_is_address(position) ? &at : NULL);

    if (hl_is_address(position)) {
        *position = (int)at;
    }
    return code;
}

HL_API(MPI_Pack);
int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
              MPI_Comm comm)
{
    struct packing p = {"MPI_Pack", (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize, comm};

    return convert_int(&p, true, position);
}

HL_API(MPI_Pack_c);
int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                MPI_Count *position, MPI_Comm comm)
{
    struct packing p = {"MPI_Pack_c", (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize, comm};

    return convert_packing(&p, true, position);
}

HL_API(MPI_Unpack);
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    struct packing p = {"MPI_Unpack", outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize, comm};

    return convert_int(&p, false, position);
}

HL_API(MPI_Unpack_c);
int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                  MPI_Datatype datatype, MPI_Comm comm)
{
    struct packing p = {"MPI_Unpack_c", outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize, comm};

    return convert_packing(&p, false, position);
}

static int pack_size(const char *func, int64_t count, MPI_Datatype datatype, MPI_Comm comm, int64_t *size)
{
    struct hl_comm *c;
    struct hl_type *t = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    err = err == 0 ? hl_api_check_count(count) : err;
    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    if (err == 0 && !hl_type_bytes(t, count, size)) {
        err = hl_err_say(HL_ERR_VALUE_TOO_LARGE, "%lld elements of %lld bytes do not fit 63 bits",
                         (long long)count, (long long)t->size);
    }
    return hl_api_leave(c, func, err);
}

HL_API(MPI_Pack_size);
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t bytes = 0;
    int code = pack_size("MPI_Pack_size", incount, datatype, comm, hl_is_address(size) ? &bytes : NULL);

    if (hl_is_address(size)) {
        *size = hl_api_narrow(bytes);
    }
    return code;
}

HL_API(MPI_Pack_size_c);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    return pack_size("MPI_Pack_size_c", incount, datatype, comm, size);
}

/* ---- external32: errors have no communicator ---- */

static int check_datarep(const char *datarep)
{
    int err = hl_api_check_open();

    err = err == 0 ? hl_api_check_out(datarep, "datarep") : err;
    if (err == 0 && strcmp(datarep, "external32") != 0) {
        err = hl_err_say(HL_ERR_UNSUPPORTED_DATAREP,
                         "data representation '%.40s': this call takes external32 only", datarep);
    }
    return err;
}

static int convert_external(const struct packing *p, const char *datarep, bool pack, int64_t *position)
{
    struct hl_type *t = NULL;
    int64_t bytes = 0;
    int err = hl_api_enter(check_datarep(datarep));

    err = err == 0 ? hl_api_check_out(position, "position") : err;
    err = err == 0 ? hl_api_get_data(p->typed, p->count, p->type, &t) : err;
    err = err == 0 ? hl_type_external_bytes(t, p->count, &bytes) : err;
    err = err == 0 ? check_packed(p, bytes, *position) : err;
    if (err == 0) {
        err = hl_type_external(t, p->count, p->typed, (char *)p->packed + *position, pack);
        *position += bytes;
    }
    return hl_api_leave(NULL, p->func, err);
}

static int external_size(const char *func, const char *datarep, int64_t count, MPI_Datatype datatype,
                         int64_t *size)
{
    struct hl_type *t = NULL;
    int err = hl_api_enter(check_datarep(datarep));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    err = err == 0 ? hl_api_check_count(count) : err;
    err = err == 0 ? hl_api_get_type(datatype, &t) : err;
    err = err == 0 ? hl_type_external_bytes(t, count, size) : err;
    return hl_api_leave(NULL, func, err);
}

/* One row for each type of the counts: the three names, that type and that of sizes and positions. */
#define EXTERNAL_ROWS(X)                                                                                     \
    X(MPI_Pack_external, MPI_Unpack_external, MPI_Pack_external_size, int, MPI_Aint)                         \
    X(MPI_Pack_external_c, MPI_Unpack_external_c, MPI_Pack_external_size_c, MPI_Count, MPI_Count)

#define X(pack, unpack, size_of, number, place)                                                              \
    HL_API(pack);                                                                                            \
    int P##pack(const char datarep[], const void *inbuf, number incount, MPI_Datatype datatype,              \
                void *outbuf, place outsize, place *position)                                                \
    {                                                                                                        \
        struct packing p = {#pack, (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize, NULL};      \
                                                                                                             \
        return convert_external(&p, datarep, true, position);                                                \
    }                                                                                                        \
    HL_API(unpack);                                                                                          \
    int P##unpack(const char datarep[], const void *inbuf, place insize, place *position, void *outbuf,      \
                  number outcount, MPI_Datatype datatype)                                                    \
    {                                                                                                        \
        struct packing p = {#unpack, outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize, NULL};    \
                                                                                                             \
        return convert_external(&p, datarep, false, position);                                               \
    }                                                                                                        \
    HL_API(size_of);                                                                                         \
    int P##size_of(const char *datarep, number incount, MPI_Datatype datatype, place *size)                  \
    {                                                                                                        \
        return external_size(#size_of, datarep, incount, datatype, size);                                    \
    }
/* Defines: MPI_Pack_external MPI_Unpack_external MPI_Pack_external_size MPI_Pack_external_c
 * MPI_Unpack_external_c MPI_Pack_external_size_c */
EXTERNAL_ROWS(X)
#undef X
