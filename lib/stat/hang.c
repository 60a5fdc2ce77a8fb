/* The watchdog: puts waits into words, and tells them in time. */
#include "hang.h"

#include "log.h"
#include "stat.h"
#include "stops.h"
#include "util.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_NS UINT64_C(100000000) /* between two looks for a circle */
#define FRAMES 64

struct hl_hang_names hl_hang_names;

/* All rows of the program: the linker puts them together and gives these names; a unit test without waits has
 * none. Other names for them (asm labels) would make gcc forget that they are hidden. */
extern const struct hl_hang_row __start_hl_hangs[] __attribute__((weak, visibility("hidden")));
extern const struct hl_hang_row __stop_hl_hangs[] __attribute__((weak, visibility("hidden")));

/* The functions marked by HL_HANG_SHMEM. */
extern const char __start_hl_shmem_code[] __attribute__((weak, visibility("hidden")));
extern const char __stop_hl_shmem_code[] __attribute__((weak, visibility("hidden")));

/* ---- Words ---- */

void hl_desc_say(struct hl_wait_desc *t, const char *fmt, ...)
{
    size_t used = strnlen(t->text, sizeof t->text - 1);
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->text + used, sizeof t->text - used, fmt, args);
    va_end(args);
}

void hl_desc_await(struct hl_wait_desc *t, int world)
{
    bool known = world < 0;
    for (int i = 0; i < hl_desc_ranks(t); i++) {
        known = known || t->ranks[i] == world;
    }
    if (!known && t->n >= t->first && t->n - t->first < HL_HANG_RANKS) {
        t->ranks[t->n - t->first] = world;
    }
    t->n += !known;
}

int hl_desc_ranks(const struct hl_wait_desc *t)
{
    int more = t->n - t->first;
    return more < 0 ? 0 : more < HL_HANG_RANKS ? more : HL_HANG_RANKS;
}

void hl_desc_await_all(struct hl_wait_desc *t, const struct hl_wait_desc *from)
{
    for (int i = 0; i < from->n && i < HL_HANG_RANKS; i++) {
        hl_desc_await(t, from->ranks[i]);
    }
}

bool hl_hang_is_shmem(const char *call)
{
    return strncmp(call, "shmem", 5) == 0 || strcmp(call, HL_HANG_SHMEM_CALL) == 0;
}

const char *hl_desc_unit(const struct hl_wait_desc *t)
{
    return hl_hang_is_shmem(t->call) ? "PE" : "rank";
}

void hl_desc_comm(struct hl_wait_desc *t, uint64_t ctx)
{
    char name[64] = "";
    if (hl_hang_names.comm != NULL) {
        hl_hang_names.comm(ctx, name, sizeof name);
    }
    hl_desc_say(t, "%s", name[0] != '\0' ? name : "a communicator without a name");
}

void hl_desc_peer(struct hl_wait_desc *t, uint64_t ctx, int rank)
{
    if (hl_hang_names.world == NULL) {
        return;
    }
    if (rank != MPI_ANY_SOURCE) {
        hl_desc_await(t, hl_hang_names.world(ctx, rank));
        return;
    }
    t->any = 1;
    for (int i = 0, world; (world = hl_hang_names.world(ctx, i)) >= 0; i++) {
        hl_desc_await(t, world);
    }
}

static hl_hang_describe *tell_of(bool (*cond)(void *arg))
{
    for (const struct hl_hang_row *r = __start_hl_hangs; r != __stop_hl_hangs; r++) {
        if (r->cond == cond) {
            return r->tell;
        }
    }
    return NULL;
}

/* The name of a user's call behind a symbol: "MPI_Recv" also for "PMPI_Recv". NULL: it is no such call. */
static const char *public_name(const char *symbol)
{
    if (symbol == NULL) {
        return NULL;
    }
    symbol += strncmp(symbol, "PMPI", 4) == 0 || strncmp(symbol, "pshmem", 6) == 0;
    return strncmp(symbol, "MPI", 3) == 0 || strncmp(symbol, "shmem", 5) == 0 ? symbol : NULL;
}

static bool is_shmem_code(const void *at)
{
    uintptr_t where = (uintptr_t)at;
    return where >= (uintptr_t)__start_hl_shmem_code && where < (uintptr_t)__stop_hl_shmem_code;
}

