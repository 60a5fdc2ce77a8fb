/* Inside the module: what its files share. */
#ifndef HL_FAB_LIB_H
#define HL_FAB_LIB_H

#include "fab.h"

#include <sys/socket.h>

/* The seven functions of libfabric that are not inline. Tests put a model provider here. */
struct hl_fab_lib {
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_strerror) *strerror;
    __typeof__(fi_tostr) *tostr;
    __typeof__(fi_version) *version;
    const struct hl_provider *row; /* of a test's model provider; NULL: none */
};
extern struct hl_fab_lib hl_fab_lib;

/* Fills hl_fab_lib from libfabric.so.1, or leaves what a test has put there. Returns 0, or HL_ERR_OTHER with
 * a text that says what to do. */
int hl_fab_lib_load(void);

/* The provider's description and fabric, between hl_fab_open and hl_fab_close. */
extern struct fi_info *hl_fab_info;
extern struct fid_fabric *hl_fab_fabric;

/* Asks the provider which atomics it has; once, with the receive endpoint's domain. */
void hl_fab_atomics_load(struct fid_domain *domain);

/* Frees the cards, at the end; the next opening of the network publishes new ones. */
void hl_fab_cards_forget(void);

/* Posts a buffer for the next message of any peer; the completion has `context`. Returns 0, or the provider's
 * error. */
HL_INLINE int hl_fab_ep_post_buffer(struct hl_fab_ep *ep, void *buf, size_t len, void *context)
{
    struct iovec iov = {buf, len};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = context};
    return (int)fi_recvmsg(ep->ep, &msg, FI_COMPLETION);
}

/* Remembers that sockets of this address belong to the provider, for hl_fab_cloexec. Any thread. */
void hl_fab_cloexec_note(const void *name, size_t len);

/* A socket of the provider. */
struct hl_fab_ends {
    int fd;
    unsigned my_port, port;       /* ports of this end and of the other end; 0: none */
    struct sockaddr_storage peer; /* address of the other end; peer_len 0: none */
    socklen_t peer_len;
};

/* Looks at all descriptors of the process, makes the provider's sockets close-on-exec and calls fn for
 * each. */
void hl_fab_each_socket(void (*fn)(void *arg, const struct hl_fab_ends *ends), void *arg);

#endif
