/* Numbers of messages by the way on which they came, for statistics. Owners of inboxes and ports count them,
 * and so do the rings' tickets. */
#include "match_internal.h"

#include "port.h"
#include "stat.h"

/* changed while nobody asks: at opening, and under the lock of hl_stat_keep */
static struct hl_matcher *matcher;

static uint64_t count_cells(void)
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

/* Messages read from slots: neither in cells nor without data. */
static uint64_t count_eager(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < matcher->n_inboxes; i++) {
        const struct hl_inbox *ib = &matcher->inbox[i];
        /* relaxed, all: recent values; the subtracted ones are read first. */
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
} counts[] = {{HL_STAT_RANK_messages_eager, count_eager},
              {HL_STAT_RANK_messages_cell, count_cells},
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
    }
}
