/* Inside the module: senders of lanes' messages, and what is answered to them (answers.c; unordered.c where
 * messages come in any order). All calls are for the receive thread. */
#ifndef HL_RX_ANSWERS_H
#define HL_RX_ANSWERS_H

#include "rx_internal.h"
#include "senders.h"
#include "sends.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_RX_ANSWERS_OLD "its number was handled before"
#define HL_RX_ANSWERS_PASS 16 /* most messages of one pass, after which hl_rx_answers_give_due is called */

/* Counts a message that is dropped; `why`: words for the log. */
void hl_rx_answers_drop(size_t len, const char *why);

/* The sender of a message, learnt from its HELLO; NULL: it has said none, must say it again, or there is no
 * memory. */
struct hl_rx_sender *hl_rx_answers_sender(const struct hl_wire_head *head);

/* A buffer for the answers to a lane's message; NULL: there is no memory, and the message was dropped. */
struct hl_rx_outbound *hl_rx_answers_new(const struct hl_wire_head *head, struct hl_rx_answers *a);

/* Sends the answers in `out`, if any, to a lane, with the fields of `ack` as head. */
void hl_rx_answers_send(const struct hl_rx_sender *s, struct hl_rx_outbound *out, struct hl_wire_head ack);

/* Tells a lane that all its messages up to number `seq` count as lost. False: there is no memory for that. */
bool hl_rx_answers_lost(const struct hl_rx_sender *s, const struct hl_wire_head *head, uint64_t seq);

/* A lane of which an answer is lost has said HELLO in this message: its stream begins anew. If it did not
 * know of the loss yet, it hears of it before the message is acknowledged. */
void hl_rx_answers_anew(struct hl_rx_sender *s, const struct hl_wire_head *head);

/* Answers a message without a sender: its lane is not known, or must hear of a loss before. */
void hl_rx_answers_refuse(const struct hl_wire_head *head);

/* Answers a message whose records were handled in order: sends the answers `a` in `out`, or, without any,
 * notes that the lane is to get an acknowledgement at the end of this pass. Not `handled`: there is a gap
 * before the message, which counts as lost. `out` is taken over. */
void hl_rx_answers_give(struct hl_rx_sender *s, const struct hl_wire_head *head, struct hl_rx_outbound *out,
                        const struct hl_rx_answers *a, bool handled);

/* Ends a pass: sends one acknowledgement to each lane whose messages of this pass had no answers. */
void hl_rx_answers_give_due(void);

/* Notes an answer that does not arrive; other messages are passed over. */
void hl_rx_answers_note_lost(const struct hl_rx_outbound *out);

/* False: this message must not arrive any more, since it would stand for one that is lost. */
bool hl_rx_answers_may_leave(const struct hl_rx_outbound *out);

void hl_rx_answers_close(void); /* forgets all senders */

/* ---- unordered.c ---- */
void hl_rx_unordered_take(const struct hl_wire_head *head); /* handles a checked message of a lane */
void hl_rx_unordered_close(void);

#endif
