/* Array sections of mpi_f08 whose elements are apart, for C functions that know nothing of them. */
#ifndef HL_FORT_SECTION_H
#define HL_FORT_SECTION_H

#include <mpi.h>
#include <stdbool.h>

#include "descriptor.h"

/* ---- A section as a datatype (choice:type) ----
 * `count` items of `type`, taken from the elements in their order, become `count` of `type` at `addr`. */
struct hl_fort_part {
    void *addr;
    MPI_Count count;
    MPI_Datatype type;
    struct hl_fort_shape *shape; /* what it was made from, if it is kept for the next call */
    bool made;                   /* type is to be freed */
};

/* Finds the part. A dense array stays what it is. `func`: for messages. MPI_SUCCESS, or the code of the
 * error, whose handler has been called: MPI_ERR_COUNT (more data than the section has), MPI_ERR_NO_MEM, or
 * what MPI's functions say. Any thread. hl_fort_part_end follows in every case, if only the part was zero at
 * first. */
int hl_fort_part_begin(struct hl_fort_part *part, const struct hl_fort_array *a, MPI_Count count,
                       MPI_Datatype type, const char *func);
void hl_fort_part_end(struct hl_fort_part *part);

/* Frees the datatypes that are kept for the next call: before MPI_Finalize. */
void hl_fort_parts_free(void);

/* ---- A copy that stands in for a section (choice:pack) ---- */
struct hl_fort_copy {
    void *addr;   /* what C gets */
    char *memory; /* the copy, in one piece; NULL: the array is dense */
    char *before; /* what was in it at first, if the section is written */
    size_t len;   /* bytes of each */
    void *first;  /* the section's first element, its size, and its dimensions */
    size_t elem_len;
    int rank;
    struct hl_fort_dim dim[HL_FORT_RANKS];
    size_t part_len; /* bytes of the copy that are a partition's; 0: it is not of partitioned communication */
    size_t parts;
};

/* What may become of a buffer. */
enum hl_fort_use { HL_FORT_READ, HL_FORT_WRITTEN };

/* Finds what C gets: the array itself if it is dense, else a copy. MPI_SUCCESS or the code of MPI_ERR_NO_MEM,
 * whose handler has been called; then addr is that of the array. hl_fort_copy_end follows in every case. */
int hl_fort_copy_begin(struct hl_fort_copy *copy, const struct hl_fort_array *a, enum hl_fort_use use,
                       const char *func);
/* Writes what has changed in the copy back into the section: nothing else of the section is touched. Frees
 * the copy. */
void hl_fort_copy_end(struct hl_fort_copy *copy);
/* The same without the end, and the way there again: for operations that are started more than once. */
void hl_fort_copy_back(struct hl_fort_copy *copy);
void hl_fort_copy_again(struct hl_fort_copy *copy);

/* Of partitioned communication: lays `partitions` of `count` items of `type` out in a copy. MPI_SUCCESS, or the
 * code of the error, whose handler has been called: MPI_ERR_COUNT (more data than the section has),
 * MPI_ERR_TYPE (items that reach into their neighbors), or what MPI's functions say. */
int hl_fort_copy_divide(struct hl_fort_copy *copy, int partitions, MPI_Count count, MPI_Datatype type,
                        const char *func);
/* Copies partitions first to last from the section; what has changed in one, back into the section. Those that
 * there are not: nothing. */
void hl_fort_copy_parts(struct hl_fort_copy *copy, int first, int last);
void hl_fort_copy_part_back(struct hl_fort_copy *copy, int partition);

/* ---- Copies that outlive a call ----
 * A nonblocking or persistent operation keeps them until its request is complete, which MPI_Wait and kin see.
 */
struct hl_fort_kept {
    struct hl_fort_copy copy[2];
    void *list[2]; /* handles that the operation may still read */
};

/* Ties what is in kept to the request if there is anything; else, and when rc is an error, ends it.
 * `persistent`: it is copied anew by each start. Returns rc, or the code of MPI_ERR_NO_MEM, having completed
 * the operation. */
int hl_fort_keep(int rc, struct hl_fort_kept *kept, MPI_Request *request, bool persistent, const char *func);

/* Around calls that complete requests: what is kept for any of n requests is found, and after the call left
 * or ended. Both do next to nothing while nothing is kept at all. */
struct hl_fort_taken;
extern int hl_fort_keeps; /* atomic: things in the table */
struct hl_fort_taken *hl_fort_take_slow(const MPI_Request *requests, MPI_Count n);
void hl_fort_settle_slow(struct hl_fort_taken *taken, const MPI_Request *requests);
/* Before MPI_Start and MPI_Startall: copies sections anew. */
void hl_fort_start_slow(const MPI_Request *requests, MPI_Count n);
/* Before MPI_Pready and kin: copies partitions from a section, if the request is one of its. After MPI_Parrived
 * has said yes: copies the partition to it. Any thread, also while another one waits for the request. */
void hl_fort_ready_slow(MPI_Request request, int first, int last);
void hl_fort_arrived_slow(MPI_Request request, int partition);
/* MPI_Request_free, which also ends what is kept for the request, if it is not refused. */
int hl_fort_request_free_slow(MPI_Request *request);

static inline bool hl_fort_keeps_any(void)
{
    /* relaxed: who has a request has got it from the thread that counted what is kept for it. */
    return __builtin_expect(__atomic_load_n(&hl_fort_keeps, __ATOMIC_RELAXED) != 0, 0);
}

static inline int hl_fort_request_free(MPI_Request *request)
{
    return hl_fort_keeps_any() ? hl_fort_request_free_slow(request) : PMPI_Request_free(request);
}

static inline struct hl_fort_taken *hl_fort_take(const MPI_Request *requests, MPI_Count n)
{
    return hl_fort_keeps_any() ? hl_fort_take_slow(requests, n) : NULL;
}

static inline void hl_fort_settle(struct hl_fort_taken *taken, const MPI_Request *requests)
{
    if (taken != NULL) {
        hl_fort_settle_slow(taken, requests);
    }
}

#endif
