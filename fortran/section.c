/* Sections of arrays as datatypes, for MPI libraries that do not take sections themselves.
 *
 * `count` items of a datatype without holes are so many bytes; they are the section's first elements, and a
 * part of one more if they do not fill it. Elements become a type for each dimension, from the innermost out;
 * what does not fill a dimension is added behind. A datatype with holes is first turned into the list of the
 * bytes that it names. */
#include "section.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

enum { SHAPES = 64, PREDEFINED = 0x1000 };

/* What a datatype was made from. */
struct hl_fort_shape {
    size_t elem_len;
    int rank;
    struct hl_fort_dim dim[HL_FORT_RANKS];
    MPI_Count count;
    MPI_Datatype given, made;
    unsigned users; /* calls under way */
};

/* Types of the last shapes, found by a number made of the shape: the one of a place that is taken by another
 * shape goes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hl_fort_shape *shapes[SHAPES]; /* guarded by lock; users too */

static size_t place_of(const struct hl_fort_shape *shape)
{
    size_t number = shape->elem_len * 31 + (size_t)shape->count * 17 + (size_t)(uintptr_t)shape->given;

    for (int i = 0; i < shape->rank; i++) {
        number = number * 131 + (size_t)shape->dim[i].extent * 7 + (size_t)shape->dim[i].step;
    }
    return (number ^ number >> 17) % SHAPES;
}

static bool is_same(const struct hl_fort_shape *a, const struct hl_fort_shape *b)
{
    bool same =
        a->elem_len == b->elem_len && a->rank == b->rank && a->count == b->count && a->given == b->given;

    for (int i = 0; same && i < a->rank; i++) {
        same = a->dim[i].extent == b->dim[i].extent && a->dim[i].step == b->dim[i].step;
    }
    return same;
}

static void drop_shape(struct hl_fort_shape *shape)
{
    PMPI_Type_free(&shape->made);
    free(shape);
}

/* The first n elements below dimension `rank`, as a type at the address of the first one. */
static int make_elements(const struct hl_fort_shape *shape, int rank, MPI_Count n, MPI_Datatype element,
                         MPI_Datatype *made)
{
    if (rank == 0) {
        return PMPI_Type_dup(element, made);
    }
    const struct hl_fort_dim *dim = &shape->dim[rank - 1];
    MPI_Count inner = 1;
    for (int i = 0; i < rank - 1; i++) {
        inner *= shape->dim[i].extent;
    }
    const MPI_Count whole = n / inner, rest = n % inner;
    MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, column = MPI_DATATYPE_NULL;
    int rc = make_elements(shape, rank - 1, whole > 0 ? inner : rest, element, &column);
    if (rc == MPI_SUCCESS && whole == 0) {
        *made = column;
        return rc;
    }
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Type_create_hvector_c(whole, 1, dim->step, column, rest > 0 ? &part[0] : made);
        PMPI_Type_free(&column);
    }
    if (rc == MPI_SUCCESS && rest > 0) {
        rc = make_elements(shape, rank - 1, rest, element, &part[1]);
        if (rc == MPI_SUCCESS) {
            const MPI_Count lengths[2] = {1, 1}, places[2] = {0, whole * dim->step};
            rc = PMPI_Type_create_struct_c(2, lengths, places, part, made);
            PMPI_Type_free(&part[1]);
        }
        PMPI_Type_free(&part[0]);
    }
    return rc;
}

/* Where in the section byte `at` of the elements' sequence lies. */
static MPI_Count place_in_section(const struct hl_fort_shape *shape, MPI_Count at)
{
    MPI_Count element = at / (MPI_Count)shape->elem_len, place = at % (MPI_Count)shape->elem_len;

    for (int i = 0; i < shape->rank; i++) {
        place += element % shape->dim[i].extent * shape->dim[i].step;
        element /= shape->dim[i].extent;
    }
    return place;
}

/* A type with holes, or with parts before its beginning: packing numbers instead of data tells which bytes it
 * names, in order. */
