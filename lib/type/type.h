/* Datatypes: their bounds, what they consist of, packing, and walks over the memory they describe.
 * A type is never flattened: it is a tree of loops (loop.h), and spans are produced on demand. */
#ifndef HL_TYPE_H
#define HL_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "handle.h"
#include "op.h"

struct hl_loop;
struct hl_attr_set;
struct hl_type_args;

/* Read-only after commit, but for `refs`, `name` and `attrs`. Counts and bytes are 64 bits everywhere. */
struct hl_type {
    struct hl_handle h;
    MPI_Datatype handle;      /* what the user calls it: a constant or this address */
    int64_t size;             /* bytes of data in one element */
    int64_t lb, ub;           /* extent = ub - lb: the distance from one element to the next */
    int64_t true_lb, true_ub; /* true bounds: where the data begins and ends */
    int64_t elements;         /* basic elements in one element */
    uint32_t align;           /* largest alignment of a basic element */
    uint8_t basic;            /* enum hl_basic of all elements, or HL_BASIC_MIXED */
    hl_a8 committed;          /* atomic: 1: what commit writes is there */
    bool predefined;
    /* any number of elements is one block that starts at the buffer's address */
    bool dense;
    bool block;                    /* one element is one block, at true_lb */
    bool explicit_lb, explicit_ub; /* set by MPI_Type_create_resized; types made from it inherit them */
    hl_a32 refs;
    /* atomic: 1: operations under way pass the handle to users' functions, so it stays valid until they
     * end */
    hl_a8 shown;
    struct hl_loop *root; /* exact: knows every element's basic type */
    struct hl_loop *fast; /* after commit: neighbours merged, even of different basic types */
    /* arguments of the call that made it (envelope, contents); NULL if predefined */
    struct hl_type_args *args;
    const char *given;         /* a predefined type's own name, else NULL */
    char *name;                /* set by the user, or NULL; guarded by a lock in type.c */
    struct hl_attr_set *attrs; /* user attributes; the module that stores them owns them */
    struct hl_type *dead;      /* next type that is being destroyed, else NULL */
};

/* Predefined types have handles 0x200 to 0x2ff; unused numbers have size 0 and are not `committed`. */
extern struct hl_type hl_type_predefined[256];

/* What the fast paths ask about a type, by handle. hl_type_dense: bytes of a predefined type of which any
 * number is one block at the buffer's address. hl_type_word: bytes of an integer type of 4 or 8 bytes. 0 for
 * all other types. */
#define HL_TYPE_PREDEFINED_END 0x300
extern const uint8_t hl_type_dense[HL_TYPE_PREDEFINED_END];
extern const uint8_t hl_type_word[HL_TYPE_PREDEFINED_END];

/* The type behind a handle, or NULL for MPI_DATATYPE_NULL, freed, foreign and garbage values. The type is not
 * necessarily committed. Any thread, no lock. */
HL_INLINE struct hl_type *hl_type_of(MPI_Datatype handle)
{
    uintptr_t at = (uintptr_t)handle - 0x200;
    if (HL_LIKELY(at < 256)) {
        return hl_type_predefined[at].committed.v != 0 ? &hl_type_predefined[at] : NULL;
    }
    if ((uintptr_t)handle < 0x1000) {
        return NULL;
    }
    return hl_handle_get(handle, HL_KIND_TYPE);
}

/* May the type be communicated? */
HL_INLINE bool hl_type_is_committed(const struct hl_type *t)
{
    return hl_a8_load_acquire(&t->committed) != 0; /* acquire: pairs with the release in hl_type_commit. */
}

/* The predefined type behind a handle, which is committed; or NULL. */
HL_INLINE struct hl_type *hl_type_predefined_of(MPI_Datatype handle)
{
    uintptr_t at = (uintptr_t)handle - 0x200;
    return HL_LIKELY(at < 256 && hl_type_predefined[at].committed.v != 0) ? &hl_type_predefined[at] : NULL;
}

HL_INLINE int64_t hl_type_extent(const struct hl_type *t)
{
    return t->ub - t->lb;
}

