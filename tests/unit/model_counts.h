/* What the model provider (model.h) was asked for and told, over all its endpoints: what a NIC hears of, and
 * what is read of its queues. */
#ifndef MODEL_COUNTS_H
#define MODEL_COUNTS_H

#include "model.h"

struct model_counts {
    int posts;       /* of operations and messages */
    int completions; /* of these */
    int receives;    /* that completed: each is a completion, and a post of the receive that follows it */
};

/* Since the model began, less `before`. */
static inline struct model_counts model_count(const struct model_counts *before)
{
    struct model_counts n = {-before->posts, -before->completions, -before->receives};
    for (const struct model_ep *ep = model_eps; ep != NULL; ep = ep->older) {
        n.posts += (int)(ep->posted - ep->filled) - ep->recv_count;
        n.completions += (int)(ep->told - ep->filled);
        n.receives += (int)ep->filled;
    }
    return n;
}

/* Nothing is under way that would be told. */
static inline bool model_is_idle(void)
{
    bool idle = true;
    for (const struct model_ep *ep = model_eps; ep != NULL; ep = ep->older) {
        idle &= ep->count == 0 && ep->arrival_count == 0;
    }
    return idle;
}

#endif
