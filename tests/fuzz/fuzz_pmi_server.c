/* The launcher's server: whatever ranks write, in whatever pieces, it answers whole lines, loses no barrier
 * and stays small. */
#include "mx.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RANKS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct hl_mx_job hl_mx;
static struct hl_mx_sink sink;
static int ends[RANKS]; /* the ranks' */
static int servers[RANKS];

/* What the server asks of the rest of the launcher. */
int64_t hl_mx_now_ms(void)
{
    return 0;
}

void *hl_mx_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void hl_mx_watch(int fd, uint32_t events, enum hl_mx_event kind, int rank)
{
    (void)fd, (void)events, (void)kind, (void)rank;
}

void hl_mx_rewatch(int fd, uint32_t events, enum hl_mx_event kind, int rank)
{
    hl_mx_watch(fd, events, kind, rank);
}

const char *hl_mx_words(const char *text, char *out, size_t cap)
{
    (void)out, (void)cap;
    return text;
}

void hl_mx_foreign_look(int rank)
{
    (void)rank;
}

void hl_mx_mind_timeout(void)
{
}

void hl_mx_signal_late(void)
{
}

bool hl_mx_in_is_typed(void)
{
    return false;
}

void hl_mx_end(int code, int sig, int grace_ms)
{
    (void)code, (void)sig, (void)grace_ms;
    hl_mx.ending = true;
}

static void open_job(void)
{
    static struct hl_mx_rank ranks[RANKS];
    if (sink.fd == 0) {
        sink.fd = open("/dev/null", O_WRONLY);
    }
    hl_mx = (struct hl_mx_job){.rank = ranks, .size = RANKS, .live = RANKS, .out = &sink, .err = &sink};
    strcpy(hl_mx.name, "0123456789abcdef0123456789abcdef");
    strcpy(hl_mx.secret, hl_mx.name);
    for (int i = 0; i < RANKS; i++) {
        int s[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) != 0) {
            abort();
        }
        ranks[i] = (struct hl_mx_rank){.ctl = s[0]};
        servers[i] = s[0];
        ends[i] = s[1];
    }
}

static void close_job(void)
{
    for (int i = 0; i < RANKS; i++) {
        (void)close(servers[i]); /* if the server has not: it keeps those of who broke the protocol */
        close(ends[i]);
        free(hl_mx.rank[i].in.data);
        free(hl_mx.rank[i].back.data);
    }
}

/* Answers are whole lines that begin as lines do. */
static void read_answers(int rank)
{
    static char text[65536];
    ssize_t n;
    while ((n = recv(ends[rank], text, sizeof text, 0)) > 0) {
        if (strncmp(text, "cmd=", 4) != 0 || text[n - 1] != '\n') {
            abort();
        }
        hl_mx_pmi_write(rank);
    }
}

static void check_barrier(void)
{
    int in = 0;
    for (int i = 0; i < RANKS; i++) {
        in += hl_mx.rank[i].in_barrier;
    }
    if (in != hl_mx.in_barrier || (in == RANKS && !hl_mx.ending)) {
        abort();
    }
}

/* Pieces: a byte for rank (and whether it dies then) and one for the length, then what it writes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_job();
    hl_mx.opt.keep_going = size > 0 && data[0] >= 128;
    while (size >= 2) {
        int rank = data[0] % RANKS;
        size_t len = data[1] < size - 2 ? data[1] : size - 2;
        if (hl_mx.rank[rank].ctl >= 0) {
            (void)!write(ends[rank], data + 2, len);
            hl_mx_pmi_read(rank);
        }
        if (data[0] % 64 == 63 && !hl_mx.rank[rank].exited) {
            hl_mx.rank[rank].exited = true;
            hl_mx.gone++;
            hl_mx_pmi_died(rank);
        }
        for (int i = 0; i < RANKS; i++) {
            read_answers(i);
        }
        check_barrier();
        data += 2 + len;
        size -= 2 + len;
    }
    close_job();
    return 0;
}