/* Takes a reference for an operation that outlives the call. Predefined types are not counted. */
HL_INLINE void hl_type_ref(struct hl_type *t)
{
    if (!t->predefined) {
        hl_refs_add(&t->refs);
    }
}

/* Gives a reference back; the last one destroys the type. */
void hl_type_unref(struct hl_type *t);

/* Takes a reference for a reduction under way, whose user function may use the handle after the user has
 * freed it. */
void hl_type_ref_shown(struct hl_type *t);

/* MPI_Type_free: the handle becomes invalid now (if a reduction under way shows it, later, with the object);
 * the object is destroyed with its last reference. */
void hl_type_free(struct hl_type *t);

/* ---- Making types. All return 0 or HL_ERR_NO_MEM, HL_ERR_ARG, HL_ERR_COUNT, HL_ERR_VALUE_TOO_LARGE,
 * HL_ERR_TYPE (nested too deep); *made is a new uncommitted type with one reference, for the caller. The old
 * types may be freed afterwards. ---- */

/* MPI_Type_contiguous. */
int hl_type_make_contiguous(int64_t count, const struct hl_type *old, struct hl_type **made);

/* in_bytes: the stride (or the displacements) count bytes, else extents of `old`. */
int hl_type_make_vector(int64_t count, int64_t blocklen, int64_t stride, bool in_bytes,
                        const struct hl_type *old, struct hl_type **made);

/* lens NULL: every block has `blocklen` elements. */
int hl_type_make_indexed(int64_t count, const int64_t *lens, int64_t blocklen, const int64_t *displs,
                         bool in_bytes, const struct hl_type *old, struct hl_type **made);

/* MPI_Type_create_struct, MPI_Type_create_resized. */
int hl_type_make_struct(int64_t count, const int64_t *lens, const int64_t *displs,
                        struct hl_type *const types[], struct hl_type **made);
int hl_type_make_resized(const struct hl_type *old, int64_t lb, int64_t extent, struct hl_type **made);

/* order: MPI_ORDER_C or MPI_ORDER_FORTRAN. HL_ERR_DIMS, too. */
struct hl_subarray {
    int ndims;
    const int64_t *sizes, *subsizes, *starts;
    int order;
};
int hl_type_make_subarray(const struct hl_subarray *a, const struct hl_type *old, struct hl_type **made);

/* One process's part of a distributed array: for each dimension its size, MPI_DISTRIBUTE_*, the argument of
 * the distribution, and the number of processes. Processes are numbered in C's order. HL_ERR_DIMS, too. */
struct hl_darray {
    int size, rank, ndims;
    const int64_t *sizes;
    const int *distribs, *args, *procs;
    int order;
};
int hl_type_make_darray(const struct hl_darray *a, const struct hl_type *old, struct hl_type **made);

/* Fortran's kinds: a type for numbers of at least p digits and exponents up to r; either may be
 * MPI_UNDEFINED. For integers p alone counts. Equal calls give the same type, which is never freed, is
 * committed and counts as predefined. class_: MPI_TYPECLASS_*. HL_ERR_ARG: there is none. */
int hl_type_make_f90(int class_, int p, int r, struct hl_type **made);

/* MPI_Type_dup: the copy is committed if the original is. */
int hl_type_make_dup(const struct hl_type *old, struct hl_type **made);

/* Prepares the type for communication; does nothing if it is committed. HL_ERR_NO_MEM. */
int hl_type_commit(struct hl_type *t);

/* Gets the user's name, else the predefined type's own, else "". Sets a new name, which is cut at
 * MPI_MAX_OBJECT_NAME - 1 bytes: HL_ERR_NO_MEM. */
void hl_type_get_name(const struct hl_type *t, char out[MPI_MAX_OBJECT_NAME]);
int hl_type_set_name(struct hl_type *t, const char *name);

/* ---- How a type was made ---- */

