/* Life of a datatype: commit, references, how it was made. */
#include "type.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "lock.h"
#include "loop.h"

int hl_type_commit(struct hl_type *t)
{
    static struct hl_mutex committing = HL_MUTEX_INIT;

    hl_mutex_lock(&committing);
    if (!hl_type_is_committed(t) && (t->fast = hl_loop_merged(t->root)) != NULL) {
        t->block = t->fast->kind == HL_LOOP_BLOCK;
        t->dense = t->size == 0 || (t->block && t->fast->off == 0 && t->size == hl_type_extent(t));
        /* release: what stands above; pairs with the acquire in hl_type_is_committed. */
        hl_a8_store_release(&t->committed, 1);
    }
    hl_mutex_unlock(&committing);
    return hl_type_is_committed(t) ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to commit a datatype");
}

/* Gives a reference back; true if it was the last. */
static bool give_back_type(struct hl_type *t)
{
    return !t->predefined && hl_refs_drop(&t->refs);
}

/* Destroys the type, and puts the types it was made of on the list *dead if it was their last user. */
static void destroy_type(struct hl_type *t, struct hl_type **dead)
{
    for (int i = 0; t->args != NULL && i < t->args->n_types; i++) {
        struct hl_type *old = t->args->types[i];
        if (give_back_type(old)) {
            old->dead = *dead;
            *dead = old;
        }
    }
    free(t->args);
    hl_loop_unref(t->root);
    hl_loop_unref(t->fast);
    free(t->name);
    hl_handle_free(t);
}

void hl_type_unref(struct hl_type *t)
{
    struct hl_type *dead = give_back_type(t) ? t : NULL;

    while (dead != NULL) { /* no recursion: the chain of types made of each other may be long */
        t = dead;
        dead = t->dead;
        destroy_type(t, &dead);
    }
}

void hl_type_ref_shown(struct hl_type *t)
{
    hl_type_ref(t);
    if (!t->predefined) {
        hl_a8_store_relaxed(&t->shown, 1); /* relaxed: the user orders it before the free */
    }
}

void hl_type_free(struct hl_type *t)
{
    if (!t->predefined) {
        if (hl_a8_load_relaxed(&t->shown) == 0) {
            t->h.kind = HL_KIND_FREE; /* operations under way keep the object, but the handle ends */
        }
        hl_type_unref(t);
    }
}

int hl_type_keep_args(struct hl_type *t, const struct hl_type_args *args)
{
    size_t wide = (size_t)args->n_addrs + (size_t)args->n_counts;
    size_t bytes =
        sizeof *args + wide * 8 + (size_t)args->n_types * sizeof(void *) + (size_t)args->n_ints * 4;
    struct hl_type_args *a = malloc(bytes);

    if (a == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %zu bytes of arguments that make a datatype", bytes);
    }
    *a = *args;
    a->addrs = (int64_t *)(void *)(a + 1);
    a->counts = a->addrs + a->n_addrs;
    a->types = (struct hl_type **)(void *)(a->counts + a->n_counts);
    a->ints = (int *)(void *)(a->types + a->n_types);
    for (int i = 0; i < a->n_addrs; i++) {
        a->addrs[i] = args->addrs[i];
    }
    for (int i = 0; i < a->n_counts; i++) {
        a->counts[i] = args->counts[i];
    }
    for (int i = 0; i < a->n_ints; i++) {
        a->ints[i] = args->ints[i];
    }
    for (int i = 0; i < a->n_types; i++) {
        a->types[i] = args->types[i];
        hl_type_ref(a->types[i]);
    }
    t->args = a;
    return 0;
}

bool hl_type_bytes(const struct hl_type *t, int64_t count, int64_t *bytes)
{
    return !__builtin_mul_overflow(t->size, count, bytes);
}

int64_t hl_type_reach(const struct hl_type *t, int64_t count, int64_t *low)
{
    int64_t last = (count - 1) * hl_type_extent(t);
    *low = (t->true_lb + (last < 0 ? last : 0)) & ~(int64_t)63;
    return t->true_ub + (last > 0 ? last : 0) - *low;
}

/* Elements in the first `bytes` of a leaf; -1 when they end inside an element. */
static int64_t leaf_elements(const struct hl_loop *l, int64_t bytes)
{
    enum hl_basic basic = (enum hl_basic)l->basic;
    int64_t size = (int64_t)hl_op_size(basic), whole = bytes / size, rest = bytes % size;

    if (!hl_op_is_pair(basic)) {
        return rest == 0 ? whole : -1;
    }
    if (rest == 0) {
        return 2 * whole;
    }
    return rest == hl_loop_value_bytes(basic) ? 2 * whole + 1 : -1;
}

int64_t hl_loop_row(const struct hl_loop *l, int64_t at)
{
    int64_t lo = 0, hi = l->n;

    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        if (l->before[middle] <= at) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

int64_t hl_type_elements(const struct hl_type *t, int64_t bytes)
{
    if (t->size == 0) {
        return 0;
    }
    int64_t n = bytes / t->size * t->elements;
    const struct hl_loop *l = t->root;

    bytes %= t->size;
    while (bytes > 0 && l->kind != HL_LOOP_BLOCK && l->kind != HL_LOOP_PAIR) {
        if (l->kind == HL_LOOP_STRUCT) {
            int64_t row = hl_loop_row(l, bytes);
            for (int64_t i = 0; i < row; i++) {
                n += l->children[i]->elements;
            }
            bytes -= l->before[row];
            l = l->children[row];
        } else { /* VEC and IDX: all children are equal, however long the rows */
            l = l->child;
            n += bytes / l->size * l->elements;
            bytes %= l->size;
        }
    }
    if (bytes == 0) {
        return n;
    }
    int64_t last = leaf_elements(l, bytes);
    return last < 0 ? -1 : n + last;
}

/* Bytes of the first n elements of a leaf. */
static int64_t leaf_bytes(const struct hl_loop *l, int64_t n)
{
    enum hl_basic basic = (enum hl_basic)l->basic;
    int64_t size = (int64_t)hl_op_size(basic);

    if (!hl_op_is_pair(basic)) {
        return n * size;
    }
    return n / 2 * size + (n % 2 != 0 ? hl_loop_value_bytes(basic) : 0);
}

int64_t hl_type_element_bytes(const struct hl_type *t, int64_t n)
{
    if (t->elements == 0) {
        return 0;
    }
    int64_t bytes = n / t->elements * t->size;
    const struct hl_loop *l = t->root;

    n %= t->elements;
    while (n > 0 && l->kind != HL_LOOP_BLOCK && l->kind != HL_LOOP_PAIR) {
        if (l->kind == HL_LOOP_STRUCT) {
            int64_t row = 0;
            for (; n >= l->children[row]->elements; row++) {
                n -= l->children[row]->elements;
                bytes += l->children[row]->size;
            }
            l = l->children[row];
        } else {
            l = l->child;
            bytes += n / l->elements * l->size;
            n %= l->elements;
        }
    }
    return n > 0 ? bytes + leaf_bytes(l, n) : bytes;
}

void hl_type_get_name(const struct hl_type *t, char out[MPI_MAX_OBJECT_NAME])
{
    hl_handle_name_get(&t->name, t->given, out, MPI_MAX_OBJECT_NAME);
}

int hl_type_set_name(struct hl_type *t, const char *name)
{
    return hl_handle_name_set(&t->name, name, MPI_MAX_OBJECT_NAME);
}
