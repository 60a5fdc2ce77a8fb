/* Copies of sections that a nonblocking or persistent operation keeps until its request is complete.
 *
 * A table of chains, by request. Whoever completes a request takes its entries out first, since another
 * thread may get a new request with the same handle as soon as the old one is complete; it puts back what is
 * not complete. */
#include <pthread.h>
#include <stdlib.h>

#include "fail.h"
#include "section.h"

enum { CHAINS = 64 };

struct hl_fort_taken {
    struct hl_fort_taken *next;
    struct hl_fort_kept kept;
    MPI_Request request;
    MPI_Count place; /* in the caller's list of requests, while taken */
    bool persistent;
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
    entry->next = *chain;
    *chain = entry;
    pthread_mutex_unlock(&lock);
}

static struct hl_fort_taken *take_entry(MPI_Request request)
{
    struct hl_fort_taken *entry, **at = chain_of(request);

    pthread_mutex_lock(&lock);
    while (*at != NULL && (*at)->request != request) {
        at = &(*at)->next;
    }
    entry = *at;
    if (entry != NULL) {
        *at = entry->next;
    }
    pthread_mutex_unlock(&lock);
    return entry;
}

static void end_kept(struct hl_fort_kept *kept)
{
    for (int i = 0; i < 2; i++) {
        hl_fort_copy_end(&kept->copy[i]);
        free(kept->list[i]);
    }
}

/* An entry that is no longer in the table. */
static void end_entry(struct hl_fort_taken *entry)
{
    end_kept(&entry->kept);
    free(entry);
    __atomic_fetch_sub(&hl_fort_keeps, 1, __ATOMIC_RELAXED); /* relaxed: see hl_fort_keeps_any */
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
    *entry = (struct hl_fort_taken){.kept = *kept, .request = *request, .persistent = persistent};
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
        for (int i = 0; i < 2 && complete && entry->started; i++) {
            hl_fort_copy_back(&entry->kept.copy[i]);
        }
        entry->started = entry->started && !complete;
        put_entry(entry);
    }
}

void hl_fort_start_slow(const MPI_Request *requests, MPI_Count n)
{
    struct hl_fort_taken *next;

    for (struct hl_fort_taken *entry = hl_fort_take_slow(requests, n); entry != NULL; entry = next) {
        next = entry->next;
        for (int i = 0; i < 2; i++) {
            hl_fort_copy_again(&entry->kept.copy[i]);
        }
        entry->started = true;
        put_entry(entry);
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
        put_entry(entry); /* refused: the operation is still to be waited for */
    } else if (complete) {
        end_entry(entry);
    } else {
        /* A library that does not look let a collective operation under way be freed, which MPI forbids:
         * nothing will tell its end, and the copy stays for good. */
        __atomic_fetch_sub(&hl_fort_keeps, 1, __ATOMIC_RELAXED); /* relaxed: see hl_fort_keeps_any */
    }
    return rc;
}
