/* What the Fortran compiler makes of Fortran, and whether MPI and this library go with it. */
#include "facts.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

/* Of facts.f90. */
int hl_fort_tell_facts(struct hl_fort_facts *facts);
int hl_fort_descriptor_is(const struct hl_fort_array *array);

#define FACT(key, field)                                                                                     \
    {                                                                                                        \
        key, offsetof(struct hl_fort_facts, field)                                                           \
    }

/* The keys of MPI_Abi_get_fortran_info. */
static const struct {
    const char *key;
    size_t at; /* of an int in struct hl_fort_facts */
} sizes[] = {FACT("mpi_logical_size", logical_size), FACT("mpi_integer_size", integer_size),
             FACT("mpi_real_size", real_size), FACT("mpi_double_precision_size", double_precision_size)},
  kinds[] = {FACT("mpi_logical1_supported", logicals[0]),   FACT("mpi_logical2_supported", logicals[1]),
             FACT("mpi_logical4_supported", logicals[2]),   FACT("mpi_logical8_supported", logicals[3]),
             FACT("mpi_logical16_supported", logicals[4]),  FACT("mpi_integer1_supported", integers[0]),
             FACT("mpi_integer2_supported", integers[1]),   FACT("mpi_integer4_supported", integers[2]),
             FACT("mpi_integer8_supported", integers[3]),   FACT("mpi_integer16_supported", integers[4]),
             FACT("mpi_real2_supported", reals[0]),         FACT("mpi_real4_supported", reals[1]),
             FACT("mpi_real8_supported", reals[2]),         FACT("mpi_real16_supported", reals[3]),
             FACT("mpi_complex4_supported", reals[0]),      FACT("mpi_complex8_supported", reals[1]),
             FACT("mpi_complex16_supported", reals[2]),     FACT("mpi_complex32_supported", reals[3]),
             FACT("mpi_double_complex_supported", reals[2])};

enum { SIZES = sizeof sizes / sizeof sizes[0], KINDS = sizeof kinds / sizeof kinds[0] };

static int fact_at(const struct hl_fort_facts *facts, size_t at)
{
    int value;

    memcpy(&value, (const char *)facts + at, sizeof value);
    return value;
}

/* array(2:6:2, 5:1:-1) of a DOUBLE PRECISION array(7, 5), whose first element is 42. */
int hl_fort_descriptor_is(const struct hl_fort_array *array)
{
    ptrdiff_t size = sizeof(double);

    return array->rank == 2 && array->elem_len == sizeof(double) && array->dim[0].extent == 3 &&
           array->dim[0].step == 2 * size && array->dim[1].extent == 5 && array->dim[1].step == -7 * size &&
           *(double *)array->addr == 42;
}

/* Whether Fortran and C of this library were compiled to go together. */
static bool is_usable(const struct hl_fort_facts *facts, int agreed)
{
    if (facts->integer_size != sizeof(int) || facts->logical_size != sizeof(int)) {
        fprintf(stderr,
                "MPI for Fortran: the default INTEGER has %d bytes and LOGICAL has %d, MPI's have %zu; "
                "compile without "
                "options like -fdefault-integer-8 or -i8 and declare INTEGER(KIND=8) where it is wanted\n",
                facts->integer_size, facts->logical_size, sizeof(int));
        return false;
    }
    if (!agreed) {
        fprintf(
            stderr,
            "MPI for Fortran: the Fortran compiler that libmpifort_abi was built with describes arrays in a "
            "way that it does not know; build it with gfortran, or with flang from 20.1 on\n");
        return false;
    }
    return true;
}

/* Whether MPI's datatypes have the sizes of Fortran's types. */
static bool has_sizes(const struct hl_fort_facts *facts, MPI_Info info)
{
    bool good = true;

    for (int i = 0; i < SIZES; i++) {
        char value[16];
        int len = sizeof value, found = 0, own = fact_at(facts, sizes[i].at);

        if (PMPI_Info_get_string(info, sizes[i].key, &len, value, &found) == MPI_SUCCESS && found &&
            atoi(value) != own) {
            fprintf(stderr,
                    "MPI for Fortran: %s is %d by the Fortran compiler and %s by the MPI library; compile "
                    "without "
                    "options that change the size of default types (-fdefault-real-8, -r8), or set the "
                    "library's\n",
                    sizes[i].key, own, value);
            good = false;
        }
    }
    return good;
}

static int set_facts(const struct hl_fort_facts *facts, MPI_Info info)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; rc == MPI_SUCCESS && i < SIZES; i++) {
        char value[16];

        snprintf(value, sizeof value, "%d", fact_at(facts, sizes[i].at));
        rc = PMPI_Info_set(info, sizes[i].key, value);
    }
    for (int i = 0; rc == MPI_SUCCESS && i < KINDS; i++) {
        rc = PMPI_Info_set(info, kinds[i].key, fact_at(facts, kinds[i].at) ? "true" : "false");
    }
    return rc;
}

/* Tells a library that does not know Fortran yet. */
static int tell_library(const struct hl_fort_facts *facts)
{
    MPI_Info info;
    int yes = hl_fort_true, no = hl_fort_false;
    int rc = PMPI_Info_create(&info);

    if (rc == MPI_SUCCESS) {
        rc = set_facts(facts, info);
        rc = rc == MPI_SUCCESS ? PMPI_Abi_set_fortran_info(info) : rc;
        PMPI_Info_free(&info);
    }
    return rc == MPI_SUCCESS ? PMPI_Abi_set_fortran_booleans(facts->logical_size, &yes, &no) : rc;
}

int hl_fort_begin(void)
{
    struct hl_fort_facts facts;

    return is_usable(&facts, hl_fort_tell_facts(&facts)) ? MPI_SUCCESS : MPI_ERR_ABI;
}

int hl_fort_begun(void)
{
    struct hl_fort_facts facts;
    MPI_Info info = MPI_INFO_NULL;

    hl_fort_tell_facts(&facts);
    int rc = PMPI_Abi_get_fortran_info(&info);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (info == MPI_INFO_NULL) {
        return tell_library(&facts);
    }
    rc = has_sizes(&facts, info) ? MPI_SUCCESS : MPI_ERR_ABI;
    PMPI_Info_free(&info);
    return rc;
}

void hl_fort_begin_or_exit(void)
{
    if (hl_fort_begin() != MPI_SUCCESS) {
        exit(EXIT_FAILURE);
    }
}

void hl_fort_begun_or_abort(void)
{
    if (hl_fort_begun() != MPI_SUCCESS) {
        PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int hl_fort_correct_info(MPI_Info info)
{
    struct hl_fort_facts facts;
    int rc = MPI_SUCCESS;

    if (!hl_fort_tell_facts(&facts)) {
        return MPI_ERR_ABI;
    }
    for (int i = 0; rc == MPI_SUCCESS && i < KINDS; i++) {
        if (!fact_at(&facts, kinds[i].at)) {
            rc = PMPI_Info_set(info, kinds[i].key, "false");
        }
    }
    return rc;
}
