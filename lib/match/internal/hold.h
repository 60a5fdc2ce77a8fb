/* Inside the module: an incomplete message holds a reference to its type, since another thread may free the
 * type even while a blocking call waits. */
#ifndef HL_MATCH_HOLD_H
#define HL_MATCH_HOLD_H

#include "match_internal.h"

HL_INLINE void hl_match_hold_type(struct hl_req *r, struct hl_type *type)
{
    if (HL_UNLIKELY(!type->predefined)) {
        hl_type_ref(type);
        r->spare |= HL_REQ_HOLDS_TYPE;
    }
}

HL_INLINE void hl_match_drop_type(const struct hl_req *r, struct hl_type *type)
{
    if (HL_UNLIKELY((r->spare & HL_REQ_HOLDS_TYPE) != 0)) {
        hl_type_unref(type);
    }
}

#endif
