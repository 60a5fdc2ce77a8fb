/* What the other programs do not call of messages: large-count forms of every mode, messages and probes of
 * MPI_PROC_NULL, what a status tells and is told, buffers of sessions, packing and reducing in large counts.
 * Any number of ranks. */
#include "mpi_test.h"

static int right, left;

/* ---- Nobody ---- */

static void check_nobody(const MPI_Status *st)
{
    int n = -1;
    CHECK_EQ(st->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(st->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(st, MPI_INT, &n);
    CHECK_EQ(n, 0);
}

static void nobody(void)
{
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Status st;
    MPI_Request r;
    int v = 7, flag = 0;
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    check_nobody(&st);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &st);
    CHECK(flag);
    check_nobody(&st);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &st);
    CHECK(m == MPI_MESSAGE_NO_PROC);
    check_nobody(&st);
    MPI_Mrecv(&v, 1, MPI_INT, &m, &st);
    CHECK(m == MPI_MESSAGE_NULL);
    check_nobody(&st);
    flag = 0;
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &m, &st);
    CHECK(flag && m == MPI_MESSAGE_NO_PROC);
    check_nobody(&st);
    MPI_Imrecv(&v, 1, MPI_INT, &m, &r);
    CHECK(m == MPI_MESSAGE_NULL);
    MPI_Wait(&r, &st);
    check_nobody(&st);
    MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, &st);
    check_nobody(&st);
    MPI_Sendrecv(&v, 1, MPI_INT, MPI_PROC_NULL, 3, &v, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    check_nobody(&st);
    MPI_Ssend(&v, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Bsend(&v, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    CHECK_EQ(v, 7);
}

/* ---- Large counts ---- */

enum { MODES = 6, STARTED = 4 };

/* To my right neighbour, in every mode. */
static void send_large(const int *out)
{
    MPI_Request r[2];
    MPI_Isend_c(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Ibsend_c(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Bsend_c(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Rsend_c(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Ssend_c(&out[4], 1, MPI_INT, right, 4, MPI_COMM_WORLD);
    MPI_Send_c(&out[5], 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void modes(void)
{
    int in[MODES], out[MODES], got = -1;
    MPI_Request r[MODES];
    for (int i = 0; i < MODES; i++) {
        in[i] = -1;
        out[i] = 100 * me + i;
        MPI_Irecv_c(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    send_large(out);
    MPI_Waitall(MODES, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MODES; i++) {
        CHECK_EQ(in[i], 100 * left + i);
    }
    MPI_Sendrecv_c(&me, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(got, left);
}

static void persistent(void)
{
    int in[STARTED], out[STARTED];
    MPI_Request r[2 * STARTED];
    for (int i = 0; i < STARTED; i++) {
        MPI_Recv_init_c(&in[i], 1, MPI_INT, left, 10 + i, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Send_init_c(&out[0], 1, MPI_INT, right, 10, MPI_COMM_WORLD, &r[4]);
    MPI_Ssend_init_c(&out[1], 1, MPI_INT, right, 11, MPI_COMM_WORLD, &r[5]);
    MPI_Bsend_init_c(&out[2], 1, MPI_INT, right, 12, MPI_COMM_WORLD, &r[6]);
    MPI_Rsend_init_c(&out[3], 1, MPI_INT, right, 13, MPI_COMM_WORLD, &r[7]);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < STARTED; i++) {
            in[i] = -1;
            out[i] = 1000 * k + 10 * me + i;
        }
        MPI_Startall(STARTED, r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(STARTED, r + STARTED);
        MPI_Waitall(2 * STARTED, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < STARTED; i++) {
            CHECK_EQ(in[i], 1000 * k + 10 * left + i);
        }
    }
    for (int i = 0; i < 2 * STARTED; i++) {
        MPI_Request_free(&r[i]);
    }
}

static void matched(void)
{
    MPI_Request s[2], r;
    MPI_Message m;
    MPI_Status st;
    MPI_Count n = -1;
    int v = -1;
    MPI_Isend_c(&me, 1, MPI_INT, right, 20, MPI_COMM_WORLD, &s[0]);
    MPI_Isend_c(&me, 1, MPI_INT, right, 21, MPI_COMM_WORLD, &s[1]);
    MPI_Mprobe(left, 20, MPI_COMM_WORLD, &m, &st);
    MPI_Get_count_c(&st, MPI_INT, &n);
    CHECK_EQ(n, 1);
    MPI_Mrecv_c(&v, 1, MPI_INT, &m, &st);
    CHECK_EQ(v, left);
    v = -1;
    MPI_Mprobe(MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &m, &st);
    MPI_Imrecv_c(&v, 1, MPI_INT, &m, &r);
    MPI_Wait(&r, &st);
    CHECK_EQ(v, left);
    CHECK_EQ(st.MPI_SOURCE, left);
    MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
}

/* ---- Statuses ---- */

/* Two and a half structures of an int and a double. */
static void elements(void)
{
    int lens[2] = {1, 1}, n = -1;
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, pair;
    MPI_Count many = -1;
    MPI_Status st;
    char out[28] = {0}, in[64];
    MPI_Type_create_struct(2, lens, at, parts, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(out, 28, MPI_PACKED, right, 30, in, 4, pair, left, 30, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, pair, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_elements(&st, pair, &n);
    CHECK_EQ(n, 5);
    MPI_Get_elements_x(&st, pair, &many);
    CHECK_EQ(many, 5);
    many = -1;
    MPI_Get_elements_c(&st, pair, &many);
    CHECK_EQ(many, 5);
    MPI_Type_free(&pair);
}

static void setters(void)
{
    MPI_Status st;
    MPI_Count many = -1;
    int v = 0, n = 0;
    memset(&st, 0, sizeof st);
    MPI_Status_set_source(&st, 5);
    MPI_Status_set_tag(&st, 6);
    MPI_Status_set_error(&st, MPI_ERR_TAG);
    MPI_Status_get_source(&st, &v);
    CHECK(v == 5 && st.MPI_SOURCE == 5);
    MPI_Status_get_tag(&st, &v);
    CHECK(v == 6 && st.MPI_TAG == 6);
    MPI_Status_get_error(&st, &v);
    CHECK(v == MPI_ERR_TAG && st.MPI_ERROR == MPI_ERR_TAG);
    MPI_Status_set_elements_c(&st, MPI_DOUBLE, (MPI_Count)1 << 40);
    MPI_Get_count_c(&st, MPI_DOUBLE, &many);
    CHECK(many == (MPI_Count)1 << 40);
    MPI_Get_count(&st, MPI_DOUBLE, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Comm_set_errhandler(MPI_COMM_SELF,
                            MPI_ERRORS_RETURN); /* errors of no communicator are raised there */
    int code = MPI_Status_set_elements_c(&st, MPI_DOUBLE, (MPI_Count)1 << 61);
    MPI_Error_class(code, &v);
    CHECK_EQ(v, MPI_ERR_COUNT);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Get_count_c(&st, MPI_DOUBLE, &many);
    CHECK(many == (MPI_Count)1 << 40);
    CHECK_EQ(MPI_Status_set_elements_c(&st, MPI_INT, INT64_MAX / 4), MPI_SUCCESS); /* the most that fit */
    MPI_Get_elements_c(&st, MPI_INT, &many);
    CHECK(many == INT64_MAX / 4);
    MPI_Status_set_elements_x(&st, MPI_INT, 3);
    MPI_Get_elements(&st, MPI_INT, &n);
    CHECK_EQ(n, 3);
    MPI_Status_set_cancelled(&st, 1);
    MPI_Test_cancelled(&st, &v);
    CHECK_EQ(v, 1);
}

/* ---- Buffers, packing, reducing ---- */

static void session_buffer(void)
{
    static char space[4096];
    MPI_Session s;
    MPI_Request r;
    void *was;
    MPI_Count n = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Session_attach_buffer_c(s, space, sizeof space);
    MPI_Session_iflush_buffer(s, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer_c(s, &was, &n);
    CHECK(was == (void *)space && n == (MPI_Count)sizeof space);
    MPI_Session_finalize(&s);
}

static void packing(void)
{
    int in[3] = {1, -2, 3}, out[3] = {0};
    char buf[64];
    MPI_Count room = 0, at = 0;
    MPI_Pack_size_c(3, MPI_INT, MPI_COMM_WORLD, &room);
    CHECK(room >= 12 && room <= (MPI_Count)sizeof buf);
    MPI_Pack_c(in, 3, MPI_INT, buf, sizeof buf, &at, MPI_COMM_WORLD);
    CHECK_EQ(at, 12);
    at = 0;
    MPI_Unpack_c(buf, 12, &at, out, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(at == 12 && out[1] == -2 && out[2] == 3);
    at = 0;
    MPI_Pack_external_size_c("external32", 3, MPI_INT, &room);
    CHECK_EQ(room, 12);
    MPI_Pack_external_c("external32", in, 3, MPI_INT, buf, sizeof buf, &at);
    CHECK(at == 12 && buf[3] == 1 && buf[0] == 0 && (unsigned char)buf[4] == 255);
    at = 0;
    memset(out, 0, sizeof out);
    MPI_Unpack_external_c("external32", buf, 12, &at, out, 3, MPI_INT);
    CHECK(at == 12 && out[0] == 1 && out[1] == -2);
}

static void product(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    for (MPI_Count i = 0; i < *len; i++) {
        ((int *)inout)[i] *= ((int *)in)[i];
    }
}

static void reducing(void)
{
    MPI_Op op;
    int a[2] = {2, 3}, b[2] = {5, 7}, sum = 1, commutes = 0;
    MPI_Op_create_c(product, 1, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes);
    MPI_Reduce_local_c(a, b, 2, MPI_INT, op);
    CHECK(b[0] == 10 && b[1] == 21);
    a[0] = 2;
    MPI_Allreduce_c(a, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK_EQ(sum, 1 << size);
    MPI_Op_free(&op);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    MPI_Pcontrol(1);
}

/* 16-bit reals: 1 is 0x3c00, the sum of n ones is looked up. */
static void half_precision(void)
{
    static const uint16_t whole[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    uint16_t one = whole[1], sum = 0, pair[2] = {whole[1], whole[2]};
    MPI_Win win;
    if (size > 4) {
        return;
    }
    MPI_Allreduce(&one, &sum, 1, MPI_REAL2, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, whole[size]);
    MPI_Win_create(pair, sizeof pair, 2, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_REAL2, 0, 0, 1, MPI_REAL2, MPI_SUM, win);
    MPI_Accumulate((uint16_t[]){whole[1], 0}, 1, MPI_COMPLEX4, 0, 0, 1, MPI_COMPLEX4, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    CHECK_EQ(pair[0], whole[3]);
    CHECK_EQ(pair[1], whole[2]);
}

int main(void)
{
    static char space[1 << 16];
    void *was;
    int n;
    test_start(1);
    right = (me + 1) % size;
    left = (me + size - 1) % size;
    MPI_Buffer_attach(space, sizeof space);
    nobody();
    modes();
    persistent();
    matched();
    elements();
    setters();
    session_buffer();
    packing();
    reducing();
    half_precision();
    MPI_Buffer_detach(&was, &n);
    CHECK(was == (void *)space);
    MPI_Finalize();
    return 0;
}
