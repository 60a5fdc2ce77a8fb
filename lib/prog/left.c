/* Threads that are still in calls when the library ends. The standards forbid that (MPI 4.1, 11.6.2), since
 * nothing would ever end their waits. So the thread that ends the library asks first, and threads that wait
 * tell their calls when they are about to sleep. One that has begun to wait only after that finds the end out
 * itself, and nothing that its wait may look at is closed before it has done so. (Its call's first
 * instructions are not covered: no call says that it has begun.) */
#include "prog_internal.h"

#include "hang.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_NS UINT64_C(2000000000) /* a thread that has not told its call by then is only counted */
#define ENDED UINT32_MAX               /* the library has ended */

hl_a32 hl_prog_asks; /* atomic: the number of the question; 0: there is none; ENDED */

static hl_a32 questions;
static pthread_t asker; /* written before hl_prog_asks */

HL_THREAD_LOCAL struct hl_prog_thread hl_prog_me;

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_prog_thread *threads HL_GUARDED_BY(lock); /* and their answers */

void hl_prog_enlist(void)
{
    hl_mutex_lock(&lock);
    hl_prog_me.next = threads;
    threads = &hl_prog_me;
    hl_mutex_unlock(&lock);
}

void hl_prog_delist(void)
{
    hl_mutex_lock(&lock);
    struct hl_prog_thread **t = &threads;
    while (*t != NULL && *t != &hl_prog_me) {
        t = &(*t)->next;
    }
    *t = *t != NULL ? (*t)->next : NULL;
    hl_mutex_unlock(&lock);
}

/* The next other thread that waits, from `t` on. */
static const struct hl_prog_thread *waiting_from(const struct hl_prog_thread *t) HL_REQUIRES(lock)
{
    /* relaxed: who ends the library has synchronized with threads whose calls have returned. */
    while (t != NULL && (t == &hl_prog_me || hl_a32_load_relaxed(&t->waits) == 0)) {
        t = t->next;
    }
    return t;
}

static bool is_any_waiting(void)
{
    hl_mutex_lock(&lock);
    bool any = waiting_from(threads) != NULL;
    hl_mutex_unlock(&lock);
    return any;
}

static void add_call(char *calls, size_t cap, const char *call)
{
    size_t used = strlen(calls);
    if (strstr(calls, call) == NULL && used + strlen(call) + 3 < cap) {
        snprintf(calls + used, cap - used, "%s%s", used > 0 ? ", " : "", call);
    }
}

/* A thread answers at each nap: its next call may be another one. */
void hl_prog_answer(void)
{
    uint32_t question = hl_a32_load_acquire(&hl_prog_asks); /* acquire: pairs with hl_prog_end */
    char call[sizeof hl_prog_me.call];
    if (question == 0 || pthread_equal(asker, pthread_self()) || hl_prog_is_polling()) {
        return;
    }
    hl_hang_call(call, sizeof call);
    if (question != ENDED) {
        hl_mutex_lock(&lock);
        hl_prog_me.told = question;
        memcpy(hl_prog_me.call, call, sizeof call);
        hl_mutex_unlock(&lock);
    } else {
        hl_log(HL_LOG_ERROR, "%s: another thread has ended the library, and this wait would never end; %s",
               call, hl_job_end_words());
        hl_job_abort(1);
    }
}

/* Asks, or takes the question back with 0. */
static void put_question(uint32_t question)
{
    hl_mutex_lock(&lock);
    if (question != 0) {
        asker = pthread_self();
    }
    hl_a32_store_release(&hl_prog_asks, question); /* release: pairs with the acquire in hl_prog_answer */
    hl_mutex_unlock(&lock);
}

static bool are_all_told(void *end_ns)
{
    hl_mutex_lock(&lock);
    const struct hl_prog_thread *t = waiting_from(threads);
    /* relaxed: it changes under lock. */
    while (t != NULL && t->told == hl_a32_load_relaxed(&hl_prog_asks)) {
        t = waiting_from(t->next);
    }
    hl_mutex_unlock(&lock);
    return t == NULL || hl_now_ns() > *(const uint64_t *)end_ns;
}

static void tell_question(const void *unused, struct hl_wait_desc *t)
{
    (void)unused;
    hl_desc_say(t, "the names of other threads' calls");
}
HL_HANG_WORDS(are_all_told, tell_question);

int hl_prog_left(bool shmem_only, char *calls, size_t cap)
{
    uint64_t end_ns = hl_now_ns() + ANSWER_NS;
    int n = 0;
    if (!is_any_waiting()) {
        return 0;
    }
    /* relaxed: only a number of its own. */
    uint32_t question = 1 + hl_a32_add_relaxed(&questions, 1) % (ENDED - 1);
    put_question(question);
    hl_prog_ring_own();
    hl_prog_wait(are_all_told, &end_ns);
    put_question(0);
    calls[0] = '\0';
    hl_mutex_lock(&lock);
    const struct hl_prog_thread *t = waiting_from(threads);
    for (; t != NULL; t = waiting_from(t->next)) {
        const char *call = t->told == question ? t->call : "";
        if (!shmem_only || hl_hang_is_shmem(call)) {
            n++;
            add_call(calls, cap, call[0] != '\0' ? call : "a call without a name");
        }
    }
    hl_mutex_unlock(&lock);
    return n;
}

static bool does_none_wait(void *end_ns)
{
    return !is_any_waiting() || hl_now_ns() > *(const uint64_t *)end_ns;
}

static void tell_late(const void *unused, struct hl_wait_desc *t)
{
    (void)unused;
    hl_desc_say(t, "the end of waits that other threads have begun behind the library's end");
}
HL_HANG_WORDS(does_none_wait, tell_late);

void hl_prog_end(bool ended)
{
    uint64_t end_ns = hl_now_ns() + ANSWER_NS;
    put_question(ended ? ENDED : 0);
    if (ended) {
        hl_prog_ring_own();
        hl_prog_wait(does_none_wait, &end_ns);
    }
}

void hl_prog_left_forget(void) HL_NO_TSA
{
    lock = (struct hl_mutex)HL_MUTEX_INIT; /* a thread that is not here may hold it */
    threads = hl_prog_me.counted ? &hl_prog_me : NULL;
    hl_prog_me.next = NULL;
    /* relaxed, both: the child has one thread. */
    hl_a32_store_relaxed(&hl_prog_me.waits, 0);
    hl_a32_store_relaxed(&hl_prog_asks, 0);
}
