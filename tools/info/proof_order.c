/* A step: checks order. Messages between two ranks must not overtake each other, and what announces data must
 * come after the data. The ranks form a ring: each sends to the next one. */
#include "proof.h"

#include "hotlane.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 200
#define LONGEST 40000 /* bytes: some messages go by rendezvous, some eagerly */
#define TIMES 100
#define WORDS 512 /* words of data that are announced */

struct ring {
    struct finding *f;
    int to, from;
    MPI_Win win;
    uint64_t *data; /* my window: a flag, a word, WORDS words */
};
enum { FLAG, WORD, DATA };

static size_t length_of(int i)
{
    uint64_t state = (uint64_t)i;
    return 4 + (i % 3 == 0 ? proof_draw(&state) % LONGEST : proof_draw(&state) % 64);
}

/* Long and short messages in turn with one tag: each must arrive in its place. */
static void try_messages(struct ring *r)
{
    unsigned char *out = malloc((size_t)MESSAGES * (LONGEST + 4)), *in = malloc(LONGEST + 4);
    MPI_Request requests[MESSAGES];
    int lacks = out == NULL || in == NULL;
    MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < MESSAGES && !lacks; i++) {
        unsigned char *bytes = out + (size_t)i * (LONGEST + 4);
        memset(bytes, i, length_of(i));
        memcpy(bytes, &i, sizeof i);
        MPI_Isend(bytes, (int)length_of(i), MPI_BYTE, r->to, 3, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < MESSAGES && !lacks; i++) {
        MPI_Status status;
        int got = 0, number = -1;
        int rc = MPI_Recv(in, LONGEST + 4, MPI_BYTE, r->from, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        memcpy(&number, in, sizeof number);
        if (proof_went(r->f, rc, "MPI_Recv") && (number != i || (size_t)got != length_of(i))) {
            proof_fail(r->f, "message %d from rank %d came where message %d was due", number, r->from, i);
        }
    }
    (void)(lacks || proof_went(r->f, MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE), "MPI_Waitall"));
    if (lacks) {
        proof_fail(r->f, "no memory for messages on some rank");
    }
    free(out);
    free(in);
}

static void check_data(struct ring *r, uint64_t value, const char *teller)
{
    for (int i = 0; i < WORDS; i++) {
        if (r->data[DATA + i] != value) {
            proof_fail(r->f, "%s from rank %d came before the data that it tells of", teller, r->from);
            return;
        }
    }
}

static const uint64_t *fill(uint64_t value)
{
    static uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++) {
        words[i] = value;
    }
    return words;
}

/* A message that follows a put and its flush must find the data. */
static void try_messages_behind_puts(struct ring *r)
{
    for (uint64_t k = 1; k <= TIMES; k++) {
        int rc = MPI_Put(fill(k), WORDS, MPI_UINT64_T, r->to, DATA, WORDS, MPI_UINT64_T, r->win);
        rc = rc == MPI_SUCCESS ? MPI_Win_flush(r->to, r->win) : rc;
        (void)proof_went(r->f, rc, "MPI_Put with MPI_Win_flush");
        rc = MPI_Sendrecv(NULL, 0, MPI_BYTE, r->to, 4, NULL, 0, MPI_BYTE, r->from, 4, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE);
        (void)proof_went(r->f, rc, "MPI_Sendrecv");
        MPI_Win_sync(r->win);
        check_data(r, k, "a message");
        MPI_Barrier(MPI_COMM_WORLD); /* keeps the next put from overtaking the check */
    }
}

static void try_flags(struct ring *r)
{
    for (uint64_t k = 1; k <= TIMES; k++) {
        int rc = MPIX_Put_notify(fill(k << 32), WORDS, MPI_UINT64_T, r->to, DATA, WORDS, MPI_UINT64_T, FLAG,
                                 k, r->win);
        (void)proof_went(r->f, rc, "MPIX_Put_notify");
        rc = MPI_Win_flush(r->to, r->win);
        (void)proof_went(r->f, rc, "MPI_Win_flush");
        rc = MPIX_Win_flag_wait(FLAG, MPIX_CMP_GE, k, NULL, r->win);
        (void)proof_went(r->f, rc, "MPIX_Win_flag_wait");
        check_data(r, k << 32, "a flag");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Of many accumulates with MPI_REPLACE to one word the last must win. */
static void try_accumulates(struct ring *r)
{
    uint64_t values[TIMES], seen = 0;
    for (uint64_t k = 0; k < TIMES; k++) {
        values[k] = k;
        int rc =
            MPI_Accumulate(&values[k], 1, MPI_UINT64_T, r->to, WORD, 1, MPI_UINT64_T, MPI_REPLACE, r->win);
        (void)proof_went(r->f, rc, "MPI_Accumulate");
    }
    int rc = MPI_Fetch_and_op(NULL, &seen, MPI_UINT64_T, r->to, WORD, MPI_NO_OP, r->win);
    rc = rc == MPI_SUCCESS ? MPI_Win_flush(r->to, r->win) : rc;
    if (proof_went(r->f, rc, "MPI_Fetch_and_op with MPI_Win_flush") && seen != TIMES - 1) {
        proof_fail(r->f, "of %d stores to one word at rank %d number %llu came last", TIMES, r->to,
                   (unsigned long long)seen);
    }
}

void proof_order(struct proof *p, struct finding *f)
{
    struct ring r = {.f = f, .to = (p->me + 1) % p->ranks, .from = (p->me + p->ranks - 1) % p->ranks};
    MPI_Aint len = (DATA + WORDS) * sizeof(uint64_t);
    if (!proof_went(f,
                    MPI_Win_allocate(len, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &r.data, &r.win),
                    "MPI_Win_allocate")) {
        return;
    }
    MPI_Win_set_errhandler(r.win, MPI_ERRORS_RETURN);
    memset(r.data, 0, (size_t)len);
    MPI_Win_lock_all(0, r.win);
    MPI_Barrier(MPI_COMM_WORLD);
    try_messages(&r);
    try_messages_behind_puts(&r);
    try_flags(&r);
    try_accumulates(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(r.win);
    MPI_Win_free(&r.win);
    if (!f->failed) {
        snprintf(f->text, sizeof f->text,
                 "%d messages from each rank, short and long, came in order; %d messages and flags came "
                 "behind the "
                 "data that they tell of; atomics of one origin came in order",
                 MESSAGES, 2 * TIMES);
    }
}
