/* Messages that wait for their turn, by stream, in the order of their numbers. Gaps are few and short-lived,
 * so lists are enough. */
#include "window.h"

#include "copy.h"
#include "fab.h"
#include "job.h"
#include "log.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static struct hl_rx_gap *find_gap(const struct hl_rx_window *w, uint64_t stream)
{
    struct hl_rx_gap *gap = w->gaps;
    while (gap != NULL && gap->stream != stream) {
        gap = gap->next;
    }
    return gap;
}

/* The gap of a stream, made if there is none; NULL: no memory. */
static struct hl_rx_gap *make_gap(struct hl_rx_window *w, uint64_t stream)
{
    struct hl_rx_gap *gap = find_gap(w, stream);
    if (gap == NULL && (gap = calloc(1, sizeof *gap)) != NULL) {
        gap->stream = stream;
        gap->next = w->gaps;
        w->gaps = gap;
    }
    return gap;
}

static void insert_parked(struct hl_rx_gap *gap, struct hl_rx_parked *m)
{
    struct hl_rx_parked **at = &gap->first;
    if (gap->last != NULL && gap->last->seq < m->seq) {
        at = &gap->last->next; /* the usual case: messages behind the missing one come in order */
    }
    while (*at != NULL && (*at)->seq < m->seq) {
        at = &(*at)->next;
    }
    if (*at != NULL && (*at)->seq == m->seq) {
        free(m);
        return;
    }
    m->next = *at;
    *at = m;
    gap->last = m->next == NULL ? m : gap->last;
}

void hl_rx_window_park(struct hl_rx_window *w, uint64_t stream, uint64_t seq, const void *bytes, size_t len)
{
    struct hl_rx_gap *gap = make_gap(w, stream);
    struct hl_rx_parked *m = gap != NULL ? malloc(sizeof *m + len) : NULL;
    if (m == NULL) {
        hl_log(HL_LOG_ERROR,
               "no memory for %zu bytes of %s %d that came before their turn: they count as lost", len,
               hl_log_unit(), (int)(stream >> 16));
        return;
    }
    m->seq = seq;
    m->len = len;
    hl_copy(m->bytes, bytes, len);
    insert_parked(gap, m);
}

enum hl_rx_turn hl_rx_window_turn(struct hl_rx_window *w, uint64_t stream, uint64_t heard, uint64_t seq,
                                  const void *bytes, size_t len)
{
    if (seq <= heard + 1) {
        return seq == heard + 1 ? HL_RX_NEXT : HL_RX_OLD;
    }
    if (hl_fab.ordered) {
        return HL_RX_GAP;
    }
    hl_rx_window_park(w, stream, seq, bytes, len);
    return HL_RX_DONE;
}

bool hl_rx_window_loss(uint64_t stream, uint64_t missing, bool dead)
{
    if (missing == 0 || dead) {
        return false;
    }
    hl_log(HL_LOG_ERROR,
           "the network has lost %llu message%s of %s %d (a connection was reset), which nobody sends again; "
           "the job ends",
           (unsigned long long)missing, hl_plural((long long)missing), hl_log_unit(), (int)(stream >> 16));
    hl_job_abort(1);
    return true;
}

static struct hl_rx_parked *pop_parked(struct hl_rx_gap *gap)
{
    struct hl_rx_parked *m = gap->first;
    gap->first = m->next;
    gap->last = gap->first != NULL ? gap->last : NULL;
    return m;
}

static void free_parked(struct hl_rx_gap *gap)
{
    while (gap->first != NULL) {
        free(pop_parked(gap));
    }
}

/* Drops the waiting messages of the stream and what is known of its gap. */
static void forget_gap(struct hl_rx_window *w, uint64_t stream)
{
    for (struct hl_rx_gap **at = &w->gaps; *at != NULL; at = &(*at)->next) {
        struct hl_rx_gap *gap = *at;
        if (gap->stream == stream) {
            *at = gap->next;
            free_parked(gap);
            free(gap);
            return;
        }
    }
}

struct hl_rx_parked *hl_rx_window_take(struct hl_rx_window *w, uint64_t stream, uint64_t seq)
{
    struct hl_rx_gap *gap = find_gap(w, stream);
    struct hl_rx_parked *m = NULL;
    while (gap != NULL && gap->first != NULL && gap->first->seq < seq) {
        free(pop_parked(gap));
    }
    if (gap != NULL && gap->first != NULL && gap->first->seq == seq) {
        m = pop_parked(gap);
    }
    if (gap != NULL && gap->first == NULL && (gap->probed_ns == 0 || gap->probed + 1 < seq)) {
        forget_gap(w, stream);
    }
    return m;
}

const struct hl_rx_parked *hl_rx_window_first(const struct hl_rx_window *w, uint64_t stream)
{
    const struct hl_rx_gap *gap = find_gap(w, stream);
    return gap != NULL ? gap->first : NULL;
}

bool hl_rx_window_probe(struct hl_rx_window *w, uint64_t stream, uint64_t heard, uint64_t number,
                        uint64_t now_ns)
{
    if (hl_fab.ordered) {
        return number > heard;
    }
    struct hl_rx_gap *gap = number > heard ? make_gap(w, stream) : find_gap(w, stream);
    if (gap == NULL) {
        return false; /* if there was no memory, the next probe tries again */
    }
    if (number <= heard) {
        if (gap->first == NULL) {
            forget_gap(w, stream); /* the messages that an earlier probe missed have come */
        }
        return false;
    }
    if (gap->probed_ns == 0 || gap->probed != heard) {
        gap->probed_ns = now_ns;
        gap->probed = heard;
        return false;
    }
    return now_ns - gap->probed_ns >= HL_RX_WINDOW_NS;
}

void hl_rx_window_free(struct hl_rx_window *w)
{
    while (w->gaps != NULL) {
        forget_gap(w, w->gaps->stream);
    }
}
