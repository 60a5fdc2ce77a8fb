/* Puts, gets and accumulates of array sections (hotlane.h): each side is described in the caller's frame,
 * then the operation is that of a layout. */
#include "mode.h"

#include "api.h"
#include "section.h"

/* One side of a call. */
struct side {
    const MPIX_Section *section;
    int64_t count;
    MPI_Datatype type;
};

static int finish(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
}

/* Both sides of a move, whose counts and types are not set yet. Where operations are queued, they last. */
static int describe(struct hl_move *m, const struct side sides[2], struct hl_section rooms[2])
{
    bool lasts = m->win != NULL && hl_mode_defers(m->win);
    int rc = hl_section_begin(&rooms[0], sides[0].section, hl_win_type(HL_ARG_ORIGIN, sides[0].type),
                              sides[0].count, lasts, &m->origin_type, &m->origin_count);
    rooms[1].made = NULL;
    if (rc == 0) {
        rc = hl_section_begin(&rooms[1], sides[1].section, hl_win_type(HL_ARG_TARGET, sides[1].type),
                              sides[1].count, lasts, &m->target_type, &m->target_count);
    }
    return rc;
}

static int move(struct hl_move *m, const struct side sides[2])
{
    struct hl_section rooms[2];
    int rc = describe(m, sides, rooms);
    rc = rc == 0 ? hl_win_xfer(m) : rc;
    hl_section_end(&rooms[0]);
    hl_section_end(&rooms[1]);
    return rc;
}

static int accumulate(struct hl_acc *a, const struct side sides[2])
{
    struct hl_section rooms[2];
    int rc = describe(&a->m, sides, rooms);
    rc = rc == 0 ? hl_win_acc(a) : rc;
    hl_section_end(&rooms[0]);
    hl_section_end(&rooms[1]);
    return rc;
}

HL_API(MPIX_Put_section)
int PMPIX_Put_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win)
{
    struct hl_move m = {.win = hl_win_of(win),
                        .origin = (char *)(uintptr_t)origin_addr,
                        .target = target_rank,
                        .disp = target_disp,
                        .dir = HL_PUT};
    const struct side sides[2] = {{origin, origin_count, origin_datatype},
                                  {target, target_count, target_datatype}};
    return finish(win, "MPIX_Put_section", move(&m, sides));
}

HL_API(MPIX_Get_section)
int PMPIX_Get_section(void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win)
{
    struct hl_move m = {.win = hl_win_of(win),
                        .origin = origin_addr,
                        .target = target_rank,
                        .disp = target_disp,
                        .dir = HL_GET};
    const struct side sides[2] = {{origin, origin_count, origin_datatype},
                                  {target, target_count, target_datatype}};
    return finish(win, "MPIX_Get_section", move(&m, sides));
}

HL_API(MPIX_Accumulate_section)
int PMPIX_Accumulate_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                             MPI_Op op, MPI_Win win)
{
    struct hl_acc a = {.m = {.win = hl_win_of(win),
                             .origin = (char *)(uintptr_t)origin_addr,
                             .target = target_rank,
                             .disp = target_disp,
                             .dir = HL_PUT},
                       .op = hl_win_op(op)};
    const struct side sides[2] = {{origin, origin_count, origin_datatype},
                                  {target, target_count, target_datatype}};
    return finish(win, "MPIX_Accumulate_section", accumulate(&a, sides));
}
