/* The table of sources that are polled, and one pass over it. */
#include "prog.h"

#include "cs.h"
#include "err.h"
#include "lock.h"
#include "prog_internal.h"

#define ROWS 16

struct row {
    hl_a32 live;   /* atomic: release when set, acquire when polled */
    uint32_t mask; /* every - 1; it, fn and arg are written before `live` */
    hl_prog_fn *fn;
    void *arg;
};

static struct row rows[ROWS];
static hl_a32 used; /* atomic: rows below this may be live; only grows */
static struct hl_mutex lock = HL_MUTEX_INIT;

/* Of each thread: the passes that it made, and whether it is within one. */
static HL_THREAD_LOCAL uint32_t passes;
static HL_THREAD_LOCAL bool polling;

int hl_prog_register(hl_prog_fn *fn, void *arg, unsigned every)
{
    int result = HL_ERR_NO_MEM;
    hl_mutex_lock(&lock);
    for (unsigned i = 0; i < ROWS; i++) {
        struct row *r = &rows[i];
        /* relaxed: rows change only under the lock, which is held. */
        if (hl_a32_load_relaxed(&r->live)) {
            continue;
        }
        r->fn = fn;
        r->arg = arg;
        r->mask = every - 1;
        /* release: publishes the row; pairs with the acquire in poll_row. */
        hl_a32_store_release(&r->live, 1);
        if (hl_a32_load_relaxed(&used) <= i) {
            hl_a32_store_release(&used, i + 1);
        }
        result = 0;
        break;
    }
    hl_mutex_unlock(&lock);
    return result == 0 ? 0 : hl_err_say(result, "more than %d sources of progress", ROWS);
}

void hl_prog_unregister(hl_prog_fn *fn, void *arg)
{
    hl_mutex_lock(&lock);
    for (unsigned i = 0; i < ROWS; i++) {
        struct row *r = &rows[i];
        if (!hl_a32_load_relaxed(&r->live) || r->fn != fn || r->arg != arg) {
            continue;
        }
        /* relaxed: the caller promises that no other thread is within a pass. */
        hl_a32_store_relaxed(&r->live, 0);
        break;
    }
    hl_mutex_unlock(&lock);
}

static int poll_row(const struct row *r)
{
    /* acquire: sees the row; pairs with the release in hl_prog_register. */
    if (!hl_a32_load_acquire(&r->live) || (passes & r->mask) != 0) {
        return 0;
    }
    return r->fn(r->arg);
}

bool hl_prog_is_polling(void)
{
    return polling;
}

void hl_prog_skip_passes(void)
{
    passes |= 63;
}

static int poll_all(void)
{
    polling = true;
    passes++;
    int n = 0;
    /* acquire: rows below are initialised; pairs with the release in hl_prog_register. */
    uint32_t end = hl_a32_load_acquire(&used);
    for (uint32_t i = 0; i < end; i++) {
        n += poll_row(&rows[i]);
    }
    polling = false;
    return n;
}

/* A pass where one thread polls at a time: a thread that finds another inside leaves progress to it. */
static HL_NOINLINE int poll_in_section(void)
{
    if (!hl_cs_try(HL_CS_progress, NULL)) {
        return 0;
    }
    int n = poll_all();
    hl_cs_out(HL_CS_progress, NULL);
    return n;
}

int hl_prog_poll(void)
{
    if (polling) {
        return 0;
    }
    return HL_LIKELY(!hl_cs_any()) ? poll_all() : poll_in_section();
}

void hl_prog_forget(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        /* relaxed: the child has one thread. */
        hl_a32_store_relaxed(&rows[i].live, 0);
    }
    hl_prog_keeper_forget();
    hl_prog_set_door(NULL, NULL, NULL);
    hl_prog_left_forget();
}
