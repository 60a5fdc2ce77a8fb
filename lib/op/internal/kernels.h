/* Inside the module: the table of kernels, the loops that combine elements. */
#ifndef HL_KERNELS_H
#define HL_KERNELS_H

#include "op.h"

#include <stddef.h>
#include <stdint.h>

/* The kernel of an operation for a type; NULL where MPI does not define it. */
extern hl_op_fn *const hl_op_kernels[HL_OP_KINDS][HL_BASICS];

/* Kernels for 16-bit reals, which have 2 bytes, and complex numbers of two of them (half.c). */
void hl_half_sum(void *inout, const void *in, size_t n);
void hl_half_prod(void *inout, const void *in, size_t n);
void hl_half_min(void *inout, const void *in, size_t n);
void hl_half_max(void *inout, const void *in, size_t n);
void hl_half_sum_complex(void *inout, const void *in, size_t n);
void hl_half_prod_complex(void *inout, const void *in, size_t n);

/* Converts a 16-bit real to a float, which is exact, and back, rounded to the nearest, ties to even. */
float hl_half_widen(uint16_t h);
uint16_t hl_half_round(float f);

#endif
