/* Inside the module: the lock of rows, and what tests replace. */
#ifndef HL_NEAR_LOCK_H
#define HL_NEAR_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct hl_near_lock;

/* Takes the lock and returns it if rows are updated under it; else returns NULL without it. `l` may be
 * NULL: memory without rows. Any thread; may wait as hl_near_lock_take does. */
struct hl_near_lock *hl_near_rows_take(struct hl_near_lock *l);

/* Nanoseconds after which a rank that waits for a lock asks whether the holder lives; tests shorten it. */
extern uint64_t hl_near_holder_timeout_ns;

#endif
