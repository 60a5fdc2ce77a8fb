/* Matched probe: the message that was seen is the one that is received. And what MPI 2 had, with nothing around it: what is received
 * after a probe may be another thread's message, which is wrong where lengths differ. It shows what right matching costs. */
#include "probe.h"

static void nothing_before(long messages)
{
    (void)messages;
}

static void nothing_after(void)
{
}

static void receive(int src, int tag, struct message *m, struct counts *c)
{
    MPI_Message taken;
    MPI_Status s;
    MPI_Mprobe(src, tag, MPI_COMM_WORLD, &taken, &s);
    c->probes++;
    message_of(&s, m);
    MPI_Mrecv(m->data, m->bytes, MPI_BYTE, &taken, MPI_STATUS_IGNORE);
}

static void receive_wrongly(int src, int tag, struct message *m, struct counts *c)
{
    MPI_Status s;
    MPI_Probe(src, tag, MPI_COMM_WORLD, &s);
    c->probes++;
    message_of(&s, m);
    MPI_Recv(m->data, m->bytes, MPI_BYTE, src, tag, MPI_COMM_WORLD, &s);
    m->src = s.MPI_SOURCE;
    m->tag = s.MPI_TAG;
}

const struct way way_wrong = {"wrong", nothing_before, nothing_after, receive_wrongly};
const struct way way_matched = {"matched", nothing_before, nothing_after, receive};
