/* Providers whose hardware is not here, as libfabric's sources describe them (prov/cxi, prov/opx, prov/efa,
 * prov/verbs with ofi_rxm, prov/psm3, prov/tcp): what fi_getinfo returns for the hints that Hotlane gives,
 * and how their queues and registrations behave. Part of test_lane_models.c. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "model.h"

#define MODEL_BASIC (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

struct model_provider {
    const char *name;
    const char *what;   /* of it: a build, a version, a lack */
    uint32_t libfabric; /* its version, 0: 1.17 */
    uint64_t mr_mode;
    size_t key_size;
    size_t inject, most; /* bytes of an injection, of a message */
    size_t endpoints;
    size_t lanes; /* of a rank that may use 272 CPUs and whose user asks for nothing */
    enum model_wait waits;
    bool atomics;
    uint64_t mode;       /* of the endpoint: FI_CONTEXT2 ... */
    int domain_error;    /* of fi_domain, 0: none */
    const char *refused; /* words of the reason, NULL: it serves */
};

static const struct model_provider model_providers[] = {
    /* Offsets, keys of its own, registrations bound to the endpoint; C_MAX_IDC_PAYLOAD_UNR bytes of
       injection. */
    {.name = "cxi",
     .what = "under a launcher with VNIs",
     .mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT,
     .key_size = 8,
     .inject = 192,
     .most = (size_t)1 << 30,
     .endpoints = 128,
     .lanes = 64,
     .waits = MODEL_WAIT,
     .atomics = true},
    {.name = "cxi",
     .what = "with pages on demand",
     .mr_mode = FI_MR_PROV_KEY | FI_MR_ENDPOINT,
     .key_size = 8,
     .inject = 192,
     .most = (size_t)1 << 30,
     .endpoints = 128,
     .lanes = 64,
     .waits = MODEL_WAIT,
     .atomics = true},
    /* SLINGSHOT_VNIS is not set: the default service may not be used, and no domain opens. */
    {.name = "cxi",
     .what = "under a launcher without VNIs",
     .mr_mode = FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT,
     .key_size = 8,
     .inject = 192,
     .most = (size_t)1 << 30,
     .endpoints = 128,
     .waits = MODEL_WAIT,
     .domain_error = FI_ENOSYS,
     .refused = "SLINGSHOT_VNIS"},
    /* What was hinted and it knows; a packet's immediate bytes; no wait objects; few contexts of the card. */
    {.name = "opx",
     .what = "2.x",
     .mr_mode = MODEL_BASIC,
     .key_size = 8,
     .inject = 16,
     .most = SIZE_MAX,
     .endpoints = 40,
     .lanes = 4,
     .atomics = true,
     .mode = FI_CONTEXT2},
    /* As it was configured, whatever is hinted, but for the addresses. */
    {.name = "opx",
     .what = "1.17",
     .mr_mode = FI_MR_SCALABLE | FI_MR_VIRT_ADDR,
     .key_size = 8,
     .inject = 16,
     .most = SIZE_MAX,
     .endpoints = 40,
     .lanes = 4,
     .atomics = true,
     .mode = FI_CONTEXT2},
    {.name = "opx",
     .what = "1.17, built for memory of devices",
     .mr_mode = FI_MR_SCALABLE | FI_MR_VIRT_ADDR | FI_MR_HMEM,
     .key_size = 8,
     .inject = 16,
     .most = SIZE_MAX,
     .endpoints = 40,
     .lanes = 4,
     .atomics = true,
     .mode = FI_CONTEXT2},
    {.name = "efa",
     .what = "up to 2.1: without a queue's descriptor",
     .mr_mode = MODEL_BASIC,
     .key_size = 4,
     .inject = 0,
     .most = SIZE_MAX,
     .endpoints = 256,
     .lanes = 16,
     .atomics = true},
    {.name = "efa",
     .what = "beside CUDA",
     .mr_mode = MODEL_BASIC | FI_MR_HMEM,
     .key_size = 4,
     .inject = 4096 - 400,
     .most = SIZE_MAX,
     .endpoints = 256,
     .lanes = 16,
     .waits = MODEL_WAIT,
     .atomics = true},
    {.name = "efa",
     .what = "with zero-copy receives",
     .mr_mode = MODEL_BASIC | FI_MR_LOCAL,
     .key_size = 4,
     .most = 8192,
     .endpoints = 256,
     .refused = "FI_MR_LOCAL"},
    {.name = "verbs;ofi_rxm",
     .what = "of soft RoCE",
     .mr_mode = MODEL_BASIC,
     .key_size = 4,
     .inject = 16384,
     .most = (size_t)8 << 20,
     .endpoints = 1024,
     .lanes = 16,
     .waits = MODEL_WAIT,
     .atomics = true},
    {.name = "psm3",
     .what = "over Ethernet",
     .key_size = 8,
     .inject = 64,
     .most = (size_t)1 << 30,
     .endpoints = 64,
     .lanes = 16,
     .waits = MODEL_WAIT_LIES,
     .atomics = true},
    {.name = "tcp",
     .what = "2.x",
     .libfabric = FI_VERSION(2, 0),
     .key_size = 8,
     .inject = 128,
     .most = SIZE_MAX,
     .endpoints = 256,
     .lanes = 64,
     .waits = MODEL_WAIT},
    {.name = "some-other",
     .what = "with a mode that nobody knows",
     .mr_mode = FI_MR_COLLECTIVE,
     .key_size = 8,
     .endpoints = 64,
     .most = SIZE_MAX,
     .refused = "memory registration mode"},
    {.name = "some-other",
     .what = "with room for a prefix",
     .key_size = 8,
     .endpoints = 64,
     .most = SIZE_MAX,
     .mode = FI_MSG_PREFIX,
     .refused = "unknown mode"},
    {.name = "shm",
     .what = "of one node",
     .mr_mode = FI_MR_VIRT_ADDR,
     .key_size = 8,
     .most = SIZE_MAX,
     .refused = "one node"},
};

#endif
