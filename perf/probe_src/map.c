/* The paper's locks: a sparse map of three levels, communicator, source, tag. A place of a level comes with its
 * first use and stays. Who names source and tag shares the two upper levels and has the tag's own lock; any tag
 * has the source's lock for itself, any source the communicator's. Unlike those of locks.c they may block, so
 * the wait of one pair may hold another's up; nobody waits for a message while he holds one. Who wants a lock
 * for himself goes first: those who look again and again would keep him out. */
#include "probe.h"

#include <sched.h>
#include <string.h>

struct place {
    int key;
    pthread_rwlock_t lock; /* a tag's is only taken for writing */
    struct place *_Atomic next,
        *_Atomic below; /* of the same parent; the first below: who adds one has `grow` */
};

static pthread_mutex_t grow = PTHREAD_MUTEX_INITIALIZER;
static struct place world = {.lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};

static void nothing_before(long messages)
{
    (void)messages;
}

static void nothing_after(void)
{
}

static struct place *find(struct place *from, int key)
{
    while (from != NULL && from->key != key) {
        from = from->next;
    }
    return from;
}

static struct place *place_of(struct place *parent, int key)
{
    struct place *p = find(parent->below, key);
    if (p != NULL) {
        return p;
    }
    pthread_mutex_lock(&grow);
    p = find(parent->below, key);
    if (p == NULL) {
        p = need(sizeof *p);
        memset(p, 0, sizeof *p);
        p->key = key;
        p->lock = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
        p->next = parent->below;
        parent->below = p;
    }
    pthread_mutex_unlock(&grow);
    return p;
}

/* The locks of a pair from the top: `n` of them, the last for itself and the others shared. */
static int lock(int src, int tag, struct place *held[3], struct counts *c)
{
    int n = 0;
    held[n++] = &world;
    if (src != MPI_ANY_SOURCE) {
        held[n++] = place_of(&world, src);
        if (tag != MPI_ANY_TAG) {
            held[n] = place_of(held[n - 1], tag);
            n++;
        }
    }
    for (int i = 0; i < n; i++) {
        i == n - 1 ? pthread_rwlock_wrlock(&held[i]->lock) : pthread_rwlock_rdlock(&held[i]->lock);
    }
    c->locks += n;
    return n;
}

static void unlock(struct place *held[3], int n)
{
    while (n > 0) {
        pthread_rwlock_unlock(&held[--n]->lock);
    }
}

static void receive(int src, int tag, struct message *m, struct counts *c)
{
    for (;;) {
        struct place *held[3];
        int there = 0, n = lock(src, tag, held, c);
        MPI_Status s;
        c->probes++;
        MPI_Iprobe(src, tag, MPI_COMM_WORLD, &there, &s);
        if (there) {
            MPI_Request request;
            message_of(&s, m);
            MPI_Irecv(m->data, m->bytes, MPI_BYTE, m->src, m->tag, MPI_COMM_WORLD, &request);
            unlock(held, n);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            return;
        }
        unlock(held, n);
        sched_yield();
    }
}

const struct way way_map = {"map", nothing_before, nothing_after, receive};
