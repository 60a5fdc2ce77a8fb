/* Communicator objects, the two predefined ones, and the issue of context ids. */
#include "comm.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "errh.h"
#include "info.h"
#include "job.h"
#include "shape.h"
#include "util.h"

struct hl_comm hl_comm_world_object, hl_comm_self_object;

/* Counter values of the predefined contexts; rank 0 issues WORLD's, each rank its SELF's. */
enum { NUMBER_WORLD = 1, NUMBER_SELF = 2, NUMBER_FIRST = 16 };

#define NUMBER_BITS 37
#define PLANE_BITS 3
#define NOBODY 0xffffff /* the issuer of contexts that are computed */

static hl_a64 next_number = {NUMBER_FIRST};

static uint64_t ctx_of(int issuer, uint64_t number)
{
    return (uint64_t)issuer << (NUMBER_BITS + PLANE_BITS) | number << PLANE_BITS;
}

uint64_t hl_comm_ctx_new(void)
{
    /* relaxed: it only matters that no two callers get the same number. */
    return ctx_of(hl_job.rank, hl_a64_add_relaxed(&next_number, 1));
}

static bool is_one_node(const struct hl_group *g)
{
    for (int i = 0; i < g->size; i++) {
        if (hl_job_node_of(hl_group_world(g, i)) < 0) {
            return false;
        }
    }
    return true;
}

static void fill_comm(struct hl_comm *c, MPI_Comm handle, struct hl_group *group, uint64_t ctx)
{
    c->handle = handle;
    c->ctx = ctx;
    c->group = c->peers = group;
    c->origin = group->origin;
    c->n_peers = group->size;
    c->rank = group->rank;
    c->size = group->size;
    c->one_node = is_one_node(group);
    hl_a32_store_release(&c->refs, 1); /* release: all fields are set; pairs with the acquire in is_seen */
}

