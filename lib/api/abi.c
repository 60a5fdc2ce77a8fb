/* What the binary interface says about itself, and about the Fortran for which its datatypes are made: that
 * of common compilers. A Fortran layer that wants another one gets an error. (MPI 5.0, chapter 20) */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "args.h"

static int give_abi_info(const char *func, int err, struct hl_info *made, MPI_Info *info)
{
    if (err == 0) {
        *info = made->handle;
    } else if (made != NULL) {
        hl_info_free(made);
    }
    return hl_api_end(NULL, func, err);
}

static int set_number(struct hl_info *info, const char *key, int value)
{
    char text[16];

    snprintf(text, sizeof text, "%d", value);
    return hl_info_set(info, key, text);
}

HL_API(MPI_Abi_get_version);
int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    int err = hl_api_check_out(abi_major, "abi_major");

    err = err == 0 ? hl_api_check_out(abi_minor, "abi_minor") : err;
    if (err == 0) {
        *abi_major = MPI_ABI_VERSION;
        *abi_minor = MPI_ABI_SUBVERSION;
    }
    return hl_api_end(NULL, "MPI_Abi_get_version", err);
}

HL_API(MPI_Abi_get_info);
int PMPI_Abi_get_info(MPI_Info *info)
{
    struct hl_info *made = NULL;
    int err = hl_api_check_out(info, "info");

    err = err == 0 ? hl_info_make(&made) : err;
    err = err == 0 ? set_number(made, "mpi_aint_size", sizeof(MPI_Aint)) : err;
    err = err == 0 ? set_number(made, "mpi_count_size", sizeof(MPI_Count)) : err;
    err = err == 0 ? set_number(made, "mpi_offset_size", sizeof(MPI_Offset)) : err;
    return give_abi_info("MPI_Abi_get_info", err, made, info);
}

/* ---- Fortran ---- */

static const struct {
    const char *key;
    MPI_Datatype type;
} sizes[] = {{"mpi_logical_size", MPI_LOGICAL},
             {"mpi_integer_size", MPI_INTEGER},
             {"mpi_real_size", MPI_REAL},
             {"mpi_double_precision_size", MPI_DOUBLE_PRECISION}},
  kinds[] = {{"mpi_logical1_supported", MPI_LOGICAL1},
             {"mpi_logical2_supported", MPI_LOGICAL2},
             {"mpi_logical4_supported", MPI_LOGICAL4},
             {"mpi_logical8_supported", MPI_LOGICAL8},
             {"mpi_logical16_supported", MPI_LOGICAL16},
             {"mpi_integer1_supported", MPI_INTEGER1},
             {"mpi_integer2_supported", MPI_INTEGER2},
             {"mpi_integer4_supported", MPI_INTEGER4},
             {"mpi_integer8_supported", MPI_INTEGER8},
             {"mpi_integer16_supported", MPI_INTEGER16},
             {"mpi_real2_supported", MPI_REAL2},
             {"mpi_real4_supported", MPI_REAL4},
             {"mpi_real8_supported", MPI_REAL8},
             {"mpi_real16_supported", MPI_REAL16},
             {"mpi_complex4_supported", MPI_COMPLEX4},
             {"mpi_complex8_supported", MPI_COMPLEX8},
             {"mpi_complex16_supported", MPI_COMPLEX16},
             {"mpi_complex32_supported", MPI_COMPLEX32},
             {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX}};

enum { SIZES = sizeof sizes / sizeof sizes[0], KINDS = sizeof kinds / sizeof kinds[0] };

static int fill_fortran(struct hl_info *info)
{
    int err = 0;

    for (int i = 0; err == 0 && i < SIZES; i++) {
        err = set_number(info, sizes[i].key, (int)hl_type_of(sizes[i].type)->size);
    }
    for (int i = 0; err == 0 && i < KINDS; i++) {
        err = hl_info_set(info, kinds[i].key, hl_type_of(kinds[i].type) != NULL ? "true" : "false");
    }
    return err;
}

HL_API(MPI_Abi_get_fortran_info);
int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    struct hl_info *made = NULL;
    int err = hl_api_check_out(info, "info");

    err = err == 0 ? hl_info_make(&made) : err;
    err = err == 0 ? fill_fortran(made) : err;
    return give_abi_info("MPI_Abi_get_fortran_info", err, made, info);
}

/* Compares the keys that are known: their values must be the library's. */
static int compare_abi(const struct hl_info *theirs, const struct hl_info *ours)
{
    char key[MPI_MAX_INFO_KEY], mine[32], value[32];
    int len, err = 0;

    for (int i = 0; err == 0 && i < hl_info_count(ours); i++) {
        err = hl_info_nth(ours, i, key);
        if (err == 0 && hl_info_get(ours, key, mine, sizeof mine, &len) &&
            hl_info_hint(theirs, key, value, sizeof value, &len) && strcmp(mine, value) != 0) {
            err = hl_err_say(HL_ERR_ABI, "%s=%s: the datatypes of this library have %s", key, value, mine);
        }
    }
    return err;
}

HL_API(MPI_Abi_set_fortran_info);
int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    struct hl_info *theirs, *ours = NULL;
    int err = hl_api_get_info(info, &theirs);

    err = err == 0 ? hl_info_make(&ours) : err;
    err = err == 0 ? fill_fortran(ours) : err;
    err = err == 0 ? compare_abi(theirs, ours) : err;
    hl_info_free(ours);
    return hl_api_end(NULL, "MPI_Abi_set_fortran_info", err);
}

/* Writes 0 or 1, the values that logical operations give, as a logical of `size` bytes. */
static int put_logical(int size, void *out, int value)
{
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
        return hl_err_say(HL_ERR_ABI, "logical_size is %d: logicals have 1, 2, 4, 8 or 16 bytes", size);
    }
    memset(out, 0, (size_t)size);
    *(unsigned char *)out = (unsigned char)value; /* the low byte comes first */
    return 0;
}

HL_API(MPI_Abi_get_fortran_booleans);
int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
    int err = hl_api_check_out(is_set, "is_set");

    err = err == 0 ? hl_api_check_out(logical_true, "logical_true") : err;
    err = err == 0 ? hl_api_check_out(logical_false, "logical_false") : err;
    err = err == 0 ? put_logical(logical_size, logical_true, 1) : err;
    err = err == 0 ? put_logical(logical_size, logical_false, 0) : err;
    if (err == 0) {
        *is_set = 1;
    }
    return hl_api_end(NULL, "MPI_Abi_get_fortran_booleans", err);
}

HL_API(MPI_Abi_set_fortran_booleans);
int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    unsigned char yes[16], no[16];
    int err = hl_api_check_out(logical_true, "logical_true");

    err = err == 0 ? hl_api_check_out(logical_false, "logical_false") : err;
    err = err == 0 ? put_logical(logical_size, yes, 1) : err;
    err = err == 0 ? put_logical(logical_size, no, 0) : err;
    if (err == 0 && (memcmp(yes, logical_true, (size_t)logical_size) != 0 ||
                     memcmp(no, logical_false, (size_t)logical_size) != 0)) {
        err = hl_err_say(HL_ERR_ABI, "the values differ from those that logical operations of this library "
                                     "give: 1 for true, 0 for false");
    }
    return hl_api_end(NULL, "MPI_Abi_set_fortran_booleans", err);
}
