/* Copies that stand in for sections of arrays. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "section.h"

bool hl_fort_is_dense(const struct hl_fort_array *a)
{
    intptr_t step = (intptr_t)a->elem_len;

    if (a->addr == NULL) {
        return true; /* not allocated */
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i].extent == 0) {
            return true;
        }
    }
    for (int i = 0; i < a->rank && a->dim[i].extent != -1; i++) {
        if (a->dim[i].extent != 1 && a->dim[i].step != step) {
            return false;
        }
        step *= a->dim[i].extent;
    }
    return true;
}

enum direction { TO_COPY, TO_SECTION };

/* Copies n bytes of an element. What goes to the section goes only where `before` differs from the copy. */
static void copy_bytes(const struct hl_fort_copy *copy, char *memory, char *at, size_t n,
                       enum direction direction)
{
    if (direction == TO_COPY) {
        memcpy(memory, at, n);
        return;
    }
    const char *before = copy->before + (memory - copy->memory);
    for (size_t i = 0; memcmp(memory, before, n) != 0 && i < n; i++) {
        if (memory[i] != before[i]) {
            at[i] = memory[i];
        }
    }
}

/* Copies the elements below dimension `rank` that begin at `at`; returns the place in the copy behind them. */
static char *copy_elements(const struct hl_fort_copy *copy, char *memory, char *at, int rank,
                           enum direction direction)
{
    if (rank == 0) {
        copy_bytes(copy, memory, at, copy->elem_len, direction);
        return memory + copy->elem_len;
    }
    for (intptr_t i = 0; i < copy->dim[rank - 1].extent; i++) {
        memory = copy_elements(copy, memory, at + i * copy->dim[rank - 1].step, rank - 1, direction);
    }
    return memory;
}

void hl_fort_copy_again(struct hl_fort_copy *copy)
{
    if (copy->memory != NULL) {
        copy_elements(copy, copy->memory, copy->first, copy->rank, TO_COPY);
        if (copy->before != NULL) {
            memcpy(copy->before, copy->memory, copy->len);
        }
    }
}

static void write_section(const struct hl_fort_copy *copy)
{
    if (copy->before != NULL) {
        copy_elements(copy, copy->memory, copy->first, copy->rank, TO_SECTION);
    }
}

void hl_fort_copy_back(struct hl_fort_copy *copy)
{
    write_section(copy);
    if (copy->before != NULL) { /* the section is the program's now: it does not get the same once more */
        memcpy(copy->before, copy->memory, copy->len);
    }
}

int hl_fort_copy_begin(struct hl_fort_copy *copy, const struct hl_fort_array *a, enum hl_fort_use use,
                       const char *func)
{
    *copy = (struct hl_fort_copy){.addr = hl_fort_buffer(a->addr), .first = a->addr};
    if (hl_fort_is_dense(a)) {
        return MPI_SUCCESS;
    }
    copy->elem_len = a->elem_len;
    copy->rank = a->rank;
    memcpy(copy->dim, a->dim, sizeof a->dim[0] * (size_t)a->rank);
    copy->len = a->elem_len;
    for (int i = 0; i < a->rank; i++) {
        copy->len *= (size_t)a->dim[i].extent;
    }
    copy->memory = malloc(copy->len + 1); /* an array may be of empty texts */
    copy->before = use == HL_FORT_WRITTEN && copy->memory != NULL ? malloc(copy->len + 1) : NULL;
    if (copy->memory == NULL || (use == HL_FORT_WRITTEN && copy->before == NULL)) {
        free(copy->memory);
        copy->memory = NULL;
        return hl_fort_fail(func, MPI_ERR_NO_MEM, "there is no memory for a copy of the section of an array");
    }
    copy->addr = copy->memory;
    hl_fort_copy_again(copy);
    return MPI_SUCCESS;
}

int hl_fort_copy_divide(struct hl_fort_copy *copy, int partitions, MPI_Count count, MPI_Datatype type,
                        const char *func)
{
    MPI_Count lb, extent, true_lb, true_extent, all;

    if (copy->memory == NULL || partitions <= 0 || count <= 0) {
        return MPI_SUCCESS; /* MPI's function judges them */
    }
    int rc = PMPI_Type_get_extent_c(type, &lb, &extent);
    rc = rc == MPI_SUCCESS ? PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (true_lb < 0 || true_lb + true_extent > extent) {
        return hl_fort_fail(
            func, MPI_ERR_TYPE,
            "partitions of an array section need a datatype whose items do not reach into their neighbors");
    }
    if (__builtin_mul_overflow(count, extent, &all) || __builtin_mul_overflow(all, partitions, &all) ||
        all > (MPI_Count)copy->len) {
        return hl_fort_fail(
            func, MPI_ERR_COUNT,
            "partitions, count and datatype ask for more data than the section of the array has");
    }
    copy->part_len = (size_t)(count * extent);
    copy->parts = (size_t)partitions;
    return MPI_SUCCESS;
}

static void copy_range(const struct hl_fort_copy *copy, size_t from, size_t end, enum direction direction)
{
    while (from < end) {
        size_t element = from / copy->elem_len, within = from % copy->elem_len;
        size_t n = copy->elem_len - within < end - from ? copy->elem_len - within : end - from;
        char *at = (char *)copy->first + within;
        for (int i = 0; i < copy->rank; i++) {
            at += (intptr_t)(element % (size_t)copy->dim[i].extent) * copy->dim[i].step;
            element /= (size_t)copy->dim[i].extent;
        }
        copy_bytes(copy, copy->memory + from, at, n, direction);
        from += n;
    }
}

/* The bytes of the copy that are partitions first to last, as far as there are such: whether any are. */
static bool find_parts(const struct hl_fort_copy *copy, int first, int last, size_t *from, size_t *end)
{
    size_t begin = first > 0 ? (size_t)first : 0, behind = last >= 0 ? (size_t)last + 1 : 0;

    *from = begin * copy->part_len;
    *end = (behind < copy->parts ? behind : copy->parts) * copy->part_len;
    return *from < *end;
}

void hl_fort_copy_parts(struct hl_fort_copy *copy, int first, int last)
{
    size_t from, end;

    if (find_parts(copy, first, last, &from, &end)) {
        copy_range(copy, from, end, TO_COPY);
    }
}

void hl_fort_copy_part_back(struct hl_fort_copy *copy, int partition)
{
    size_t from, end;

    if (copy->before != NULL && find_parts(copy, partition, partition, &from, &end)) {
        copy_range(copy, from, end, TO_SECTION);
        /* The section is the program's now: it does not get the same once more. */
        memcpy(copy->before + from, copy->memory + from, end - from);
    }
}

void hl_fort_copy_end(struct hl_fort_copy *copy)
{
    write_section(copy);
    free(copy->before);
    free(copy->memory);
    copy->before = copy->memory = NULL;
}
