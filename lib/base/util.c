/* SipHash, random bytes, arrays that grow, bytes as words, lines of files, memory that may be locked. */
#include "util.h"

#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v2 = rotate_left(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t m)
{
    s->v3 ^= m;
    sip_round(s);
    sip_round(s);
    s->v0 ^= m;
}

uint64_t hl_siphash(const uint64_t key[2], const void *data, size_t len)
{
    struct sip s = {key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
                    key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL};
    const unsigned char *p = data;
    size_t left = len;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t m;
        memcpy(&m, p, 8);
        sip_word(&s, m);
    }
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = 0; i < left; i++) {
        last |= (uint64_t)p[i] << (8 * i);
    }
    sip_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++) {
        sip_round(&s);
    }
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

int hl_random_bytes(void *out, size_t len)
{
    char *p = out;
    int file = -1, e = 0;
    while (len > 0 && e == 0) {
        ssize_t got = file < 0 ? getrandom(p, len, 0) : read(file, p, len);
        if (got > 0) {
            p += got;
            len -= (size_t)got;
        } else if (file < 0 && errno != EINTR) {
            file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
            e = file < 0 ? errno : 0;
        } else if (got == 0 || errno != EINTR) {
            e = got == 0 ? EIO : errno;
        }
    }
    if (file >= 0) {
        close(file);
    }
    return e == 0
               ? 0
               : hl_err_say(HL_ERR_OTHER, "no random numbers: getrandom is forbidden, and /dev/urandom: %s",
                            strerror(e));
}

bool hl_grow(void *rows, size_t n, size_t *room, size_t size)
{
    size_t more = *room == 0 ? 16 : 2 * *room;
    void *at;
    if (n < *room) {
        return true;
    }
    memcpy(&at, rows, sizeof at);
    at = realloc(at, more * size);
    if (at == NULL) {
        return false;
    }
    memcpy(rows, &at, sizeof at);
    *room = more;
    return true;
}

size_t hl_address_share(size_t most)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY) {
        while (most > r.rlim_cur / 16 && most > 1) {
            most /= 2;
        }
    }
    return most;
}

char *hl_bytes_text(uint64_t bytes, char out[HL_BYTES_TEXT])
{
    static const char units[] = "TGMK";
    for (int i = 0; units[i] != '\0'; i++) {
        uint64_t unit = (uint64_t)1 << (40 - 10 * i);
        if (bytes != 0 && bytes % unit == 0) {
            snprintf(out, HL_BYTES_TEXT, "%" PRIu64 "%c", bytes / unit, units[i]);
            return out;
        }
    }
    snprintf(out, HL_BYTES_TEXT, "%" PRIu64, bytes);
    return out;
}

bool hl_read_line(const char *root, const char *path, char *out, size_t cap)
{
    char *whole;
    if (asprintf(&whole, "%s%s", root, path) < 0) {
        return false;
    }
    FILE *f = fopen(whole, "re");
    bool got = f != NULL && fgets(out, (int)cap, f) != NULL;
    if (f != NULL) {
        fclose(f);
    }
    free(whole);
    if (got) {
        out[strcspn(out, "\n")] = '\0';
    }
    return got;
}

uint64_t hl_lockable_bytes(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct rlimit limit;
    bool may = syscall(SYS_capget, &head, caps) == 0 && (caps[0].effective >> CAP_IPC_LOCK & 1) != 0;
    return may || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
                                                                                            : limit.rlim_cur;
}
