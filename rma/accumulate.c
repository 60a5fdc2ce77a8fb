/* Entry points of the accumulate family: the short way, else handles are resolved and acc.c or cas.c does the
 * rest. */
#include "fast.h"

#include "api.h"
#include "err.h"

/* An accumulate to `target`, still without window and types. */
static struct hl_acc acc_of(const void *origin, int64_t origin_count, int target, int64_t disp,
                            int64_t target_count, MPI_Op op)
{
    return (struct hl_acc){.m = {.origin = (char *)(uintptr_t)origin,
                                 .origin_count = origin_count,
                                 .target = target,
                                 .disp = disp,
                                 .target_count = target_count,
                                 .dir = HL_PUT},
                           .op = hl_win_op(op)};
}

/* Makes `a` fetch the old elements into `result`. */
static struct hl_acc fetch_of(struct hl_acc a, void *result, int64_t result_count)
{
    a.result = result;
    a.result_count = result_count;
    a.fetches = true;
    return a;
}

/* types[]: the handles of origin, target, result. */
static void set_types(struct hl_acc *a, const MPI_Datatype types[3])
{
    a->m.origin_type = hl_win_type(HL_ARG_ORIGIN, types[0]);
    a->m.target_type = hl_win_type(HL_ARG_TARGET, types[1]);
    a->result_type = a->fetches ? hl_win_type(HL_ARG_RESULT, types[2]) : NULL;
}

static int start_accumulate(struct hl_acc *a, const MPI_Datatype types[3], MPI_Win win, MPI_Request *request,
                            const char *func)
{
    struct hl_req *r;
    a->m.win = hl_win_of(win);
    set_types(a, types);
    int rc = !hl_is_address(request) ? hl_win_null("request") : hl_win_request_begin(&a->m, &r);
    if (rc == 0) {
        rc = hl_win_acc(a);
        hl_win_request_end(&a->m, rc);
    }
    if (rc == 0) {
        *request = hl_req_handle(r);
    }
    return hl_win_end(win, func, rc);
}

void hl_win_end_rows(struct hl_win *w)
{
    for (int i = 0; i < w->n_near; i++) {
        hl_near_end_rows(&hl_target_ctl(&w->targets[w->near_ranks[i]])->acc);
    }
    hl_a8_store_release(&w->singles, 1); /* release: rows have ended; pairs with the acquires in hl_word_at
                                          * and hl_word_apart. */
}

/* Does an accumulate at once where a block of one predefined type on every side meets a mapped target; else
 * takes the long way. a's window and types are not set yet. */
static HL_NOINLINE int accumulate_near(struct hl_acc *a, const MPI_Datatype types[3], MPI_Win win,
                                       const char *func)
{
    struct hl_win *w = a->m.win = hl_win_of(win);
    uintptr_t type = (uintptr_t)types[1];
    struct hl_target_addr s = {0};
    bool simple =
        w != NULL && (uint32_t)a->m.target < (uint32_t)w->size && type < HL_TYPE_PREDEFINED_END &&
        types[0] == types[1] && a->op != HL_OP_KINDS && (a->fetches || a->op != HL_OP_NO_OP) &&
        a->m.origin != NULL && a->m.origin_count == a->m.target_count &&
        (!a->fetches || (a->result != NULL && types[2] == types[1] && a->result_count == a->m.target_count));
    if (HL_LIKELY(simple &&
                  hl_is_open_apart(w, a->m.target, a->m.disp, a->m.target_count, &hl_type_dense[type], &s) &&
                  s.len != 0 && hl_target_addr_is_mapped(&s))) {
        return hl_win_end(win, func,
                          hl_near_acc(a->op, hl_type_predefined[type - 0x200].basic,
                                      (char *)(uintptr_t)s.where, a->m.origin, a->result,
                                      (size_t)a->m.target_count,
                                      &hl_target_ctl(&w->targets[a->m.target])->acc));
    }
    set_types(a, types);
    return hl_win_end(win, func, hl_win_acc(a));
}

/* The last three of an accumulate's nine arguments, passed by value on the stack. */
struct tail {
    MPI_Datatype target_type;
    MPI_Op op;
    MPI_Win win;
};

static HL_NOINLINE int accumulate_any(void *origin, int64_t origin_count, MPI_Datatype origin_type,
                                      int target, int64_t disp, int64_t target_count, struct tail tail)
{
    char *there;
    if (origin != NULL && origin_type == tail.target_type && origin_count == 1 && target_count == 1) {
        size_t bytes = hl_word_apart(tail.win, origin_type, target, disp, &there);
        if (hl_acc_word(origin, NULL, tail.op, bytes, there)) {
            return MPI_SUCCESS;
        }
    }
    struct hl_acc a = acc_of(origin, origin_count, target, disp, target_count, tail.op);
    return accumulate_near(&a, (MPI_Datatype[]){origin_type, tail.target_type, NULL}, tail.win,
                           "MPI_Accumulate");
}

static HL_NOINLINE int fetch_op_any(void *origin, void *result, MPI_Datatype type, int target, int64_t disp,
                                    MPI_Op op, MPI_Win win)
{
    char *there;
    if (origin != NULL && result != NULL) {
        size_t bytes = hl_word_apart(win, type, target, disp, &there);
        if (hl_acc_word(origin, result, op, bytes, there)) {
            return MPI_SUCCESS;
        }
    }
    const struct hl_type *t = hl_type_of(type);
    if (HL_CHECKS && t != NULL && !t->predefined) {
        return hl_win_end(
            win, "MPI_Fetch_and_op",
            hl_err_say(HL_ERR_TYPE, "the datatype is not predefined, and this call takes no other"));
    }
    struct hl_acc a = fetch_of(acc_of(origin, 1, target, disp, 1, op), result, 1);
    return accumulate_near(&a, (MPI_Datatype[]){type, type, type}, win, "MPI_Fetch_and_op");
}

