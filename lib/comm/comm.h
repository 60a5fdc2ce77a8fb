/* Communicators: who belongs to one, the context that keeps its messages apart, what users hang on it.
 *
 * Context ids are never reused: issuer's world rank (24 bits) | issuer's counter (37) | plane (3), so threads
 * that create communicators share one atomic counter and nothing else, and a late message of a freed
 * communicator matches nothing. Making one is a collective operation: see coll.h. */
#ifndef HL_COMM_H
#define HL_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "group.h"
#include "handle.h"

struct hl_attr_set; /* keyval.h */
struct hl_errh;     /* errh.h */
struct hl_info;     /* info.h */
struct hl_shape;    /* shape.h */

/* Planes of a context: ctx + plane is what matching compares. */
enum hl_plane {
    HL_PLANE_P2P = 0,
    HL_PLANE_COLL = 1,
    HL_PLANE_MAKE = 2, /* creation and other internal agreement */
    HL_PLANE_PART = 3,
    HL_PLANE_TAGGED = 4, /* creation by some members only, with tags of the user's */
    HL_PLANE_AGAIN = 5,  /* persistent collectives, whose tags stay in use */
    HL_PLANE_MAIL = 6,   /* messages of the alltoall family where mailboxes are used */
};

/* What a module above hangs on a communicator, first in a structure of its own: dropped when the communicator
 * dies. */
struct hl_comm_part {
    void (*drop)(struct hl_comm_part *part);
};
enum hl_comm_parts {
    HL_PART_SHARED, /* node-shared memory of blocking collectives */
    HL_PART_BOXES,  /* mailboxes of alltoall */
    HL_PART_AGREED, /* the last agreements */
    HL_PARTS
};

/* What a program asserts of its receives on a communicator (mpi_assert_*). */
enum hl_comm_assert {
    HL_ASSERT_NO_ANY_TAG = 1,
    HL_ASSERT_NO_ANY_SOURCE = 2,
    HL_ASSERT_EXACT_LENGTH = 4,
};

/* Read-only once made, but for the fields that say otherwise. */
struct hl_comm {
    struct hl_handle h;
    MPI_Comm handle; /* what the user calls it: a constant or this address */
    uint64_t ctx;    /* plane HL_PLANE_P2P */
    int rank, size;  /* mine; number of members; of the local group in an intercommunicator */
    struct hl_group *group;
    struct hl_group *peers; /* whom the ranks in operations name: `group`, or the remote group */
    int n_peers;            /* its size */
    hl_a32 asserts;         /* atomic: enum hl_comm_assert, of `info`, for who receives */
    bool one_node;          /* all members are in my proved node group: the same answer on all of them */
    struct hl_comm *local;  /* of my group alone, for an intercommunicator's own use; NULL: none such */
    struct hl_comm *inter;  /* whose `local` this is, or NULL */
    hl_a32 refs;            /* the handle and each cold user: window, schedule, persistent request */
    hl_a32 coll;            /* atomic: number of collective operations called so far, gives their tags */
    uint32_t blocking;      /* blocking collectives called before they share memory; whose turn it is */
    char *name;             /* or NULL; guarded by a lock in comm.c */
    struct hl_errh *errh;   /* NULL: MPI_ERRORS_ARE_FATAL; changed as errh.h says */
    struct hl_shape *shape; /* topology, with a reference; NULL: none. Set before the user has the handle */
    struct hl_attr_set *attrs; /* NULL: none; changed as keyval.h says */
    struct hl_info *info;      /* NULL: no hints; changed as info.h says */
    struct hl_origin origin;   /* its group's or its parent's; set before the user has the handle */
    /* Who takes the errors of requests and calls on a communicator that belongs to a window or file; NULL: it
     * is the user's. Set before anybody else knows it. */
    int (*raise)(void *owner, const char *func, int err);
    void *owner;
    hl_aptr buffered; /* for buffered sends: a slot of match's buffered.h, empty when it is freed */
    struct hl_comm_part
        *parts[HL_PARTS]; /* or NULL; each is its module's, who calls collectives is in turn */
};

extern struct hl_comm hl_comm_world_object, hl_comm_self_object;

/* The communicator behind a handle, or NULL for MPI_COMM_NULL, freed, foreign and garbage values, and for all
 * values before hl_comm_open and after hl_comm_close. Any thread, no lock. */
