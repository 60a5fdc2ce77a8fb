/* Communicators: their members, the context that keeps their messages apart, and what users attach to them.
 *
 * A context id is never reused: issuer's world rank (24 bits) | issuer's counter (37) | plane (3). So threads
 * that create communicators share nothing but one atomic counter, and a late message of a freed communicator
 * matches nothing. Making a communicator is a collective operation (coll.h). */
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
    HL_PLANE_TAGGED = 4, /* creation by some members only, with the user's tags */
    HL_PLANE_AGAIN = 5,  /* persistent collectives, whose tags stay in use */
    HL_PLANE_MAIL = 6,   /* messages of the alltoall family where mailboxes are used */
    HL_PLANE_MEET = 7,   /* MPI_Intercomm_create between its leaders, with the user's tags */
};

/* Data that a module above attaches to a communicator, first in a structure of its own. `drop` is called when
 * the communicator is destroyed. */
struct hl_comm_part {
    void (*drop)(struct hl_comm_part *part);
};
enum hl_comm_parts {
    HL_PART_SHARED, /* node-shared memory of blocking collectives */
    HL_PART_BOXES,  /* mailboxes of alltoall */
    HL_PART_AGREED, /* the last agreements */
    HL_PARTS
};

/* What a program asserts about its receives on a communicator (mpi_assert_*). */
enum hl_comm_assert {
    HL_ASSERT_NO_ANY_TAG = 1,
    HL_ASSERT_NO_ANY_SOURCE = 2,
    HL_ASSERT_EXACT_LENGTH = 4,
};

/* Read-only once made, except the fields that say otherwise. */
struct hl_comm {
    struct hl_handle h;
    MPI_Comm handle; /* what the user calls it: a constant or this address */
    uint64_t ctx;    /* plane HL_PLANE_P2P */
    int rank, size;  /* my rank; number of members; both of the local group in an intercommunicator */
    struct hl_group *group;
    struct hl_group *peers; /* the group that ranks in operations name: `group`, or the remote group */
    int n_peers;            /* size of `peers` */
    hl_a32 asserts;         /* atomic: enum hl_comm_assert, as in `info`; read by receives */
    /* all members are in my node group, as boot has proved it: the same on all of them */
    bool one_node;
    /* communicator of my group alone, for an intercommunicator's own use; else NULL */
    struct hl_comm *local;
    struct hl_comm *inter; /* the intercommunicator whose `local` this is, or NULL */
    hl_a32 refs;           /* references of the handle and of each window, schedule and persistent request */
    /* atomic: number of collective operations called so far, which gives their tags */
    hl_a32 coll;
    /* blocking collectives called before they share memory; changed by the caller of collectives */
    uint32_t blocking;
    char *name;                /* or NULL; guarded by a lock in comm.c */
    struct hl_errh *errh;      /* NULL: MPI_ERRORS_ARE_FATAL; changed as errh.h says */
    struct hl_shape *shape;    /* topology, with a reference, or NULL; set before the user has the handle */
    struct hl_attr_set *attrs; /* NULL: none; changed as keyval.h says */
    struct hl_info *info;      /* NULL: no hints; changed as info.h says */
    struct hl_origin origin;   /* origin of its group or parent; set before the user has the handle */
    /* On a communicator that belongs to a window or file: the function that takes errors of its requests and
     * calls; NULL: the communicator is the user's. It is set before other threads know the communicator. */
    int (*raise)(void *owner, const char *func, int err);
    void *owner;
    hl_aptr buffered; /* slot of match's buffered.h for buffered sends; empty when this is freed */
    struct hl_comm_part
        *parts[HL_PARTS]; /* each NULL or its module's; changed by the caller of collectives */
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

/* Calls `look` with the communicator whose context this is, of any plane. False: there is none, or its handle
 * was freed. Another thread may free the handle at any time; the object is not freed while `look` runs.
 * `look` must not make or free handles. Slow. Any thread. */
typedef void hl_comm_look_fn(struct hl_comm *c, void *arg);
bool hl_comm_look(uint64_t ctx, hl_comm_look_fn *look, void *arg);

/* The communicator with this context, with a reference for the caller; or NULL. */
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

/* Ends MPI_COMM_WORLD and MPI_COMM_SELF: their handles are invalid from here on. Communicators that the user
 * never freed stay. */
void hl_comm_close(void);

/* Called in a forked child: makes both handles invalid; error handlers stay. */
void hl_comm_forget(void);

/* A new context, which no communicator of the job ever had or will have, plane HL_PLANE_P2P. Any thread. */
uint64_t hl_comm_ctx_new(void);

/* Makes a communicator over `group` (which gets a reference) with context `ctx`, on which all members have
 * agreed; this rank must be a member. It has one reference, the handle's. HL_ERR_NO_MEM. Any thread. */
int hl_comm_make(struct hl_group *group, uint64_t ctx, struct hl_comm **made);

/* Makes an intercommunicator of the members of `local` (whose reference it takes over, also when it fails)
 * and of `remote` (which gets a reference), with context `ctx`, on which both sides have agreed.
 * HL_ERR_NO_MEM. */
int hl_comm_make_inter(struct hl_comm *local, struct hl_group *remote, uint64_t ctx, struct hl_comm **made);

/* A context that the members of `group` compute alike from a string, without a message. It serves to create a
 * communicator, and no communicator has it. */
uint64_t hl_comm_ctx_named(const struct hl_group *group, const char *string);

/* MPI_Comm_free: the handle is invalid now; the object is destroyed with its last reference. The two
 * predefined ones are not given to it. */
void hl_comm_free(struct hl_comm *c);

/* hl_comm_ref takes a reference for a user that may outlive the handle; the last hl_comm_unref destroys the
 * object. */
void hl_comm_ref(struct hl_comm *c);
void hl_comm_unref(struct hl_comm *c);

/* A tag for one collective operation: the same on all members, since they call collectives in one order. 0 ..
 * 2^30 - 1; then it begins again. */
int hl_comm_coll_tag(struct hl_comm *c);

/* MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL. */
int hl_comm_compare(const struct hl_comm *a, const struct hl_comm *b);

/* hl_comm_set_hints: values that `user` (NULL: none) has for known keys replace the old values; other keys
 * and values are ignored. hl_comm_get_hints: all known keys with their values, in a new object for the
 * caller. HL_ERR_NO_MEM. Any thread. */
int hl_comm_set_hints(struct hl_comm *c, const struct hl_info *user);
int hl_comm_get_hints(const struct hl_comm *c, struct hl_info **made);

/* Called when a receive with the wildcard `what` breaks an assertion. HL_ERR_ARG; or, if HOTLANE_BROKEN_HINTS
 * allows it, 0 after one line of log, and the assertion is dropped. Any thread. */
int hl_comm_break_hint(struct hl_comm *c, uint32_t assert, const char *what) HL_COLD;

/* Names are cut at MPI_MAX_OBJECT_NAME - 1 bytes. HL_ERR_NO_MEM. Any thread. */
int hl_comm_set_name(struct hl_comm *c, const char *name);
void hl_comm_get_name(const struct hl_comm *c, char out[MPI_MAX_OBJECT_NAME]);

#endif