static int make_of_bytes(const struct hl_fort_shape *shape, MPI_Count first, MPI_Count span, MPI_Count len,
                         MPI_Datatype *made)
{
    unsigned char *lane = malloc((size_t)span), *packed = malloc((size_t)len);
    MPI_Count *place = calloc((size_t)len, sizeof *place), blocks = 0;
    int rc = lane == NULL || packed == NULL || place == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;

    for (int shift = 0; rc == MPI_SUCCESS && shift < 64 && (shift == 0 || span >> shift > 0); shift += 8) {
        MPI_Count position = 0;
        for (MPI_Count i = 0; i < span; i++) {
            lane[i] = (unsigned char)(i >> shift);
        }
        rc = PMPI_Pack_c(lane - first, shape->count, shape->given, packed, len, &position, MPI_COMM_SELF);
        for (MPI_Count i = 0; i < len; i++) {
            place[i] |= (MPI_Count)packed[i] << shift;
        }
    }
    MPI_Count *length = (MPI_Count *)calloc((size_t)len, sizeof *length);
    if (rc == MPI_SUCCESS && length != NULL) {
        for (MPI_Count i = 0; i < len; i++) {
            MPI_Count at = place_in_section(shape, place[i] + first);
            if (blocks > 0 && place[blocks - 1] + length[blocks - 1] == at) {
                length[blocks - 1]++;
            } else {
                place[blocks] = at;
                length[blocks++] = 1;
            }
        }
        rc = PMPI_Type_create_hindexed_c(blocks, length, place, MPI_BYTE, made);
    }
    rc = rc == MPI_SUCCESS && length == NULL ? MPI_ERR_NO_MEM : rc;
    free(length);
    free(place);
    free(packed);
    free(lane);
    return rc;
}

/* The predefined type that a type is made of (MPI_Accumulate wants to know it); MPI_BYTE if there are
 * several. */
static MPI_Datatype basic_of(MPI_Datatype type)
{
    MPI_Count ints, addresses, counts, types;
    MPI_Datatype basic = MPI_BYTE;
    int combiner;

    if ((uintptr_t)type < PREDEFINED) {
        return type;
    }
    if (PMPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner) != MPI_SUCCESS ||
        types == 0) {
        return combiner == MPI_COMBINER_NAMED ? type : MPI_BYTE;
    }
    int *all_ints = malloc(sizeof *all_ints * (size_t)(ints + 1));
    MPI_Aint *all_addresses = malloc(sizeof *all_addresses * (size_t)(addresses + 1));
    MPI_Count *all_counts = malloc(sizeof *all_counts * (size_t)(counts + 1));
    MPI_Datatype *all_types = malloc(sizeof *all_types * (size_t)types);
    if (all_ints != NULL && all_addresses != NULL && all_counts != NULL && all_types != NULL &&
        PMPI_Type_get_contents_c(type, ints, addresses, counts, types, all_ints, all_addresses, all_counts,
                                 all_types) == MPI_SUCCESS) {
        for (MPI_Count i = 0; i < types; i++) {
            MPI_Datatype found = basic_of(all_types[i]);
            basic = i == 0 || basic == found ? found : MPI_BYTE;
            if ((uintptr_t)all_types[i] >= PREDEFINED) {
                PMPI_Type_free(&all_types[i]);
            }
        }
    }
    free(all_types);
    free(all_counts);
    free(all_addresses);
    free(all_ints);
    return basic;
}

/* `len` bytes of data without holes: whole elements, and what is left over. */
static int make_dense(const struct hl_fort_shape *shape, MPI_Count len, MPI_Datatype *made)
{
    const MPI_Count elem_len = (MPI_Count)shape->elem_len, n = len / elem_len, rest = len % elem_len;
    MPI_Datatype basic = basic_of(shape->given), element = MPI_DATATYPE_NULL, all[2];
    MPI_Count size = 0;
    int rc = PMPI_Type_size_c(basic, &size);

    if (rc == MPI_SUCCESS && (size <= 0 || elem_len % size != 0 || rest % size != 0)) {
        basic = MPI_BYTE;
        size = 1;
    }
    if (rc == MPI_SUCCESS && n > 0) {
        rc = PMPI_Type_contiguous_c(elem_len / size, basic, &element);
    }
    if (rc == MPI_SUCCESS && n > 0) {
        rc = make_elements(shape, shape->rank, n, element, rest > 0 ? &all[0] : made);
        PMPI_Type_free(&element);
    }
    if (rc == MPI_SUCCESS && rest > 0) {
        const MPI_Count lengths[2] = {1, rest / size}, places[2] = {0, place_in_section(shape, n * elem_len)};
        all[1] = basic;
        rc = PMPI_Type_create_struct_c(n > 0 ? 2 : 1, n > 0 ? lengths : lengths + 1,
                                       n > 0 ? places : places + 1, n > 0 ? all : all + 1, made);
        if (n > 0) {
            PMPI_Type_free(&all[0]);
        }
    }
    return rc;
}

