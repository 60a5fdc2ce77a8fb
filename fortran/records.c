/* Small pieces of memory that are never freed and exist once for each content: a hash table over growing
 * blocks. */
#include "records.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Twice as large as the block before, so there are few. Records never move. */
struct record_block {
    struct record_block *next;
    size_t count, used;
    char *records, *end;
    size_t *slots; /* 2 * count places by hash: 1 + the record's index, or 0 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { FIRST = 32 }; /* records of the first block */

static size_t hash_of(const unsigned char *content, size_t size)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ content[i]) * 1099511628211u;
    }
    return (size_t)(hash ^ hash >> 32);
}

/* The slot that holds content, or the empty one where it belongs. */
static size_t *find_slot(const struct record_block *block, const void *content, size_t size)
{
    size_t at = hash_of(content, size) % (2 * block->count);

    while (block->slots[at] != 0 &&
           memcmp(block->records + (block->slots[at] - 1) * size, content, size) != 0) {
        at = (at + 1) % (2 * block->count);
    }
    return &block->slots[at];
}

static struct record_block *add_block(struct hl_fort_records *records, size_t size)
{
    struct record_block *block = calloc(1, sizeof *block);
    size_t count = records->blocks == NULL ? FIRST : 2 * records->blocks->count;

    if (block == NULL) {
        return NULL;
    }
    block->count = count;
    block->records = calloc(count, size);
    block->slots = calloc(2 * count, sizeof *block->slots);
    if (block->records == NULL || block->slots == NULL) {
        free(block->records);
        free(block->slots);
        free(block);
        return NULL;
    }
    block->end = block->records + count * size;
    block->next = records->blocks;
    records->blocks = block;
    return block;
}

/* The caller holds the lock. */
static const void *record_locked(struct hl_fort_records *records, const void *content, size_t size)
{
    struct record_block *block = records->blocks;
    size_t *slot;

    for (const struct record_block *old = block; old != NULL; old = old->next) {
        slot = find_slot(old, content, size);
        if (*slot != 0) {
            return old->records + (*slot - 1) * size;
        }
    }
    if (block == NULL || block->used == block->count) {
        block = add_block(records, size);
    }
    if (block == NULL) {
        return NULL;
    }
    slot = find_slot(block, content, size);
    memcpy(block->records + block->used * size, content, size);
    *slot = ++block->used;
    return block->records + (*slot - 1) * size;
}

const void *hl_fort_record(struct hl_fort_records *records, const void *content, size_t size)
{
    const void *found;

    pthread_mutex_lock(&lock);
    found = record_locked(records, content, size);
    pthread_mutex_unlock(&lock);
    return found;
}

bool hl_fort_is_record(struct hl_fort_records *records, const void *address)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (const struct record_block *block = records->blocks; block != NULL && !found; block = block->next) {
        found = (const char *)address >= block->records && (const char *)address < block->end;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
