/* What goes around calls on a window that order accesses: of epochs, flushes and notifications. */
#ifndef HL_WIN_CALL_H
#define HL_WIN_CALL_H

#include "mode.h"
#include "rx.h"
#include "win.h"

/* Called around what such a call does (see hl_rx_order); `w` may be NULL. */
HL_INLINE void hl_win_enter(const struct hl_win *w)
{
    hl_handover_give(&hl_rx_order);
    if (HL_UNLIKELY(hl_mode_is_global(w))) {
        hl_cs_enter_process(HL_CS_window);
    }
}

HL_INLINE void hl_win_leave(const struct hl_win *w)
{
    if (HL_UNLIKELY(hl_mode_is_global(w))) {
        hl_cs_leave_process();
    }
    hl_handover_take(&hl_rx_order);
}

/* hl_win_call_begin returns the window of a user's call (NULL for a bad handle) and enters; hl_win_call_end
 * leaves and returns MPI's code for rc. */
HL_INLINE struct hl_win *hl_win_call_begin(MPI_Win win)
{
    struct hl_win *w = hl_win_of(win);
    hl_win_enter(w);
    return w;
}

HL_INLINE int hl_win_call_end(const struct hl_win *w, MPI_Win win, const char *func, int rc)
{
    hl_win_leave(w);
    return hl_win_end(win, func, rc);
}

/* A row that makes a call on epochs: `what`, 0 or HL_ERR_*, sees the window as `w`. */
#define HL_CALL_EPOCH(name, params, what)                                                                    \
    HL_API(name);                                                                                            \
    int P##name params                                                                                       \
    {                                                                                                        \
        struct hl_win *w = hl_win_call_begin(win);                                                           \
        int rc = w == NULL ? hl_win_bad() : (what);                                                          \
        return hl_win_call_end(w, win, #name, rc);                                                           \
    }

#endif
