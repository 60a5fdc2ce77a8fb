/* Entry points that make communicators. */
#include "api.h"
#include "args.h"
#include "coll.h"
#include "keyval.h"
#include "shape.h"

void hl_api_give_comm(const struct hl_comm *parent, struct hl_comm *made, MPI_Comm *newcomm)
{
    if (made != NULL) {
        hl_errh_copy(&made->errh, &parent->errh);
        made->origin = parent->origin;
    }
    *newcomm = made != NULL ? made->handle : MPI_COMM_NULL;
}

int hl_api_leave_made(struct hl_comm *parent, const char *func, int err, struct hl_comm *made,
                      MPI_Comm *newcomm)
{
    if (err == 0) {
        hl_api_give_comm(parent, made, newcomm);
    }
    return hl_api_leave(parent, func, err);
}

struct extras {
    struct hl_comm *from;
    MPI_Info info;
};

/* Copies what a duplicate has beside the group. A wrong info is found only here, since the other ranks count
 * on this rank to take part. */
static int copy_extras(void *arg, struct hl_comm *made)
{
    const struct extras *x = arg;
    struct hl_info *hints;
    int err = hl_api_get_info(x->info, &hints);

    err = err == 0 ? hl_attr_copy_all(&x->from->attrs, x->from->handle, &made->attrs) : err;
    err = err == 0 && hints != NULL ? hl_comm_set_hints(made, hints) : err;
    if (err != 0) {
        hl_attr_delete_all(&made->attrs, made->handle);
    }
    return err;
}

static int dup_now(struct extras *x, struct hl_comm **made)
{
    int err = hl_coll_comm_dup(x->from, made);

    if (err == 0 && (err = copy_extras(x, *made)) != 0) {
        hl_comm_free(*made);
    }
    return err;
}

/* ---- Wrong arguments that a rank may give alone. Its error is raised first, then it takes its part all the
 * same: the others would wait for it ---- */

static int give_wrong(void *wrong, struct hl_comm *made)
{
    (void)made;
    return *(const int *)wrong;
}

static int refuse_dup(struct hl_comm *c, const char *func, int wrong)
{
    struct hl_comm *made;
    struct hl_req *r;
    int code = hl_api_end(c, func, wrong);

    (void)hl_coll_comm_idup(c, give_wrong, &wrong, &made, &r);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int refuse_split(struct hl_comm *c, const char *func, int wrong)
{
    int code = hl_api_end(c, func, wrong);

    hl_coll_comm_refuse(c, wrong);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int refuse_group(struct hl_comm *c, const char *func, const struct hl_coll_some *some)
{
    struct hl_comm *made;
    int code = hl_api_end(c, func, some->wrong);

    (void)hl_coll_comm_create_group(c, some, &made);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int refuse_inter(struct hl_comm *c, int leader, const struct hl_coll_meet *meet)
{
    struct hl_comm *made;
    int code = hl_api_end(c, "MPI_Intercomm_create", meet->wrong);

    (void)hl_coll_intercomm_create(c, leader, meet, &made);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int refuse_merge(struct hl_comm *c, bool high, int wrong)
{
    struct hl_comm *made;
    int code = hl_api_end(c, "MPI_Intercomm_merge", wrong);

    if (hl_coll_intercomm_merge(c, high, &made) == 0) {
        hl_comm_free(made);
    }
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

/* ---- Duplicates and splits ---- */

/* Duplicates a communicator; `later`: with a request. */
static int dup_comm(const char *func, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request,
                    bool later)
{
    struct hl_comm *c, *made = NULL;
    struct hl_req *r = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));
    struct extras extras = {c, info};

    if (err != 0) {
        return hl_api_leave(c, func, err);
    }
    int wrong = hl_api_check_out(newcomm, "newcomm");
    wrong = wrong == 0 && later ? hl_api_check_out(request, "request") : wrong;
    if (wrong != 0) {
        return refuse_dup(c, func, wrong);
    }
    err = later ? hl_coll_comm_idup(c, copy_extras, &extras, &made, &r) : dup_now(&extras, &made);
    if (err != 0) {
        *newcomm = MPI_COMM_NULL;
        return hl_api_leave(c, func, err);
    }
    if (c->shape != NULL) {
        hl_shape_ref(c->shape);
        made->shape = c->shape;
    }
    if (later) {
        *request = hl_req_handle(r);
    }
    hl_api_give_comm(c, made, newcomm);
    return hl_api_leave(c, func, 0);
}

HL_API(MPI_Comm_dup);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup_comm("MPI_Comm_dup", comm, MPI_INFO_NULL, newcomm, NULL, false);
}

HL_API(MPI_Comm_dup_with_info);
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup_comm("MPI_Comm_dup_with_info", comm, info, newcomm, NULL, false);
}

HL_API(MPI_Comm_idup);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return dup_comm("MPI_Comm_idup", comm, MPI_INFO_NULL, newcomm, request, true);
}

