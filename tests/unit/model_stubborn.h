/* Endpoints of the model provider that do not close: what was lent to them stays the provider's. */
#ifndef MODEL_STUBBORN_H
#define MODEL_STUBBORN_H

#include "model.h"

#include <check.h>

static inline int model_close_all_but_endpoints(struct fid *fid)
{
    return fid->fclass == FI_CLASS_EP ? -FI_EBUSY : model_close(fid);
}

static inline void model_be_stubborn(void)
{
    model_fid_ops.close = model_close_all_but_endpoints;
}

/* Nobody gets memory of this place from `take` any more. */
static inline void must_be_kept(const void *place, size_t bytes, void *(*take)(size_t))
{
    uintptr_t first = (uintptr_t)place;
    void *others[8];
    ck_assert_uint_ne(first, 0);
    for (int i = 0; i < 8; i++) {
        uintptr_t other = (uintptr_t)(others[i] = take(bytes));
        ck_assert(other != 0 && (other + bytes <= first || first + bytes <= other));
    }
    for (int i = 0; i < 8 && take == malloc; i++) {
        free(others[i]);
    }
}

#endif
