/* A library of the program that knows nothing of SHMEM. */
#include "library.h"

long library_first = 31;
long library_zeroed[1000];
static long hidden[10] = {41, 42};

long *library_hidden(void)
{
    return hidden;
}
