/* The opening test: what cannot be known of a provider is tried by messages and operations of a process with
 * itself. */
#ifndef HL_PROVE_H
#define HL_PROVE_H

/* Tries the provider of hl_fab between two endpoints of its own, which are closed again: a message of the
 * largest size arrives and the queue's descriptor tells of it (if not, *naps says why one cannot sleep on it,
 * else it is NULL); a put and, where they are used, an atomic reach registered memory and have arrived when
 * they complete. 0, or HL_ERR_* with the text. hl_fab_open calls it where the tests of this library have not
 * tried the provider (HL_PROVIDER_WAKES), and who wants to know, afterwards. Any thread. */
int hl_fab_prove(const char **naps);

#endif
