/* Puts, gets and accumulates of array sections (hotlane.h). A contiguous section goes to the plain call. A
 * section with gaps is copied directly to or from a block of mapped memory; otherwise each side is described
 * in the caller's frame as a layout. */
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

/* Sets counts and types of both sides of a move. rooms[] holds the descriptions; the caller ends both by
 * hl_section_end, after errors as well. Where operations are queued the descriptions outlive the call. */
static int describe_move(struct hl_move *m, const struct section_side sides[2], struct hl_section rooms[2])
{
    bool lasts = m->win != NULL && hl_mode_defers(m->win);
    int rc = hl_section_begin(&rooms[0], sides[0].section, hl_win_type(HL_ARG_ORIGIN, sides[0].type),
                              sides[0].count, lasts, &m->origin_type, &m->origin_count);
    if (rc == 0 && rooms[0].made != NULL && m->origin == NULL) {
        rc = hl_err_say(HL_ERR_BUFFER, "the origin address is NULL for a section");
    }
    rooms[1].made = NULL;
    if (rc == 0) {
        rc = hl_section_begin(&rooms[1], sides[1].section, hl_win_type(HL_ARG_TARGET, sides[1].type),
                              sides[1].count, lasts, &m->target_type, &m->target_count);
    }
    return rc;
}

static HL_NOINLINE int move_section(const char *func, void *origin, int target, int64_t disp,
                                    const struct section_side sides[2], enum hl_dir dir, MPI_Win win)
{
    struct hl_move m = {.win = hl_win_of(win), .origin = origin, .target = target, .disp = disp, .dir = dir};
    struct hl_section rooms[2];
    int rc = describe_move(&m, sides, rooms);
    rc = rc == 0 ? hl_win_move(&m) : rc;
    hl_section_end(&rooms[0]);
    hl_section_end(&rooms[1]);
    return hl_win_end(win, func, rc);
}

/* Is the section plainly a contiguous buffer? (False may be wrong.) */
HL_INLINE bool is_simple(const MPIX_Section *s)
{
    return HL_LIKELY(s != NULL && s->rank == 1)
               ? s->dims != NULL && s->dims->stride == s->elem_len && s->dims->extent > 0
               : s == NULL || s->rank == 0;
}

/* One dimension with gaps, the usual case. */
HL_INLINE bool is_line(const MPIX_Section *s, int64_t *total)
{
    const MPIX_Section_dim *d = s->dims;
    int64_t reach;
    return HL_LIKELY(s->rank == 1 && d != NULL && d->extent > 1 && d->stride != s->elem_len &&
                     s->elem_len > 0 && !__builtin_mul_overflow(s->elem_len, d->extent, total) &&
                     !__builtin_mul_overflow(d->stride, d->extent, &reach));
}

/* How a move of a section to or from a plain target was taken: PLAIN goes to the plain call, LAYOUTS to
 * layouts. */
enum way { PLAIN, DONE, LAYOUTS };

/* One side as the call gives it, and the place of the plain target. */
struct section_move {
    void *origin;
    const MPIX_Section *section;
    int64_t origin_count;
    MPI_Datatype origin_type;
    int target;
    int64_t disp;
    int64_t target_count;
    MPI_Datatype target_type;
    MPI_Win win;
};

/* The target's memory, when it is mapped and elements of one predefined type fill the `total` bytes of the
 * section; else NULL. */
HL_INLINE char *find_mapped(const struct section_move *m, int64_t total)
{
    const struct hl_win *w = hl_win_of(m->win);
    uintptr_t type = (uintptr_t)m->target_type;
    struct hl_target_addr target_addr;
    if (HL_UNLIKELY(w == NULL || (uint32_t)m->target >= (uint32_t)w->size || m->origin == NULL ||
                    m->origin_type != m->target_type || m->origin_count != m->target_count ||
                    type >= HL_TYPE_PREDEFINED_END)) {
        return NULL;
    }
    bool open =
        HL_LIKELY(hl_is_open(w, m->target, m->disp, m->target_count, &hl_type_dense[type], &target_addr)) ||
        hl_is_open_apart(w, m->target, m->disp, m->target_count, &hl_type_dense[type], &target_addr);
    bool simple =
        open && target_addr.len == total && target_addr.len != 0 && hl_target_addr_is_mapped(&target_addr);
    return simple ? (char *)(uintptr_t)target_addr.where : NULL;
}

/* Moves any section. Wrong ones are LAYOUTS, where the error is found and described. */
HL_INLINE enum way move_shape(const struct section_move *m, enum hl_dir dir)
{
    struct hl_section_shape shape;
    if (HL_UNLIKELY(hl_section_read(m->section, &shape) != 0)) {
        return LAYOUTS;
    }
    if (hl_section_is_plain(&shape)) {
        return PLAIN;
    }
    char *there = find_mapped(m, shape.total);
    if (HL_UNLIKELY(there == NULL)) {
        return LAYOUTS;
    }
    hl_section_pack(&shape, m->origin, there, dir == HL_PUT);
    return DONE;
}

/* Moves a section of one dimension in the shortest way, others by move_shape. */
HL_INLINE enum way move_simply(const struct section_move *m, enum hl_dir dir)
{
    int64_t total;
    if (!is_line(m->section, &total)) {
        return move_shape(m, dir);
    }
    char *there = find_mapped(m, total);
    if (HL_UNLIKELY(there == NULL)) {
        return LAYOUTS;
    }
    hl_section_pack_line(m->section, m->origin, there, dir == HL_PUT);
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

/* Sections with gaps take functions of their own, entered by a jump: a plain one pays for no frame, and one
 * that is copied at once for no description. (put_apart, get_apart) */
#define MOVE(name, func, constant, DIR, plain)                                                               \
    static HL_NOINLINE int name##_apart(constant void *origin_addr, const MPIX_Section *origin,              \
                                        MPI_Count origin_count, MPI_Datatype origin_datatype,                \
                                        int target_rank, MPI_Aint target_disp, const MPIX_Section *target,   \
                                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)   \
    {                                                                                                        \
        void *at = (void *)(uintptr_t)origin_addr;                                                           \
        const struct section_move m = {at,          origin,      origin_count, origin_datatype,              \
                                       target_rank, target_disp, target_count, target_datatype,              \
                                       win};                                                                 \
        enum way way = target == NULL && origin != NULL ? move_simply(&m, DIR) : LAYOUTS;                    \
        if (HL_UNLIKELY(way == LAYOUTS)) {                                                                   \
            const struct section_side sides[2] = {{origin, origin_count, origin_datatype},                   \
                                                  {target, target_count, target_datatype}};                  \
            return move_section(#func, at, target_rank, target_disp, sides, DIR, win);                       \
        }                                                                                                    \
        return way == DONE ? MPI_SUCCESS                                                                     \
                           : plain(origin_addr, origin_count, origin_datatype, target_rank, target_disp,     \
                                   target_count, target_datatype, win);                                      \
    }
MOVE(put, MPIX_Put_section, const, HL_PUT, PMPI_Put_c)
MOVE(get, MPIX_Get_section, , HL_GET, PMPI_Get_c)
#undef MOVE

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
    return put_apart(origin_addr, origin, origin_count, origin_datatype, target_rank, target_disp, target,
                     target_count, target_datatype, win);
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
    return get_apart(origin_addr, origin, origin_count, origin_datatype, target_rank, target_disp, target,
                     target_count, target_datatype, win);
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
