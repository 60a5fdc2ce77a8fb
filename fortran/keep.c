/* Copies of sections that a nonblocking or persistent operation keeps until its request is complete.
 *
 * A table of chains, by request. Whoever completes a request takes its entry first, since another thread may
 * get a new request with the same handle as soon as the old one is complete; what is not complete then is
 * given back. Partitions are copied whether the entry is taken or not: threads tell of them while another one
 * waits for the request. */
#include <pthread.h>
#include <stdlib.h>

#include "fail.h"
#include "section.h"

enum { CHAINS = 64 };

struct hl_fort_taken {
    struct hl_fort_taken *chained; /* in the table */
    struct hl_fort_taken *next;    /* in the list of what was taken */
    struct hl_fort_kept kept;
    pthread_mutex_t lock; /* of what comes back: partitions, one at a time */
    MPI_Request request;
    MPI_Count place; /* in the caller's list of requests, while taken */
    bool persistent;
    bool taken;   /* guarded by the table's lock */
    bool started; /* persistent: what comes back is not yet in the section */
};

int hl_fort_keeps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hl_fort_taken *chains[CHAINS]; /* guarded by lock */

static struct hl_fort_taken **chain_of(MPI_Request request)
{
    return &chains[((uintptr_t)request >> 6) % CHAINS];
}

static void put_entry(struct hl_fort_taken *entry)
{
    struct hl_fort_taken **chain = chain_of(entry->request);

    pthread_mutex_lock(&lock);
    entry->chained = *chain;
    *chain = entry;
    pthread_mutex_unlock(&lock);
}

/* The request's entry that nobody has taken, which is the caller's now; or NULL. */
static struct hl_fort_taken *take_entry(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct hl_fort_taken *entry = *chain_of(request);
    while (entry != NULL && (entry->request != request || entry->taken)) {
        entry = entry->chained;
    }
    if (entry != NULL) {
        entry->taken = true;
    }
    pthread_mutex_unlock(&lock);
    return entry;
}

static void give_back(struct hl_fort_taken *entry)
{
    pthread_mutex_lock(&lock);
    entry->taken = false;
    pthread_mutex_unlock(&lock);
}

/* The entry of a request of partitions, or NULL: it stays until the request is freed. */
static struct hl_fort_taken *find_divided(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct hl_fort_taken *entry = *chain_of(request);
    while (entry != NULL && (entry->request != request || entry->kept.copy[0].parts == 0)) {
        entry = entry->chained;
    }
    pthread_mutex_unlock(&lock);
    return entry;
}

static void drop_entry(struct hl_fort_taken *entry)
{
    struct hl_fort_taken **at = chain_of(entry->request);

    pthread_mutex_lock(&lock);
    while (*at != entry) {
        at = &(*at)->chained;
    }
    *at = entry->chained;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_sub(&hl_fort_keeps, 1, __ATOMIC_RELAXED); /* relaxed: see hl_fort_keeps_any */
}

static void end_kept(struct hl_fort_kept *kept)
{
    for (int i = 0; i < 2; i++) {
        hl_fort_copy_end(&kept->copy[i]);
        free(kept->list[i]);
    }
}

/* An entry that is the caller's. */
static void end_entry(struct hl_fort_taken *entry)
{
    drop_entry(entry);
    end_kept(&entry->kept);
    pthread_mutex_destroy(&entry->lock);
    free(entry);
}

static bool is_complete(MPI_Request request)
{
    int flag = 1;

    return request == MPI_REQUEST_NULL ||
           (PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag);
}

