/* Mailboxes: what two ranks of a node hand each other in operations of the alltoall family, without a lock
 * and without a message.
 *
 * For each ordered pair of ranks the receiver's memory has a box of two slots, which only the sender writes
 * and only the receiver reads. Operations are numbered by epochs, the same on both sides; epoch e uses slot e
 * mod 2, also when it carries no data.
 *
 *   THE RULE   epoch e may be posted to a peer once the peer's epoch e - 1 was taken.
 *
 * The peer's post of e - 1 proves that it had taken my e - 2 (the rule on its side), so the slot is free
 * again: nobody acknowledges anything. Without the rule a rank that only sends could write over data that its
 * peer has not read yet.
 *
 *   sender    may_post(e) -> fill the slot -> post(e) -> DATA, MESSAGE: settle(e)
 *                                                     -> ADDR: acked(e) -> settle(e)
 *                                                     -> STREAM: may_fill(e) .. filled -> settle(e)
 *   receiver  look(e) -> copy it out -> [ADDR: ack(e); STREAM: arrived .. drained] -> take(e)
 *
 * An address is read by the receiver, who acknowledges it in the box of the other direction. A stream goes
 * through a ring in the receiver's memory, one epoch after the other; its sender is done when the last byte
 * is in the ring. So boxes must outlive the operations that use them (board.h).
 *
 * Several operations may be under way, each carried on by any thread, one at a time: the thread that takes
 * epoch e hands the pair to the one that will take e + 1, by the words in hl_mail_pair, so a pair needs no
 * lock. Epochs begin with HL_MAIL_FIRST. */
#ifndef HL_MAILBOX_H
#define HL_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "copy.h"

#define HL_MAIL_FIRST 2
#define HL_MAIL_BYTES 1056 /* bytes that fit into a slot */

enum hl_mail_kind {
    HL_MAIL_NOTHING, /* not posted yet */
    HL_MAIL_DATA,    /* `len` bytes in the slot */
    /* `len` bytes at the sender's address `addr`, in its segment `seg`; it waits for an acknowledgement */
    HL_MAIL_ADDR,
    HL_MAIL_STREAM, /* `len` bytes come through the ring */
    HL_MAIL_MESSAGE /* `len` bytes come by a message */
};

/* What an acknowledgement says. */
enum hl_mail_answer {
    HL_MAIL_WAIT, /* none yet */
    HL_MAIL_READ, /* the bytes were read */
    HL_MAIL_SEND  /* they cannot be read: send a message */
};

struct hl_mail_slot {
    HL_ALIGNED_LINE hl_a64 flag; /* atomic: epoch << 3 | enum hl_mail_kind; publishes the rest */
    uint64_t len;
    uint64_t addr;
    uint64_t seg;             /* hl_seg.id, or 0: in none */
    char data[HL_MAIL_BYTES]; /* the first 32 bytes share the flag's line */
};

/* Zero is its initial state. */
struct hl_mailbox {
    struct hl_mail_slot slot[2];
    HL_ALIGNED_LINE hl_a64 ack[2]; /* atomic: epoch << 2 | enum hl_mail_answer, for the owner's own posts */
    hl_a64 drained;                /* atomic: bytes of the owner's own stream that the peer has read */
    HL_ALIGNED_LINE hl_a64 filled; /* atomic: bytes of the peer's stream that are or were in the ring */
    hl_a64 room; /* atomic: bytes of the ring, written by the owner: hl_mail_pair.ring, or 0: none */
};

/* One rank's view of a peer. */
struct hl_mail_pair {
    struct hl_mailbox *out; /* in the peer's memory, for my data; NULL: this pair has none */
    struct hl_mailbox *in;  /* in my memory, for the peer's data */
    char *out_ring, *in_ring;
    uint64_t ring; /* bytes of both rings, a power of two, if there are some; 0: none */
    /* bytes of my stream put into the ring; of the peer's taken out; changed by the epoch whose turn it is */
    uint64_t filled, drained;
    struct hl_copy_out copy; /* copies into my streams; changed by the epoch whose turn it is */
    hl_a64 taken;            /* atomic: the peer's last epoch that was taken */
    hl_a64 settled[2];       /* atomic: my last epoch that no longer needs this slot */
};

/* *p was zeroed before. */
HL_INLINE void hl_mail_pair_init(struct hl_mail_pair *p, struct hl_mailbox *out, struct hl_mailbox *in)
{
    p->out = out;
    p->in = in;
    /* relaxed: no other thread knows the pair yet. */
    hl_a64_store_relaxed(&p->taken, HL_MAIL_FIRST - 1);
    hl_a64_store_relaxed(&p->settled[0], HL_MAIL_FIRST - 2);
    hl_a64_store_relaxed(&p->settled[1], HL_MAIL_FIRST - 1);
}

/* ---- Sender ---- */

/* THE RULE; and my own epoch e - 2 no longer needs the slot (its acknowledgement was seen). */
HL_INLINE bool hl_mail_may_post(const struct hl_mail_pair *p, uint64_t epoch)
{
    /* acquire, both: the peer's e - 1 was read before this thread writes; pairs with hl_mail_take and
     * hl_mail_settle of other threads. */
    return hl_a64_load_acquire(&p->taken) >= epoch - 1 &&
           hl_a64_load_acquire(&p->settled[epoch & 1]) == epoch - 2;
}

