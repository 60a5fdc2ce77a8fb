/* The header's name in Cray's and Sandia's libraries. */
#include <shmemx.h>
