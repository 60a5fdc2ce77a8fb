/* One lock for a whole process, as libraries have it whose threads take turns: for comparison with ours. */
#include "inner.h"

#include "lock.h"

static struct hl_mutex section = HL_MUTEX_INIT;
static HL_THREAD_LOCAL unsigned depth; /* enters without a leave of the calling thread */

void hl_prog_enter(void) HL_NO_TSA
{
    if (depth++ == 0) {
        hl_mutex_lock(&section);
    }
}

void hl_prog_leave(void) HL_NO_TSA
{
    if (--depth == 0) {
        hl_mutex_unlock(&section);
    }
}

void hl_prog_give_way(void) HL_NO_TSA
{
    if (HL_UNLIKELY(depth != 0)) {
        hl_mutex_unlock(&section);
    }
}

void hl_prog_come_back(void) HL_NO_TSA
{
    if (HL_UNLIKELY(depth != 0)) {
        hl_mutex_lock(&section);
    }
}
