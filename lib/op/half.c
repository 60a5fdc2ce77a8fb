/* Sums, products and extremes of 16-bit reals (MPI_REAL2, MPI_COMPLEX4), which not every compiler
 * supports. Each operation is computed on floats; their 24 digits are enough for the result to be as if
 * rounded only once. */
#include <string.h>

#include "kernels.h"

enum { MANTISSA = 10, BIAS = 15, FLOAT_MANTISSA = 23, FLOAT_BIAS = 127 };
#define SIGN 0x8000u
#define INFINITE 0x7c00u
#define NOT_A_NUMBER 0x7e00u /* the one that is always returned, since compilers choose different ones */

static float half_to_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

float hl_half_widen(uint16_t h)
{
    uint32_t rest = h & ~SIGN, sign = (h & SIGN) << 16;

    if (rest >= INFINITE) { /* infinite, or not a number */
        return half_to_float(sign | 0x7f800000u | (rest & 0x3ffu) << (FLOAT_MANTISSA - MANTISSA));
    }
    if (rest < 1u << MANTISSA) { /* 0 and subnormals: multiples of 2^-24 */
        float f = (float)rest * 0x1p-24f;
        return sign != 0 ? -f : f;
    }
    return half_to_float(
        sign | ((rest << (FLOAT_MANTISSA - MANTISSA)) + ((uint32_t)(FLOAT_BIAS - BIAS) << FLOAT_MANTISSA)));
}

/* `bits` shifted down, rounded to the nearest, ties to even. A carry goes into the exponent, which is right:
 * to the next one, and from the largest to infinity. */
static uint32_t shift_and_round(uint32_t bits, unsigned by)
{
    uint32_t half = 1u << (by - 1), odd = bits >> by & 1;

    return (bits + half - 1 + odd) >> by;
}

uint16_t hl_half_round(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & SIGN, rest = bits & 0x7fffffffu;

    if (rest > 0x7f800000u) {
        return NOT_A_NUMBER;
    }
    if (rest >= (uint32_t)(FLOAT_BIAS + BIAS + 1) << FLOAT_MANTISSA) { /* 2^16 and more */
        return (uint16_t)(sign | INFINITE);
    }
    if (rest >= (uint32_t)(FLOAT_BIAS - BIAS + 1) << FLOAT_MANTISSA) { /* 2^-14 and more: normal */
        rest -= (uint32_t)(FLOAT_BIAS - BIAS) << FLOAT_MANTISSA;
        return (uint16_t)(sign | shift_and_round(rest, FLOAT_MANTISSA - MANTISSA));
    }
    unsigned below = FLOAT_BIAS - BIAS + 1 - (rest >> FLOAT_MANTISSA);
    if (below > MANTISSA + 1) { /* less than half of the smallest */
        return (uint16_t)sign;
    }
    uint32_t whole = (rest & 0x7fffffu) | 1u << FLOAT_MANTISSA;
    return (uint16_t)(sign | shift_and_round(whole, FLOAT_MANTISSA - MANTISSA + below));
}

/* result: an expression of the floats x (from inout) and y (from in). */
#define KERNEL(op, result)                                                                                   \
    void hl_half_##op(void *inout, const void *in, size_t n)                                                 \
    {                                                                                                        \
        char *a = inout;                                                                                     \
        const char *b = in;                                                                                  \
        for (; n-- > 0; a += sizeof(uint16_t), b += sizeof(uint16_t)) {                                      \
            uint16_t p, q, r;                                                                                \
            memcpy(&p, a, sizeof p);                                                                         \
            memcpy(&q, b, sizeof q);                                                                         \
            const float x = hl_half_widen(p), y = hl_half_widen(q);                                          \
            r = hl_half_round(result);                                                                       \
            memcpy(a, &r, sizeof r);                                                                         \
        }                                                                                                    \
    }
KERNEL(sum, x + y)
KERNEL(prod, x *y)
KERNEL(min, y < x ? y : x)
KERNEL(max, y > x ? y : x)

static float round_to_half(float f)
{
    return hl_half_widen(hl_half_round(f));
}

void hl_half_sum_complex(void *inout, const void *in, size_t n)
{
    hl_half_sum(inout, in, 2 * n);
}

void hl_half_prod_complex(void *inout, const void *in, size_t n)
{
    char *a = inout;
    const char *b = in;

    for (; n-- > 0; a += 2 * sizeof(uint16_t), b += 2 * sizeof(uint16_t)) {
        uint16_t p[2], q[2], r[2];
        memcpy(p, a, sizeof p);
        memcpy(q, b, sizeof q);
        const float x = hl_half_widen(p[0]), xi = hl_half_widen(p[1]);
        const float y = hl_half_widen(q[0]), yi = hl_half_widen(q[1]);
        r[0] = hl_half_round(round_to_half(x * y) - round_to_half(xi * yi));
        r[1] = hl_half_round(round_to_half(x * yi) + round_to_half(xi * y));
        memcpy(a, r, sizeof r);
    }
}
