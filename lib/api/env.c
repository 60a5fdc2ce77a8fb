/* Time, versions, names, addresses, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "log.h"
#include "mem.h"
#include "util.h"

HL_API(MPI_Wtime);
double PMPI_Wtime(void)
{
    return (double)hl_now_ns() * 1e-9;
}

HL_API(MPI_Wtick);
double PMPI_Wtick(void)
{
    struct timespec t;

    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

HL_API(MPI_Get_version);
int PMPI_Get_version(int *version, int *subversion)
{
    int err = hl_api_check_out(version, "version");

    err = err == 0 ? hl_api_check_out(subversion, "subversion") : err;
    if (err == 0) {
        *version = MPI_VERSION;
        *subversion = MPI_SUBVERSION;
    }
    return hl_api_end(NULL, "MPI_Get_version", err);
}

HL_API(MPI_Get_library_version);
int PMPI_Get_library_version(char *version, int *resultlen)
{
    int err = hl_api_check_out(version, "version");

    err = err == 0 ? hl_api_check_out(resultlen, "resultlen") : err;
    if (err == 0) {
        *resultlen =
            snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Hotlane %s, MPI %d.%d standard ABI %d.%d",
                     HL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    }
    return hl_api_end(NULL, "MPI_Get_library_version", err);
}

HL_API(MPI_Get_processor_name);
int PMPI_Get_processor_name(char *name, int *resultlen)
{
    int err = hl_api_check_out(name, "name");

    err = err == 0 ? hl_api_check_out(resultlen, "resultlen") : err;
    if (err != 0) {
        return hl_api_end(NULL, "MPI_Get_processor_name", err);
    }
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) {
        strcpy(name, "unknown");
    }
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

HL_API(MPI_Pcontrol);
int PMPI_Pcontrol(const int level, ...)
{
    return MPI_SUCCESS;
}

HL_API(MPI_Get_address);
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    int err = hl_api_check_out(address, "address");

    if (err == 0) {
        *address = (MPI_Aint)location;
    }
    return hl_api_end(NULL, "MPI_Get_address", err);
}

HL_API(MPI_Aint_add);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

HL_API(MPI_Aint_diff);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

/* Prints that hint number `which` is not honoured, once in a process, as there may be many calls. */
static void refuse_hint(int which, const char *why)
{
    static hl_a32 told[HL_MEM_WISH_KEYS + 1];        /* atomic */
    if (hl_a32_xchg_acquire(&told[which], 1) == 0) { /* acquire: orders nothing; the first thread prints */
        hl_log(HL_LOG_WARN, "MPI_Alloc_mem: hint is not honoured: %s", why);
    }
}

/* The alignment that `info` asks for, 0 for none. */
static size_t asked_alignment(const struct hl_info *info)
{
    char text[MPI_MAX_INFO_VAL], why[MPI_MAX_INFO_VAL + 64];
    char *end;
    int len;

    if (!hl_info_hint(info, "mpi_minimum_memory_alignment", text, sizeof text, &len)) {
        return 0;
    }
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || n == 0 || (n & (n - 1)) != 0) {
        snprintf(why, sizeof why, "mpi_minimum_memory_alignment=%s: expected a power of two", text);
        refuse_hint(HL_MEM_WISH_KEYS, why);
        return 0;
    }
    return (size_t)n;
}

/* Fills *wish with what the environment asks for; `info` overrides it. */
static void asked_memory(const struct hl_info *info, struct hl_mem_wish *wish)
{
    char text[MPI_MAX_INFO_VAL];
    int len;

    hl_mem_wish_of_env(wish);
    for (int i = 0; i < HL_MEM_WISH_KEYS; i++) {
        if (hl_info_hint(info, hl_mem_wish_keys[i], text, sizeof text, &len) &&
            hl_mem_wish_set(wish, hl_mem_wish_keys[i], text) != 0) {
            refuse_hint(i, hl_err_text(HL_ERR_INFO_VALUE));
        }
    }
}

static int alloc_mem(size_t size, const struct hl_info *hints, void **base)
{
    struct hl_mem_wish wish;
    struct hl_piece piece;
    struct hl_mem_ask ask = {.align = asked_alignment(hints), .only_mine = true, .caller = "MPI_Alloc_mem"};

    asked_memory(hints, &wish);
    ask.wish = size > 0 ? &wish : NULL;
    int err = hl_mem_alloc(size, &ask, &piece);
    *base = err == 0 ? piece.addr : NULL;
    return err;
}

HL_API(MPI_Alloc_mem);
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    struct hl_info *hints = NULL;
    void *base;
    int err = hl_api_check_open();

    if (err == 0 && size < 0) {
        err = hl_err_say(HL_ERR_ARG, "size %lld is negative", (long long)size);
    }
    err = err == 0 ? hl_api_check_out(baseptr, "baseptr") : err;
    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? alloc_mem((size_t)size, hints, &base) : err;
    if (err == 0) {
        memcpy(baseptr, &base, sizeof base);
    }
    return hl_api_end(NULL, "MPI_Alloc_mem", err);
}

HL_API(MPI_Free_mem);
int PMPI_Free_mem(void *base)
{
    struct hl_piece piece;
    int err = hl_api_check_open();

    if (err == 0 && base != NULL) {
        err = hl_mem_piece_at(base, &piece);
        if (err == 0) {
            hl_mem_free(&piece);
        } else {
            err = hl_err_say(HL_ERR_BASE, "%p was not given out by MPI_Alloc_mem, or is freed already", base);
        }
    }
    return hl_api_end(NULL, "MPI_Free_mem", err);
}
