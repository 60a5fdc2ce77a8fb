/* A network card that is there and not used, and why. */
#ifndef HL_NIC_H
#define HL_NIC_H

#include <stdbool.h>
#include <stddef.h>

struct hl_nic {
    char name[64];  /* the kernel's */
    bool active;    /* some port of it is, or ports are not told of */
    bool by_choice; /* a variable has named another network */
    char why[500];  /* in words, after "PROVIDER is taken, and not the card NAME" */
    char fix[300];  /* a command */
};

/* Why a card is not used, when the provider that was taken needs none; false: there is no card. `root`: "",
 * or a folder under which the kernel's files lie. After hl_fab_open. One thread. */
bool hl_nic_unused(const char *root, struct hl_nic *out);

/* The warning for a job that does without its card: false when there is none, it has no active port, or the
 * user has chosen so. */
bool hl_nic_warning(const char *root, char *text, size_t cap);

/* Are there RDMA devices? */
bool hl_nic_is_there(void);

/* Are there RDMA devices, and all of them emulated by the kernel (soft RoCE)? */
bool hl_nic_is_emulated(void);

#endif