HL_API(MPI_Comm_idup_with_info);
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return dup_comm("MPI_Comm_idup_with_info", comm, info, newcomm, request, true);
}

HL_API(MPI_Comm_split);
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    if (err == 0) {
        int wrong = hl_api_check_out(newcomm, "newcomm");
        if (wrong == 0 && color < 0 && color != MPI_UNDEFINED) {
            wrong = hl_err_say(HL_ERR_ARG, "color %d is negative and not MPI_UNDEFINED", color);
        }
        if (wrong != 0) {
            return refuse_split(c, "MPI_Comm_split", wrong);
        }
        err = hl_coll_comm_split(c, color, key, &made);
    }
    return hl_api_leave_made(c, "MPI_Comm_split", err, made, newcomm);
}

HL_API(MPI_Comm_create);
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_group *g;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    if (err == 0) {
        int wrong = hl_api_get_group(group, &g);
        wrong = wrong == 0 ? hl_coll_check_subgroup(c, g) : wrong;
        wrong = wrong == 0 ? hl_api_check_out(newcomm, "newcomm") : wrong;
        if (wrong != 0) {
            return refuse_split(c, "MPI_Comm_create", wrong);
        }
        err = hl_coll_comm_create(c, g, &made);
    }
    return hl_api_leave_made(c, "MPI_Comm_create", err, made, newcomm);
}

HL_API(MPI_Comm_create_group);
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_group *g;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_intra(c) : err;
    err = err == 0 ? hl_api_get_group(group, &g) : err;
    err = err == 0 ? hl_api_check_tag(tag) : err;
    if (err == 0) {
        struct hl_coll_some some = {g, tag, hl_api_check_out(newcomm, "newcomm")};
        if (some.wrong != 0) {
            return refuse_group(c, "MPI_Comm_create_group", &some);
        }
        err = hl_coll_comm_create_group(c, &some, &made);
    }
    return hl_api_leave_made(c, "MPI_Comm_create_group", err, made, newcomm);
}

/* ---- Two groups ---- */

/* Fills *meet with the leader's arguments for the other group's leader, or with their error. */
static void get_meet(MPI_Comm peer, int leader, int tag, struct hl_coll_meet *meet)
{
    int err = hl_api_get_comm(peer, &meet->peer);

    if (err == 0 && (leader < 0 || leader >= meet->peer->n_peers)) {
        err = hl_api_bad_rank(meet->peer, leader);
    }
    meet->err = err == 0 ? hl_api_check_tag(tag) : err;
    meet->leader = leader;
    meet->tag = tag;
}

HL_API(MPI_Intercomm_create);
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                          int tag, MPI_Comm *newintercomm)
{
    struct hl_comm *c, *made = NULL;
    struct hl_coll_meet meet = {0};
    int err = hl_api_enter(hl_api_get_comm(local_comm, &c));

    err = err == 0 ? hl_api_check_intra(c) : err;
    if (err == 0 && (local_leader < 0 || local_leader >= c->size)) {
        err = hl_api_bad_rank(c, local_leader);
    }
    if (err == 0 && c->rank == local_leader) {
        get_meet(peer_comm, remote_leader, tag, &meet);
    }
    meet.wrong = err == 0 ? hl_api_check_out(newintercomm, "newintercomm") : 0;
    if (meet.wrong != 0) {
        return refuse_inter(c, local_leader, &meet);
    }
    err = err == 0 ? hl_coll_intercomm_create(c, local_leader, &meet, &made) : err;
    return hl_api_leave_made(c, "MPI_Intercomm_create", err, made, newintercomm);
}

HL_API(MPI_Intercomm_merge);
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct hl_comm *c, *made = NULL;
    int err = hl_api_enter(hl_api_get_comm(intercomm, &c));

    err = err == 0 ? hl_api_check_inter(c) : err;
    int wrong = err == 0 ? hl_api_check_out(newintracomm, "newintracomm") : 0;
    if (wrong != 0) {
        return refuse_merge(c, high != 0, wrong);
    }
    err = err == 0 ? hl_coll_intercomm_merge(c, high != 0, &made) : err;
    return hl_api_leave_made(c, "MPI_Intercomm_merge", err, made, newintracomm);
}

