/* Memory that peers may reach: registrations of segments and of other memory.
 *
 * Where registering pins nothing, a segment is registered as a whole when it is made, and all memory
 * in it has its key. Where a NIC locks registered pages, whole arenas and heaps would be locked for
 * the few bytes that are used: there each window, heap and buffer registers what it publishes, as long
 * as it publishes it. */
#include "mr_keys.h"

#include "boot.h"
#include "err.h"
#include "fab.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The id of private memory has this bit, a serial number and the row's index. Segments have mem's ids,
 * without this bit. */
#define PRIVATE_BIT (UINT64_C(1) << 63)
#define INDEX_BITS 16
#define ROWS_MAX (1u << INDEX_BITS)
#define CHUNK 1024u
#define NAPS 10 /* naps of 1, 2, 4, ... ms, while the provider says that it cannot register just now */

/* All fields are guarded by region_lock. */
struct region_row {
    uint64_t id; /* 0: free */
    char *base;
    size_t len;
    uint64_t key;
    struct fid_mr *mr;
};

/* Each has CHUNK rows, or is NULL. Never freed, so that a stale id can be told; guarded by region_lock. */
static struct region_row *chunks[ROWS_MAX / CHUNK];
static struct hl_mutex region_lock = HL_MUTEX_INIT;
static struct hl_fab_ep *owner; /* the receive endpoint; guarded by region_lock */
static uint64_t serial;         /* guarded by region_lock */
static uint64_t key_counter;    /* guarded by region_lock */
static uint64_t registered;     /* registered bytes; guarded by region_lock */
static struct hl_mr_keys keys;  /* guarded by region_lock */

/* Living segments, in no order; guarded by region_lock. */
static struct {
    struct hl_seg **at;
    size_t count, room;
} segments;

static struct region_row *row_at(uint32_t index) HL_REQUIRES(region_lock)
{
    struct region_row *chunk = chunks[index / CHUNK];
    return chunk != NULL ? &chunk[index % CHUNK] : NULL;
}

/* A key to ask for; where the caller chooses all 64 bits, one that nobody can guess. */
static uint64_t next_key(void) HL_REQUIRES(region_lock)
{
    key_counter++;
    if (hl_fab.key_size >= sizeof key_counter) {
        return hl_siphash(hl_boot.secret, &key_counter, sizeof key_counter);
    }
    return hl_fab.key_size > 0 ? key_counter & ((UINT64_C(1) << 8 * hl_fab.key_size) - 1) : key_counter;
}

static void await_provider(int which)
{
    struct timespec t = {0, 1000000L << which};
    (void)nanosleep(&t, NULL);
}

/* Registers memory. When a key is taken (FI_ENOKEY), the next one is tried; once more keys were
 * refused than there are registrations, the reason must be another one. */
static int ask_provider(const struct iovec *iov, struct fid_mr **mr) HL_REQUIRES(region_lock)
{
    size_t keys_left = hl_fab.key_size > 0 ? keys.count + 1 : 0;
    int naps = 0, rc;
    bool later;
    do {
        rc = hl_fab_mr_open(owner, iov, next_key(), mr);
        later = hl_fab_refused(rc) == HL_FAB_LATER;
        if (later && naps < NAPS) {
            await_provider(naps);
        }
    } while ((rc == -FI_ENOKEY && keys_left-- > 0) || (later && naps++ < NAPS));
    return rc;
}

/* Words about the cause of a refusal, as the limit of locked memory, for which pages count that a NIC
 * keeps. */
static void say_limit(int rc, char *out, size_t cap) HL_REQUIRES(region_lock)
{
    char may[HL_BYTES_TEXT], are[HL_BYTES_TEXT];
    uint64_t most = hl_lockable_bytes();
    out[0] = '\0';
    if (hl_fab_refused(rc) == HL_FAB_LATER) {
        snprintf(out, cap, " (tried again for a second)");
    } else if (hl_fab_refused(rc) == HL_FAB_HIDDEN) {
        snprintf(out, cap, " (memory that may only be read is no memory for windows there)");
    } else if (rc == -FI_ENOKEY) {
        snprintf(out, cap, " (of %zu registrations; it refuses every key)", keys.count);
    } else if (hl_fab.pins && most != UINT64_MAX && (rc == -FI_ENOMEM || rc == -FI_EPERM)) {
        snprintf(out, cap,
                 " (registered memory is locked: this process may lock %s, and %s are registered beside "
                 "libfabric's own buffers: raise `ulimit -l`, or memlock in "
                 "/etc/security/limits.d)",
                 hl_bytes_text(most, may), hl_bytes_text(registered, are));
    }
}

