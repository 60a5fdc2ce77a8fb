/* The bell: sleepers wake when a port has work.
 *
 * Where no other process rings this one's door, one of the sleepers watches the ports' descriptors
 * (keeper.c). Else the receive thread wakes them:
 *
 * The ports' descriptors hang one-shot in an epoll of their own, which hangs in the receive thread's. A
 * thread that goes to sleep arms them (after the provider agreed that nothing is there); the first event
 * disarms them and rings the door. So a process that never waits costs the receive thread nothing, whatever
 * arrives. The receive thread touches only descriptors, never a port's queue. */
#include "far.h"
#include "port.h"

#include "job.h"
#include "log.h"
#include "rx.h"

#include <sys/epoll.h>
#include <unistd.h>

/* Called on the receive thread. */
static void wake_for_ports(void *arg)
{
    const struct hl_net *net = arg;
    struct epoll_event events[HL_PORTS_MAX];
    if (epoll_wait(net->bell, events, HL_PORTS_MAX, 0) > 0) {
        hl_prog_wake();
    }
}

/* Has a sleeper watch the ports. False: it cannot, and watches none. */
static bool keep_ports(struct hl_net *net)
{
    unsigned n = 0;
    if (hl_job.node_size > 1 || !hl_prog_keeper_open()) {
        return false;
    }
    while (n < net->n && hl_prog_keeper_add(net->port[n].ep.wait_fd)) {
        n++;
    }
    if (n < net->n) {
        hl_prog_keeper_close();
    }
    return n == net->n;
}

void hl_bell_open(struct hl_net *net)
{
    net->kept = keep_ports(net);
    if (net->kept) {
        return;
    }
    net->bell = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; net->bell >= 0 && i < net->n; i++) {
        struct epoll_event off = {.events = EPOLLONESHOT, .data.u32 = i};
        int fd = net->port[i].ep.wait_fd;
        if (fd < 0 || epoll_ctl(net->bell, EPOLL_CTL_ADD, fd, &off) != 0) {
            close(net->bell);
            net->bell = -1;
        }
    }
    if (net->bell >= 0 && hl_rx_watch(net->bell, wake_for_ports, net) != 0) {
        close(net->bell);
        net->bell = -1;
    }
    if (net->bell < 0) {
        hl_log(HL_LOG_INFO,
               "the network cannot wake ranks that wait for messages: they sleep for short times and look");
    }
}

void hl_bell_close(struct hl_net *net)
{
    if (net->kept) {
        hl_prog_keeper_close();
        net->kept = false;
    }
    if (net->bell >= 0) {
        hl_rx_unwatch(net->bell);
        close(net->bell);
        net->bell = -1;
    }
}

bool hl_far_rings(const struct hl_matcher *m)
{
    bool rings = m->net->kept || m->net->bell >= 0;
    for (unsigned i = 0; i < m->net->n; i++) {
        /* relaxed: a late look costs a nap */
        rings = rings && hl_a32_load_relaxed(&m->net->port[i].holds) == 0;
    }
    return rings;
}

enum hl_prog_armed hl_far_arm(struct hl_matcher *m)
{
    struct hl_net *net = m->net;
    enum hl_prog_armed armed = HL_PROG_RINGS;
    for (unsigned i = 0; (net->kept || net->bell >= 0) && armed == HL_PROG_RINGS && i < net->n; i++) {
        struct hl_port *port = &net->port[i];
        if (!hl_port_own(port, false)) {
            return HL_PROG_SERVED;
        }
        if (!hl_fab_ep_may_sleep(&port->ep)) {
            armed = HL_PROG_WAITING;
        } else if (net->kept) {
            hl_prog_keeper_again(port->ep.wait_fd);
        } else {
            struct epoll_event on = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = i};
            (void)epoll_ctl(net->bell, EPOLL_CTL_MOD, port->ep.wait_fd, &on);
        }
        hl_port_leave(port);
    }
    return armed;
}
