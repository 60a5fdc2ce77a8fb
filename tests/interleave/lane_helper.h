/* The helper that opens lanes (lib/lane/open_async.c) as a thread of the stories of test_lane.c: the linker
 * (--wrap) has it started by whoever plays it, and nobody sleeps or waits for a mutex but by a pause. */
#ifndef LANE_HELPER_H
#define LANE_HELPER_H

#include "../unit/unit.h"

#include "lane_internal.h"

#include <pthread.h>
#include <time.h>

/* Changed by the thread that runs. */
static struct helper {
    void *(*body)(void *); /* asked for, and not begun */
    void *arg;
    bool runs;
    int others; /* threads that are through with their story */
} helper;

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    (void)attr;
    *id = pthread_self();
    helper.body = body;
    helper.arg = arg;
    return 0;
}

int __wrap_pthread_setname_np(pthread_t id, const char *name);
int __wrap_pthread_setname_np(pthread_t id, const char *name)
{
    (void)id, (void)name;
    return 0;
}

int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_join(pthread_t id, void **result)
{
    (void)id, (void)result;
    while (helper.body != NULL || helper.runs) {
        hl_pause();
    }
    return 0;
}

HL_NO_TSA int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    while (pthread_mutex_trylock(m) != 0) {
        hl_pause();
    }
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest)
{
    (void)clock, (void)flags, (void)t, (void)rest;
    hl_pause();
    return 0;
}

static const struct hl_rx_card *card_of(int peer)
{
    static struct hl_rx_card cards[RANKS];
    cards[peer] = (struct hl_rx_card){.name_len = 8, .name = {(uint8_t)peer}};
    return &cards[peer];
}

int __wrap_hl_fab_card_get(int peer, enum hl_fab_part part, const void **data, size_t *len);
int __wrap_hl_fab_card_get(int peer, enum hl_fab_part part, const void **data, size_t *len)
{
    (void)part;
    *data = card_of(peer);
    *len = sizeof(struct hl_rx_card);
    return 0;
}

void __wrap_hl_rx_cloexec(void);
void __wrap_hl_rx_cloexec(void)
{
}

/* Plays the helper until `count` threads are through and nothing is asked of it any more. */
static void help_until(int count)
{
    while (helper.others < count || helper.body != NULL) {
        if (helper.body != NULL) {
            void *(*body)(void *) = helper.body;
            helper.body = NULL;
            helper.runs = true;
            (void)body(helper.arg);
            helper.runs = false;
        } else {
            hl_pause();
        }
    }
}

#endif