struct hl_type_args {
    int combiner; /* MPI_COMBINER_* */
    bool large;   /* made by a call with large counts: `counts` is used */
    int n_ints, n_addrs, n_counts, n_types;
    int *ints;
    int64_t *addrs, *counts;
    struct hl_type **types; /* each with a reference */
};

/* Stores a copy of `args` in a type just made. HL_ERR_NO_MEM. */
int hl_type_keep_args(struct hl_type *t, const struct hl_type_args *args);

/* ---- Bytes ---- */

/* Bytes of data in `count` elements; false if they do not fit 63 bits. */
bool hl_type_bytes(const struct hl_type *t, int64_t count, int64_t *bytes);

/* True if `count` elements at `buf` are one block of memory: then *start is its first byte. */
HL_INLINE bool hl_type_block(const struct hl_type *t, int64_t count, const void *buf, char **start);

/* Packs bytes [offset, offset + n) of the packed form of `count` elements at `buf` to `out`. `offset + n`
 * must not pass the end. 0, or HL_ERR_NO_MEM for trees that are nested deep. From here on all functions want
 * committed types. */
int hl_type_pack(const struct hl_type *t, int64_t count, const void *buf, int64_t offset, void *out,
                 int64_t n);

/* Unpacks `n` bytes to packed place `offset` of `count` elements at `buf`. Returns what hl_type_pack does. */
int hl_type_unpack(const struct hl_type *t, int64_t count, void *buf, int64_t offset, const void *in,
                   int64_t n);

/* Copies as many bytes as both have from one layout to the other, without packing all of it between. */
int hl_type_copy(const struct hl_type *to, int64_t to_count, void *to_buf, const struct hl_type *from,
                 int64_t from_count, const void *from_buf);

/* Packed bytes of the first `n` basic elements: the inverse of hl_type_elements. */
int64_t hl_type_element_bytes(const struct hl_type *t, int64_t n);

/* Number of basic elements in the first `bytes` packed bytes of as many elements of `t` as it takes; -1 when
 * the bytes end inside an element. (MPI_Get_elements) */
int64_t hl_type_elements(const struct hl_type *t, int64_t bytes);

/* ---- external32: big-endian, sizes by the standard's table. Any type, committed or not. ---- */

/* Bytes of `count` elements in external32. HL_ERR_VALUE_TOO_LARGE. */
int hl_type_external_bytes(const struct hl_type *t, int64_t count, int64_t *bytes);

/* Converts `count` elements to (pack) or from hl_type_external_bytes of memory. HL_ERR_CONVERSION: a value
 * does not fit; all others are converted. */
int hl_type_external(const struct hl_type *t, int64_t count, void *buf, void *external, bool pack);

/* Converts those basic elements of one element that are complete in the first `bytes` of external32 (a pair's
 * two numbers are two, a complex number is one). Returns the packed bytes that they are in memory. */
int64_t hl_type_external_part(const struct hl_type *t, void *buf, const void *external, int64_t bytes);

/* ---- Walks: the spans of memory of `count` elements at a buffer, in the order of packing ---- */

enum hl_walk {
    HL_WALK_BYTES, /* spans in bytes, without the padding of pairs */
    /* spans in basic elements of a type that has only one kind of them; not for HL_BASIC_MIXED */
    HL_WALK_ELEMENTS
};

/* `times` blocks of n units: at addr, addr + stride, ...; or, if disp is not NULL, at addr + disp[0], addr +
 * disp[1], ... */
struct hl_run {
    char *addr;
    int64_t n; /* bytes or elements of a block */
    int64_t stride, times;
    const int64_t *disp; /* the type's own array: valid as long as the type */
    const int64_t *lens; /* NULL, or each block's length in units of n (only inside the module) */
};

/* The byte `off` behind an address to use with a type. Where displacements are absolute, neither the address
 * nor the offset lies in an object, and their sum may pass 2^64, which C's pointers must not do. */
HL_INLINE char *hl_type_at(const void *buf, int64_t off)
{
    return (char *)((uintptr_t)buf + (uintptr_t)off);
}

