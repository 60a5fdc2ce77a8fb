/* What test programs of files share: the file's name, and checks of what a call returns. */
#ifndef IO_TEST_H
#define IO_TEST_H

#include "mpi_test.h"

#include <unistd.h>

static char name[256];

/* Starts MPI and names a file that no other job has. */
static inline void io_start(const char *what)
{
    test_start(1);
    const char *folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/hotlane-%s-%d", folder != NULL ? folder : "/tmp", what, (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline int class_of(int code)
{
    int class_ = -1;
    MPI_Error_class(code, &class_);
    return class_;
}
#define CHECK_CLASS(call, class_) CHECK_EQ(class_of(call), class_)
#define OK(call) CHECK_CLASS(call, MPI_SUCCESS)

#endif
