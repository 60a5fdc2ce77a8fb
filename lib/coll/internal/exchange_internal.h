/* An exchange under way: for exchange*.c only. */
#ifndef HL_EXCHANGE_INTERNAL_H
#define HL_EXCHANGE_INTERNAL_H

#include "exchange.h"

/* The phases of a peer's block, on its way out or in:
 *
 *   WAITING -> OVER | POSTED (an address; the acknowledgement is awaited) | STREAMING | FLYING (a message)
 *   POSTED -> OVER | FLYING (it could not be read)      STREAMING, FLYING -> OVER */
enum hl_exchange_phase { HL_XCHG_WAITING, HL_XCHG_POSTED, HL_XCHG_STREAMING, HL_XCHG_FLYING, HL_XCHG_OVER };

struct hl_exchange_way {
    uint8_t *phase; /* [size] enum hl_exchange_phase */
    /* [size] of a FLYING block its request, of a STREAMING one the bytes that are through */
    union hl_exchange_state {
        void *request;
        int64_t through;
    } * at;
    int left; /* blocks that are not OVER */
    int far;  /* messages to or from other nodes that are under way */
};

struct hl_exchange {
    struct hl_coll_call call;
    struct hl_boxes *boxes;
    bool own; /* the boxes belong to this operation alone */
    uint64_t ctx, epoch;
    int tag, err;
    unsigned turns; /* steps so far */
    bool begun;
    char *packed; /* in place: the blocks to send, block i at at[i] */
    int64_t *at;
    struct hl_exchange_way out, in;
    void *memory;
};

/* Fills all fields but `call`, which the caller has set. Memory for it is `few` if that is enough, else
 * allocated (x->memory). HL_ERR_NO_MEM. */
int hl_exchange_init(struct hl_exchange *x, struct hl_boxes *boxes, void *few, size_t few_bytes);

#endif
