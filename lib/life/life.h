/* Opens and closes the library's modules, counted over its users: MPI, sessions, SHMEM.
 *
 * Start-up happens with the first user, the end with the last one if MPI or SHMEM was among them; init,
 * finalize, init again is legal. Sessions alone come and go locally: after the last one the modules stay open
 * for the next user, and close when MPI ends or the process exits. hl_life_open and hl_life_close are
 * collective over the job when modules open or close. */
#ifndef HL_LIFE_H
#define HL_LIFE_H

#include <mpi.h>
#include <stdbool.h>

#include "attr.h"

enum hl_life_who { HL_LIFE_MPI, HL_LIFE_SESSION, HL_LIFE_SHMEM, HL_LIFE_USERS };

/* What modules above have called. Rows are enrolled by constructor functions, in any order, and stay for the
 * process's life. Either member may be NULL. */
struct hl_life_row {
    void (*early)(enum hl_life_who who); /* first step of a start, for this user: the library has no thread
                                          * yet; configuration, log and boot are open */
    void (*child)(void); /* in a forked child: forgets lanes and windows; must be async-signal-safe */
    struct hl_life_row *next;
};
void hl_life_enrol(struct hl_life_row *row);

/* Opens for one user. `required` is an MPI_THREAD_* level, *provided the one in force (MPI_THREAD_MULTIPLE is
 * granted when asked for; the first user decides). Errors: those of start-up (hl_err_say); HL_ERR_OTHER when
 * MPI or SHMEM is opened twice, or in a forked child. */
int hl_life_open(enum hl_life_who who, int required, int *provided);

/* HL_ERR_OTHER when other threads wait in calls that nothing would end once this user is gone. */
int hl_life_may_close(enum hl_life_who who);

/* Ends one user, if hl_life_may_close. The last one ends all by quiet, fence and close; if only sessions were
 * open since the start, by quiet only. HL_ERR_OTHER when it was not open; errors of the fence. */
int hl_life_close(enum hl_life_who who);

/* Has this user ever opened? Has it closed for the last time? Legal at any time, any thread. */
bool hl_life_opened(enum hl_life_who who);
bool hl_life_closed(enum hl_life_who who);

/* Is this a forked child of a process that had the library open? Then no call will ever work here. */
bool hl_life_is_forked(void);

/* Returns HL_ERR_OTHER with the reason why no call of MPI can be made: before MPI_Init, after MPI_Finalize,
 * between sessions, or in a forked child; also while the library is open for others. */
int hl_life_refuse(void) HL_COLD;

int hl_life_level(void);           /* MPI_THREAD_* in force */
bool hl_life_is_main_thread(void); /* is it the thread that opened first, or that opened MPI? */

#endif
