/* Elements whose padding counts: it is the user's. */
#ifndef GAPS_H
#define GAPS_H

#include "op.h"

/* Is the byte one of an element's data? Padded pairs have an int at the middle of their extent. */
static inline bool is_data(enum hl_basic basic, size_t byte)
{
    size_t size = hl_op_size(basic), extent = hl_op_extent(basic), middle = extent / 2;
    return size == extent || byte < size - sizeof(int) || (byte >= middle && byte < middle + sizeof(int));
}

/* Have n elements the data of `data`, and the padding of `padding`? */
static inline bool are_elements(enum hl_basic basic, const void *at, const void *data, const void *padding,
                                size_t n)
{
    size_t extent = hl_op_extent(basic);
    for (size_t i = 0; i < n * extent; i++) {
        const unsigned char *from = is_data(basic, i % extent) ? data : padding;
        if (((const unsigned char *)at)[i] != from[i]) {
            return false;
        }
    }
    return true;
}

#endif
