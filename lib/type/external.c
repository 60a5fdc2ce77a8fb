/* The standard's portable form of data, external32: big-endian numbers of fixed sizes, nothing between them.
 */
#include <string.h>

#include "err.h"
#include "loop.h"

enum how { SWAP, SIGNED_4, UNSIGNED_4, UNSIGNED_2, QUAD };

/* The form of a number: how it is converted, and its bytes in memory (here) and in external32 (there). */
struct form {
    uint8_t how, here, there;
};

/* One row for each basic type: the number it consists of, and how many of them; a pair also has an index. */
struct form_row {
    struct form value;
    uint8_t times;
};

static const struct form index_form = {SWAP, 4, 4};

#define PLAIN(n)                                                                                             \
    {                                                                                                        \
        {SWAP, n, n}, 1                                                                                      \
    }
#define TWICE(n)                                                                                             \
    {                                                                                                        \
        {SWAP, n, n}, 2                                                                                      \
    }
static const struct form_row rows[HL_BASICS] = {
    [HL_BASIC_BYTE] = PLAIN(1),
    [HL_BASIC_WCHAR] = {{UNSIGNED_2, 4, 2}, 1},
    [HL_BASIC_I8] = PLAIN(1),
    [HL_BASIC_I16] = PLAIN(2),
    [HL_BASIC_I32] = PLAIN(4),
    [HL_BASIC_I64] = PLAIN(8),
    [HL_BASIC_I128] = PLAIN(16),
    [HL_BASIC_U8] = PLAIN(1),
    [HL_BASIC_U16] = PLAIN(2),
    [HL_BASIC_U32] = PLAIN(4),
    [HL_BASIC_U64] = PLAIN(8),
    [HL_BASIC_BOOL] = PLAIN(1),
    [HL_BASIC_L8] = PLAIN(1),
    [HL_BASIC_L16] = PLAIN(2),
    [HL_BASIC_L32] = PLAIN(4),
    [HL_BASIC_L64] = PLAIN(8),
    [HL_BASIC_L128] = PLAIN(16),
    [HL_BASIC_F16] = PLAIN(2),
    [HL_BASIC_F32] = PLAIN(4),
    [HL_BASIC_F64] = PLAIN(8),
    [HL_BASIC_LDOUBLE] = {{QUAD, sizeof(long double), 16}, 1},
    [HL_BASIC_F128] = PLAIN(16),
    [HL_BASIC_C16] = TWICE(2),
    [HL_BASIC_C32] = TWICE(4),
    [HL_BASIC_C64] = TWICE(8),
    [HL_BASIC_CLDOUBLE] = {{QUAD, sizeof(long double), 16}, 2},
    [HL_BASIC_C128] = TWICE(16),
    [HL_BASIC_FLOAT_INT] = PLAIN(4),
    [HL_BASIC_DOUBLE_INT] = PLAIN(8),
    [HL_BASIC_LONG_INT] = PLAIN(8),
    [HL_BASIC_2INT] = PLAIN(4),
    [HL_BASIC_SHORT_INT] = PLAIN(2),
    [HL_BASIC_LDOUBLE_INT] = {{QUAD, sizeof(long double), 16}, 1},
    [HL_BASIC_2REAL] = PLAIN(4),
    [HL_BASIC_2DOUBLE] = PLAIN(8),
};

static struct form value_form(const struct hl_loop *l)
{
    struct form f = rows[l->basic].value;

    if (l->narrow) {
        f.how = l->basic == HL_BASIC_U64 ? UNSIGNED_4 : SIGNED_4;
        f.there = 4;
    }
    return f;
}

/* The form of a pair's second number: an int, or like the first. */
static struct form second_form(const struct hl_loop *l)
{
    bool same = l->basic == HL_BASIC_2REAL || l->basic == HL_BASIC_2DOUBLE;

    return same ? rows[l->basic].value : index_form;
}

/* Copies between native and big-endian order. */
static void swap_bytes(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? n - 1 - i : i];
    }
}

/* Converts a number to external32. False: the value does not fit. */
static bool number_out(struct form f, const char *here, char *there)
{
    int64_t wide = 0;
    int32_t low;
    uint32_t wchar;
    long double real;
    hl_f128 q;

    switch ((enum how)f.how) {
    case SWAP:
        swap_bytes(there, here, f.here);
        return true;
    case SIGNED_4:
    case UNSIGNED_4:
        memcpy(&wide, here, sizeof wide);
        low = (int32_t)wide;
        swap_bytes(there, (const char *)&low, 4);
        return f.how == SIGNED_4 ? wide == low : wide == (int64_t)(uint32_t)low;
    case UNSIGNED_2:
        memcpy(&wchar, here, sizeof wchar);
        there[0] = (char)(wchar >> 8);
        there[1] = (char)wchar;
        return wchar <= 0xffff;
    case QUAD:
        memcpy(&real, here, sizeof real);
        q = real;
        swap_bytes(there, (const char *)&q, sizeof q);
        return true;
    }
    return true;
}

