/* Persistent sends and receives: requests that remember their operation; each start does it on the same
 * request. */
#include "match_internal.h"

#include "buffered.h"
#include "err.h"

#include <stdlib.h>

struct persistent {
    struct hl_req_more more;
    union {
        struct hl_send send;
        struct hl_recv recv;
    };
    struct hl_buffered_from from; /* only for buffered sends, as is `hold` */
    struct hl_buffered_hold hold;
    struct hl_type *type; /* the type, with a reference */
};

static struct persistent *persistent_of(const struct hl_req *r)
{
    return HL_CONTAINER_OF((struct hl_req_more *)(uintptr_t)r->more, struct persistent, more);
}

static int start_send(struct hl_req *r)
{
    return hl_match_isend_on(&hl_match_self, &persistent_of(r)->send, r);
}

static int start_recv(struct hl_req *r)
{
    hl_recv_setup(r, &persistent_of(r)->recv, HL_COMMAND_RECV);
    return hl_recv_post(&hl_match_self, r);
}

static void drop_persistent(struct hl_req *r)
{
    struct persistent *p = persistent_of(r);

    hl_type_unref(p->type);
    free(p);
}

static int make_persistent(enum hl_req_what what, uint64_t ctx, struct hl_type *type, struct hl_req **out)
{
    struct persistent *p = malloc(sizeof *p);
    struct hl_req *r = hl_req_new(what);

    if (p == NULL || r == NULL) {
        free(p);
        if (r != NULL) {
            hl_req_free(r);
        }
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a persistent request");
    }
    hl_type_ref(type);
    p->type = type;
    p->more = (struct hl_req_more){.start = start_send, .drop = drop_persistent};
    r->ctx = ctx;
    hl_req_set_again(r, &p->more);
    *out = r;
    return 0;
}

int hl_match_send_init(const struct hl_send *s, struct hl_req **out)
{
    int err = make_persistent(HL_REQ_SEND, s->ctx, s->type, out);

    if (err == 0) {
        persistent_of(*out)->send = *s;
    }
    return err;
}

int hl_match_recv_init(const struct hl_recv *r, struct hl_req **out)
{
    int err = make_persistent(HL_REQ_RECV, r->ctx, r->type, out);

    if (err == 0) {
        struct persistent *p = persistent_of(*out);
        p->recv = *r;
        p->more.start = start_recv;
        p->more.results = hl_recv_results;
    }
    return err;
}

/* ---- Buffered ---- */

static int start_buffered(struct hl_req *r)
{
    const struct persistent *p = persistent_of(r);
    int err = hl_buffered_send(&p->send, &p->from);

    if (err == 0) {
        hl_req_done(r);
    }
    return err;
}

static void drop_buffered(struct hl_req *r)
{
    struct hl_buffered_hold hold = persistent_of(r)->hold;

    drop_persistent(r);
    hold.let_go(hold.object);
}

int hl_buffered_send_init(const struct hl_send *s, const struct hl_buffered_from *from,
                          const struct hl_buffered_hold *hold, struct hl_req **out)
{
    int err = hl_match_send_init(s, out);

    if (err == 0) {
        struct persistent *p = persistent_of(*out);
        p->from = *from;
        p->hold = *hold;
        p->more.start = start_buffered;
        p->more.drop = drop_buffered;
    }
    return err;
}

/* ---- With MPI_PROC_NULL ---- */

static int start_nobody(struct hl_req *r)
{
    r->source = MPI_PROC_NULL;
    hl_req_done(r);
    return 0;
}

static void drop_nothing(struct hl_req *unused)
{
    (void)unused;
}

static const struct hl_req_more nobody = {.start = start_nobody, .drop = drop_nothing};

bool hl_match_is_nobody(const struct hl_req *r)
{
    return r->more == &nobody;
}

int hl_match_nobody_init(enum hl_req_what what, uint64_t ctx, struct hl_req **out)
{
    struct hl_req *r = hl_req_new(what);

    if (r == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a persistent request");
    }
    r->ctx = ctx;
    hl_req_set_again(r, &nobody);
    *out = r;
    return 0;
}
