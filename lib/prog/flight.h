/* Flights: requests that no single completer ends; threads that poll carry them on. Examples are schedules of
 * collective operations and flushes with a request. */
#ifndef HL_FLIGHT_H
#define HL_FLIGHT_H

#include "req.h"

/* First member of the owner's object, which belongs to the owner again when `end` is called. */
struct hl_flight {
    struct hl_flight *next; /* used by flight.c */
    /* Goes on as far as possible; true when the flight has ended. It never waits or polls. One thread at a
     * time calls it. */
    bool (*step)(struct hl_flight *f);
    /* Writes the results, frees the flight or keeps it for the next start, and last completes its request. It
     * is called once. */
    void (*end)(struct hl_flight *f);
};

/* For callers that must begin something before they start a flight: after it has returned 0, hl_flight_start
 * cannot fail. HL_ERR_NO_MEM: the table of sources of progress is full. Any thread. */
int hl_flight_ready(void);

/* Takes the flight over and makes its first step, which may end it. After an error, which is that of
 * hl_flight_ready, nothing was done, and the flight stays the caller's. Any thread. */
int hl_flight_start(struct hl_flight *f);

/* Is there a flight that has not ended? It may miss one that another thread starts meanwhile. Any thread. */
bool hl_flight_any(void);

/* Called at the end of the library, when no flight is left. */
void hl_flight_close(void);

#endif
