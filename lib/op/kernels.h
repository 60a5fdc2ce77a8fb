/* Inside the module: the table of kernels. */
#ifndef HL_KERNELS_H
#define HL_KERNELS_H

#include "op.h"

/* NULL where the standard defines nothing. */
extern hl_op_fn *const hl_op_kernels[HL_OP_KINDS][HL_BASICS];

#endif
