/* Messages by the way that they came, for statistics: counted by the owners of inboxes and ports, and by the
 * rings themselves. */
#include "inner.h"

#include "port.h"
#include "stat.h"

static struct hl_matcher *matcher; /* changed while nobody asks: while opening and by hl_stat_keep's lock */

static uint64_t cells(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < matcher->n_inboxes; i++) {
        sum += hl_a64_load_relaxed(&matcher->inbox[i].cells); /* relaxed: a recent value. */
    }
    return sum;
}

static uint64_t cell_bytes(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < matcher->n_inboxes; i++) {
        sum += hl_a64_load_relaxed(&matcher->inbox[i].cell_bytes); /* relaxed: a recent value. */
    }
    return sum;
}

/* What is neither in cells nor without data. */
static uint64_t eager(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < matcher->n_inboxes; i++) {
        const struct hl_inbox *ib = &matcher->inbox[i];
        /* relaxed, all: recent values; those that are taken away first. */
        uint64_t without = hl_a64_load_relaxed(&ib->cells) + hl_a64_load_relaxed(&ib->others);
        uint64_t all = hl_a64_load_relaxed(&ib->head) - ib->first;
        sum += all > without ? all - without : 0;
    }
    return sum;
}

static uint64_t far_messages(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; matcher->net != NULL && i < matcher->net->n; i++) {
        sum += hl_a64_load_relaxed(&matcher->net->port[i].messages); /* relaxed: a recent value. */
    }
    return sum;
}

static uint64_t far_bytes(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; matcher->net != NULL && i < matcher->net->n; i++) {
        sum += hl_a64_load_relaxed(&matcher->net->port[i].bytes); /* relaxed: a recent value. */
    }
    return sum;
}

static const struct {
    enum hl_stat_rank_row row;
    uint64_t (*get)(void);
} counts[] = {{HL_STAT_RANK_messages_eager, eager},
              {HL_STAT_RANK_messages_cell, cells},
              {HL_STAT_RANK_bytes_cell, cell_bytes},
              {HL_STAT_RANK_messages_port, far_messages},
              {HL_STAT_RANK_bytes_port, far_bytes}};

void hl_match_counts_open(struct hl_matcher *m)
{
    matcher = m;
    for (size_t i = 0; i < HL_COUNT_OF(counts); i++) {
        hl_stat_keep(counts[i].row, counts[i].get);
    }
}

void hl_match_counts_close(void)
{
    for (size_t i = 0; i < HL_COUNT_OF(counts); i++) {
        hl_stat_keep(counts[i].row, NULL);
        hl_stat_rank_add(counts[i].row, counts[i].get());
    }
}
