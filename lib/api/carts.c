/* Cartesian topologies. */
#include "api.h"
#include "args.h"
#include "coll.h"
#include "shape.h"
#include "topo_args.h"

int hl_api_first_ranks(struct hl_comm *c, int wrong, int64_t cells, struct hl_comm **made)
{
    if (wrong != 0) {
        hl_coll_comm_refuse(c, wrong);
        return wrong;
    }
    return hl_coll_comm_split(c, c->rank < cells ? 0 : MPI_UNDEFINED, c->rank, made);
}

int hl_api_get_shape(MPI_Comm comm, int kind, struct hl_comm **c, const struct hl_shape **shape)
{
    static const char *const names[] = {"Cartesian", "graph", "distributed graph"};
    int err = hl_api_get_comm(comm, c);

    *shape = NULL;
    if (err == 0 && ((*c)->shape == NULL || (*c)->shape->kind != kind)) {
        const char *name = names[kind == MPI_CART ? 0 : kind == MPI_GRAPH ? 1 : 2];
        return hl_err_say(HL_ERR_TOPOLOGY, "the communicator has no %s topology", name);
    }
    if (err == 0) {
        *shape = (*c)->shape;
    }
    return err;
}

int hl_api_check_most(int n, const char *what)
{
    return HL_CHECKS && n < 0 ? hl_err_say(HL_ERR_ARG, "%s, %d, is negative", what, n) : 0;
}

/* Checks that the grid fits into the communicator. */
static int check_grid(const struct hl_comm *c, int ndims, const int *dims, const int *periods)
{
    int err = hl_api_check_intra(c);

    if (err == 0 && ndims < 0) {
        return hl_err_say(HL_ERR_DIMS, "ndims, %d, is negative", ndims);
    }
    if (err == 0 && ndims > 0) {
        err = hl_api_check_out(dims, "dims");
        err = err == 0 ? hl_api_check_out(periods, "periods") : err;
    }
    for (int i = 0; i < ndims && err == 0; i++) {
        if (dims[i] <= 0) {
            err = hl_err_say(HL_ERR_DIMS, "dims[%d] is %d, at least 1 is needed", i, dims[i]);
        }
    }
    if (err == 0 && hl_shape_cells(ndims, dims) > c->size) {
        err =
            hl_err_say(HL_ERR_DIMS, "the grid has more places than the communicator has ranks (%d)", c->size);
    }
    return err;
}

HL_API(MPI_Cart_create);
int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                     MPI_Comm *comm_cart)
{
    struct hl_comm *c, *made = NULL;
    struct hl_shape *shape = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm_old, &c));

    (void)reorder;
    if (err == 0) {
        int wrong = check_grid(c, ndims, dims, periods);
        int64_t cells = wrong == 0 ? hl_shape_cells(ndims, dims) : 0;
        wrong = wrong == 0 ? hl_api_check_out(comm_cart, "comm_cart") : wrong;
        if (wrong == 0 && c->rank < cells) {
            wrong = hl_shape_make_cart(ndims, dims, periods, c->rank, &shape);
        }
        err = hl_api_first_ranks(c, wrong, cells, &made);
    }
    return hl_api_give_shaped(c, "MPI_Cart_create", err, made, shape, comm_cart);
}

int hl_api_give_shaped(struct hl_comm *parent, const char *func, int err, struct hl_comm *made,
                       struct hl_shape *shape, MPI_Comm *newcomm)
{
    if (err != 0) {
        hl_shape_unref(shape);
    } else if (made != NULL) {
        made->shape = shape;
    }
    return hl_api_leave_made(parent, func, err, made, newcomm);
}

HL_API(MPI_Cart_sub);
int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct hl_comm *c, *made = NULL;
    const struct hl_shape *cart;
    struct hl_shape *part = NULL;
    int color = 0, key = 0, err = hl_api_enter(hl_api_get_shape(comm, MPI_CART, &c, &cart));

    if (err == 0) {
        int wrong = cart->ndims > 0 ? hl_api_check_out(remain_dims, "remain_dims") : 0;
        wrong = wrong == 0 ? hl_api_check_out(newcomm, "newcomm") : wrong;
        wrong = wrong == 0 ? hl_shape_make_sub(cart, remain_dims, &part) : wrong;
        for (int i = 0; i < cart->ndims && wrong == 0; i++) {
            int *number = remain_dims[i] ? &key : &color;
            *number = *number * cart->dims[i] + cart->coords[i];
        }
        if (wrong != 0) {
            hl_coll_comm_refuse(c, wrong);
        }
        err = wrong != 0 ? wrong : hl_coll_comm_split(c, color, key, &made);
    }
    return hl_api_give_shaped(c, "MPI_Cart_sub", err, made, part, newcomm);
}