/* The memory that `count` elements take: that many bytes from *low on, an offset from the address to use with
 * the type. *low is a multiple of 64, so that in memory aligned to 64 bytes an element is aligned as it is in
 * an array, whatever byte its data begin at. */
int64_t hl_type_reach(const struct hl_type *t, int64_t count, int64_t *low);

/* Where block i of a run begins. */
HL_INLINE char *hl_run_block(const struct hl_run *r, int64_t i)
{
    return hl_type_at(r->addr, r->disp != NULL ? r->disp[i] : i * r->stride);
}

/* A place in the tree. Private. */
struct hl_walk_frame {
    const struct hl_loop *loop;
    char *base;
    int64_t i, j;
};

#define HL_WALK_DEPTH 6

struct hl_type_cursor {
    struct hl_run run; /* rest of the current run; times == 0: fetch the next one */
    int64_t head;      /* bytes or elements of the run's first block that are consumed */
    int64_t rows;      /* number of next runs that are like `row`, each row_stride behind the one before */
    int64_t row_stride;
    struct hl_run row;
    enum hl_walk walk;
    int64_t count, extent; /* elements not begun; their distance */
    char *next;            /* address of the next one */
    const struct hl_loop *root;
    size_t unit;        /* bytes of memory of one unit of n */
    size_t packed_unit; /* bytes of a packed unit */
    int depth;
    struct hl_walk_frame *frames; /* `local`, or allocated for deep trees */
    struct hl_walk_frame local[HL_WALK_DEPTH];
};

/* Starts a walk at packed byte `offset` (for HL_WALK_ELEMENTS a multiple of the element's size). The cursor
 * belongs to the caller, who ends it by hl_type_cursor_fini. 0 or HL_ERR_NO_MEM. */
int hl_type_cursor_init(struct hl_type_cursor *c, enum hl_walk walk, const struct hl_type *t, int64_t count,
                        const void *buf, int64_t offset);
void hl_type_cursor_fini(struct hl_type_cursor *c);

/* The next contiguous span, at most `max` bytes or elements: returns their number and sets *addr; 0 at the
 * end. */
int64_t hl_type_cursor_next(struct hl_type_cursor *c, int64_t max, char **addr);

/* The next run of equal blocks, at most `max` bytes or elements in all; false at the end. */
bool hl_type_cursor_run(struct hl_type_cursor *c, int64_t max, struct hl_run *run);

/* Bytes or elements that follow at the walk's place without a gap; 0 at the end. */
int64_t hl_type_cursor_span(struct hl_type_cursor *c);

/* Copies the next `max` bytes or elements, or as many as are left, to `packed` (pack) or from it; returns how
 * many. Packed elements stand at the distance of their extent, and their padding is not written. A block of
 * 1, 2, 4 or 8 bytes at a multiple of that is copied by one access. */
int64_t hl_type_cursor_pack(struct hl_type_cursor *c, char *packed, int64_t max, bool pack);

/* Copies from one walk to the other, both of bytes, until either ends. */
void hl_type_cursor_copy(struct hl_type_cursor *to, struct hl_type_cursor *from);

/* The longest span, at most `max`, that is contiguous on both sides; 0 when either ends. Both walks must be
 * of one kind. */
int64_t hl_type_cursor_common(struct hl_type_cursor *a, struct hl_type_cursor *b, int64_t max, char **at_a,
                              char **at_b);

/* True if a buffer is missing. NULL is MPI_BOTTOM, which is right for data at absolute addresses; but data of
 * a predefined type, or of a dense type that is not empty, begins at the buffer's address. */
HL_INLINE bool hl_type_lacks_buffer(const struct hl_type *t, const void *buf)
{
    return buf == NULL && (t->predefined || (t->dense && t->size > 0));
}

HL_INLINE bool hl_type_block(const struct hl_type *t, int64_t count, const void *buf, char **start)
{
    if (HL_LIKELY(t->dense)) {
        *start = (char *)(uintptr_t)buf;
        return true;
    }
    if (count == 1 && t->block) {
        *start = hl_type_at(buf, t->true_lb);
        return true;
    }
    return false;
}

#endif
