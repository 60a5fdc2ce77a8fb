/* The proved node group. Private to boot.
 *
 * Proof instead of belief: every rank tries to bind the job's abstract socket name; who gets it leads, the
 * others connect. Abstract names live in a network namespace, so ranks of another host, or of a container
 * with a network of its own, cannot meet. Both ends compare the user (SO_PEERCRED) and the job nonce. After
 * the fence everybody who can come has come; the leader tells each member the group. The connections stay
 * until the node board was passed. */
#ifndef HL_BOOT_NODE_H
#define HL_BOOT_NODE_H

#include "boot_method.h"
#include "boot_shelf.h"

/* Finds the group of hl_job.rank among the ranks of `clique`, and sets hl_boot.node_*; a rank that cannot
 * prove anything is a group of one. `clique` -1: a group of one, nothing is asked. Collective over the job:
 * one fence. */
int hl_boot_node_prove(const struct hl_boot_method *m, int clique);

/* Keeps a notice that came meanwhile for hl_boot_watch_take. 0 or HL_ERR_NO_MEM. */
int hl_boot_keep_notice(int rank, int code);

/* Closes what hl_boot_node_prove left open for hl_boot_node_share. */
void hl_boot_node_close(void);

/* Address of a job socket: "hotlane/HASH/WHAT/NUMBER" in the abstract namespace. Returns its length. Every
 * user can list such names, so each has a hash of its own: who has seen one cannot bind the next one first.
 */
struct sockaddr_un;
unsigned hl_boot_node_address(struct sockaddr_un *a, const char *what, int number);

/* What stands first in everything that goes through these sockets. Not the nonce of the network: a name that
 * a rank has left may be bound by anybody, and what is sent there until the rank's death is known is read. */
uint64_t hl_boot_node_nonce(void);

/* The node's shelf, behind its board: none before hl_boot_node_share, none in a group of one or of all. */
extern struct hl_shelf hl_boot_shelf;

/* The datagram socket of each rank; bound before the fence, so that after it all of the group are there. */
int hl_boot_socket_open(void);
void hl_boot_socket_close(void);

#endif
