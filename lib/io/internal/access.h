/* Inside the module: the two parts of an access: finding its place, and moving the data. */
#ifndef HL_IO_ACCESS_H
#define HL_IO_ACCESS_H

#include "io.h"

/* An access whose place is known. */
struct hl_io_job {
    struct hl_view *view; /* with a reference */
    int64_t at;           /* first byte in the view */
    int64_t bytes;        /* bytes in the file */
};

/* Number of etypes that the call moves. HL_ERR_CONVERSION: they have other sizes in the file, and the
 * representation has no function for this direction. Also errors of hl_view_etypes. */
int hl_io_etypes(const struct hl_view *v, const struct hl_io_call *c, int64_t *etypes);

/* HL_ERR_ARG when data of so many etypes cannot be at etype `at` of the view. */
int hl_io_check_place(const struct hl_view *v, int64_t at, int64_t etypes);

/* Finds the place that the call names, and moves its pointer on; the caller gives the view back. After an
 * error there is nothing to give back. */
int hl_io_plan(struct hl_file *f, const struct hl_io_call *c, struct hl_io_job *j);

/* Moves the data; in atomic mode under a lock of their range. *bytes as in hl_file_move. */
int hl_io_run(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes);

/* hl_io_run for data that have another form in the file than in memory. */
int hl_io_convert(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes);

#endif
