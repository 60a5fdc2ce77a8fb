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

/* Copies the elements below dimension `rank` that begin at `at`; returns the place in the copy behind them.
 * What goes to the section goes only where `before` differs from the copy. */
static char *copy_elements(const struct hl_fort_copy *copy, char *memory, char *at, int rank,
                           enum direction direction)
{
    if (rank == 0) {
        if (direction == TO_COPY) {
            memcpy(memory, at, copy->elem_len);
        } else {
            const char *before = copy->before + (memory - copy->memory);
            for (size_t i = 0; memcmp(memory, before, copy->elem_len) != 0 && i < copy->elem_len; i++) {
                if (memory[i] != before[i]) {
                    at[i] = memory[i];
                }
            }
        }
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

void hl_fort_copy_back(struct hl_fort_copy *copy)
{
    if (copy->before != NULL) {
        copy_elements(copy, copy->memory, copy->first, copy->rank, TO_SECTION);
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

void hl_fort_copy_end(struct hl_fort_copy *copy)
{
    hl_fort_copy_back(copy);
    free(copy->before);
    free(copy->memory);
    copy->before = copy->memory = NULL;
}