void hl_hang_call(char *out, size_t cap)
{
    void *frames[FRAMES];
    Dl_info mine, at;
    const char *name = NULL, *kind = NULL;
    int i = 0, n = backtrace(frames, FRAMES);
    bool inside = dladdr((void *)(uintptr_t)hl_hang_call, &mine) != 0;
    /* The first frames may belong to a tool that intercepts backtrace, such as AddressSanitizer. */
    while (i < n && inside && (dladdr((char *)frames[i] - 1, &at) == 0 || at.dli_fbase != mine.dli_fbase)) {
        i++;
    }
    for (; i < n && inside; i++) {
        /* A return address may lie behind the end of a function that never returns, hence the - 1. */
        inside = dladdr((char *)frames[i] - 1, &at) != 0 && at.dli_fbase == mine.dli_fbase;
        const char *found = inside ? public_name(at.dli_sname) : NULL;
        name = found != NULL ? found : name;
        kind = inside && is_shmem_code((char *)frames[i] - 1) ? HL_HANG_SHMEM_CALL : kind;
    }
    name = name != NULL ? name : kind;
    if (name == NULL) {
        name = hl_hang_names.unnamed != NULL ? hl_hang_names.unnamed() : "a call of the library";
    }
    snprintf(out, cap, "%s", name);
}

/* Writes the ranks: "; for rank 1", "; for ranks 1, 2 and 5 more", "; for any of PEs 1, 2". */
static void describe_ranks(const struct hl_wait_desc *t, char *out, size_t cap)
{
    int shown = t->n < HL_HANG_RANKS ? t->n : HL_HANG_RANKS;
    int used = 0;
    out[0] = '\0';
    if (t->n > 0) {
        used =
            snprintf(out, cap, "; for %s%s%s", t->any ? "any of " : "", hl_desc_unit(t), t->n > 1 ? "s" : "");
    }
    for (int i = 0; i < shown && (size_t)used < cap; i++) {
        used += snprintf(out + used, cap - (size_t)used, "%s %d", i > 0 ? "," : "", t->ranks[i]);
    }
    if (t->n > shown && (size_t)used < cap) {
        snprintf(out + used, cap - (size_t)used, " and %d more", t->n - shown);
    }
}

/* ---- One wait ---- */

void hl_hang_begin(struct hl_hang *h)
{
    uint64_t now = hl_now_ns(), timeout = (uint64_t)hl_conf.watchdog * 1000000000u;
    *h = (struct hl_hang){now, now + timeout, now + timeout, -1, false};
}

void hl_hang_end(struct hl_hang *h)
{
    hl_hang_post(&h->post, NULL);
}

static void describe_wait(const struct hl_wait_desc *t, uint64_t ns)
{
    char ranks[128], counters[1024];
    describe_ranks(t, ranks, sizeof ranks);
    hl_stat_words(counters, sizeof counters);
    hl_log(HL_LOG_ERROR, "watchdog: thread %ld has waited %.0f s in %s: %s%s", syscall(SYS_gettid),
           (double)ns / 1e9, t->call, t->text[0] != '\0' ? t->text : "for something that has no name here",
           ranks);
    hl_log(HL_LOG_ERROR, "watchdog: counters so far:%s", counters);
}

void hl_hang_words(bool (*cond)(void *arg), const void *arg, struct hl_wait_desc *t)
{
    hl_hang_describe *tell = tell_of(cond);
    if (tell != NULL) {
        tell(arg, t);
    }
}

void hl_hang_look(struct hl_hang *h, bool (*cond)(void *arg), hl_hang_describe *tell, const void *arg)
{
    static HL_THREAD_LOCAL bool looking; /* a wait within a look is not looked at */
    uint64_t now = hl_now_ns();
    char circle[1024];
    if (now < h->look_ns || looking) {
        return;
    }
    looking = true;
    struct hl_wait_desc t = {0};
    tell = tell != NULL ? tell : tell_of(cond);
    hl_hang_call(t.call, sizeof t.call);
    if (tell != NULL) {
        tell(arg, &t);
    }
    h->look_ns = now + LOOK_NS;
    if (t.call[0] == '\0') {
        looking = false;
        return;
    }
    hl_hang_post(&h->post, &t);
    if (now >= h->said_ns) {
        describe_wait(&t, now - h->since_ns);
        h->said_ns += h->said_ns - h->since_ns;
        h->found = false;
    }
    if (!h->found && hl_hang_circle(&t, circle, sizeof circle)) {
        if (circle[0] != '\0') {
            hl_log(HL_LOG_ERROR, "watchdog: deadlock: %s", circle);
        }
        h->found = true;
    }
    looking = false;
}

void hl_hang_watch_fence(struct hl_hang *h, const struct hl_wait_desc *absent)
{
    hl_stops_look(h->since_ns);
    if (hl_hang_is_on()) {
        hl_hang_look(h, NULL, hl_hang_describe_fence, absent);
    }
}

int hl_hang_nap_ms(void)
{
    return hl_hang_is_on() ? (int)(LOOK_NS / 1000000) : hl_stops_nap_ms();
}