int hl_fort_keep(int rc, struct hl_fort_kept *kept, MPI_Request *request, bool persistent, const char *func)
{
    bool any = kept->copy[0].memory != NULL || kept->copy[1].memory != NULL || kept->list[0] != NULL ||
               kept->list[1] != NULL;

    /* Complete requests of a library may be one and the same. */
    if (rc != MPI_SUCCESS || !any || (!persistent && is_complete(*request))) {
        end_kept(kept);
        return rc;
    }
    struct hl_fort_taken *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        if (!persistent) {
            PMPI_Wait(request, MPI_STATUS_IGNORE);
        } else {
            PMPI_Request_free(request);
        }
        end_kept(kept);
        return hl_fort_fail(func, MPI_ERR_NO_MEM,
                            "there is no memory to keep the copy of the section of an array");
    }
    *entry = (struct hl_fort_taken){
        .kept = *kept, .lock = PTHREAD_MUTEX_INITIALIZER, .request = *request, .persistent = persistent};
    __atomic_fetch_add(&hl_fort_keeps, 1, __ATOMIC_RELAXED); /* relaxed: see hl_fort_keeps_any */
    put_entry(entry);
    return MPI_SUCCESS;
}

struct hl_fort_taken *hl_fort_take_slow(const MPI_Request *requests, MPI_Count n)
{
    struct hl_fort_taken *all = NULL;

    for (MPI_Count i = 0; requests != NULL && i < n; i++) {
        struct hl_fort_taken *entry = requests[i] == MPI_REQUEST_NULL ? NULL : take_entry(requests[i]);
        if (entry != NULL) {
            entry->place = i;
            entry->next = all;
            all = entry;
        }
    }
    return all;
}

void hl_fort_settle_slow(struct hl_fort_taken *taken, const MPI_Request *requests)
{
    struct hl_fort_taken *next;

    for (struct hl_fort_taken *entry = taken; entry != NULL; entry = next) {
        next = entry->next;
        bool complete = is_complete(requests[entry->place]);
        if (complete && !entry->persistent) {
            end_entry(entry);
            continue;
        }
        pthread_mutex_lock(&entry->lock);
        for (int i = 0; i < 2 && complete && entry->started; i++) {
            hl_fort_copy_back(&entry->kept.copy[i]);
        }
        pthread_mutex_unlock(&entry->lock);
        entry->started = entry->started && !complete;
        give_back(entry);
    }
}

void hl_fort_start_slow(const MPI_Request *requests, MPI_Count n)
{
    struct hl_fort_taken *next;

    for (struct hl_fort_taken *entry = hl_fort_take_slow(requests, n); entry != NULL; entry = next) {
        next = entry->next;
        for (int i = 0; i < 2; i++) {
            struct hl_fort_copy *copy = &entry->kept.copy[i];
            if (copy->parts == 0 ||
                copy->before != NULL) { /* partitions to send are the program's until they are ready */
                hl_fort_copy_again(copy);
            }
        }
        entry->started = true;
        give_back(entry);
    }
}

void hl_fort_ready_slow(MPI_Request request, int first, int last)
{
    struct hl_fort_taken *entry = find_divided(request);

    if (entry != NULL) {
        hl_fort_copy_parts(&entry->kept.copy[0], first, last);
    }
}

void hl_fort_arrived_slow(MPI_Request request, int partition)
{
    struct hl_fort_taken *entry = find_divided(request);

    if (entry != NULL) {
        pthread_mutex_lock(&entry->lock);
        hl_fort_copy_part_back(&entry->kept.copy[0], partition);
        pthread_mutex_unlock(&entry->lock);
    }
}

int hl_fort_request_free_slow(MPI_Request *request)
{
    struct hl_fort_taken *entry = take_entry(*request);
    bool complete = entry != NULL && is_complete(*request);
    int rc = PMPI_Request_free(request);

    if (entry == NULL) {
        return rc;
    }
    if (rc != MPI_SUCCESS) {
        give_back(entry); /* refused: the operation is still to be waited for */
    } else if (complete) {
        end_entry(entry);
    } else {
        /* A library that does not look let a collective operation under way be freed, which MPI forbids:
         * nothing will tell its end, and the copy stays for good. */
        drop_entry(entry);
    }
    return rc;
}