HL_API(MPI_Cart_map);
int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? check_grid(c, ndims, dims, periods) : err;
    err = err == 0 ? hl_api_check_out(newrank, "newrank") : err;
    if (err == 0) {
        *newrank = c->rank < hl_shape_cells(ndims, dims) ? c->rank : MPI_UNDEFINED;
    }
    return hl_api_leave(c, "MPI_Cart_map", err);
}

HL_CALL_SHAPE(MPI_Cartdim_get, (MPI_Comm comm, int *ndims), MPI_CART, 0,
              hl_api_give(ndims, "ndims", s->ndims))

HL_API(MPI_Cart_get);
int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    struct hl_comm *c;
    const struct hl_shape *cart;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_CART, &c, &cart));

    err = err == 0 ? hl_api_check_most(maxdims, "maxdims") : err;
    err = err == 0 ? hl_api_check_list(maxdims, dims, "dims") : err;
    err = err == 0 ? hl_api_check_list(maxdims, periods, "periods") : err;
    err = err == 0 ? hl_api_check_list(maxdims, coords, "coords") : err;
    for (int i = 0; err == 0 && i < maxdims && i < cart->ndims; i++) {
        dims[i] = cart->dims[i];
        periods[i] = cart->periods[i];
        coords[i] = cart->coords[i];
    }
    return hl_api_leave(c, "MPI_Cart_get", err);
}

static HL_COLD int say_outside(const struct hl_shape *cart, const int *coords)
{
    int i = 0;

    while (i < cart->ndims - 1 && (cart->periods[i] != 0 || (coords[i] >= 0 && coords[i] < cart->dims[i]))) {
        i++;
    }
    return hl_err_say(HL_ERR_ARG, "coords[%d] is %d: this dimension has places 0 to %d and is not periodic",
                      i, coords[i], cart->dims[i] - 1);
}

HL_API(MPI_Cart_rank);
int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    struct hl_comm *c;
    const struct hl_shape *cart;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_CART, &c, &cart));

    err = err == 0 && cart->ndims > 0 ? hl_api_check_out(coords, "coords") : err;
    err = err == 0 ? hl_api_check_out(rank, "rank") : err;
    if (err == 0) {
        int found = hl_shape_rank(cart, coords);
        if (found >= 0) {
            *rank = found;
        } else {
            err = say_outside(cart, coords);
        }
    }
    return hl_api_leave(c, "MPI_Cart_rank", err);
}

HL_API(MPI_Cart_coords);
int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct hl_comm *c;
    const struct hl_shape *cart;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_CART, &c, &cart));

    err = err == 0 ? hl_api_check_member(c, rank) : err;
    err = err == 0 ? hl_api_check_most(maxdims, "maxdims") : err;
    err = err == 0 ? hl_api_check_list(maxdims, coords, "coords") : err;
    if (err == 0) {
        hl_shape_coords(cart, rank, maxdims, coords);
    }
    return hl_api_leave(c, "MPI_Cart_coords", err);
}

HL_API(MPI_Cart_shift);
int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    struct hl_comm *c;
    const struct hl_shape *cart;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_CART, &c, &cart));

    if (err == 0 && (direction < 0 || direction >= cart->ndims)) {
        err = hl_err_say(HL_ERR_ARG, "direction %d: the grid has %d dimension%s, counted from 0", direction,
                         cart->ndims, hl_plural(cart->ndims));
    }
    err = err == 0 ? hl_api_check_out(rank_source, "rank_source") : err;
    err = err == 0 ? hl_api_check_out(rank_dest, "rank_dest") : err;
    if (err == 0) {
        *rank_source = hl_shape_step(cart, direction, -(int64_t)disp);
        *rank_dest = hl_shape_step(cart, direction, disp);
    }
    return hl_api_leave(c, "MPI_Cart_shift", err);
}

HL_API(MPI_Dims_create);
int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    int err = hl_api_enter(ndims < 0 ? hl_err_say(HL_ERR_DIMS, "ndims, %d, is negative", ndims) : 0);

    err = err == 0 && ndims > 0 ? hl_api_check_out(dims, "dims") : err;
    err = err == 0 ? hl_shape_balance(nnodes, ndims, dims) : err;
    return hl_api_leave(NULL, "MPI_Dims_create", err);
}

HL_CALL_COMM(MPI_Topo_test, (MPI_Comm comm, int *status), 0,
             hl_api_give(status, "status", c->shape != NULL ? c->shape->kind : MPI_UNDEFINED))
