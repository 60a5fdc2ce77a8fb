/*
 * Waiting in threads that may outnumber the cores: a patience that spins, yields, naps; and a gate for all
 * threads.
 */
#ifndef STENCIL_GATE_H
#define STENCIL_GATE_H

/* Waits a little, longer with each call: `looks` counts the calls of one wait. Returns 1 when it slept. */
int patience(long looks);

/* Threads gather here; the last one to come does what there is to do alone, then opens the gate. */
struct gate {
    int threads; /* read-only during the run */
    int arrived; /* atomic: threads in front of the gate */
    int round;   /* atomic: how often the gate has opened */
};

/*
 * Returns 1 in the last of g->threads threads to arrive, while the others still wait; that thread must call
 * gate_open. Returns 0 in the others after gate_open; what any thread wrote before gate_arrive, and the last
 * one before gate_open, they then see.
 */
int gate_arrive(struct gate *g);
void gate_open(struct gate *g);

#endif
