/* Inside the module: checks the arguments of sends and receives, and turns them into what match takes. */
#ifndef HL_P2P_ARGS_H
#define HL_P2P_ARGS_H

#include "args.h"
#include "match.h"

/* The arguments that all forms share. */
struct hl_api_p2p {
    const void *buf;
    int64_t count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

/* The end of a call that gives the request `r`, if `err` is 0. */
HL_INLINE int hl_api_leave_started(struct hl_comm *c, const char *func, int err, struct hl_req *r,
                                   MPI_Request *request)
{
    if (err == 0) {
        *request = hl_req_handle(r);
    }
    return hl_api_leave(c, func, err);
}

/* Writes the status of a communication with MPI_PROC_NULL. */
HL_INLINE void hl_api_nobody_status(MPI_Status *status)
{
    hl_req_set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

/* Checks a send's arguments and fills *s. *nobody: the peer is MPI_PROC_NULL, and *s is not filled. */
HL_INLINE int hl_api_to_send(const struct hl_api_p2p *a, enum hl_send_mode mode, struct hl_comm **c,
                             struct hl_send *s, bool *nobody)
{
    struct hl_type *t = NULL;
    int err = hl_api_get_comm(a->comm, c);

    err = err == 0 ? hl_api_get_message(a->buf, a->count, a->type, a->peer == MPI_PROC_NULL, &t) : err;
    err = err == 0 ? hl_api_check_dest(*c, a->peer) : err;
    err = err == 0 ? hl_api_check_tag(a->tag) : err;
    if (err != 0) {
        return err;
    }
    *nobody = a->peer == MPI_PROC_NULL;
    if (!*nobody) {
        *s = (struct hl_send){.ctx = (*c)->ctx + HL_PLANE_P2P,
                              .me = (*c)->rank,
                              .dest_world = hl_comm_world(*c, a->peer),
                              .tag = a->tag,
                              .mode = mode,
                              .buf = a->buf,
                              .count = a->count,
                              .type = t};
    }
    return 0;
}

/* Are all arguments of a communication with MPI_PROC_NULL right? False may be wrong: then the long way
 * decides, and finds the error's text. */
HL_INLINE bool hl_api_is_plain(int count, MPI_Datatype type, int tag, MPI_Comm comm)
{
    return hl_cs_on == HL_CS_LOCKFREE && !HL_CHECKED && (count | tag) >= 0 && hl_comm_of(comm) != NULL &&
           (uintptr_t)type < HL_TYPE_PREDEFINED_END && hl_type_dense[(uintptr_t)type] != 0;
}

/* Must the lengths of receives on `c` match exactly (mpi_assert_exact_length)? */
HL_INLINE bool hl_api_is_exact(const struct hl_comm *c)
{
    /* relaxed: a thread that receives while the hints change may see either. */
    return HL_CHECKS && (hl_a32_load_relaxed(&c->asserts) & HL_ASSERT_EXACT_LENGTH) != 0;
}

HL_INLINE int hl_api_to_recv(const struct hl_api_p2p *a, struct hl_comm **c, struct hl_recv *r, bool *nobody)
{
    struct hl_type *t = NULL;
    int err = hl_api_get_comm(a->comm, c);

    err = err == 0 ? hl_api_get_message(a->buf, a->count, a->type, a->peer == MPI_PROC_NULL, &t) : err;
    err = err == 0 ? hl_api_check_source(*c, a->peer) : err;
    err = err == 0 ? hl_api_check_recv_tag(*c, a->tag) : err;
    if (err != 0) {
        return err;
    }
    *nobody = a->peer == MPI_PROC_NULL;
    if (!*nobody) {
        *r = (struct hl_recv){.ctx = (*c)->ctx + HL_PLANE_P2P,
                              .src = a->peer,
                              .src_world = a->peer >= 0 ? hl_comm_world(*c, a->peer) : -1,
                              .tag = a->tag,
                              .buf = (void *)(uintptr_t)a->buf,
                              .count = a->count,
                              .type = t,
                              .exact = hl_api_is_exact(*c)};
    }
    return 0;
}

#endif
