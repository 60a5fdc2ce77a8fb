/* Flights: requests that no single completer ends, carried on by whoever polls: schedules of collective
 * operations, requests made of several others. */
#ifndef HL_FLIGHT_H
#define HL_FLIGHT_H

#include "req.h"

/* First part of the owner's object; the owner's again when `end` is called. */
struct hl_flight {
    struct hl_flight *next; /* the module's */
    /* Goes on as far as it can; true when it has ended. Never waits, never polls. One thread at a time. */
    bool (*step)(struct hl_flight *f);
    /* Writes the results, frees the flight or keeps it for the next start, and completes its request, last.
     * Called once. */
    void (*end)(struct hl_flight *f);
};

/* For who must begin something before its flight: once this was 0, flights start. HL_ERR_NO_MEM: no source of
 * progress is left. Any thread. */
int hl_flight_ready(void);

/* Takes the flight over and makes its first step, which may end it. After an error, which is that of
 * hl_flight_ready, nothing was done and the flight is still the caller's. Any thread. */
int hl_flight_start(struct hl_flight *f);

/* Has one that this thread knows of not ended? Any thread. */
bool hl_flight_any(void);

/* Before prog is closed: no flight is left. */
void hl_flight_close(void);

#endif
