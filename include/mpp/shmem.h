/* The header's name from before OpenSHMEM; deprecated. */
#include <shmem.h>
