/* Errors that the Fortran interface itself finds. */
#ifndef HL_FORT_FAIL_H
#define HL_FORT_FAIL_H

/* Makes an error code of class `class` whose text is "func: why", calls the error handler of MPI_COMM_SELF
 * with it, as for all errors that belong to no communicator, window or file, and returns it. Before MPI is
 * initialized the text goes to stderr and the class is returned. Any thread. */
int hl_fort_fail(const char *func, int class, const char *why);

#endif
