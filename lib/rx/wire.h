/* Every message between lanes and receive endpoints, and its checker.
 *
 *   message = head | HELLO if flagged | records (kind DATA) or answers (kind ACK), each padded to 8 bytes
 *   record  = struct hl_wire_rec or struct hl_wire_short | payload
 *   answer  = struct hl_wire_ans | payload
 *
 * A DATA message goes from a lane (or a receive endpoint) to a receive endpoint, an ACK from there to
 * the lane. Node peers exchange the same records through rings in shared memory, without a head. All
 * machines of a job are little-endian and of one architecture; all structures are multiples of 8
 * bytes without padding. */
#ifndef HL_WIRE_H
#define HL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_WIRE_RX 0xffffu    /* the `lane` of messages from a receive endpoint */
#define HL_WIRE_LANES 64      /* most lanes of a rank */
#define HL_WIRE_NAME 64       /* bytes of the longest endpoint name */
#define HL_WIRE_CREDITS 16    /* most unacknowledged messages from a lane to one target */
#define HL_WIRE_NEAR_MAX 256u /* bytes of a record with payload in a near ring */

enum hl_wire_kind { HL_WIRE_DATA = 1, HL_WIRE_ACK, HL_WIRE_KINDS };

enum hl_wire_flag {
    HL_WIRE_HELLO = 1, /* struct hl_wire_hello follows the head */
    HL_WIRE_LOST = 2,  /* ACK: message `seq` came, but messages before it, or answers up to its, are lost */
    /* ACK: acknowledges message `seq` alone, with all of its answers. Number 0 stands for a ping, which is a
     * message without records */
    HL_WIRE_ONE = 4,
    HL_WIRE_FLAGS = 7,
};

struct hl_wire_head {
    uint64_t nonce; /* the job's; checked before anything else */
    uint64_t seq;   /* DATA: the message's number in its stream, from 1; a ping has that of the one before it.
                     * ACK: all up to this one were applied, unless HL_WIRE_LOST or HL_WIRE_ONE is set */
    uint32_t from;  /* world rank of the sender */
    uint16_t lane;  /* DATA: the sender's lane; ACK: the lane that it is for */
    uint8_t kind;   /* enum hl_wire_kind */
    uint8_t flags;  /* enum hl_wire_flag */
    uint32_t len;   /* bytes of the whole message */
    uint32_t count; /* records or answers in it */
};

struct hl_wire_hello {
    uint64_t len; /* bytes of name in use */
    uint8_t name[HL_WIRE_NAME];
};

/* What a record asks for. The module that registered for an op handles it (hl_rx_handle). */
#define HL_WIRE_OP_ROWS(X)                                                                                   \
    X(LOCK) /* window lock; the handler knows the form of the payload */                                     \
    X(UNLOCK)                                                                                                \
    X(GRANT) /* receive endpoint to receive endpoint: a lock was granted */                                  \
    X(POST)  /* PSCW: MPI_Win_post and MPI_Win_complete */                                                   \
    X(COMPLETE)                                                                                              \
    X(ACC)       /* accumulate: basic, op, count, region, offset; payload = elements */                      \
    X(GET_ACC)   /* accumulate, answered with the elements before */                                         \
    X(CAS)       /* compare and swap: payload = compare, origin; answered with the element before */         \
    X(GREET)     /* nothing is done: its acknowledgement shows that answers arrive */                        \
    X(RPC)       /* near only: execute the operation in the sender's request slot `index` (near.h) */        \
    X(REGION)    /* about memory attached to dynamic windows */                                              \
    X(HANG)      /* watchdogs: what a rank waits for */                                                      \
    X(AGREEMENT) /* the result of an agreement */                                                            \
    X(NOTICE)    /* free for modules above */                                                                \
    X(SIGNAL)    /* put, then a word is changed as `kind` says (enum hl_wire_signal) */                      \
    X(GONE)      /* the sender counts the receiver as dead, because it was silent */                         \
    X(COUNT)     /* between receive endpoints: head.seq: last number sent; offset: last one received */      \
    /* From here on struct hl_wire_short, for memory named by its registration; rx handles these itself. */  \
    X(KEY)    /* addr: the registration key for the records that follow in this message */                   \
    X(PUT)    /* payload: the bytes to store */                                                              \
    X(GET)    /* no payload: asks for `len` bytes */                                                         \
    X(ATOMIC) /* payload: operands of `kind`; with HL_WIRE_FETCHES answered with the elements before */      \
    X(FETCH)  /* no payload: asks for `len` bytes of elements, each read atomically */                       \
    X(SWAP)   /* payload: compare, origin; one element, answered with its value before */

