/* The persistent form of buffered sends. */
#include "buffered.h"

#include "err.h"
#include "inner.h"

#include <stdlib.h>

struct persistent {
    struct hl_req_more more;
    struct hl_send send;
    struct hl_buffered_from from;
    struct hl_buffered_hold hold;
};

static struct persistent *persistent_of(const struct hl_req *r)
{
    return HL_CONTAINER_OF((struct hl_req_more *)(uintptr_t)r->more, struct persistent, more);
}

static int start(struct hl_req *r)
{
    const struct persistent *p = persistent_of(r);
    int err = hl_buffered_send(&p->send, &p->from);

    if (err == 0) {
        hl_req_done(r);
    }
    return err;
}

static void drop(struct hl_req *r)
{
    struct persistent *p = persistent_of(r);

    hl_type_unref(p->send.type);
    p->hold.let_go(p->hold.object);
    free(p);
}

int hl_buffered_send_init(const struct hl_send *s, const struct hl_buffered_from *from,
                          const struct hl_buffered_hold *hold, struct hl_req **out)
{
    struct persistent *p = malloc(sizeof *p);
    struct hl_req *r = hl_req_new(HL_REQ_SEND);

    if (p == NULL || r == NULL) {
        free(p);
        if (r != NULL) {
            hl_req_free(r);
        }
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a persistent request");
    }
    *p = (struct persistent){{.start = start, .drop = drop}, *s, *from, *hold};
    hl_type_ref(s->type);
    r->ctx = s->ctx;
    hl_req_set_again(r, &p->more);
    *out = r;
    return 0;
}
