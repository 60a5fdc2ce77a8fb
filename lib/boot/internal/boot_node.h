/* Inside the module: the proved node group.
 *
 * That ranks share a node is proved: every rank tries to bind the job's abstract socket name; the rank that
 * gets it leads, the others connect. Abstract names live in a network namespace, so ranks of another host, or
 * of a container with a network of its own, cannot meet. Both ends compare the user (SO_PEERCRED) and the job
 * nonce. After the fence all ranks that can connect have connected, and the leader tells each member who is
 * in the group. The connections stay open until the node board was passed. */
#ifndef HL_BOOT_NODE_H
#define HL_BOOT_NODE_H

#include "boot_kvs.h"
#include "boot_method.h"

#include <sys/socket.h>

/* Finds the node group of this rank among the ranks of `clique` and sets hl_job.node_*. A rank that cannot
 * prove anything is a group of one, with a line in the log. `clique` -1: a group of one, without a fence.
 * Collective over the job: one fence. */
int hl_boot_node_prove(const struct hl_boot_method *m, int clique);

/* Keeps a notice that came during start-up for hl_boot_watch_take. Returns 0 or HL_ERR_NO_MEM with the
 * text. */
int hl_boot_keep_notice(int rank, int code);

/* Sets *a to the address of a socket of the job, "hotlane/HASH/WHAT/NUMBER" in the abstract namespace;
 * returns its length. Every user can list such names, so each has a hash of its own: nobody can foresee
 * another name from one that he has seen, and bind it first. */
struct sockaddr_un;
unsigned hl_boot_node_address(struct sockaddr_un *a, const char *what, int number);

/* Lays descriptor `fd` at *m, whose control messages then are at *c. Nothing for -1. */
union hl_boot_control {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};
void hl_boot_node_attach(struct msghdr *m, union hl_boot_control *c, int fd);

/* The number with which everything begins that is sent through these sockets. It is not the network's nonce:
 * anybody can bind the name of a dead rank, and read what is sent there until the death is known. */
uint64_t hl_boot_node_nonce(void);

/* The node's cache, which lies behind its board. There is none before hl_boot_node_share, and none in a group
 * of one or of all ranks. */
extern struct hl_kvs_cache hl_boot_kvs;

/* Opens this rank's datagram socket, before the fence, so that all sockets of the group are there after it.
 * Returns 0 or -errno. */
int hl_boot_socket_open(void);
void hl_boot_socket_close(void);

#endif
