/* Network cards that are there and not used, and why. */
#ifndef HL_NIC_H
#define HL_NIC_H

#include <stdbool.h>
#include <stddef.h>

struct hl_nic {
    char name[64];  /* the kernel's name of it */
    bool active;    /* one of its ports is active, or the kernel lists no ports */
    bool by_choice; /* a variable has named another provider */
    char why[500];  /* in words, after "PROVIDER is taken, and not the card NAME" */
    char fix[300];  /* a command */
};

/* Fills `out` with a card and why it is not used. Returns false when the chosen provider uses cards,
 * or there is no card. `root`: "", or a folder under which the kernel's files lie. After hl_fab_open.
 * One thread at a time. */
bool hl_nic_unused(const char *root, struct hl_nic *out);

/* Writes the warning for a job that does not use its card. Returns false when there is no such card, it has
 * no active port, or the user has chosen so. */
bool hl_nic_warning(const char *root, char *text, size_t cap);

/* True when there are RDMA devices. */
bool hl_nic_is_there(void);

/* True when there are RDMA devices, and all of them are emulated by the kernel (soft RoCE). */
bool hl_nic_is_emulated(void);

#endif
