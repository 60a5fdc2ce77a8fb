/* Partitioned sends and receives: persistent requests whose data is handed over, and arrives, in parts.
 *
 * Any thread, without locks and leases; 0 or a negative HL_ERR_*. (MPI 5.0, chapter 4) */
#ifndef HL_PARTITIONED_H
#define HL_PARTITIONED_H

#include <stdbool.h>
#include <stdint.h>

#include "match.h"

/* A send (HL_REQ_PSEND) of `partitions` times what `s` describes, in a context and with a tag in which the
 * init calls of both sides pair in order. `channel`: a context that only this request uses. The type is
 * referenced until the request goes away. HL_ERR_COUNT: more than 63 bits of bytes, HL_ERR_NO_MEM. */
int hl_part_send_init(const struct hl_send *s, int partitions, uint64_t channel, struct hl_req **out);

/* A receive (HL_REQ_PRECV) of `partitions` times what `r` describes, without wildcards. Errors as in
 * hl_part_send_init. */
int hl_part_recv_init(const struct hl_recv *r, int partitions, struct hl_req **out);

/* Partitions first .. last of a started send are ready: their data may leave. HL_ERR_ARG: no such partition,
 * or it is ready already. Any number of threads at once for different partitions. */
int hl_part_ready(struct hl_req *r, int first, int last);

/* Sets *arrived: whether that partition of a receive is there. If it is not, one pass of progress is made
 * first. Of an inactive request every partition is there. Returns the error of a message of the partition
 * that has failed, as the completed request does; it will not arrive then. */
int hl_part_arrived(struct hl_req *r, int partition, bool *arrived);

#endif
