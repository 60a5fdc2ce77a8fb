/* What the user of a program may ask to see at start: version and variables. */
#ifndef HL_SHMEM_SHOW_H
#define HL_SHMEM_SHOW_H

/* Prints what SHMEM_VERSION, SHMEM_INFO and SHMEM_ENV_DISPLAY ask for, on PE 0, to standard error. */
void hl_shmem_show(void);

#endif
