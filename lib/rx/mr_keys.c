/* The hash table of registered memory by its key. */
#include "mr_keys.h"

#include "util.h"

#include <stdlib.h>

#define FIRST_ROOM 64

static size_t next_key_place(const struct hl_mr_keys *k, size_t i)
{
    return (i + 1) & (k->room - 1);
}

static size_t home_of(const struct hl_mr_keys *k, uint64_t key)
{
    return hl_mix64(key) & (k->room - 1);
}

/* The place of the key, or the free place where it would go. */
static size_t place_of(const struct hl_mr_keys *k, uint64_t key)
{
    size_t i = home_of(k, key);
    while (k->at[i].base != NULL && k->at[i].key != key) {
        i = next_key_place(k, i);
    }
    return i;
}

static bool grow_keys(struct hl_mr_keys *k)
{
    struct hl_mr_keys larger = {.room = k->room == 0 ? FIRST_ROOM : 2 * k->room, .count = k->count};
    larger.at = calloc(larger.room, sizeof *larger.at);
    if (larger.at == NULL) {
        return false;
    }
    for (size_t i = 0; i < k->room; i++) {
        if (k->at[i].base != NULL) {
            larger.at[place_of(&larger, k->at[i].key)] = k->at[i];
        }
    }
    free(k->at);
    *k = larger;
    return true;
}

static char *reach_end(const struct hl_mr_found *r)
{
    return r->base + r->len;
}

static void widen_reach(struct hl_mr_found *r, const struct hl_mr_found *more)
{
    char *base = more->base < r->base ? more->base : r->base;
    char *end = reach_end(more) > reach_end(r) ? reach_end(more) : reach_end(r);
    r->addr -= (uint64_t)(r->base - base);
    r->base = base;
    r->len = (uint64_t)(end - base);
}

bool hl_mr_keys_add(struct hl_mr_keys *k, const struct hl_mr_found *reach)
{
    if (2 * (k->count + 1) > k->room && !grow_keys(k)) {
        return false;
    }
    struct hl_mr_found *place = &k->at[place_of(k, reach->key)];
    if (place->base == NULL) {
        *place = *reach;
        place->users = 1;
        k->count++;
    } else {
        widen_reach(place, reach);
        place->users++;
    }
    return true;
}

void hl_mr_keys_remove(struct hl_mr_keys *k, uint64_t key)
{
    if (k->room == 0) {
        return;
    }
    size_t hole = place_of(k, key);
    if (k->at[hole].base == NULL || --k->at[hole].users > 0) {
        return;
    }
    /* An entry behind the hole moves into it when the hole lies between the entry's home and the entry. */
    for (size_t i = next_key_place(k, hole); k->at[i].base != NULL; i = next_key_place(k, i)) {
        size_t way = (i - home_of(k, k->at[i].key)) & (k->room - 1);
        if (way >= ((i - hole) & (k->room - 1))) {
            k->at[hole] = k->at[i];
            hole = i;
        }
    }
    k->at[hole] = (struct hl_mr_found){0};
    k->count--;
}

const struct hl_mr_found *hl_mr_keys_find(const struct hl_mr_keys *k, uint64_t key)
{
    if (k->room == 0) {
        return NULL;
    }
    const struct hl_mr_found *found = &k->at[place_of(k, key)];
    return found->base != NULL ? found : NULL;
}
