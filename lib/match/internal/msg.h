/* Inside the module: the formats of messages, in slots on a node and before payloads over the network. */
#ifndef HL_MATCH_MSG_H
#define HL_MATCH_MSG_H

#include <stdint.h>

enum hl_msg_kind {
    HL_MSG_EAGER = 1, /* matched: the payload is behind the header */
    HL_MSG_CELL,      /* matched: the payload is in one or more cells of the sender's */
    HL_MSG_RTS,       /* matched: the payload is still with the sender */
    /* control messages: never matched, the thread that polls handles them */
    HL_MSG_REVOKE, /* to the receiver, after an RTS: forget it, if it is not matched yet; FIN is the answer */
    HL_MSG_PULL,   /* to the sender: send the first n bytes */
    HL_MSG_DATA,   /* to the receiver: some of these bytes */
    HL_MSG_FIN,    /* to the sender: the receiver needs nothing more */
    HL_MSG_HELP,   /* to a sender on the node: help to copy (split_copy.c) */
    HL_MSG_ENDED,  /* to the receiver: the sender copied the last piece */
    HL_MSG_XOFF,   /* to a sender: keep the payloads of your messages */
    HL_MSG_XON,    /* to a sender: do not keep them any longer */
};

struct hl_msg_head {
    uint64_t ctx;
    int32_t src, tag;
    uint32_t len; /* payload bytes; of an RTS not used, see hl_msg_rts.len */
    uint8_t kind; /* enum hl_msg_kind */
    uint8_t flags;
    uint16_t from; /* node rank of the sender */
};

struct hl_msg_rts {
    uint64_t len;    /* bytes of the message */
    uint64_t cookie; /* names the send */
    /* the sender's buffer if it is one block, else 0; over the network: the address for reads of it */
    uint64_t addr;
    /* 0, or the id of the sender's segment that holds the buffer (node), or the key of its registration
     * (network) */
    uint64_t key;
};

struct hl_msg_pull {
    uint64_t cookie; /* names the send */
    uint64_t back;   /* names the receive */
    uint64_t n;
    uint64_t spare;
};

struct hl_msg_data {
    uint64_t cookie; /* names the receive */
    uint64_t offset;
    uint32_t cell, n;
    uint64_t spare;
};

/* Of a FIN, and of a REVOKE, whose head repeats that of its RTS. */
struct hl_msg_fin {
    uint64_t cookie;  /* names the send */
    uint64_t revoked; /* not 0: the message was not matched, and never will be */
    uint64_t spare[2];
};

struct hl_msg_help {
    uint64_t cookie; /* names the send */
    uint64_t addr;   /* address of the receiver's buffer */
    uint64_t n;      /* bytes */
    uint64_t split;  /* generation << HL_SPLIT_BITS | index of the receiver's split */
};

struct hl_msg_ended {
    uint64_t cookie; /* names the receive */
    uint64_t failed; /* not 0: some bytes could not be copied; 0: the send is over */
    uint64_t spare[2];
};

#define HL_MATCH_INLINE 32

union hl_msg_area {
    unsigned char data[HL_MATCH_INLINE];
    uint32_t cell;
    struct hl_msg_rts rts;
    struct hl_msg_pull pull;
    struct hl_msg_data piece;
    struct hl_msg_fin fin;
    struct hl_msg_help help;
    struct hl_msg_ended ended;
};

#endif
