/* Threads that are still in calls when the library ends. The standards forbid that (MPI 4.1, 11.6.2), since
 * nothing would ever end their waits. So who ends the library asks first, and threads that wait tell their
 * calls when they are about to sleep. One that has begun to wait only after that finds the end out itself. */
#include "inner.h"

#include "hang.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_NS UINT64_C(2000000000) /* who has not told its call by then is counted without */
#define ENDED UINT32_MAX               /* the library has ended */

hl_a32 hl_prog_asks; /* atomic: the number of the question; 0: there is none; ENDED */

static hl_a32 questions;
static pthread_t asker; /* written before hl_prog_asks */

HL_THREAD_LOCAL struct hl_prog_thread hl_prog_me;

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_prog_thread *threads HL_GUARDED_BY(lock);
static struct {
    uint32_t told;
    uint32_t of_kind;
    const char *kind;
    char calls[160];
} answers HL_GUARDED_BY(lock);

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

/* The number of other threads that wait. */
static uint32_t count_waits(void) HL_REQUIRES(lock)
{
    uint32_t n = 0;
    for (const struct hl_prog_thread *t = threads; t != NULL; t = t->next) {
        /* relaxed: who ends the library has synchronized with threads whose calls have returned. */
        n += t != &hl_prog_me && hl_a32_load_relaxed(&t->waits) != 0;
    }
    return n;
}

static void add_call(const char *call) HL_REQUIRES(lock)
{
    size_t used = strlen(answers.calls);
    bool known = strstr(answers.calls, call) != NULL;
    if (!known && used + strlen(call) + 3 < sizeof answers.calls) {
        snprintf(answers.calls + used, sizeof answers.calls - used, "%s%s", used > 0 ? ", " : "", call);
    }
}

static void tell_call(uint32_t question, const char *call)
{
    hl_mutex_lock(&lock);
    /* relaxed: it changes under lock. */
    if (hl_a32_load_relaxed(&hl_prog_asks) == question) {
        bool counts = strncmp(call, answers.kind, strlen(answers.kind)) == 0;
        answers.told++;
        answers.of_kind += counts;
        if (counts) {
            add_call(call[0] != '\0' ? call : "a call without a name");
        }
    }
    hl_mutex_unlock(&lock);
}

void hl_prog_answer(void)
{
    static HL_THREAD_LOCAL uint32_t answered;
    uint32_t question = hl_a32_load_acquire(&hl_prog_asks); /* acquire: pairs with hl_prog_end */
    char call[sizeof((struct hl_wait_desc *)NULL)->call];
    if (question == 0 || question == answered || pthread_equal(asker, pthread_self()) ||
        hl_prog_is_polling()) {
        return;
    }
    answered = question;
    hl_hang_call(call, sizeof call);
    if (question != ENDED) {
        tell_call(question, call);
    } else {
        hl_log(HL_LOG_ERROR,
               "%s: another thread has ended the library, and nothing ends this wait any more; %s",
               call[0] != '\0' ? call : "a call of the library", hl_job_end_words());
        hl_job_abort(1);
    }
}

/* Asks, or takes the question back with 0. */
static void put_question(uint32_t question, const char *kind)
{
    hl_mutex_lock(&lock);
    if (question != 0) {
        answers.told = answers.of_kind = 0;
        answers.kind = kind;
        answers.calls[0] = '\0';
        asker = pthread_self();
    }
    hl_a32_store_release(&hl_prog_asks, question); /* release: pairs with the acquire in hl_prog_answer */
    hl_mutex_unlock(&lock);
}

static bool all_told(void *end_ns)
{
    hl_mutex_lock(&lock);
    bool over = count_waits() <= answers.told;
    hl_mutex_unlock(&lock);
    return over || hl_now_ns() > *(const uint64_t *)end_ns;
}

static void tell_question(const void *unused, struct hl_wait_desc *t)
{
    (void)unused;
    hl_desc_say(t, "the names of other threads' calls");
}
HL_HANG_WORDS(all_told, tell_question);

int hl_prog_left(const char *kind, char *calls, size_t cap)
{
    uint64_t end_ns = hl_now_ns() + ANSWER_NS;
    hl_mutex_lock(&lock);
    uint32_t n = count_waits();
    hl_mutex_unlock(&lock);
    if (n == 0) {
        return 0;
    }
    /* relaxed: only a number of its own. */
    put_question(1 + hl_a32_add_relaxed(&questions, 1) % (ENDED - 1), kind);
    hl_prog_ring_own();
    hl_prog_wait(all_told, &end_ns);
    put_question(0, NULL);
    hl_mutex_lock(&lock);
    n = count_waits();
    n = kind[0] != '\0' && n > answers.of_kind ? answers.of_kind : n;
    snprintf(calls, cap, "%s", answers.calls[0] != '\0' ? answers.calls : "a call without a name");
    hl_mutex_unlock(&lock);
    return (int)n;
}

void hl_prog_end(bool ended)
{
    put_question(ended ? ENDED : 0, "");
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
