/* Messages of ports, for fuzz_records: a matcher of four ranks, of which the others are far. */
#ifndef FUZZ_FAR_H
#define FUZZ_FAR_H

#include <stddef.h>
#include <stdint.h>

void hl_fuzz_far_open(void);

/* One message: the bytes are its header behind nonce, sender and length, then its payload. */
void hl_fuzz_far(const uint8_t *data, size_t size);

#endif