static int refuse_memory(int rc, const struct iovec *iov) HL_REQUIRES(region_lock)
{
    char limit[320];
    say_limit(rc, limit, sizeof limit);
    bool hidden = hl_fab_refused(rc) == HL_FAB_HIDDEN;
    return hl_err_say(rc == -FI_ENOMEM || (limit[0] != '\0' && !hidden) ? HL_ERR_NO_MEM : HL_ERR_OTHER,
                      "provider %s cannot register %zu bytes at %p: %s%s", hl_fab.provider, iov->iov_len,
                      iov->iov_base, hl_fab_strerror(rc), limit);
}

static int register_memory(void *base, size_t len, struct fid_mr **mr, uint64_t *key) HL_REQUIRES(region_lock)
{
    struct iovec iov = {base, len};
    int rc = ask_provider(&iov, mr);
    if (rc != 0) {
        return refuse_memory(rc, &iov);
    }
    *key = hl_fab_mr_key(*mr);
    struct hl_mr_found reach = {
        .key = *key, .addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)base : 0, .base = base, .len = len};
    if (!hl_mr_keys_add(&keys, &reach)) {
        (void)hl_fab_mr_close(*mr);
        *mr = NULL;
        return hl_err_say(HL_ERR_NO_MEM, "no memory to note a registration");
    }
    registered += len;
    return 0;
}

static void unregister_memory(struct fid_mr *mr, size_t len) HL_REQUIRES(region_lock)
{
    if (mr != NULL) {
        hl_mr_keys_remove(&keys, hl_fab_mr_key(mr));
        registered -= len;
    }
    int rc = mr != NULL ? hl_fab_mr_close(mr) : 0;
    if (rc != 0) {
        hl_log(HL_LOG_WARN, "provider %s: closing a registration: %s", hl_fab.provider, hl_fab_strerror(rc));
    }
}

/* Registers a segment, once the network is open; not where registering pins. */
static int register_segment(struct hl_seg *seg) HL_REQUIRES(region_lock)
{
    struct fid_mr *mr = NULL;
    bool wanted = owner != NULL && seg->mr == NULL && !hl_fab.pins;
    int rc = wanted ? register_memory(seg->base, seg->len, &mr, &seg->key) : 0;
    if (rc == 0 && mr != NULL) {
        seg->mr = mr;
    }
    return rc;
}

static void unregister_segment(struct hl_seg *seg) HL_REQUIRES(region_lock)
{
    unregister_memory(seg->mr, seg->len);
    seg->mr = NULL;
    seg->key = 0;
}

static int note_segment(struct hl_seg *seg) HL_REQUIRES(region_lock)
{
    if (!hl_grow(&segments.at, segments.count, &segments.room, sizeof *segments.at)) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to note a segment");
    }
    segments.at[segments.count++] = seg;
    return 0;
}

static int segment_born(struct hl_seg *seg)
{
    hl_mutex_lock(&region_lock);
    int rc = note_segment(seg);
    if (rc == 0) {
        rc = register_segment(seg);
        segments.count -= rc != 0;
    }
    hl_mutex_unlock(&region_lock);
    return rc;
}

static void segment_dying(struct hl_seg *seg)
{
    hl_mutex_lock(&region_lock);
    unregister_segment(seg);
    for (size_t i = 0; i < segments.count; i++) {
        if (segments.at[i] == seg) {
            segments.at[i] = segments.at[--segments.count];
            break;
        }
    }
    hl_mutex_unlock(&region_lock);
}

bool hl_mr_pins(void)
{
    return hl_fab_is_open() && hl_fab.pins;
}

void hl_mr_of(const struct hl_seg *seg, struct hl_mr *out)
{
    *out = (struct hl_mr){.id = seg->id,
                          .key = seg->key,
                          .addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)seg->base : 0,
                          .len = seg->len};
}