static int open_one(struct hl_comm *c, MPI_Comm handle, struct hl_group *group, uint64_t ctx)
{
    memset(c, 0, sizeof *c);
    fill_comm(c, handle, group, ctx);
    c->h.kind = HL_KIND_COMM;
    return hl_comm_set_name(c, handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
}

int hl_comm_open(void)
{
    struct hl_group *world, *self;
    int err = hl_group_make_strided(0, 1, hl_job.size, &world);

    if (err != 0) {
        return err;
    }
    err = hl_group_make_strided(hl_job.rank, 1, 1, &self);
    if (err != 0) {
        hl_group_unref(world);
        return err;
    }
    err = open_one(&hl_comm_world_object, MPI_COMM_WORLD, world, ctx_of(0, NUMBER_WORLD));
    int own = open_one(&hl_comm_self_object, MPI_COMM_SELF, self, ctx_of(hl_job.rank, NUMBER_SELF));
    err = err != 0 ? err : own;
    if (err != 0) {
        hl_comm_close();
    }
    return err;
}

void hl_comm_close(void)
{
    hl_comm_free(&hl_comm_self_object);
    hl_comm_free(&hl_comm_world_object);
    hl_errh_forget_freed();
}

void hl_comm_forget(void)
{
    hl_comm_self_object.h.kind = HL_KIND_FREE;
    hl_comm_world_object.h.kind = HL_KIND_FREE;
}

int hl_comm_make(struct hl_group *group, uint64_t ctx, struct hl_comm **made)
{
    struct hl_comm *c = hl_handle_new(HL_KIND_COMM);

    if (c == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for a communicator: free some");
    }
    hl_group_ref(group);
    fill_comm(c, (MPI_Comm)(void *)c, group, ctx);
    *made = c;
    return 0;
}

int hl_comm_make_inter(struct hl_comm *local, struct hl_group *remote, uint64_t ctx, struct hl_comm **made)
{
    int err = hl_comm_make(local->group, ctx, made);

    if (err != 0) {
        hl_comm_free(local);
        return err;
    }
    hl_group_ref(remote);
    (*made)->peers = remote;
    (*made)->n_peers = remote->size;
    (*made)->one_node = false;
    (*made)->local = local;
    local->inter = *made;
    return 0;
}

uint64_t hl_comm_ctx_named(const struct hl_group *group, const char *string)
{
    uint64_t h = hl_mix64((uint64_t)group->size);

    for (int i = 0; i < group->size; i++) {
        h = hl_mix64(h ^ (uint64_t)hl_group_world(group, i));
    }
    for (const char *at = string; *at != '\0'; at++) {
        h = hl_mix64(h ^ (unsigned char)*at);
    }
    return ctx_of(NOBODY, h & ((UINT64_C(1) << NUMBER_BITS) - 1));
}

void hl_comm_ref(struct hl_comm *c)
{
    hl_refs_add(&c->refs);
}

void hl_comm_unref(struct hl_comm *c)
{
    if (!hl_refs_drop(&c->refs)) {
        return;
    }
    for (int i = 0; i < HL_PARTS; i++) {
        if (c->parts[i] != NULL) {
            c->parts[i]->drop(c->parts[i]);
            c->parts[i] = NULL;
        }
    }
    if (c->local != NULL) {
        hl_comm_free(c->local);
        hl_group_unref(c->peers);
    }
    hl_group_unref(c->group);
    hl_errh_set(&c->errh, HL_ERRH_COMM, NULL);
    hl_info_free(c->info);
    hl_shape_unref(c->shape);
    free(c->name);
    c->name = NULL;
    c->info = NULL;
    if (c != &hl_comm_world_object && c != &hl_comm_self_object) {
        hl_handle_free(c);
    }
}

struct comm_search {
    uint64_t ctx;
    hl_comm_look_fn *look;
    void *arg;
};

static bool is_seen(const void *comm, const void *search)
{
    const struct comm_search *s = search;
    struct hl_comm *c = (struct hl_comm *)(uintptr_t)comm;
    /* acquire: 0 while it is being made, or after hl_comm_close; pairs with the release in fill_comm. */
    if (hl_a32_load_acquire(&c->refs) == 0 || c->ctx != s->ctx) {
        return false;
    }
    s->look(c, s->arg);
    return true;
}

bool hl_comm_look(uint64_t ctx, hl_comm_look_fn *look, void *arg)
{
    struct comm_search s = {ctx - ctx % 8, look, arg}; /* plane 0 */
    if (s.ctx == hl_comm_world_object.ctx) {
        return is_seen(&hl_comm_world_object, &s);
    }
    if (s.ctx == hl_comm_self_object.ctx) {
        return is_seen(&hl_comm_self_object, &s);
    }
    return s.ctx != 0 && hl_handle_find(HL_KIND_COMM, is_seen, &s) != NULL;
}

static void keep_part(struct hl_comm *c, void *kept)
{
    hl_comm_ref(c);
    *(struct hl_comm **)kept = c;
}

struct hl_comm *hl_comm_ref_ctx(uint64_t ctx)
{
    struct hl_comm *c;
    return hl_comm_look(ctx, keep_part, &c) ? c : NULL;
}

void hl_comm_free(struct hl_comm *c)
{
    if (c->h.kind == HL_KIND_COMM) {
        hl_handle_end(c); /* before its reference goes, for hl_comm_look */
        hl_comm_unref(c);
    }
}

int hl_comm_coll_tag(struct hl_comm *c)
{
    /* relaxed: the user orders calls on one communicator, as the standard asks. */
    return (int)(hl_a32_add_relaxed(&c->coll, 1) & 0x3fffffff);
}

int hl_comm_compare(const struct hl_comm *a, const struct hl_comm *b)
{
    if (a == b) {
        return MPI_IDENT;
    }
    if (hl_comm_is_inter(a) != hl_comm_is_inter(b)) {
        return MPI_UNEQUAL;
    }
    int mine = hl_group_compare(a->group, b->group), theirs = hl_group_compare(a->peers, b->peers);
    if (mine == MPI_UNEQUAL || theirs == MPI_UNEQUAL) {
        return MPI_UNEQUAL;
    }
    return mine == MPI_IDENT && theirs == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
}

int hl_comm_set_name(struct hl_comm *c, const char *name)
{
    return hl_handle_name_set(&c->name, name, MPI_MAX_OBJECT_NAME);
}

void hl_comm_get_name(const struct hl_comm *c, char out[MPI_MAX_OBJECT_NAME])
{
    hl_handle_name_get(&c->name, NULL, out, MPI_MAX_OBJECT_NAME);
}
