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

/* What modules above (rma/, shmem/) want to be asked. Enrolled from a constructor function, in any order;
 * rows stay for the process's life. Any member may be NULL. */
struct hl_life_row {
    const char *name;
    void (*early)(enum hl_life_who who); /* first step of a start, for this user: no thread is running that
                                            the library made; configuration, log and boot are there */
    int (*open)(void);                   /* after all of lib/ is open; an error undoes the start */
    void (*quiet)(void); /* first step of the end: finish what peers wait for, while everything runs */
    void (*close)(void); /* after the last fence, before lib/ closes */
    void (*child)(void); /* in a forked child: forget lanes and windows; async-signal-safe */
    struct hl_life_row *next;
};
void hl_life_enrol(struct hl_life_row *row);

/* Opens for one user. `required` is an MPI_THREAD_* level; *provided what is in force (MULTIPLE is granted
 * when asked; the first opener decides). Errors: whatever start-up says (hl_err_say), HL_ERR_OTHER when MPI
 * or SHMEM is opened twice or again by a forked child. */
int hl_life_open(enum hl_life_who who, int required, int *provided);

/* Ends one user; the last one ends all: quiet, fence, close; of sessions alone only the first. */
int hl_life_close(enum hl_life_who who);

/* Has this user opened (and perhaps closed since), has it closed? Legal at any time, any thread. */
bool hl_life_opened(enum hl_life_who who);
bool hl_life_closed(enum hl_life_who who);

/* Is any user open: may communication calls be made? One load. */
bool hl_life_is_open(void);

/* Is this a forked child of a process that had it open? Then no call will ever work here. */
bool hl_life_is_forked(void);

/* HL_ERR_OTHER with the reason why no call can be made: before MPI_Init, after MPI_Finalize, between
 * sessions, or a forked child. */
int hl_life_refuse(void) HL_COLD;

int hl_life_level(void);           /* MPI_THREAD_* in force */
bool hl_life_is_main_thread(void); /* the calling thread opened first */

#endif