/* The type of a shape, or an error that has not been said yet (*why), or one that MPI has said. */
static int make_type(const struct hl_fort_shape *shape, MPI_Datatype *made, const char **why)
{
    MPI_Count size, lb, extent, true_lb, true_extent, room = (MPI_Count)shape->elem_len;
    int rc = PMPI_Type_size_c(shape->given, &size);

    rc = rc == MPI_SUCCESS ? PMPI_Type_get_extent_c(shape->given, &lb, &extent) : rc;
    rc = rc == MPI_SUCCESS ? PMPI_Type_get_true_extent_c(shape->given, &true_lb, &true_extent) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    for (int i = 0; i < shape->rank; i++) {
        room *= shape->dim[i].extent;
    }
    bool dense = size == extent && size == true_extent && true_lb == 0 && lb == 0;
    MPI_Count last = 0, bytes = 0; /* last: where the last item begins, which may come first in memory */
    if (__builtin_mul_overflow(shape->count - 1, extent, &last) ||
        __builtin_mul_overflow(shape->count, size, &bytes) || last > room || last < -room) {
        last = room + 1; /* beyond the end, and not beyond what can be counted */
    }
    MPI_Count first = true_lb + (last < 0 ? last : 0), end = true_lb + true_extent + (last > 0 ? last : 0);
    if (first < 0 || end > room) {
        *why = "count and datatype ask for more data than the section of the array has";
        return MPI_ERR_COUNT;
    }
    rc = dense ? make_dense(shape, bytes, made) : make_of_bytes(shape, first, end - first, bytes, made);
    if (rc == MPI_ERR_NO_MEM) {
        *why = "there is no memory to describe the section of an array";
    }
    return rc == MPI_SUCCESS ? PMPI_Type_commit(made) : rc;
}

static bool find_shape(struct hl_fort_part *part, const struct hl_fort_shape *wanted)
{
    pthread_mutex_lock(&lock);
    struct hl_fort_shape *found = shapes[place_of(wanted)];
    if (found != NULL && is_same(found, wanted)) {
        found->users++;
        part->shape = found;
        part->type = found->made;
    }
    pthread_mutex_unlock(&lock);
    return part->shape != NULL;
}

/* Keeps a type for the next call, unless the one of its place is in use. */
static void keep_shape(struct hl_fort_part *part, const struct hl_fort_shape *made)
{
    struct hl_fort_shape *copy = malloc(sizeof *copy), *old = NULL;

    if (copy == NULL) {
        return;
    }
    *copy = *made;
    copy->users = 1;
    pthread_mutex_lock(&lock);
    struct hl_fort_shape **place = &shapes[place_of(made)];
    if (*place == NULL || (*place)->users == 0) {
        old = *place;
        *place = copy;
        part->shape = copy;
        part->made = false;
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
    if (old != NULL) {
        drop_shape(old);
    }
}

int hl_fort_part_begin(struct hl_fort_part *part, const struct hl_fort_array *a, MPI_Count count,
                       MPI_Datatype type, const char *func)
{
    const char *why = NULL;
    MPI_Count size = 0;

    *part = (struct hl_fort_part){.addr = hl_fort_buffer(a->addr), .count = count, .type = type};
    /* C says what is wrong with a count or a type. */
    if (hl_fort_is_dense(a) || count <= 0 || type == MPI_DATATYPE_NULL) {
        return MPI_SUCCESS;
    }
    struct hl_fort_shape shape = {.elem_len = a->elem_len, .rank = a->rank, .count = count, .given = type};
    memcpy(shape.dim, a->dim, sizeof a->dim[0] * (size_t)a->rank);
    bool keeps = (uintptr_t)type < PREDEFINED;
    if (keeps && find_shape(part, &shape)) {
        part->count = 1;
        return MPI_SUCCESS;
    }
    int rc = PMPI_Type_size_c(type, &size);
    if (rc != MPI_SUCCESS || size == 0) {
        return rc;
    }
    rc = make_type(&shape, &shape.made, &why);
    if (rc != MPI_SUCCESS) {
        return why != NULL ? hl_fort_fail(func, rc, why) : rc;
    }
    part->count = 1;
    part->type = shape.made;
    part->made = true;
    if (keeps) {
        keep_shape(part, &shape);
    }
    return MPI_SUCCESS;
}

void hl_fort_part_end(struct hl_fort_part *part)
{
    if (part->made) {
        PMPI_Type_free(&part->type);
    } else if (part->shape != NULL) {
        pthread_mutex_lock(&lock);
        part->shape->users--;
        pthread_mutex_unlock(&lock);
    }
}

void hl_fort_parts_free(void)
{
    for (int i = 0; i < SHAPES; i++) {
        pthread_mutex_lock(&lock);
        struct hl_fort_shape *shape = shapes[i];
        bool free_it = shape != NULL && shape->users == 0;
        if (free_it) {
            shapes[i] = NULL;
        }
        pthread_mutex_unlock(&lock);
        if (free_it) {
            drop_shape(shape);
        }
    }
}
