/* What a program's user may ask to see at start: version and variables. */
#ifndef HL_SHMEM_SHOW_H
#define HL_SHMEM_SHOW_H

/* SHMEM_VERSION, SHMEM_INFO, SHMEM_ENV_DISPLAY: to standard error, by PE 0. */
void hl_shmem_show(void);

#endif