HL_INLINE struct hl_comm *hl_comm_of(MPI_Comm handle)
{
    struct hl_comm *c;

    if (HL_LIKELY(handle == MPI_COMM_WORLD)) {
        c = &hl_comm_world_object;
    } else if (handle == MPI_COMM_SELF) {
        c = &hl_comm_self_object;
    } else {
        return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_COMM);
    }
    return HL_LIKELY(c->h.kind == HL_KIND_COMM) ? c : NULL;
}

/* Has `look` see the communicator of a message or request with this context, of any plane. False: there is
 * none, or its handle was freed. Another thread may free the handle at any time; it is not freed while `look`
 * is at it, which makes and frees no handles. Slow. Any thread. */
typedef void hl_comm_look_fn(struct hl_comm *c, void *arg);
bool hl_comm_look(uint64_t ctx, hl_comm_look_fn *look, void *arg);

/* The same communicator with a reference for the caller, or NULL. */
struct hl_comm *hl_comm_ref_ctx(uint64_t ctx);

/* World rank of peer `rank`, which must be in 0 .. n_peers - 1. O(1). */
HL_INLINE int hl_comm_world(const struct hl_comm *c, int rank)
{
    return hl_group_world(c->peers, rank);
}

HL_INLINE bool hl_comm_is_inter(const struct hl_comm *c)
{
    return c->local != NULL;
}

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF from hl_boot's facts. HL_ERR_NO_MEM. Once, before any other call;
 * again after hl_comm_close. */
int hl_comm_open(void);

/* Ends both: their handles are invalid from here on. Communicators that the user never freed stay. */
void hl_comm_close(void);

/* In a forked child: no handle is good any more; error handlers stay. */
void hl_comm_forget(void);

/* A context that no communicator of the job ever had or will have, plane HL_PLANE_P2P. Any thread. */
uint64_t hl_comm_ctx_new(void);

/* A new communicator over `group` (which gets a reference) with context `ctx`, which all members must have
 * agreed on; I must be a member. One reference, the handle's. HL_ERR_NO_MEM. Any thread. */
int hl_comm_make(struct hl_group *group, uint64_t ctx, struct hl_comm **made);

/* An intercommunicator of the members of `local` (whose reference it takes over, also when it fails) and of
 * `remote` (which gets a reference), with context `ctx` that both sides have agreed on. HL_ERR_NO_MEM. */
int hl_comm_make_inter(struct hl_comm *local, struct hl_group *remote, uint64_t ctx, struct hl_comm **made);

/* A context for `group` that its members compute alike from a string, without a message: to create by, never
 * of a communicator. */
uint64_t hl_comm_ctx_named(const struct hl_group *group, const char *string);

/* MPI_Comm_free: the handle is invalid now, the object dies with its last user. Not for the predefined two.
 */
void hl_comm_free(struct hl_comm *c);

/* A reference for a user that may outlive the handle; the last hl_comm_unref destroys the object. */
void hl_comm_ref(struct hl_comm *c);
void hl_comm_unref(struct hl_comm *c);

/* A tag for one collective operation: the same on all members, as they call collectives in one order.
 * 0 .. 2^30 - 1, comes round again. */
int hl_comm_coll_tag(struct hl_comm *c);

/* MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL. */
int hl_comm_compare(const struct hl_comm *a, const struct hl_comm *b);

/* Hints: what `user` (NULL: nothing) says of keys that are known replaces the old values, other keys and
 * values are ignored; all known keys with their values in a new object. HL_ERR_NO_MEM. Any thread. */
int hl_comm_set_hints(struct hl_comm *c, const struct hl_info *user);
int hl_comm_get_hints(const struct hl_comm *c, struct hl_info **made);

/* A receive with the wildcard `what` breaks an assertion: HL_ERR_ARG, or, as HOTLANE_BROKEN_HINTS has it, 0
 * after one line, and the assertion is gone. Any thread. */
int hl_comm_break_hint(struct hl_comm *c, uint32_t assert, const char *what) HL_COLD;

/* Names are cut at MPI_MAX_OBJECT_NAME - 1 bytes. HL_ERR_NO_MEM. Any thread. */
int hl_comm_set_name(struct hl_comm *c, const char *name);
void hl_comm_get_name(const struct hl_comm *c, char out[MPI_MAX_OBJECT_NAME]);

#endif
