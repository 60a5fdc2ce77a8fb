/* Sends and receives of array sections (hotlane.h). The arguments are checked like those of a plain buffer;
 * then the section's layout replaces their count and type. */
#include "api.h"
#include "p2p_args.h"
#include "section.h"

/* Describes the section of a send. A blocking call has the description in its frame; with `lasts` it is a
 * datatype that the request references. */
static int describe_send(struct hl_section *room, const MPIX_Section *section, bool lasts, struct hl_send *s)
{
    const struct hl_type *t;
    int err = hl_section_begin(room, section, s->type, s->count, lasts, &t, &s->count);

    s->type = (struct hl_type *)(uintptr_t)t;
    return err;
}

static int describe_recv(struct hl_section *room, const MPIX_Section *section, bool lasts, struct hl_recv *r)
{
    const struct hl_type *t;
    int err = hl_section_begin(room, section, r->type, r->count, lasts, &t, &r->count);

    r->type = (struct hl_type *)(uintptr_t)t;
    return err;
}

static int send_section(const char *func, const struct hl_api_p2p *a, const MPIX_Section *section)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_section room;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(a, HL_SEND_STANDARD, &c, &s, &nobody);
    if (err != 0 || nobody || (err = describe_send(&room, section, false, &s)) != 0) {
        return hl_api_leave(c, func, err);
    }
    err = hl_match_send(&hl_match_self, &s);
    hl_section_end(&room);
    return hl_api_leave_waited(c, s.ctx, func, err);
}

static int recv_section(const char *func, const struct hl_api_p2p *a, const MPIX_Section *section,
                        MPI_Status *status)
{
    struct hl_comm *c;
    struct hl_recv r;
    struct hl_section room;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_recv(a, &c, &r, &nobody);
    if (err == 0 && nobody) {
        hl_api_nobody_status(status);
    }
    if (err != 0 || nobody || (err = describe_recv(&room, section, false, &r)) != 0) {
        return hl_api_leave(c, func, err);
    }
    err = hl_match_recv(&hl_match_self, &r, status);
    hl_section_end(&room);
    return hl_api_leave_waited(c, r.ctx, func, err);
}

static int start_section_send(const char *func, const struct hl_api_p2p *a, const MPIX_Section *section,
                              MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_send s;
    struct hl_req *r = hl_req_proc_null();
    struct hl_section room;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_send(a, HL_SEND_STANDARD, &c, &s, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0 && !nobody && (err = describe_send(&room, section, true, &s)) == 0) {
        err = hl_match_isend(&hl_match_self, &s, &r);
        hl_section_end(&room);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

static int start_section_recv(const char *func, const struct hl_api_p2p *a, const MPIX_Section *section,
                              MPI_Request *request)
{
    struct hl_comm *c;
    struct hl_recv v;
    struct hl_req *r = hl_req_proc_null();
    struct hl_section room;
    bool nobody = false;
    int err = hl_api_enter(0);

    err = hl_api_to_recv(a, &c, &v, &nobody);
    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0 && !nobody && (err = describe_recv(&room, section, true, &v)) == 0) {
        err = hl_match_irecv(&hl_match_self, &v, &r);
        hl_section_end(&room);
    }
    return hl_api_leave_started(c, func, err, r, request);
}

HL_API(MPIX_Send_section);
int PMPIX_Send_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int dest, int tag, MPI_Comm comm)
{
    return send_section("MPIX_Send_section", &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm},
                        section);
}

HL_API(MPIX_Recv_section);
int PMPIX_Recv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return recv_section("MPIX_Recv_section", &(struct hl_api_p2p){buf, count, datatype, source, tag, comm},
                        section, status);
}

HL_API(MPIX_Isend_section);
int PMPIX_Isend_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                        int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return start_section_send("MPIX_Isend_section",
                              &(struct hl_api_p2p){buf, count, datatype, dest, tag, comm}, section, request);
}

HL_API(MPIX_Irecv_section);
int PMPIX_Irecv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                        int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return start_section_recv("MPIX_Irecv_section",
                              &(struct hl_api_p2p){buf, count, datatype, source, tag, comm}, section,
                              request);
}
