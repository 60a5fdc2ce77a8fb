/* Random calls, the same on all PEs: blocks never overlap, keep what another PE put into them, and come back.
 * usage: heap_churn PARTITIONS STEPS */
#include "shmem_test.h"

#include <shmemx.h>

#define MOST 200

static struct block {
    char *p;
    size_t len;
    int tag;
} blocks[MOST];
static int count;

static char byte_of(int tag, size_t at, int pe)
{
    return (char)((size_t)tag * 31 + at * 3 + (size_t)pe);
}

/* My right neighbour's block gets my bytes. */
static void put_content(const struct block *b)
{
    static char buf[1 << 20];
    for (size_t i = 0; i < b->len; i++) {
        buf[i] = byte_of(b->tag, i, me);
    }
    shmem_putmem(b->p, buf, b->len, (me + 1) % n_pes);
}

static void check_content(const struct block *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        CHECK_EQ(b->p[i], byte_of(b->tag, i, (me + n_pes - 1) % n_pes));
    }
}

static void check_apart(const struct block *b)
{
    for (int i = 0; i < count; i++) {
        CHECK(blocks[i].p >= b->p + b->len || b->p >= blocks[i].p + blocks[i].len);
    }
}

static size_t length(uint64_t r)
{
    return r % 16 == 0 ? (r >> 8) % 500000 + 1 : (r >> 8) % 3000 + 1;
}

static void take(uint64_t r, int partitions, int tag)
{
    struct block b = {.len = length(r), .tag = tag};
    int id = (int)((r >> 40) % (uint64_t)partitions) * 20 + 1;
    b.p = r % 3 == 0              ? shmem_kind_align((size_t)8 << (r >> 50) % 10, b.len, id)
          : id == 1 && r % 3 == 1 ? shmem_calloc(1, b.len)
                                  : shmem_kind_malloc(b.len, id);
    if (b.p != NULL) {
        check_apart(&b);
        put_content(&b);
        blocks[count++] = b;
    }
}

static void change(uint64_t r, int tag)
{
    struct block *b = &blocks[(r >> 8) % (uint64_t)count], old = *b;
    size_t len = length(r >> 16);
    char *p = shmem_realloc(b->p, len); /* waits, so what was put before is there */
    if (p == NULL) {
        check_content(&old, old.len);
        return;
    }
    b->p = p;
    check_content(b, len < old.len ? len : old.len);
    *b = blocks[--count];
    struct block now = {p, len, tag};
    check_apart(&now);
    shmem_barrier_all();
    put_content(&now);
    blocks[count++] = now;
}

static void drop(uint64_t r)
{
    struct block *b = &blocks[(r >> 8) % (uint64_t)count];
    shmem_barrier_all();
    check_content(b, b->len);
    shmem_free(b->p);
    *b = blocks[--count];
}

int main(int argc, char **argv)
{
    int partitions = atoi(argv[1]), steps = atoi(argv[2]);
    uint64_t seed = 7;
    unsetenv("SHMEM_SYMMETRIC_SIZE"); /* the user's would be partition 1 */
    for (int i = 0; i < partitions; i++) {
        char name[64], value[64];
        snprintf(name, sizeof name, "SHMEM_SYMMETRIC_PARTITION%d", 20 * i + 1);
        snprintf(value, sizeof value, "size=%dM%s", 2 * (i + 1), i % 3 == 2 ? ":kind=N" : "");
        setenv(name, value, 1);
    }
    setenv("HOTLANE_MEM_REPORT", "0", 1);
    setenv("HOTLANE_LOG", "error", 1); /* some calls find no room, and say so */
    test_start(1);
    for (int step = 0; step < steps; step++) {
        uint64_t r = test_random(&seed), what = test_random(&seed) % 8;
        if (count == 0 || (what < 4 && count < MOST)) {
            take(r, partitions, step);
        } else if (what < 5) {
            change(r, step);
        } else {
            drop(r);
        }
    }
    while (count > 0) {
        drop(0);
    }
    char *whole = shmem_malloc(2 << 20); /* nothing is lost */
    CHECK(whole != NULL);
    shmem_free(whole);
    shmem_finalize();
    return 0;
}
