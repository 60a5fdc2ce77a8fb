/* Matching outside of MPI: one thread receives whatever comes and hands it to the threads that wait for it,
 * with their own two queues, of messages and of waiting threads, both in order. */
#include "probe.h"

struct kept {
    struct kept *next;
    struct message m;
};

struct waiter {
    struct waiter *next;
    int src, tag;
    struct kept *got;
    pthread_cond_t come;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *first, **last; /* guarded by mutex, as the next two */
static struct waiter *waiting, **waiting_last;
static pthread_t helper;

static void hand_over(struct kept *k)
{
    struct waiter **at = &waiting;
    pthread_mutex_lock(&mutex);
    while (*at != NULL &&
           !(accepts((*at)->src, MPI_ANY_SOURCE, k->m.src) && accepts((*at)->tag, MPI_ANY_TAG, k->m.tag))) {
        at = &(*at)->next;
    }
    struct waiter *w = *at;
    if (w != NULL) {
        *at = w->next;
        waiting_last = w->next == NULL ? at : waiting_last;
        w->got = k;
        pthread_cond_signal(&w->come);
    } else {
        *last = k;
        last = &k->next;
    }
    pthread_mutex_unlock(&mutex);
}

static void *help(void *messages)
{
    for (long left = (intptr_t)messages; left > 0; left--) {
        struct kept *k = need(sizeof *k);
        MPI_Status s;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        k->next = NULL;
        message_of(&s, &k->m);
        MPI_Recv(k->m.data, k->m.bytes, MPI_BYTE, k->m.src, k->m.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hand_over(k);
    }
    return NULL;
}

static void open_queues(long messages)
{
    last = &first;
    waiting_last = &waiting;
    pthread_create(&helper, NULL, help, (void *)(intptr_t)messages);
}

static void close_queues(void)
{
    pthread_join(helper, NULL);
}

/* The oldest kept message for (src, tag), taken out, or NULL; under the mutex. */
static struct kept *find(int src, int tag)
{
    struct kept **at = &first;
    while (*at != NULL &&
           !(accepts(src, MPI_ANY_SOURCE, (*at)->m.src) && accepts(tag, MPI_ANY_TAG, (*at)->m.tag))) {
        at = &(*at)->next;
    }
    struct kept *k = *at;
    if (k != NULL) {
        *at = k->next;
        last = k->next == NULL ? at : last;
    }
    return k;
}

static void receive(int src, int tag, struct message *m, struct counts *c)
{
    pthread_mutex_lock(&mutex);
    c->locks++;
    struct kept *k = find(src, tag);
    if (k == NULL) {
        struct waiter w = {.src = src, .tag = tag, .come = PTHREAD_COND_INITIALIZER};
        *waiting_last = &w;
        waiting_last = &w.next;
        while (w.got == NULL) {
            pthread_cond_wait(&w.come, &mutex);
        }
        k = w.got;
    }
    pthread_mutex_unlock(&mutex);
    *m = k->m;
    free(k);
}

const struct way way_outside = {"outside", open_queues, close_queues, receive};
