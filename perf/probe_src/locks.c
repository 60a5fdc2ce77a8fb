/* Two-dimensional locks, sparse: who probes and receives (source, tag) excludes everybody whose pair could
 * match the same message. With wildcards nobody may wait for a message while he holds one: the message that
 * others wait for may be the cause of his. So the lock is held for one look at a time. The way that waits
 * with the lock held is the paper's counterexample. */
#include "probe.h"

#include <sched.h>

#define HELD 1024

struct pair {
    int src, tag;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pair held[HELD]; /* guarded by mutex */
static int n_held;

static void nothing_before(long messages)
{
    (void)messages;
}

static void nothing_after(void)
{
}

static bool meet(int a, int b, int any)
{
    return a == any || b == any || a == b;
}

static bool try_lock(struct pair p, struct counts *c)
{
    pthread_mutex_lock(&mutex);
    c->locks++;
    bool free = n_held < HELD;
    for (int i = 0; i < n_held && free; i++) {
        free = !meet(p.src, held[i].src, MPI_ANY_SOURCE) || !meet(p.tag, held[i].tag, MPI_ANY_TAG);
    }
    if (free) {
        held[n_held++] = p;
    }
    pthread_mutex_unlock(&mutex);
    return free;
}

static void unlock(struct pair p, struct counts *c)
{
    pthread_mutex_lock(&mutex);
    c->locks++;
    int i = 0;
    while (held[i].src != p.src || held[i].tag != p.tag) {
        i++;
    }
    held[i] = held[--n_held];
    pthread_mutex_unlock(&mutex);
}

/* The receive is only begun under the lock: it matches then. */
static void take(MPI_Status *s, struct pair p, struct message *m, struct counts *c)
{
    MPI_Request request;
    message_of(s, m);
    MPI_Irecv(m->data, m->bytes, MPI_BYTE, m->src, m->tag, MPI_COMM_WORLD, &request);
    unlock(p, c);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_polling(int src, int tag, struct message *m, struct counts *c)
{
    struct pair p = {src, tag};
    for (;;) {
        int there = 0;
        MPI_Status s;
        if (try_lock(p, c)) {
            c->probes++;
            MPI_Iprobe(src, tag, MPI_COMM_WORLD, &there, &s);
            if (there) {
                take(&s, p, m, c);
                return;
            }
            unlock(p, c);
        }
        sched_yield();
    }
}

static void receive_blocking(int src, int tag, struct message *m, struct counts *c)
{
    struct pair p = {src, tag};
    MPI_Status s;
    while (!try_lock(p, c)) {
        sched_yield();
    }
    c->probes++;
    MPI_Probe(src, tag, MPI_COMM_WORLD, &s);
    take(&s, p, m, c);
}

const struct way way_locks = {"locks", nothing_before, nothing_after, receive_polling};
const struct way way_blocking = {"blocking", nothing_before, nothing_after, receive_blocking};