static HL_NOINLINE int cas_any(void *origin, const void *compare, void *result, MPI_Datatype type, int target,
                               int64_t disp, MPI_Win win)
{
    char *there;
    if (origin != NULL && compare != NULL && result != NULL &&
        hl_word_apart(win, type, target, disp, &there) == 8 &&
        hl_near_cas_word(there, origin, compare, result)) {
        return MPI_SUCCESS;
    }
    struct hl_acc a = fetch_of(acc_of(origin, 1, target, disp, 1, MPI_REPLACE), result, 1);
    a.m.win = hl_win_of(win);
    a.m.origin_type = a.m.target_type = a.result_type = hl_win_type(HL_ARG_ORIGIN, type);
    return hl_win_end(win, "MPI_Compare_and_swap", hl_win_cas(&a, compare));
}

HL_API(MPI_Accumulate);
int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                    MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    struct tail tail = {target_datatype, op, win};
    char *there;
    if (HL_LIKELY(origin != NULL && origin_datatype == target_datatype && origin_count == 1 &&
                  target_count == 1)) {
        size_t bytes = hl_word_at(win, target_datatype, target_rank, target_disp, &there);
        if (HL_LIKELY(hl_acc_word(origin, NULL, op, bytes, there))) {
            return MPI_SUCCESS;
        }
    }
    return accumulate_any(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                          tail);
}

HL_API(MPI_Accumulate_c);
int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct hl_acc a = acc_of(origin_addr, origin_count, target_rank, target_disp, target_count, op);
    return accumulate_near(&a, (MPI_Datatype[]){origin_datatype, target_datatype, NULL}, win,
                           "MPI_Accumulate_c");
}

/* One row for each type of the counts. */
#define CALLS(X)                                                                                             \
    X(MPI_Raccumulate, MPI_Get_accumulate, MPI_Rget_accumulate, int)                                         \
    X(MPI_Raccumulate_c, MPI_Get_accumulate_c, MPI_Rget_accumulate_c, MPI_Count)
#define X(start, get, start_get, number)                                                                     \
    HL_API(start);                                                                                           \
    int P##start(const void *origin_addr, number origin_count, MPI_Datatype origin_datatype,                 \
                 int target_rank, MPI_Aint target_disp, number target_count, MPI_Datatype target_datatype,   \
                 MPI_Op op, MPI_Win win, MPI_Request *request)                                               \
    {                                                                                                        \
        struct hl_acc a = acc_of(origin_addr, origin_count, target_rank, target_disp, target_count, op);     \
        return start_accumulate(&a, (MPI_Datatype[]){origin_datatype, target_datatype, NULL}, win, request,  \
                                #start);                                                                     \
    }                                                                                                        \
    HL_API(get);                                                                                             \
    int P##get(const void *origin_addr, number origin_count, MPI_Datatype origin_datatype,                   \
               void *result_addr, number result_count, MPI_Datatype result_datatype, int target_rank,        \
               MPI_Aint target_disp, number target_count, MPI_Datatype target_datatype, MPI_Op op,           \
               MPI_Win win)                                                                                  \
    {                                                                                                        \
        struct hl_acc a =                                                                                    \
            fetch_of(acc_of(origin_addr, origin_count, target_rank, target_disp, target_count, op),          \
                     result_addr, result_count);                                                             \
        return accumulate_near(&a, (MPI_Datatype[]){origin_datatype, target_datatype, result_datatype}, win, \
                               #get);                                                                        \
    }                                                                                                        \
    HL_API(start_get);                                                                                       \
    int P##start_get(const void *origin_addr, number origin_count, MPI_Datatype origin_datatype,             \
                     void *result_addr, number result_count, MPI_Datatype result_datatype, int target_rank,  \
                     MPI_Aint target_disp, number target_count, MPI_Datatype target_datatype, MPI_Op op,     \
                     MPI_Win win, MPI_Request *request)                                                      \
    {                                                                                                        \
        struct hl_acc a =                                                                                    \
            fetch_of(acc_of(origin_addr, origin_count, target_rank, target_disp, target_count, op),          \
                     result_addr, result_count);                                                             \
        return start_accumulate(&a, (MPI_Datatype[]){origin_datatype, target_datatype, result_datatype},     \
                                win, request, #start_get);                                                   \
    }
/* Defines: MPI_Raccumulate MPI_Get_accumulate MPI_Rget_accumulate MPI_Raccumulate_c MPI_Get_accumulate_c
 * MPI_Rget_accumulate_c */
CALLS(X)
#undef X
#undef CALLS

HL_API(MPI_Fetch_and_op);
int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    char *there;
    if (HL_LIKELY(origin != NULL && result_addr != NULL)) {
        size_t bytes = hl_word_at(win, datatype, target_rank, target_disp, &there);
        if (HL_LIKELY(hl_acc_word(origin, result_addr, op, bytes, there))) {
            return MPI_SUCCESS;
        }
    }
    return fetch_op_any(origin, result_addr, datatype, target_rank, target_disp, op, win);
}

HL_API(MPI_Compare_and_swap);
int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    char *there;
    if (HL_LIKELY(origin != NULL && compare_addr != NULL && result_addr != NULL)) {
        size_t bytes = hl_word_at(win, datatype, target_rank, target_disp, &there);
        if (HL_LIKELY(bytes == 8 && hl_near_cas_word(there, origin, compare_addr, result_addr))) {
            return MPI_SUCCESS;
        }
    }
    return cas_any(origin, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}