enum hl_wire_op {
    HL_WIRE_NONE,
#define HL_WIRE_ENUM(name) HL_WIRE_##name,
    HL_WIRE_OP_ROWS(HL_WIRE_ENUM)
#undef HL_WIRE_ENUM
        HL_WIRE_OPS
};

struct hl_wire_rec {
    uint8_t op;      /* enum hl_wire_op */
    uint8_t kind;    /* enum hl_op_kind of accumulates, else free for the handler */
    uint8_t basic;   /* enum hl_basic of accumulates, else free for the handler */
    uint8_t flags;   /* free for the handler */
    uint32_t len;    /* bytes of payload */
    uint64_t region; /* id of the target's region, 0: none */
    uint64_t offset; /* bytes into the region */
    uint64_t count;  /* elements, or free for the handler */
    uint64_t aux;    /* free for the handler: window, epoch, ... */
    uint32_t index;  /* free for the handler */
    uint32_t pad;
};

/* The first 8 bytes are those of struct hl_wire_rec. */
struct hl_wire_short {
    uint8_t op;    /* enum hl_wire_op, from HL_WIRE_KEY on */
    uint8_t kind;  /* enum hl_op_kind of atomics */
    uint8_t basic; /* enum hl_basic of atomics */
    uint8_t flags; /* HL_WIRE_FETCHES or 0 */
    uint32_t len;  /* bytes of payload, or bytes asked for */
    uint64_t addr; /* RMA address: hl_mr.addr + offset */
};
#define HL_WIRE_FETCHES 1u

/* A SIGNAL is a put with notification of MPI, or a put with signal of OpenSHMEM. It names data and word by
 * registration key and RMA address; rx handles it itself. The payload is the data; without payload only the
 * word is changed. */
enum hl_wire_signal { HL_WIRE_SIGNAL_NONE, HL_WIRE_SIGNAL_SET, HL_WIRE_SIGNAL_ADD };
struct hl_wire_signal_rec {
    uint8_t op, kind, basic, flags; /* HL_WIRE_SIGNAL, enum hl_wire_signal, 0, 0 */
    uint32_t len;                   /* bytes of data */
    uint64_t data_key, data_addr;
    uint64_t word_key, word_addr;
    uint64_t value;
};
_Static_assert(sizeof(struct hl_wire_signal_rec) == sizeof(struct hl_wire_rec), "it travels as one");

/* Answers stand in the order of their records; a record that asks for nothing and went well has none. */
struct hl_wire_ans {
    uint32_t message; /* low half of the seq of the record's message */
    uint32_t record;  /* index of the record in that message, from 0 */
    int32_t rc;       /* 0 or HL_ERR_* */
    uint32_t len;     /* bytes of payload */
};

static inline bool hl_wire_is_short(unsigned op)
{
    return op >= HL_WIRE_KEY;
}

/* Bytes of a record's fixed part, and of its payload, by the first fields of any record with a known op. */
static inline size_t hl_wire_fixed(unsigned op)
{
    return hl_wire_is_short(op) ? sizeof(struct hl_wire_short) : sizeof(struct hl_wire_rec);
}

static inline uint32_t hl_wire_payload(unsigned op, uint32_t len)
{
    return op == HL_WIRE_KEY || op == HL_WIRE_GET || op == HL_WIRE_FETCH ? 0 : len;
}

#define HL_WIRE_PAD(len) (((len) + 7u) & ~(size_t)7u)

/* Most bytes of payload in a message of one record, or of one answer, when the eager size is `eager`. */
#define HL_WIRE_PAYLOAD_MAX(eager)                                                                           \
    ((eager) - sizeof(struct hl_wire_head) - sizeof(struct hl_wire_hello) - sizeof(struct hl_wire_rec))

/* Checks a message of `len` bytes: all fields of the head, HELLO's length, and that `count` records or
 * answers with known ops fill it exactly. Nothing is read past `len`. Returns NULL when it is well formed, or
 * words for what is wrong. `nonce` is the job's, `ranks` its size. */
const char *hl_wire_check(const void *msg, size_t len, uint64_t nonce, uint32_t ranks);

/* The HELLO of a checked message, or NULL; its first record or answer. */
const struct hl_wire_hello *hl_wire_hello_of(const struct hl_wire_head *head);
const void *hl_wire_body(const struct hl_wire_head *head);

#endif
