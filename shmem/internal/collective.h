/* What the collective operations of teams and of active sets share: moving data between two meetings
 * (tree.h). */
#ifndef HL_COLLECTIVE_H
#define HL_COLLECTIVE_H

#include <stddef.h>

#include "op.h"
#include "tree.h"

/* The symmetric objects of a call, with the bytes that my part of the call touches. */
struct hl_call_objects {
    void *dest;
    size_t dest_len;
    const void *source;
    size_t source_len;
};

/* Ends the program when an object of more than 0 bytes is not symmetric. */
void hl_collective_check(const struct hl_call *c, const struct hl_call_objects *p);

/* Each of the operations below returns when this PE's part is done and its source may change. */

/* Copies the root's source to dest of all members, of the root only when `root_too`. */
struct hl_cast {
    void *dest;
    const void *source;
    size_t bytes;
    int root; /* member */
    bool root_too;
};
void hl_broadcast(const struct hl_call *c, const struct hl_cast *b);

/* Concatenates the sources of all members in rank order in every dest. `bytes`: mine; `same`: all bring as
 * many. */
void hl_collect(const struct hl_call *c, void *dest, const void *source, size_t bytes, bool same);

/* Blocks of n elements of `size` bytes, taken and left at strides counted in elements. */
struct hl_strided {
    void *dest;
    const void *source;
    ptrdiff_t dst, sst;
    size_t n, size;
};
void hl_alltoall_check(const struct hl_call *c, const struct hl_strided *b);
void hl_alltoall(const struct hl_call *c, const struct hl_strided *b);

/* Combines the sources element by element in rank order: all of them, with the same bits in every dest (ALL),
 * those up to mine (IN), or those before mine (EX; zeros where there are none). dest may be source. */
enum hl_fold_what { HL_FOLD_ALL, HL_FOLD_IN, HL_FOLD_EX };
struct hl_shmem_fold {
    enum hl_fold_what what;
    enum hl_op_kind op;
    enum hl_basic basic;
    size_t size; /* bytes of an element */
    void *dest;
    const void *source;
    size_t n;
};
HL_INLINE unsigned hl_fold_detail(const struct hl_shmem_fold *f)
{
    return (unsigned)f->what << 14 | (unsigned)f->op << 8 | (unsigned)f->basic;
}
void hl_fold(const struct hl_call *c, const struct hl_shmem_fold *f);

/* The basic type of a C type. */
/* clang-format off */
#define HL_BASIC_OF(T)                                                                                       \
    _Generic((T){0},                                                                                         \
        char: (char)-1 < 0 ? HL_BASIC_I8 : HL_BASIC_U8,                                                      \
        signed char: HL_BASIC_I8,                                                                            \
        short: HL_BASIC_I16,                                                                                 \
        int: HL_BASIC_I32,                                                                                   \
        long: sizeof(long) == 8 ? HL_BASIC_I64 : HL_BASIC_I32,                                               \
        long long: HL_BASIC_I64,                                                                             \
        unsigned char: HL_BASIC_U8,                                                                          \
        unsigned short: HL_BASIC_U16,                                                                        \
        unsigned int: HL_BASIC_U32,                                                                          \
        unsigned long: sizeof(long) == 8 ? HL_BASIC_U64 : HL_BASIC_U32,                                      \
        unsigned long long: HL_BASIC_U64,                                                                    \
        float: HL_BASIC_F32,                                                                                 \
        double: HL_BASIC_F64,                                                                                \
        long double: HL_BASIC_LDOUBLE,                                                                       \
        float _Complex: HL_BASIC_C32,                                                                        \
        double _Complex: HL_BASIC_C64)
/* clang-format on */

#endif
