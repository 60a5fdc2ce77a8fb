/* Which hosts answer, judged by connections. */
#include "hosts.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_NS UINT64_C(10000000000) /* a silent host that nobody asks for so long answers again */

static struct hl_rx_host *find_host(const struct hl_rx_hosts *h, const struct hl_fab_host *at)
{
    for (size_t i = 0; i < h->count; i++) {
        if (memcmp(&h->host[i].at, at, sizeof *at) == 0) {
            return &h->host[i];
        }
    }
    return NULL;
}

bool hl_rx_hosts_know(const struct hl_rx_hosts *h, const struct hl_fab_host *at)
{
    return find_host(h, at) != NULL;
}

struct hl_rx_host *hl_rx_hosts_get(struct hl_rx_hosts *h, const struct hl_fab_host *at)
{
    struct hl_rx_host *host = find_host(h, at);
    if (host != NULL) {
        return host;
    }
    if (!hl_grow(&h->host, h->count, &h->room, sizeof *h->host)) {
        return NULL;
    }
    host = &h->host[h->count++];
    *host = (struct hl_rx_host){.at = *at, .check = -1};
    return host;
}

/* Notes a connection for the comparison of two looks. Without memory it is left out, so its end is not
 * seen. */
static void note_link(struct hl_rx_hosts *h, size_t host, const struct hl_fab_link *link)
{
    if (hl_grow(&h->now, h->n_now, &h->room_now, sizeof *h->now)) {
        h->now[h->n_now++] = (uint64_t)host << 32 | (uint64_t)link->port << 16 | link->my_port;
    }
}

bool hl_rx_hosts_see(struct hl_rx_hosts *h, const struct hl_fab_link *link, uint64_t now_ns)
{
    struct hl_rx_host *host = hl_rx_hosts_get(h, &link->host);
    if (host == NULL) {
        return true;
    }
    if (link->connected && link->used) {
        note_link(h, (size_t)(host - h->host), link);
    }
    uint64_t ago_ns = link->heard_ms * 1000000;
    host->heard |= link->connected;
    uint64_t heard_ns = link->connected && ago_ns < now_ns ? now_ns - ago_ns : 0;
    if (host->dead) {
        host->back = host->back || heard_ns > host->died_ns;
        return host->back;
    }
    if (heard_ns > host->since_ns) {
        host->since_ns = 0;
    }
    if (link->asked) {
        host->asked_ns = now_ns;
    }
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Marks the hosts whose connections the last look saw and this one did not, and keeps this look's list. */
static void mark_missed(struct hl_rx_hosts *h)
{
    size_t at = 0;
    if (h->n_now > 0) {
        qsort(h->now, h->n_now, sizeof *h->now, compare_keys);
    }
    for (size_t i = 0; i < h->n_before; i++) {
        while (at < h->n_now && h->now[at] < h->before[i]) {
            at++;
        }
        if (at == h->n_now || h->now[at] != h->before[i]) {
            h->host[h->before[i] >> 32].lost = true;
        }
    }
    uint64_t *before = h->before;
    size_t room = h->room_before;
    h->before = h->now;
    h->n_before = h->n_now;
    h->room_before = h->room_now;
    h->now = before;
    h->n_now = 0;
    h->room_now = room;
}

int hl_rx_hosts_judge(struct hl_rx_hosts *h, uint64_t now_ns, uint64_t timeout_ns)
{
    int died = 0;
    for (size_t i = 0; i < h->count; i++) {
        struct hl_rx_host *host = &h->host[i];
        host->lost = false;
        if (host->dead) {
            continue;
        }
        if (host->asked_ns == now_ns && host->since_ns == 0) {
            host->since_ns = now_ns;
        } else if (host->since_ns != 0 && now_ns - host->asked_ns > FORGET_NS) {
            host->since_ns = 0;
        }
        host->dead = timeout_ns != 0 && host->since_ns != 0 && now_ns - host->since_ns >= timeout_ns;
        host->died_ns = now_ns;
        died += host->dead;
    }
    mark_missed(h);
    return died;
}

void hl_rx_hosts_free(struct hl_rx_hosts *h)
{
    free(h->host);
    free(h->now);
    free(h->before);
    *h = (struct hl_rx_hosts){0};
}