HL_INLINE struct hl_mail_slot *hl_mail_slot(const struct hl_mail_pair *p, uint64_t epoch)
{
    return &p->out->slot[epoch & 1];
}

/* Posts the slot, whose other fields were written before. */
HL_INLINE void hl_mail_post(const struct hl_mail_pair *p, uint64_t epoch, enum hl_mail_kind kind)
{
    /* release: publishes the slot; pairs with the acquire in hl_mail_look. */
    hl_a64_store_release(&hl_mail_slot(p, epoch)->flag, epoch << 3 | kind);
}

/* Says that the epoch no longer needs its slot. */
HL_INLINE void hl_mail_settle(struct hl_mail_pair *p, uint64_t epoch)
{
    /* release: the acknowledgement was read; pairs with the acquire in hl_mail_may_post. */
    hl_a64_store_release(&p->settled[epoch & 1], epoch);
}

HL_INLINE enum hl_mail_answer hl_mail_acked(const struct hl_mail_pair *p, uint64_t epoch)
{
    /* acquire: the peer has read my memory; pairs with the release in hl_mail_ack. */
    uint64_t ack = hl_a64_load_acquire(&p->in->ack[epoch & 1]);
    return ack >> 2 == epoch ? (enum hl_mail_answer)(ack & 3) : HL_MAIL_WAIT;
}

/* How many bytes of a stream may be copied to *at now: 0 while an earlier epoch is not through or the ring is
 * full. */
HL_INLINE uint64_t hl_mail_may_fill(const struct hl_mail_pair *p, uint64_t epoch, char **at)
{
    /* acquire: it is this epoch's turn; pairs with the release in hl_mail_settle. */
    if (hl_a64_load_acquire(&p->settled[(epoch - 1) & 1]) < epoch - 1) {
        return 0;
    }
    /* acquire: the old bytes have been read; pairs with the release in hl_mail_drained. */
    uint64_t room = p->ring - (p->filled - hl_a64_load_acquire(&p->in->drained));
    uint64_t pos = p->filled & (p->ring - 1);
    *at = p->out_ring + pos;
    return room < p->ring - pos ? room : p->ring - pos;
}

HL_INLINE void hl_mail_filled(struct hl_mail_pair *p, uint64_t bytes)
{
    p->filled += bytes;
    /* release: publishes the bytes; pairs with the acquire in hl_mail_arrived. */
    hl_a64_store_release(&p->out->filled, p->filled);
}

/* ---- Receiver ---- */

/* The kind of the peer's post in this epoch; HL_MAIL_NOTHING while an earlier epoch is not taken. */
HL_INLINE enum hl_mail_kind hl_mail_look(const struct hl_mail_pair *p, uint64_t epoch)
{
    /* acquire: sees the slot; pairs with the release in hl_mail_post. */
    uint64_t flag = hl_a64_load_acquire(&p->in->slot[epoch & 1].flag);
    if (flag >> 3 != epoch) {
        return HL_MAIL_NOTHING;
    }
    /* acquire: it is this epoch's turn; pairs with the release in hl_mail_take. */
    return hl_a64_load_acquire(&p->taken) == epoch - 1 ? (enum hl_mail_kind)(flag & 7) : HL_MAIL_NOTHING;
}

HL_INLINE const struct hl_mail_slot *hl_mail_found(const struct hl_mail_pair *p, uint64_t epoch)
{
    return &p->in->slot[epoch & 1];
}

/* Acknowledges an address; called before hl_mail_take. */
HL_INLINE void hl_mail_ack(const struct hl_mail_pair *p, uint64_t epoch, enum hl_mail_answer answer)
{
    /* release: reading ends before; pairs with the acquire in hl_mail_acked. */
    hl_a64_store_release(&p->out->ack[epoch & 1], epoch << 2 | answer);
}

/* Number of bytes at *at that have come of the stream of the epoch which hl_mail_look showed. */
HL_INLINE uint64_t hl_mail_arrived(const struct hl_mail_pair *p, const char **at)
{
    /* acquire: sees the bytes; pairs with the release in hl_mail_filled. */
    uint64_t there = hl_a64_load_acquire(&p->in->filled) - p->drained;
    uint64_t pos = p->drained & (p->ring - 1);
    *at = p->in_ring + pos;
    return there < p->ring - pos ? there : p->ring - pos;
}

HL_INLINE void hl_mail_drained(struct hl_mail_pair *p, uint64_t bytes)
{
    p->drained += bytes;
    /* release: reading ends before; pairs with the acquire in hl_mail_may_fill. */
    hl_a64_store_release(&p->out->drained, p->drained);
}

/* The slot was read and is not looked at again. */
HL_INLINE void hl_mail_take(struct hl_mail_pair *p, uint64_t epoch)
{
    /* release: reading ends before; pairs with the acquires in hl_mail_may_post and hl_mail_look. */
    hl_a64_store_release(&p->taken, epoch);
}

#endif
