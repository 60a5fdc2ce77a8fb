/* mpiexec: the job's key-value space, kept until the launcher ends. */
#include "mx.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    struct pair *next;
    char *value;
    char key[];
};
enum { BUCKETS = 4096, PER_RANK = 16 << 20 };
static struct pair *bucket[BUCKETS];
static size_t held; /* bytes */

static struct pair **find(const char *key)
{
    unsigned h = 5381;
    for (const char *s = key; *s; s++) {
        h = h * 33 + (unsigned char)*s;
    }
    struct pair **p = &bucket[h % BUCKETS];
    while (*p && strcmp((*p)->key, key) != 0) {
        p = &(*p)->next;
    }
    return p;
}

bool hl_mx_kvs_put(const char *key, const char *value)
{
    struct pair **at = find(key);
    size_t k = strlen(key) + 1, v = strlen(value) + 1;
    size_t before = *at ? sizeof **at + k + strlen((*at)->value) + 1 : 0, after = sizeof **at + k + v;
    if (held - before + after > (size_t)PER_RANK * (size_t)hl_mx.size) {
        return false;
    }
    held += after - before;
    if (!*at) {
        *at = hl_mx_alloc(sizeof **at + k);
        memcpy((*at)->key, key, k);
    }
    free((*at)->value);
    (*at)->value = hl_mx_alloc(v);
    memcpy((*at)->value, value, v);
    return true;
}

const char *hl_mx_kvs_get(const char *key)
{
    struct pair *p = *find(key);
    return p ? p->value : NULL;
}
