/* Time, versions, names, addresses, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "mem.h"
#include "util.h"

HL_API(MPI_Wtime)
double PMPI_Wtime(void)
{
    return (double)hl_now_ns() * 1e-9;
}

HL_API(MPI_Wtick)
double PMPI_Wtick(void)
{
    struct timespec t;

    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

HL_API(MPI_Get_version)
int PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

HL_API(MPI_Abi_get_version)
int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

HL_API(MPI_Get_library_version)
int PMPI_Get_library_version(char *version, int *resultlen)
{
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Hotlane %s, MPI %d.%d standard ABI %d.%d",
                          HL_VERSION, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}

HL_API(MPI_Get_processor_name)
int PMPI_Get_processor_name(char *name, int *resultlen)
{
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) {
        strcpy(name, "unknown");
    }
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

HL_API(MPI_Pcontrol)
int PMPI_Pcontrol(const int level, ...)
{
    return MPI_SUCCESS;
}

HL_API(MPI_Get_address)
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

HL_API(MPI_Aint_add)
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

HL_API(MPI_Aint_diff)
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

/* The alignment that `info` asks for, 0 for none. */
static int asked_alignment(const struct hl_info *info, size_t *align)
{
    char text[MPI_MAX_INFO_VAL];
    char *end;
    int len;

    *align = 0;
    if (!hl_info_get(info, "mpi_minimum_memory_alignment", text, sizeof text, &len)) {
        return 0;
    }
    unsigned long long n = strtoull(text, &end, 10);
    if (*end != '\0' || n == 0 || (n & (n - 1)) != 0) {
        return hl_err_say(HL_ERR_INFO_VALUE, "mpi_minimum_memory_alignment=%s is no power of two", text);
    }
    *align = (size_t)n;
    return 0;
}

HL_API(MPI_Alloc_mem)
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    struct hl_mem_ask ask = {0};
    struct hl_piece piece;
    struct hl_info *hints = NULL;
    int err = hl_api_check_open();

    if (err == 0 && size < 0) {
        err = hl_err_say(HL_ERR_ARG, "size %lld is negative", (long long)size);
    }
    err = err == 0 ? hl_api_check_out(baseptr, "baseptr") : err;
    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? asked_alignment(hints, &ask.align) : err;
    err = err == 0 ? hl_mem_alloc((size_t)size, &ask, &piece) : err;
    if (err == 0) {
        memcpy(baseptr, &piece.addr, sizeof piece.addr);
    }
    return hl_api_end(NULL, "MPI_Alloc_mem", err);
}

HL_API(MPI_Free_mem)
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
