/* Windows of each kind over memory of one size on all ranks. Needs rma.h. */
#ifndef WINDOW_KINDS_H
#define WINDOW_KINDS_H

enum window_kind { ALLOCATED, CREATED, DYNAMIC, WINDOW_KINDS };
static const char *const window_kinds[WINDOW_KINDS] = {"allocated", "created", "dynamic"};

/* Returns this rank's memory; *first: the displacement of the next rank's. */
static inline void *open_kind(enum window_kind kind, MPI_Aint bytes, MPI_Win *win, MPI_Aint *first)
{
    MPI_Aint mine = 0;
    void *memory = NULL;
    if (kind == ALLOCATED) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
    } else if ((memory = malloc((size_t)bytes)) == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else if (kind == CREATED) {
        MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
        MPI_Win_attach(*win, memory, bytes);
        MPI_Get_address(memory, &mine);
    }
    MPI_Sendrecv(&mine, 1, MPI_AINT, (me + ranks - 1) % ranks, 0, first, 1, MPI_AINT, (me + 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return memory;
}

/* The epochs are over on all ranks. */
static inline void close_kind(enum window_kind kind, void *memory, MPI_Win *win)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind == DYNAMIC) {
        MPI_Win_detach(*win, memory);
    }
    MPI_Win_free(win);
    if (kind != ALLOCATED) {
        free(memory);
    }
}

#endif
