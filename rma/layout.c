/* Two or three layouts walked side by side. */
#include "layout.h"

int hl_layout_begin(struct hl_layout_iter *z, enum hl_walk how, size_t unit,
                    const struct hl_layout_side *sides, int n)
{
    z->n = 0;
    z->unit = (int64_t)unit;
    for (z->sides = 0; z->sides < n; z->sides++) {
        const struct hl_layout_side *s = &sides[z->sides];
        z->left[z->sides] = 0;
        int rc = hl_type_cursor_init(&z->cursors[z->sides], how, s->type, s->count, s->buf, 0);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

bool hl_layout_next(struct hl_layout_iter *z)
{
    int64_t n = INT64_MAX;
    for (int i = 0; i < z->sides; i++) {
        if (z->left[i] == 0) {
            z->left[i] = hl_type_cursor_next(&z->cursors[i], INT64_MAX, &z->next[i]);
        }
        n = z->left[i] < n ? z->left[i] : n;
    }
    for (int i = 0; i < z->sides; i++) {
        z->at[i] = z->next[i];
        /* By integers: the address may stand for an offset from the window's base. */
        z->next[i] = (char *)((uintptr_t)z->next[i] + (uintptr_t)(n * z->unit));
        z->left[i] -= n;
    }
    z->n = n;
    return n != 0;
}

void hl_layout_end(struct hl_layout_iter *z)
{
    for (int i = 0; i < z->sides; i++) {
        hl_type_cursor_fini(&z->cursors[i]);
    }
}
