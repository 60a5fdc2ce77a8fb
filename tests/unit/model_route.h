/* Messages between endpoints of this process, on the model provider (model.h): both used by one thread. */
#ifndef MODEL_ROUTE_H
#define MODEL_ROUTE_H

#include "model_state.h"

#include <unistd.h>

/* Something to do for who reads the queue. */
static void model_ring(const struct model_ep *ep)
{
    uint64_t one = 1;
    if (ep->cq != NULL && ep->cq->fd >= 0 && model.waits == MODEL_WAIT) {
        (void)!write(ep->cq->fd, &one, sizeof one);
    }
}

static struct model_ep *model_named(uint64_t name)
{
    pthread_mutex_lock(&model_lock);
    struct model_ep *ep = model_eps;
    while (ep != NULL && ep->number != name) {
        ep = ep->older;
    }
    pthread_mutex_unlock(&model_lock);
    return ep;
}

/* To an endpoint of this process, or a stranger. */
static ssize_t model_route(uint64_t name, const void *bytes, size_t len)
{
    struct model_ep *to = model_named(name);
    if (to == NULL) {
        if (model_stranger != NULL) {
            model_stranger(name, bytes, len);
        }
        return 0;
    }
    if (to->arrival_count == MODEL_RECVS) {
        return -FI_EAGAIN;
    }
    memcpy(to->arrivals[to->arrival_count].bytes, bytes, len);
    to->arrivals[to->arrival_count].bytes[len - 1] ^= model.garbles;
    to->arrivals[to->arrival_count++].len = len;
    model_ring(to);
    return 0;
}

/* The bytes of an arrival get into the buffer of a receive. */
static void model_fill(struct model_ep *ep, int at)
{
    ep->filled++;
    if ((model.early & 1u << MODEL_SEND) == 0) {
        memcpy(ep->recvs[at].buf, ep->arrivals[at].bytes, ep->arrivals[at].len);
    }
}

static ssize_t model_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t to)
{
    struct model_ep *ep = model_enter(fid);
    if (len > model.inject) {
        abort(); /* more than was said */
    }
    return model_leave(ep, model_route(to, buf, len));
}

/* It is closed. */
static void model_forget(const struct model_ep *ep)
{
    pthread_mutex_lock(&model_lock);
    struct model_ep **at = &model_eps;
    while (*at != ep) {
        at = &(*at)->older;
    }
    *at = ep->older;
    pthread_mutex_unlock(&model_lock);
}

#endif
