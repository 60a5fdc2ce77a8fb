/* Exchanges that outlive their call: the copies of its arguments that they keep. */
#include "exchange_internal.h"

#include <stdlib.h>
#include <string.h>

#include "algos.h"
#include "err.h"

static void ref_types(const struct hl_coll_side *side, int n, bool take)
{
    for (int i = 0; i < (side->types != NULL ? n : 1); i++) {
        struct hl_type *t = side->types != NULL ? side->types[i] : side->type;
        if (take) {
            hl_type_ref(t);
        } else {
            hl_type_unref(t);
        }
    }
}

static void *copy_array(const void *from, size_t bytes, bool *failed)
{
    void *to = from != NULL ? malloc(bytes + 1) : NULL;

    *failed = *failed || (from != NULL && to == NULL);
    return to != NULL ? memcpy(to, from, bytes) : NULL;
}

/* Replaces the side's arrays by copies. */
static void keep_side(struct hl_coll_side *side, int n, bool *failed)
{
    side->counts = copy_array(side->counts, (size_t)n * sizeof *side->counts, failed);
    side->displs = copy_array(side->displs, (size_t)n * sizeof *side->displs, failed);
    side->types = copy_array(side->types, (size_t)n * sizeof *side->types, failed);
}

static void free_side(const struct hl_coll_side *side)
{
    free((void *)(uintptr_t)side->counts);
    free((void *)(uintptr_t)side->displs);
    free((void *)(uintptr_t)side->types);
}

static void discard_exchange(struct hl_exchange *x)
{
    free_side(&x->call.send);
    free_side(&x->call.recv);
    free(x->memory);
    free(x);
}

int hl_exchange_new(const struct hl_coll_call *c, const struct hl_exchange_how *how,
                    struct hl_exchange **made)
{
    struct hl_exchange *x = calloc(1, sizeof *x);
    bool in_place = hl_coll_in_place(&c->send), failed = false;
    int n = c->comm->size;

    if (x == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for an alltoall");
    }
    x->call = *c;
    x->own = how->own;
    if (in_place) {
        x->call.send = (struct hl_coll_side){.buf = c->send.buf};
    }
    keep_side(&x->call.send, n, &failed);
    keep_side(&x->call.recv, n, &failed);
    int err = failed ? hl_err_say(HL_ERR_NO_MEM, "no memory for counts of %d ranks", n) : 0;
    err = err != 0 ? err : hl_exchange_init(x, how->boxes, NULL, 0);
    if (err != 0) {
        discard_exchange(x);
        return err;
    }
    x->ctx = c->comm->ctx + (how->own ? HL_PLANE_AGAIN : HL_PLANE_MAIL);
    x->tag = how->tag;
    if (!in_place) {
        ref_types(&x->call.send, n, true);
    }
    ref_types(&x->call.recv, n, true);
    *made = x;
    return 0;
}

void hl_exchange_free(struct hl_exchange *x)
{
    if (!hl_coll_in_place(&x->call.send)) {
        ref_types(&x->call.send, x->call.comm->size, false);
    }
    ref_types(&x->call.recv, x->call.comm->size, false);
    if (x->own) {
        hl_boxes_drop(x->boxes);
    }
    discard_exchange(x);
}

int hl_exchange_error(const struct hl_exchange *x)
{
    return x->err;
}

enum hl_boxes_state hl_exchange_state(const struct hl_exchange *x)
{
    return hl_boxes_state(x->boxes);
}

const struct hl_coll_call *hl_exchange_call(const struct hl_exchange *x)
{
    return &x->call;
}
