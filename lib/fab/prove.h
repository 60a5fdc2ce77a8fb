/* The opening test: what cannot be known of a provider is tried by messages and operations of a process with
 * itself. */
#ifndef HL_PROVE_H
#define HL_PROVE_H

/* Tries the provider of hl_fab between two endpoints of its own, which are closed again: a message of the
 * largest size arrives and the queue's descriptor tells of it (if not, hl_fab.naps says so); a put and, where
 * they are used, an atomic reach registered memory and have arrived when they complete. Nothing is tried
 * where the tests of this library have done so (HL_PROVIDER_WAKES). 0, or HL_ERR_* with the text. For
 * hl_fab_open. */
int hl_fab_prove(void);

#endif
