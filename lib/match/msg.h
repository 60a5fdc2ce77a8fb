/* Inside the module: what stands in messages of match, in slots of a node and in front of payloads over the
 * network. */
#ifndef HL_MATCH_MSG_H
#define HL_MATCH_MSG_H

#include <stdint.h>

enum hl_msg_kind {
    HL_MSG_EAGER = 1, /* matched: payload behind the header */
    HL_MSG_CELL,      /* matched: payload in a cell of the sender's */
    HL_MSG_RTS,       /* matched: payload still with the sender */
    /* control: handled by whoever polls, never matched */
    HL_MSG_REVOKE, /* to the receiver, behind an RTS: forget it, if it is not matched yet; answered by FIN */
    HL_MSG_PULL,   /* to the sender: send me the first n bytes */
    HL_MSG_DATA,   /* to the receiver: some of them */
    HL_MSG_FIN,    /* to the sender: I have what I want */
    HL_MSG_HELP,   /* to a sender on the node: copy with me (both.c) */
    HL_MSG_ENDED,  /* to the receiver: I copied the last of it */
    HL_MSG_XOFF,   /* to a sender: keep the payloads of your messages */
    HL_MSG_XON,    /* to a sender: no longer */
};

struct hl_msg_head {
    uint64_t ctx;
    int32_t src, tag;
    uint32_t len; /* payload bytes; of an RTS see there */
    uint8_t kind; /* enum hl_msg_kind */
    uint8_t flags;
    uint16_t from; /* node rank of the sender */
};

struct hl_msg_rts {
    uint64_t len;    /* bytes of the message */
    uint64_t cookie; /* names the send */
    uint64_t addr;   /* the sender's buffer if it is one block, else 0; over the network: for reads of it */
    uint64_t key;    /* 0, or the id of the sender's segment that it lies in (node), or its registration */
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

/* Also of a REVOKE, which has the head of its RTS. */
struct hl_msg_fin {
    uint64_t cookie;  /* names the send */
    uint64_t revoked; /* not 0: it was not matched, and never will be */
    uint64_t spare[2];
};

struct hl_msg_help {
    uint64_t cookie; /* names the send */
    uint64_t addr;   /* of the receiver's buffer */
    uint64_t n;      /* bytes */
    uint64_t joint;  /* generation << HL_JOINT_BITS | which of the receiver's joints */
};

struct hl_msg_ended {
    uint64_t cookie; /* names the receive */
    uint64_t failed; /* not 0: not all could be copied; else the send is over */
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