/* ---- Without a parent: the given handler becomes the new communicator's, and errors go to it ---- */

/* The object of a handler. One of another kind of object is refused, as it would be called with a handle that
 * it does not expect. */
static int get_errh(MPI_Errhandler handle, struct hl_errh **e)
{
    int err = hl_api_check_open();

    err = err == 0 ? hl_api_get_errh(handle, e) : err;
    err = err == 0 ? hl_errh_check(*e, HL_ERRH_COMM) : err;
    if (err != 0) {
        *e = NULL;
    }
    return err;
}

/* The end of both calls without a parent. */
static int give_orphan(const char *func, int err, struct hl_comm *made, struct hl_errh *e, MPI_Comm *newcomm)
{
    MPI_Comm none = MPI_COMM_NULL;

    if (err == 0 && made != NULL) {
        err = hl_errh_set(&made->errh, HL_ERRH_COMM, e);
    }
    if (err == 0) {
        *newcomm = made != NULL ? made->handle : MPI_COMM_NULL;
    }
    struct hl_errh_site site = {&e, HL_ERRH_COMM, &none, NULL};
    int code = err != 0 && e != NULL ? hl_errh_raise(&site, func, err) : hl_api_end(NULL, func, err);
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_API(MPI_Comm_create_from_group);
int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    struct hl_comm *made = NULL;
    struct hl_group *g;
    struct hl_info *hints;
    struct hl_errh *e = NULL;
    int err = hl_api_enter(get_errh(errhandler, &e));

    err = err == 0 ? hl_api_get_group(group, &g) : err;
    err = err == 0 ? hl_api_check_out(stringtag, "stringtag") : err;
    int wrong = err == 0 ? hl_api_get_info(info, &hints) : 0;
    wrong = err == 0 && wrong == 0 ? hl_api_check_out(newcomm, "newcomm") : wrong;
    if (wrong != 0) {
        int code = give_orphan("MPI_Comm_create_from_group", wrong, NULL, e, NULL);
        (void)hl_coll_comm_from_group(g, wrong, stringtag, &made);
        return code;
    }
    err = err == 0 ? hl_coll_comm_from_group(g, 0, stringtag, &made) : err;
    if (err == 0 && made != NULL && hints != NULL) {
        err = hl_comm_set_hints(made, hints);
    }
    return give_orphan("MPI_Comm_create_from_group", err, made, e, newcomm);
}

HL_API(MPI_Intercomm_create_from_groups);
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                      int remote_leader, const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    struct hl_coll_sides sides = {.leader = local_leader, .other_leader = remote_leader};
    struct hl_comm *made = NULL;
    struct hl_info *hints;
    struct hl_errh *e = NULL;
    int err = hl_api_enter(get_errh(errhandler, &e));

    err = err == 0 ? hl_api_get_group(local_group, &sides.mine) : err;
    err = err == 0 ? hl_api_get_group(remote_group, &sides.other) : err;
    err = err == 0 ? hl_api_check_out(stringtag, "stringtag") : err;
    if (err == 0 && (local_leader < 0 || local_leader >= sides.mine->size || remote_leader < 0 ||
                     remote_leader >= sides.other->size)) {
        err = hl_err_say(
            HL_ERR_RANK,
            "local_leader is %d and remote_leader %d: the groups have %d and %d ranks, counted from 0",
            local_leader, remote_leader, sides.mine->size, sides.other->size);
    }
    if (err == 0 && sides.mine->rank == MPI_UNDEFINED) {
        err = hl_err_say(HL_ERR_GROUP, "the calling process is not in the local group");
    }
    sides.wrong = err == 0 ? hl_api_get_info(info, &hints) : 0;
    sides.wrong = err == 0 && sides.wrong == 0 ? hl_api_check_out(newintercomm, "newintercomm") : sides.wrong;
    if (sides.wrong != 0) {
        int code = give_orphan("MPI_Intercomm_create_from_groups", sides.wrong, NULL, e, NULL);
        (void)hl_coll_intercomm_from_groups(&sides, stringtag, &made);
        return code;
    }
    err = err == 0 ? hl_coll_intercomm_from_groups(&sides, stringtag, &made) : err;
    if (err == 0 && hints != NULL) {
        err = hl_comm_set_hints(made, hints);
    }
    return give_orphan("MPI_Intercomm_create_from_groups", err, made, e, newintercomm);
}
