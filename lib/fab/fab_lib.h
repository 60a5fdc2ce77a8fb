/* What the files of fab share. */
#ifndef HL_FAB_LIB_H
#define HL_FAB_LIB_H

#include "fab.h"

#include <sys/socket.h>

/* The seven functions of libfabric that are no inline calls. Tests put a model provider here. */
struct hl_fab_lib {
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_strerror) *strerror;
    __typeof__(fi_tostr) *tostr;
    __typeof__(fi_version) *version;
    const struct hl_provider *row; /* of a test's model */
};
extern struct hl_fab_lib hl_fab_lib;

/* Fills hl_fab_lib from libfabric.so.1, or leaves what a test has put there. HL_ERR_OTHER with the fix. */
int hl_fab_lib_load(void);

/* Runs fn(arg), and meanwhile the library that has the address `inside` finds no /proc/kallsyms: see
 * redirect.c.
 */
void hl_fab_without_symbols(const void *inside, void (*fn)(void *), void *arg);

/* From now on the large buffers of the library that has this address lie in huge pages, if the kernel has
 * them. False: it is left as it is. */
bool hl_fab_in_huge_pages(const void *inside);

/* The provider's description and fabric, between hl_fab_open and hl_fab_close. */
extern struct fi_info *hl_fab_info;
extern struct fid_fabric *hl_fab_fabric;

/* Asks the provider which atomics it has; once, with the receive endpoint's domain. */
void hl_fab_atomics_load(struct fid_domain *domain);

/* For the end: frees the cards; the next opening publishes new ones. */
void hl_fab_cards_forget(void);

/* Asks the endpoint's domain once to register memory under that key, where the key is ours to choose, and
 * binds and enables it where the provider wants that. 0, or the provider's error and *mr NULL. */
int hl_fab_mr_open(struct hl_fab_ep *ep, const struct iovec *iov, uint64_t key, struct fid_mr **mr);

/* Remembers that sockets of this address belong to the provider, for hl_fab_seal. */
void hl_fab_seal_note(const void *name, size_t len);

/* A socket of the provider. */
struct hl_fab_ends {
    int fd;
    unsigned my_port, port;       /* the other end's; 0: none */
    struct sockaddr_storage peer; /* peer_len 0: none */
    socklen_t peer_len;
};

/* Looks at all descriptors of the process, and seals the sockets that it tells of. */
void hl_fab_each_socket(void (*fn)(void *arg, const struct hl_fab_ends *ends), void *arg);

#endif
