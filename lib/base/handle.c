/* User handles: places of one reserved range, handed out in order; of freed ones the oldest is reused
 * first. */
#include "handle.h"

#include "err.h"
#include "lock.h"
#include "range.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All three are set once under lock before the first handle exists; read-only afterwards, except in a forked
 * child. */
char *hl_handle_base = (char *)1;
size_t hl_handle_range;
uintptr_t hl_handle_mask;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hl_range range;                   /* guarded by lock */
static size_t used;                             /* bytes handed out at least once; guarded by lock */
static struct hl_handle *free_head, *free_tail; /* guarded by lock */

/* Reserves address space for 32 million objects, or fewer where it is limited. */
static bool reserve_handles(void)
{
    if (!hl_range_reserve(&range, (size_t)16 << 30, (size_t)1 << 20, true)) {
        return false;
    }
    hl_handle_base = range.base;
    hl_handle_range = range.len;
    hl_handle_mask = ~(uintptr_t)(range.len - 1) | (HL_HANDLE_SIZE - 1);
    return true;
}

static struct hl_handle *take_handle(void)
{
    struct hl_handle *h = free_head;
    if (h != NULL) {
        free_head = h->next_free;
        return h;
    }
    if (hl_handle_range == 0 && !reserve_handles()) {
        return NULL;
    }
    if (!hl_range_reach(&range, used + HL_HANDLE_SIZE)) {
        return NULL;
    }
    h = (struct hl_handle *)(void *)(hl_handle_base + used);
    used += HL_HANDLE_SIZE;
    return h;
}

void *hl_handle_new(enum hl_kind kind)
{
    pthread_mutex_lock(&lock);
    struct hl_handle *h = take_handle();
    if (h != NULL) {
        uint32_t generation = h->generation + 1;
        memset(h, 0, HL_HANDLE_SIZE);
        h->generation = generation;
        h->kind = kind;
    }
    pthread_mutex_unlock(&lock);
    return h;
}

void hl_handle_free(void *object)
{
    struct hl_handle *h = object;
    pthread_mutex_lock(&lock);
    h->kind = HL_KIND_FREE;
    h->next_free = NULL;
    if (free_head == NULL) {
        free_head = h;
    } else {
        free_tail->next_free = h;
    }
    free_tail = h;
    pthread_mutex_unlock(&lock);
}

void hl_handle_end(void *object)
{
    pthread_mutex_lock(&lock);
    ((struct hl_handle *)object)->kind = HL_KIND_FREE;
    pthread_mutex_unlock(&lock);
}

void hl_handle_forget(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* the child has one thread, which does not hold it */
    hl_handle_base = (char *)1;
    hl_handle_range = 0;
    hl_handle_mask = 0;
    used = 0;
    free_head = NULL;
}

void *hl_handle_find(enum hl_kind kind, bool (*is)(const void *object, const void *arg), const void *arg)
{
    void *found = NULL;

    pthread_mutex_lock(&lock);
    for (size_t at = 0; at < used && found == NULL; at += HL_HANDLE_SIZE) {
        struct hl_handle *h = (struct hl_handle *)(void *)(hl_handle_base + at);
        if (h->kind == (uint32_t)kind && is(h, arg)) {
            found = h;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static struct hl_mutex names = HL_MUTEX_INIT; /* guards the slots of all objects */

int hl_handle_name_set(char **slot, const char *name, size_t cap)
{
    char *copy = NULL;
    if (asprintf(&copy, "%.*s", (int)cap - 1, name) < 0) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a name");
    }
    hl_mutex_lock(&names);
    char *before = *slot;
    *slot = copy;
    hl_mutex_unlock(&names);
    free(before);
    return 0;
}

void hl_handle_name_get(char *const *slot, const char *otherwise, char *out, size_t cap)
{
    hl_mutex_lock(&names);
    const char *name = *slot != NULL ? *slot : otherwise != NULL ? otherwise : "";
    out[0] = '\0';
    strncat(out, name, cap - 1);
    hl_mutex_unlock(&names);
}
