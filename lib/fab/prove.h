/* The opening test of a provider: what cannot be known of it is tried by messages and operations between two
 * endpoints of this process. */
#ifndef HL_PROVE_H
#define HL_PROVE_H

/* Tries the provider of hl_fab between two endpoints, which are opened for that and closed again. A message
 * of the largest size must arrive, and the queue's descriptor should tell of it: if it does not, *naps says
 * why no thread can sleep on it, else *naps is NULL. A put and, where they are used, an atomic must reach
 * registered memory and have arrived when they complete. Returns 0, or HL_ERR_* with the text. hl_fab_open
 * calls it unless the tests of this library run with the provider (HL_PROVIDER_WAKES); others may call it
 * afterwards. Any thread. */
int hl_fab_prove(const char **naps);

#endif
