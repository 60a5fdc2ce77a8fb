/* Two or three layouts walked side by side. */
#include "zip.h"

int hl_zip_begin(struct hl_zip *z, enum hl_walk how, size_t unit, const struct hl_zip_side *sides, int n)
{
    z->n = 0;
    z->unit = (int64_t)unit;
    for (z->sides = 0; z->sides < n; z->sides++) {
        const struct hl_zip_side *s = &sides[z->sides];
        z->left[z->sides] = 0;
        int rc = hl_type_cursor_init(&z->cursors[z->sides], how, s->type, s->count, s->buf, 0);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

bool hl_zip_next(struct hl_zip *z)
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

void hl_zip_end(struct hl_zip *z)
{
    for (int i = 0; i < z->sides; i++) {
        hl_type_cursor_fini(&z->cursors[i]);
    }
}
