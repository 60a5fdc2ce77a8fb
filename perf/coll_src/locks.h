/* Locks of the C library, counted. */
#ifndef LOCKS_H
#define LOCKS_H

/* How many the calling thread has taken since it began. */
long locks_taken(void);

#endif
