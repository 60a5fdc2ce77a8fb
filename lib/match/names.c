/* Names of requests that peers answer to. A name is (generation, row), so that a late or forged answer finds
 * nothing. Only messages above the eager size need names. */
#include "match_internal.h"

#include <stdlib.h>

static bool grow_names(struct hl_names *n) HL_REQUIRES(n->lock)
{
    uint32_t more = n->n_rows == 0 ? 64 : 2 * n->n_rows;
    struct hl_name *rows = realloc(n->rows, more * sizeof(*rows));
    if (rows == NULL) {
        return false;
    }
    for (uint32_t i = n->n_rows; i < more; i++) {
        rows[i] = (struct hl_name){.generation = 1, .next_free = i + 1 < more ? i + 2 : 0};
    }
    n->free = n->n_rows + 1;
    n->rows = rows;
    n->n_rows = more;
    return true;
}

bool hl_name_give(struct hl_names *n, struct hl_req *r, uint64_t *name)
{
    hl_mutex_lock(&n->lock);
    bool ok = n->free != 0 || grow_names(n);
    if (ok) {
        uint32_t i = n->free - 1;
        struct hl_name *row = &n->rows[i];
        n->free = row->next_free;
        row->req = r;
        *name = (uint64_t)row->generation << 32 | i;
    }
    hl_mutex_unlock(&n->lock);
    return ok;
}

static struct hl_name *name_row(struct hl_names *n, uint64_t name) HL_REQUIRES(n->lock)
{
    uint32_t i = (uint32_t)name;
    if (i >= n->n_rows || n->rows[i].generation != name >> 32) {
        return NULL;
    }
    return &n->rows[i];
}

struct hl_req *hl_name_find(struct hl_names *n, uint64_t name)
{
    hl_mutex_lock(&n->lock);
    const struct hl_name *row = name_row(n, name);
    struct hl_req *r = row != NULL ? row->req : NULL;
    hl_mutex_unlock(&n->lock);
    return r;
}

static struct hl_req *take_waiting(struct hl_names *n, struct hl_name *row) HL_REQUIRES(n->lock)
{
    struct hl_req *r = row->req;
    row->req = NULL;
    row->generation += row->generation == UINT32_MAX ? 2 : 1; /* 0 is never valid */
    row->next_free = n->free;
    n->free = (uint32_t)(row - n->rows) + 1;
    return r;
}

struct hl_req *hl_name_take(struct hl_names *n, uint64_t name)
{
    struct hl_req *r = NULL;
    hl_mutex_lock(&n->lock);
    struct hl_name *row = name_row(n, name);
    if (row != NULL && row->req != NULL) {
        r = take_waiting(n, row);
    }
    hl_mutex_unlock(&n->lock);
    return r;
}

struct hl_req *hl_name_take_if(struct hl_names *n, bool (*is)(void *arg, struct hl_req *r, uint64_t name),
                               void *arg)
{
    struct hl_req *r = NULL;
    hl_mutex_lock(&n->lock);
    for (uint32_t i = 0; r == NULL && i < n->n_rows; i++) {
        struct hl_name *row = &n->rows[i];
        if (row->req != NULL && is(arg, row->req, (uint64_t)row->generation << 32 | i)) {
            r = take_waiting(n, row);
        }
    }
    hl_mutex_unlock(&n->lock);
    return r;
}
