/* The tables of basic types and operations. */
#include "op.h"

#include "kernels.h"

static const struct {
    const char *name;
    uint8_t size, extent;
} basics[HL_BASICS] = {
#define X(name, size, extent) {#name, size, extent},
    HL_BASIC_ROWS(X)
#undef X
};

/* One row for each kind: name, value of its predefined handle (tests/abi compares it with mpi.h). */
#define OP_ROWS(X)                                                                                           \
    X(SUM, 0x21)                                                                                             \
    X(PROD, 0x24)                                                                                            \
    X(MIN, 0x22)                                                                                             \
    X(MAX, 0x23)                                                                                             \
    X(BAND, 0x28)                                                                                            \
    X(BOR, 0x29)                                                                                             \
    X(BXOR, 0x2a)                                                                                            \
    X(LAND, 0x30)                                                                                            \
    X(LOR, 0x31)                                                                                             \
    X(LXOR, 0x32)                                                                                            \
    X(MINLOC, 0x38)                                                                                          \
    X(MAXLOC, 0x39)                                                                                          \
    X(REPLACE, 0x3c)                                                                                         \
    X(NO_OP, 0x3d)

static const char *const kind_names[HL_OP_KINDS] = {
#define X(kind, handle) [HL_OP_##kind] = "MPI_" #kind,
    OP_ROWS(X)
#undef X
};

/* Kinds by predefined handle, which are 0x20 to 0x3f: kind + 1 at handle - 0x20; 0: no such handle. */
static const uint8_t kind_by_handle[32] = {
#define X(kind, handle) [handle - 0x20] = HL_OP_##kind + 1,
    OP_ROWS(X)
#undef X
};

size_t hl_op_size(enum hl_basic basic)
{
    return basics[basic].size;
}

size_t hl_op_extent(enum hl_basic basic)
{
    return basics[basic].extent;
}

size_t hl_op_span(enum hl_basic basic, size_t n)
{
    size_t size = basics[basic].size, extent = basics[basic].extent;
    /* The second part of a padded pair is an int at the middle of the extent. */
    return (n - 1) * extent + (size != extent ? extent / 2 + sizeof(int) : size);
}

const char *hl_op_basic_name(enum hl_basic basic)
{
    return basic < HL_BASICS ? basics[basic].name : "mixed";
}

const char *hl_op_basic_words(enum hl_basic basic)
{
    static const char *const words[HL_BASICS] = {
        [HL_BASIC_BYTE] = "bytes",
        [HL_BASIC_WCHAR] = "wide characters",
        [HL_BASIC_I8] = "8-bit integers",
        [HL_BASIC_I16] = "16-bit integers",
        [HL_BASIC_I32] = "32-bit integers",
        [HL_BASIC_I64] = "64-bit integers",
        [HL_BASIC_I128] = "128-bit integers",
        [HL_BASIC_U8] = "8-bit unsigned integers",
        [HL_BASIC_U16] = "16-bit unsigned integers",
        [HL_BASIC_U32] = "32-bit unsigned integers",
        [HL_BASIC_U64] = "64-bit unsigned integers",
        [HL_BASIC_BOOL] = "truth values",
        [HL_BASIC_F16] = "16-bit reals",
        [HL_BASIC_F32] = "32-bit reals",
        [HL_BASIC_F64] = "64-bit reals",
        [HL_BASIC_LDOUBLE] = "long doubles",
        [HL_BASIC_F128] = "128-bit reals",
        [HL_BASIC_C16] = "complex numbers of 16-bit reals",
        [HL_BASIC_C32] = "complex numbers of 32-bit reals",
        [HL_BASIC_C64] = "complex numbers of 64-bit reals",
        [HL_BASIC_CLDOUBLE] = "complex numbers of long doubles",
    };
    return basic < HL_BASICS && words[basic] != NULL ? words[basic] : hl_op_basic_name(basic);
}

const char *hl_op_kind_name(enum hl_op_kind kind)
{
    return kind < HL_OP_KINDS ? kind_names[kind] : "unknown operation";
}

bool hl_op_is_pair(enum hl_basic basic)
{
    return basic >= HL_BASIC_FLOAT_INT && basic < HL_BASICS;
}

enum hl_op_kind hl_op_kind_of(MPI_Op op)
{
    uintptr_t at = (uintptr_t)op - 0x20;

    if (at >= sizeof kind_by_handle || kind_by_handle[at] == 0) {
        return HL_OP_KINDS;
    }
    return (enum hl_op_kind)(kind_by_handle[at] - 1);
}

hl_op_fn *hl_op_kernel(enum hl_op_kind kind, enum hl_basic basic)
{
    if ((unsigned)kind >= HL_OP_KINDS || (unsigned)basic >= HL_BASICS) {
        return NULL;
    }
    return hl_op_kernels[kind][basic];
}
