/* Of win_reach.c: what the ranks of a new window tell each other, and the records of targets that follow from
 * it. */
#ifndef HL_CARDS_H
#define HL_CARDS_H

#include "reach.h"

/* What a rank tells all others when the window is made. */
struct win_card {
    int16_t flavor, apart;             /* what it called; must be the same on all ranks */
    int32_t pid, seg_owner;            /* seg_owner: world rank */
    int32_t pattern;                   /* hl_mem_pattern_make's descriptor, or -1 */
    uint64_t base, size, unit;         /* of its part of the window */
    uint64_t seg_id, seg_len, seg_off; /* the segment that holds its part; id 0: private memory */
    uint64_t ctl_id, ctl_len, ctl_off; /* the segment and place of its control block */
    uint64_t token_at;                 /* where its process keeps `token`, for CMA; 0: none */
    uint64_t token;
    uint64_t addr, key; /* for RMA operations, when the network is open */
};

/* The making of one window. */
struct win_reach {
    struct hl_win *w;
    struct hl_comm *comm; /* the user's */
    const struct hl_win_ask *ask;
    struct win_card *cards; /* [size] of all ranks, or (alike) of those of my node */
    struct hl_facts facts;
    int how;               /* what hl_win_compare said */
    int n_node;            /* ranks of the window on my node */
    struct hl_group *node; /* these, where the window has others, too; NULL: I am the only one */
    int pattern;           /* of targets' records; -1: none */
};

/* Did all ranks bring the same but for what only their node needs, and targets' records? */
HL_INLINE bool hl_cards_are_alike(const struct win_reach *r)
{
    return r->how == HL_ALIKE || r->how == HL_ALIKE_BUT_TARGETS;
}

/* The record of a FAR target. */
HL_INLINE struct hl_target hl_card_target(const struct hl_win *w, uint64_t addr, uint64_t key)
{
    return (struct hl_target){HL_TARGET_UNMAPPED | (w->dyn != NULL ? HL_TARGET_NO_CMA : 0) | addr, key};
}

/* hl_card_fill: fills my card. hl_card_fill_network: only how the network reaches the memory, if it is open
 * and the memory is not registered yet. Both return 0 or the error of hl_mr_register. */
int hl_card_fill(struct win_reach *r);
int hl_card_fill_network(struct hl_win *w, struct win_card *c);

/* Registration offsets of private memory may hide how its addresses are aligned. */
HL_INLINE bool hl_card_hides_alignment(const struct win_card *c)
{
    return c->size != 0 && c->base % 16 != c->addr % 16;
}

/* The ranks exchange their cards, or what r->how says that they need of them, and each makes the records of
 * its targets. All ranks call it, also those with an error. Returns 0, the error of an exchange,
 * HL_ERR_NO_MEM, or HL_ERR_RMA_FLAVOR or HL_ERR_INFO_VALUE when the ranks called for windows that do not fit
 * together. */
int hl_cards_exchange(struct win_reach *r);

#endif
