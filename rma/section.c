/* Puts, gets and accumulates of array sections (hotlane.h). What is contiguous is the plain call's; a section
 * with gaps is copied right to or from a block of mapped memory; else each side is described in the caller's
 * frame, and the operation is that of a layout. */
#include "fast.h"

#include "api.h"
#include "err.h"
#include "mode.h"
#include "section.h"

/* One side of a call. */
struct section_side {
    const MPIX_Section *section;
    int64_t count;
    MPI_Datatype type;
};

/* Both sides of a move, whose counts and types are not set yet. Where operations are queued, they last. */
static int describe_move(struct hl_move *m, const struct section_side sides[2], struct hl_section rooms[2])
{
    bool lasts = m->win != NULL && hl_mode_defers(m->win);
    int rc = hl_section_begin(&rooms[0], sides[0].section, hl_win_type(HL_ARG_ORIGIN, sides[0].type),
                              sides[0].count, lasts, &m->origin_type, &m->origin_count);
    if (rc == 0 && rooms[0].made != NULL && m->origin == NULL) {
        rc = hl_err_say(HL_ERR_BUFFER, "origin address is NULL for a section");
    }
    rooms[1].made = NULL;
    if (rc == 0) {
        rc = hl_section_begin(&rooms[1], sides[1].section, hl_win_type(HL_ARG_TARGET, sides[1].type),
                              sides[1].count, lasts, &m->target_type, &m->target_count);
    }
    return rc;
}

static HL_NOINLINE int move(const char *func, void *origin, int target, int64_t disp,
                            const struct section_side sides[2], enum hl_dir dir, MPI_Win win)
{
    struct hl_move m = {.win = hl_win_of(win), .origin = origin, .target = target, .disp = disp, .dir = dir};
    struct hl_section rooms[2];
    int rc = describe_move(&m, sides, rooms);
    rc = rc == 0 ? hl_win_xfer(&m) : rc;
    hl_section_end(&rooms[0]);
    hl_section_end(&rooms[1]);
    return hl_win_end(win, func, rc);
}

/* Is it a plain buffer at first sight? */
HL_INLINE bool is_simple(const MPIX_Section *s)
{
    return s == NULL || s->rank == 0 ||
           (s->rank == 1 && s->dims != NULL && s->dims->stride == s->elem_len && s->dims->extent > 0);
}

/* hl_section_read, with the usual case first: one dimension with gaps. */
HL_INLINE int read_section(const MPIX_Section *s, struct hl_section_shape *shape)
{
    const MPIX_Section_dim *d = s->dims;
    int64_t reach;
    if (HL_LIKELY(s->rank == 1 && d != NULL && d->extent > 1 && d->stride != s->elem_len && s->elem_len > 0 &&
                  !__builtin_mul_overflow(s->elem_len, d->extent, &shape->total) &&
                  !__builtin_mul_overflow(d->stride, d->extent, &reach))) {
        shape->block = s->elem_len;
        shape->n = 1;
        shape->unbounded = false;
        shape->dims[0].times = d->extent;
        shape->dims[0].stride = d->stride;
        return 0;
    }
    return hl_section_read(s, shape);
}

/* What a move of a section to or from a plain target turned out to be. */
enum way { PLAIN, DONE, LAYOUTS };

/* DONE: elements of one predefined type fill the section, and the target is mapped. Wrong sections are
 * LAYOUTS, which find the words. */
HL_INLINE enum way find_section_way(void *origin, int target, int64_t disp,
                                    const struct section_side sides[2], enum hl_dir dir, MPI_Win win)
{
    const struct hl_win *w = hl_win_of(win);
    const MPIX_Section *s = sides[0].section;
    uintptr_t type = (uintptr_t)sides[1].type;
    struct hl_section_shape shape;
    struct hl_spot spot;
    if (HL_UNLIKELY(read_section(s, &shape) != 0)) {
        return LAYOUTS;
    }
    if (hl_section_is_plain(&shape)) {
        return PLAIN;
    }
    if (HL_UNLIKELY(w == NULL || (uint32_t)target >= (uint32_t)w->size || origin == NULL ||
                    sides[0].type != sides[1].type || sides[0].count != sides[1].count ||
                    type >= HL_TYPE_PREDEFINED_END ||
                    !hl_is_open_apart(w, target, disp, sides[1].count, &hl_type_dense[type], &spot) ||
                    spot.len != shape.total || spot.len == 0 || !hl_spot_is_mapped(&spot))) {
        return LAYOUTS;
    }
    hl_section_pack(&shape, origin, (char *)(uintptr_t)spot.where, dir == HL_PUT);
    return DONE;
}

static int accumulate_section(struct hl_acc *a, const struct section_side sides[2])
{
    struct hl_section rooms[2];
    int rc = describe_move(&a->m, sides, rooms);
    rc = rc == 0 ? hl_win_acc(a) : rc;
    hl_section_end(&rooms[0]);
    hl_section_end(&rooms[1]);
    return rc;
}

HL_INLINE int move_section(const char *func, void *at, int target, int64_t disp,
                           const struct section_side sides[2], enum hl_dir dir, MPI_Win win)
{
    const struct section_side *f = &sides[0], *t = &sides[1];
    enum way way = t->section == NULL ? find_section_way(at, target, disp, sides, dir, win) : LAYOUTS;
    if (HL_LIKELY(way == DONE)) {
        return MPI_SUCCESS;
    }
    if (way == LAYOUTS) {
        return move(func, at, target, disp, sides, dir, win);
    }
    return dir == HL_PUT ? PMPI_Put_c(at, f->count, f->type, target, disp, t->count, t->type, win)
                         : PMPI_Get_c(at, f->count, f->type, target, disp, t->count, t->type, win);
}

HL_API(MPIX_Put_section);
int PMPIX_Put_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win)
{
    if (HL_LIKELY(target == NULL && is_simple(origin))) {
        return PMPI_Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                          target_datatype, win);
    }
    const struct section_side sides[2] = {{origin, origin_count, origin_datatype},
                                          {target, target_count, target_datatype}};
    return move_section("MPIX_Put_section", (void *)(uintptr_t)origin_addr, target_rank, target_disp, sides,
                        HL_PUT, win);
}

HL_API(MPIX_Get_section);
int PMPIX_Get_section(void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win)
{
    if (HL_LIKELY(target == NULL && is_simple(origin))) {
        return PMPI_Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                          target_datatype, win);
    }
    const struct section_side sides[2] = {{origin, origin_count, origin_datatype},
                                          {target, target_count, target_datatype}};
    return move_section("MPIX_Get_section", origin_addr, target_rank, target_disp, sides, HL_GET, win);
}

HL_API(MPIX_Accumulate_section);
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
    const struct section_side sides[2] = {{origin, origin_count, origin_datatype},
                                          {target, target_count, target_datatype}};
    return hl_win_end(win, "MPIX_Accumulate_section", accumulate_section(&a, sides));
}
