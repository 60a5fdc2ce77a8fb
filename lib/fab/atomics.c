/* Which atomics the provider does, and libfabric's numbers for them. */
#include "fab_lib.h"

#include "util.h"

#include <rdma/fi_atomic.h>
#include <string.h>

/* Both tables are written once, before the first use. */
static uint32_t limits[HL_FAB_ATOMICS][HL_OP_KINDS][HL_BASICS]; /* elements per call; 0: not done */
static bool known[HL_FAB_ATOMICS][HL_OP_KINDS][HL_BASICS];      /* what hl_fab_knows_atomic answers */

/* The table has only types that software providers update by one CPU instruction or compare-and-swap
 * loop of the element's size, so that near peers and the receive thread (hl_near_acc) may update the
 * same elements. */
int hl_fab_datatype(enum hl_basic basic)
{
    switch (basic) {
    case HL_BASIC_I8:
        return FI_INT8;
    case HL_BASIC_I16:
        return FI_INT16;
    case HL_BASIC_I32:
        return FI_INT32;
    case HL_BASIC_WCHAR:
        return _Generic((wchar_t)0, int32_t : FI_INT32, default : FI_UINT32);
    case HL_BASIC_I64:
        return FI_INT64;
    case HL_BASIC_BYTE:
    case HL_BASIC_BOOL:
    case HL_BASIC_U8:
        return FI_UINT8;
    case HL_BASIC_U16:
        return FI_UINT16;
    case HL_BASIC_U32:
        return FI_UINT32;
    case HL_BASIC_U64:
        return FI_UINT64;
    case HL_BASIC_F32:
        return FI_FLOAT;
    case HL_BASIC_F64:
        return FI_DOUBLE;
    default:
        return -1;
    }
}

int hl_fab_op(enum hl_op_kind op, bool compare)
{
    static const signed char names[HL_OP_KINDS] = {
        [HL_OP_SUM] = FI_SUM,
        [HL_OP_PROD] = FI_PROD,
        [HL_OP_MIN] = FI_MIN,
        [HL_OP_MAX] = FI_MAX,
        [HL_OP_BAND] = FI_BAND,
        [HL_OP_BOR] = FI_BOR,
        [HL_OP_BXOR] = FI_BXOR,
        [HL_OP_LAND] = FI_LAND,
        [HL_OP_LOR] = FI_LOR,
        [HL_OP_LXOR] = FI_LXOR,
        [HL_OP_MINLOC] = -1,
        [HL_OP_MAXLOC] = -1,
        [HL_OP_REPLACE] = FI_ATOMIC_WRITE,
        [HL_OP_NO_OP] = FI_ATOMIC_READ,
    };
    return compare ? FI_CSWAP : names[op];
}

/* True when MPI defines the operation for the type. */
static bool has_op(enum hl_op_kind op, enum hl_basic basic)
{
    return op == HL_OP_REPLACE || op == HL_OP_NO_OP || hl_op_kernel(op, basic) != NULL;
}

static bool is_sensible_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic)
{
    bool sense = how == HL_FAB_COMPARE ? op == HL_OP_REPLACE : how == HL_FAB_FETCH || op != HL_OP_NO_OP;
    return hl_fab_datatype(basic) >= 0 && hl_fab_op(op, how == HL_FAB_COMPARE) >= 0 && sense &&
           has_op(op, basic);
}

static uint32_t query_atomic(struct fid_domain *domain, enum hl_fab_atomic how, enum hl_op_kind op,
                             enum hl_basic basic)
{
    static const uint64_t flags[HL_FAB_ATOMICS] = {0, FI_FETCH_ATOMIC, FI_COMPARE_ATOMIC};
    struct fi_atomic_attr attr = {0};
    int rc = fi_query_atomic(domain, (enum fi_datatype)hl_fab_datatype(basic),
                             (enum fi_op)hl_fab_op(op, how == HL_FAB_COMPARE), &attr, flags[how]);
    if (rc != 0 || attr.size != hl_op_size(basic)) {
        return 0;
    }
    return (uint32_t)hl_min_size(attr.count, UINT32_MAX);
}

void hl_fab_atomics_load(struct fid_domain *domain)
{
    bool has = hl_fab.row->atomics && (hl_fab_info->caps & FI_ATOMIC) != 0;
    for (int how = 0; how < HL_FAB_ATOMICS; how++) {
        for (int op = 0; op < HL_OP_KINDS; op++) {
            for (int basic = 0; basic < HL_BASICS; basic++) {
                enum hl_fab_atomic h = (enum hl_fab_atomic)how;
                known[how][op][basic] = is_sensible_atomic(h, (enum hl_op_kind)op, (enum hl_basic)basic);
                limits[how][op][basic] =
                    has && known[how][op][basic]
                        ? query_atomic(domain, h, (enum hl_op_kind)op, (enum hl_basic)basic)
                        : 0;
            }
        }
    }
    static const uint64_t no_key[2];
    hl_fab.atomic_hash = hl_siphash(no_key, limits, sizeof limits);
}

bool hl_fab_can_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic)
{
    return hl_fab_atomic_limit(how, op, basic) != 0;
}

size_t hl_fab_atomic_limit(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic)
{
    return basic < HL_BASICS ? limits[how][op][basic] : 0;
}

bool hl_fab_knows_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic)
{
    return basic < HL_BASICS && known[how][op][basic];
}
