/* What Hotlane offers beyond MPI and OpenSHMEM. */
#ifndef HOTLANE_H
#define HOTLANE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *value to a counter of this process: "lanes" (network endpoints opened), "leases", "leases_contended",
 * "flush_waits", "bytes_written", "bytes_read" and the others that HOTLANE_STATS=1 prints at the end.
 * Returns 0, or -1 for a name that is none. Any thread, before, during and after communication. */
int hotlane_counter(const char *name, long long *value);

#ifdef __cplusplus
}
#endif

#endif