/* A free row and its index, or NULL. */
static struct region_row *take_row(uint32_t *index) HL_REQUIRES(region_lock)
{
    for (uint32_t c = 0; c < ROWS_MAX / CHUNK; c++) {
        struct region_row *chunk = chunks[c];
        if (chunk == NULL) {
            chunk = calloc(CHUNK, sizeof *chunk);
            if (chunk == NULL) {
                return NULL;
            }
            chunks[c] = chunk;
        }
        for (uint32_t i = 0; i < CHUNK; i++) {
            if (chunk[i].id == 0) {
                *index = c * CHUNK + i;
                return &chunk[i];
            }
        }
    }
    return NULL;
}

/* Fills `out` if the memory is part of a segment that has a key; else false. */
static bool share_segment(const void *base, size_t len, struct hl_mr *out)
{
    const struct hl_seg *seg = len > 0 ? hl_mem_find(base, len) : NULL;
    if (seg == NULL || seg->key == 0) {
        return false;
    }
    hl_mr_of(seg, out);
    out->addr += (uint64_t)((const char *)base - seg->base);
    out->len = len;
    return true;
}

int hl_mr_register(void *base, size_t len, struct hl_mr *out)
{
    if (share_segment(base, len, out)) {
        return 0;
    }
    hl_mutex_lock(&region_lock);
    uint32_t index = 0;
    struct region_row *row = take_row(&index);
    if (row == NULL) {
        hl_mutex_unlock(&region_lock);
        return hl_err_say(HL_ERR_NO_MEM, "more than %u registered regions", ROWS_MAX);
    }
    struct fid_mr *mr = NULL;
    uint64_t key = 0;
    int rc = 0;
    if (owner != NULL && len > 0) {
        rc = register_memory(base, len, &mr, &key);
    }
    if (rc == 0) {
        row->base = base;
        row->len = len;
        row->mr = mr;
        row->key = key;
        *out = (struct hl_mr){.id = PRIVATE_BIT | (++serial << INDEX_BITS & ~PRIVATE_BIT) | index,
                              .key = key,
                              .addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)base : 0,
                              .len = len};
        row->id = out->id;
    }
    hl_mutex_unlock(&region_lock);
    return rc;
}

void hl_mr_unregister(uint64_t id)
{
    hl_mutex_lock(&region_lock);
    struct region_row *row = row_at((uint32_t)(id & (ROWS_MAX - 1)));
    if (row != NULL && row->id == id) {
        unregister_memory(row->mr, row->len);
        row->mr = NULL;
        row->id = 0;
    }
    hl_mutex_unlock(&region_lock);
}

void hl_mr_hold(void) HL_NO_TSA
{
    hl_mutex_lock(&region_lock);
}

void hl_mr_release(void) HL_NO_TSA
{
    hl_mutex_unlock(&region_lock);
}

bool hl_mr_find(uint64_t key, struct hl_mr_found *out)
{
    const struct hl_mr_found *found = hl_mr_keys_find(&keys, key);
    *out = found != NULL ? *found : (struct hl_mr_found){.key = key};
    return found != NULL;
}

/* Registers all memory that was noted before the network opened. A failure for private memory is only logged:
 * its owner has exchanged no key, so nobody uses one. */
static int register_all(void) HL_REQUIRES(region_lock)
{
    for (uint32_t i = 0; i < ROWS_MAX && row_at(i) != NULL; i++) {
        struct region_row *row = row_at(i);
        if (row->id != 0 && row->mr == NULL && row->len > 0 &&
            register_memory(row->base, row->len, &row->mr, &row->key) != 0) {
            hl_log(HL_LOG_WARN, "%s", hl_err_text(HL_ERR_OTHER));
        }
    }
    int rc = 0;
    for (size_t i = 0; i < segments.count && rc == 0; i++) {
        rc = register_segment(segments.at[i]);
    }
    return rc;
}

int hl_mr_open(struct hl_fab_ep *rx)
{
    hl_mutex_lock(&region_lock);
    owner = rx;
    int rc = register_all();
    hl_mutex_unlock(&region_lock);
    return rc == 0 ? hl_mem_watch(segment_born, segment_dying) : rc;
}

void hl_mr_close(void)
{
    hl_mutex_lock(&region_lock);
    for (size_t i = 0; i < segments.count; i++) {
        unregister_segment(segments.at[i]);
    }
    for (uint32_t i = 0; i < ROWS_MAX && row_at(i) != NULL; i++) {
        struct region_row *row = row_at(i);
        unregister_memory(row->mr, row->len);
        row->mr = NULL;
    }
    owner = NULL;
    hl_mutex_unlock(&region_lock);
}
