/* A long row is made of private mappings of one small file, its pattern. Writing to a page gives the row a
 * page of its own. */
#include "repeat.h"

#include "bounds.h"
#include "sys.h"
#include "util.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLAIN ((size_t)64 << 10) /* shorter rows come from malloc; a multiple of all base pages */
#define TIMES 64   /* mappings of a row, of which a process may have some 65,000 in all: its file is 1/64 */
#define BLOCK 4096 /* bytes of a pattern that are written or read at a time; divides PLAIN */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static size_t row_bytes(size_t count, size_t len)
{
    return hl_max_size(count, 1) * len;
}

static bool is_short_row(size_t count, size_t len)
{
    return row_bytes(count, len) < PLAIN;
}

static size_t row_room(size_t count, size_t len)
{
    return hl_round_up(row_bytes(count, len), PLAIN);
}

static bool has_pattern(const struct hl_repeat *r)
{
    return r->record != NULL && !is_short_row(r->count, r->len);
}

static size_t pattern_bytes(const struct hl_repeat *r)
{
    size_t step = PLAIN;
    while (step < row_room(r->count, r->len) / TIMES) {
        step *= 2;
    }
    return step;
}

static void fill_row(char *row, size_t bytes, const struct hl_repeat *r)
{
    for (size_t at = 0; at < bytes; at += r->len) {
        memcpy(row + at, r->record, r->len);
    }
}

static bool write_pattern(int fd, const struct hl_repeat *r)
{
    char *block = malloc(BLOCK); /* on the heap, as deep calls come here */
    ssize_t n = block != NULL ? BLOCK : 0;
    if (block != NULL) {
        fill_row(block, BLOCK, r);
    }
    for (size_t at = 0; n == BLOCK && at < pattern_bytes(r); at += BLOCK) {
        n = pwrite(fd, block, BLOCK, (off_t)at);
    }
    free(block);
    return n == BLOCK;
}

/* Has the file exactly what write_pattern writes? */
static bool is_pattern(int fd, const struct hl_repeat *r)
{
    char *block = malloc(2 * (size_t)BLOCK);
    size_t at = 0;
    if (block == NULL) {
        return false;
    }
    char *got = block + BLOCK;
    fill_row(block, BLOCK, r);
    while (pread(fd, got, BLOCK, (off_t)at) == BLOCK && memcmp(got, block, BLOCK) == 0) {
        at += BLOCK;
    }
    free(block);
    return at == pattern_bytes(r);
}

int hl_mem_pattern_make(const struct hl_repeat *r)
{
    if (!has_pattern(r) || hl_bounds_file(pattern_bytes(r)) != 0) {
        return -1;
    }
    int fd = hl_sys.memfd_create("hotlane-pattern", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && !write_pattern(fd, r)) {
        close(fd);
        return -1;
    }
    if (fd >= 0) {
        hl_sys.seal(fd, SEALS); /* without seals nobody else takes it */
    }
    return fd;
}

int hl_mem_pattern_open(const struct hl_repeat *r, int pid, int fd)
{
    char path[48];
    if (!has_pattern(r) || fd < 0) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    /* The number may be another file's by now: O_NONBLOCK for a pipe, O_NOCTTY for a terminal. */
    int mine = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (mine >= 0 && (fcntl(mine, F_GET_SEALS) != SEALS || !is_pattern(mine, r))) {
        close(mine);
        return -1;
    }
    return mine;
}

/* Maps the pattern over the row; false: not everywhere. */
static bool map_pattern(char *row, const struct hl_repeat *r, int fd)
{
    size_t bytes = row_room(r->count, r->len), step = pattern_bytes(r);
    bool mapped = fd >= 0;
    for (size_t at = 0; mapped && at < bytes; at += step) {
        mapped = hl_sys.mmap(row + at, hl_min_size(step, bytes - at), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) != MAP_FAILED;
    }
    return mapped;
}

void *hl_mem_repeat(const struct hl_repeat *r, int pattern)
{
    size_t bytes = row_bytes(r->count, r->len);
    if (is_short_row(r->count, r->len)) {
        void *row = calloc(1, bytes);
        if (row != NULL && r->record != NULL) {
            fill_row(row, bytes, r);
        }
        return row;
    }
    void *row = hl_sys.mmap(NULL, row_room(r->count, r->len), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (row == MAP_FAILED) {
        return NULL;
    }
    int own = pattern < 0 ? hl_mem_pattern_make(r) : -1;
    if (has_pattern(r) && !map_pattern(row, r, pattern < 0 ? own : pattern)) {
        fill_row(row, bytes, r);
    }
    if (own >= 0) {
        close(own);
    }
    return row;
}

void hl_mem_repeat_free(void *row, size_t count, size_t len)
{
    if (is_short_row(count, len)) {
        free(row);
    } else if (row != NULL) {
        hl_sys.munmap(row, row_room(count, len));
    }
}