static void number_in(struct form f, char *here, const char *there)
{
    int64_t wide;
    int32_t low;
    uint32_t wchar;
    long double real;
    hl_f128 q;

    switch ((enum how)f.how) {
    case SWAP:
        swap_bytes(here, there, f.here);
        break;
    case SIGNED_4:
    case UNSIGNED_4:
        swap_bytes((char *)&low, there, 4);
        wide = f.how == SIGNED_4 ? low : (int64_t)(uint32_t)low;
        memcpy(here, &wide, sizeof wide);
        break;
    case UNSIGNED_2:
        wchar = (uint32_t)(unsigned char)there[0] << 8 | (unsigned char)there[1];
        memcpy(here, &wchar, sizeof wchar);
        break;
    case QUAD:
        swap_bytes((char *)&q, there, sizeof q);
        real = (long double)q;
        memcpy(here, &real, sizeof real);
        break;
    }
}

struct conversion {
    bool pack, fits;
    char *there;
    int64_t left; /* bytes left in external32; 0 when they were too few for a number */
    int64_t done; /* bytes in memory */
};

/* True if `n` bytes of external32 are left; if not, nothing that follows is converted either. */
static bool has_left(struct conversion *c, int64_t n)
{
    c->left = c->left >= n ? c->left : 0;
    return c->left > 0;
}

static void convert_number(struct conversion *c, struct form f, char *here)
{
    if (!c->pack) {
        number_in(f, here, c->there);
    } else if (!number_out(f, here, c->there)) {
        c->fits = false;
    }
    c->there += f.there;
    c->left -= f.there;
    c->done += f.here;
}

static void convert_leaf(struct conversion *c, const struct hl_loop *l, char *here)
{
    enum hl_basic basic = (enum hl_basic)l->basic;

    if (l->size == 0) {
        return;
    }
    int64_t n = l->size / (int64_t)hl_op_size(basic), extent = (int64_t)hl_op_extent(basic);
    struct form f = value_form(l);

    for (int64_t i = 0; i < n && has_left(c, rows[basic].times * f.there); i++, here += extent) {
        for (int k = 0; k < rows[basic].times; k++) {
            convert_number(c, f, here + k * f.here);
        }
        if (hl_op_is_pair(basic) && has_left(c, second_form(l).there)) {
            convert_number(c, second_form(l), here + extent / 2);
        }
    }
}

/* Converts all leaves of the exact tree, in the order of packing. */
static void convert_leaves(struct conversion *c, const struct hl_loop *l, char *here)
{
    here += l->off;
    switch ((enum hl_loop_kind)l->kind) {
    case HL_LOOP_BLOCK:
    case HL_LOOP_PAIR:
        convert_leaf(c, l, here);
        break;
    case HL_LOOP_VEC:
        for (int64_t i = 0; i < l->n; i++) {
            convert_leaves(c, l->child, here + i * l->stride);
        }
        break;
    case HL_LOOP_IDX:
        for (int64_t i = 0; i < l->n; i++) {
            for (int64_t j = 0; j < l->len[i]; j++) {
                convert_leaves(c, l->child, here + l->disp[i] + j * l->stride);
            }
        }
        break;
    case HL_LOOP_STRUCT:
        for (int64_t i = 0; i < l->n; i++) {
            convert_leaves(c, l->children[i], here + l->disp[i]);
        }
        break;
    }
}

/* Bytes in external32: never more than twice the bytes in memory. */
static int64_t bytes_of(const struct hl_loop *l)
{
    enum hl_basic basic = (enum hl_basic)l->basic;
    int64_t sum = 0;

    switch ((enum hl_loop_kind)l->kind) {
    case HL_LOOP_BLOCK:
    case HL_LOOP_PAIR:
        if (l->size > 0) {
            sum = rows[basic].times * value_form(l).there + (hl_op_is_pair(basic) ? second_form(l).there : 0);
            sum *= l->size / (int64_t)hl_op_size(basic);
        }
        break;
    case HL_LOOP_VEC:
    case HL_LOOP_IDX:
        sum = bytes_of(l->child) * (l->size / l->child->size);
        break;
    case HL_LOOP_STRUCT:
        for (int64_t i = 0; i < l->n; i++) {
            sum += bytes_of(l->children[i]);
        }
        break;
    }
    return sum;
}

int hl_type_external_bytes(const struct hl_type *t, int64_t count, int64_t *bytes)
{
    if (t->size > INT64_MAX / 2 || __builtin_mul_overflow(bytes_of(t->root), count, bytes)) {
        return hl_err_say(HL_ERR_VALUE_TOO_LARGE, "%lld elements of %lld bytes do not fit 63 bits",
                          (long long)count, (long long)t->size);
    }
    return 0;
}

int hl_type_external(const struct hl_type *t, int64_t count, void *buf, void *external, bool pack)
{
    struct conversion c = {.pack = pack, .fits = true, .there = external, .left = INT64_MAX};

    for (int64_t i = 0; i < count; i++) {
        convert_leaves(&c, t->root, (char *)buf + i * hl_type_extent(t));
    }
    return c.fits ? 0
                  : hl_err_say(
                        HL_ERR_CONVERSION,
                        "a value is too large or too small for the bytes that external32 has for its type");
}

int64_t hl_type_external_part(const struct hl_type *t, void *buf, const void *external, int64_t bytes)
{
    struct conversion c = {.there = (char *)(uintptr_t)external, .left = bytes};

    convert_leaves(&c, t->root, buf);
    return c.done;
}
