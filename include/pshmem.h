/* The names for profilers with all types and constants that they need (OpenSHMEM 1.6, section 10). */
#include <shmem.h>
