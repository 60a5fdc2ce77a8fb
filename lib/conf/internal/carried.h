/* THE table of variables of other libraries, which users carry along in their scripts, and of their effect
 * here. A row makes the line at start-up, a part of --env and of docs/ENVIRONMENT.md.
 *
 *   X("NAME", FATE, "LAUNCHER", "words")
 *
 *   NAME       a name, or a family: PREFIX* or *SUFFIX. The first row that fits counts.
 *   FATE       HONOURED   it has its effect; words: by whom
 *              SAME       another name of our variable `words`, used where that one is not set
 *              NEEDLESS   it asks for something that is always so; words: what
 *              NONE       it has no effect; words: what to set instead, or nothing
 *              QUIET      no wish for this job (a place, a compiler, set by a launcher); never told
 *   LAUNCHER   a variable that is set by the launcher which also sets this family. When it is set, no line
 *              tells of the family, since nobody knows what the user has set ("": only users set it) */
#ifndef HL_CARRIED_H
#define HL_CARRIED_H

#define HL_CARRIED_VARS(X)                                                                                   \
    X("*_DIR", QUIET, "", "a place")                                                                         \
    X("*_HOME", QUIET, "", "a place")                                                                        \
    X("*_ROOT", QUIET, "", "a place")                                                                        \
    X("*_PATH", QUIET, "", "a place")                                                                        \
    X("*_PREFIX", QUIET, "", "a place")                                                                      \
    X("*_CC", QUIET, "", "a compiler")                                                                       \
    X("*_CXX", QUIET, "", "a compiler")                                                                      \
    X("*_FC", QUIET, "", "a compiler")                                                                       \
    X("*_F77", QUIET, "", "a compiler")                                                                      \
    X("*_F90", QUIET, "", "a compiler")                                                                      \
    X("MPIR_CVAR_CH3_INTERFACE_HOSTNAME", QUIET, "", "set by Hydra")                                         \
    X("OMPI_MCA_ess*", QUIET, "", "set by Open MPI's launcher")                                              \
    X("OMPI_MCA_orte_*", QUIET, "", "set by Open MPI's launcher, Slurm and Flux")                            \
    X("OMPI_MCA_plm*", QUIET, "", "read by Open MPI's launcher")                                             \
    X("OMPI_MCA_pmix*", QUIET, "", "set by Open MPI's launcher and Flux")                                    \
    X("OMPI_MCA_schizo*", QUIET, "", "set by Flux")                                                          \
    X("MPICH_MAX_THREAD_SAFETY", HONOURED, "", "by MPI_Init_thread")                                         \
    X("MPICH_RANK_REORDER_METHOD", HONOURED, "", "by mpiexec of this library with --bind-to only: 0, 1, 2")  \
    X("FI_*", HONOURED, "", "by libfabric")                                                                  \
    X("XT_SYMMETRIC_HEAP_SIZE", SAME, "", "SHMEM_SYMMETRIC_SIZE")                                            \
    X("SHMEM_SYMMETRIC_HEAP_SIZE", SAME, "", "SHMEM_SYMMETRIC_SIZE")                                         \
    X("MPICH_ASYNC_PROGRESS", NEEDLESS, "", HL_CARRIED_PROGRESS)                                             \
    X("MPICH_NEMESIS_ASYNC_PROGRESS", NEEDLESS, "", HL_CARRIED_PROGRESS)                                     \
    X("MPIR_CVAR_ASYNC_PROGRESS", NEEDLESS, "", HL_CARRIED_PROGRESS)                                         \
    X("I_MPI_ASYNC_PROGRESS", NEEDLESS, "I_MPI_HYDRA_UUID", HL_CARRIED_PROGRESS)                             \
    X("MPICH_RMA_*", NEEDLESS, "", "one-sided calls take the direct way wherever there is one")              \
    X("SHMEM_SYMMETRIC_HEAP_*", NONE, "", "SHMEM_SYMMETRIC_PARTITION1 says size and pages")                  \
    X("SHMEM_OFI_PROVIDER", NONE, "", HL_CARRIED_PROVIDER)                                                   \
    X("SHMEM_OFI_USE_PROVIDER", NONE, "", HL_CARRIED_PROVIDER)                                               \
    X("SMA_OFI_PROVIDER", NONE, "", HL_CARRIED_PROVIDER)                                                     \
    X("MPIR_CVAR_OFI_USE_PROVIDER", NONE, "", HL_CARRIED_PROVIDER)                                           \
    X("I_MPI_OFI_PROVIDER", NONE, "I_MPI_HYDRA_UUID", HL_CARRIED_PROVIDER)                                   \
    X("OMPI_MCA_mtl_ofi_provider_include", NONE, "OMPI_COMM_WORLD_SIZE", HL_CARRIED_PROVIDER)                \
    X("OMPI_MCA_btl_tcp_if_include", NONE, "OMPI_COMM_WORLD_SIZE", "FI_TCP_IFACE chooses, for libfabric")    \
    X("MPIR_CVAR_NOLOCAL", NONE, "", HL_CARRIED_NEAR)                                                        \
    X("I_MPI_FABRICS", NONE, "I_MPI_HYDRA_UUID", HL_CARRIED_FABRICS)                                         \
    X("MPIR_CVAR_CH4_NUM_VCIS", NONE, "", "HOTLANE_LANES sets the number of lanes")                          \
    X("I_MPI_THREAD_SPLIT", NEEDLESS, "I_MPI_HYDRA_UUID", "threads have lanes")                              \
    X("MPIR_CVAR_DEBUG_SUMMARY", NONE, "", HL_CARRIED_LOG)                                                   \
    X("I_MPI_DEBUG", NONE, "I_MPI_HYDRA_UUID", HL_CARRIED_LOG)                                               \
    X("I_MPI_STATS", NONE, "I_MPI_HYDRA_UUID", "HOTLANE_STATS=1 shows counters")                             \
    X("I_MPI_HBW_POLICY", NONE, "I_MPI_HYDRA_UUID", "MPICH_ALLOC_MEM_AFFINITY and _POLICY choose")           \
    X("I_MPI_PIN*", NONE, "I_MPI_HYDRA_UUID", "mpiexec --bind-to places ranks")                              \
    X("UCX_*", NONE, "", "the network is libfabric's")                                                       \
    X("I_MPI_*", NONE, "I_MPI_HYDRA_UUID", "")                                                               \
    X("MPICH_*", NONE, "", "")                                                                               \
    X("MPIR_CVAR_*", NONE, "", "")                                                                           \
    X("MV2_*", NONE, "", "")                                                                                 \
    X("OMPI_MCA_*", NONE, "OMPI_COMM_WORLD_SIZE", "")                                                        \
    X("SHMEM_*", NONE, "", "")                                                                               \
    X("SMA_*", NONE, "", "")

#define HL_CARRIED_PROGRESS "one-sided operations need no calls of their target"
#define HL_CARRIED_PROVIDER "HOTLANE_PROVIDER chooses"
#define HL_CARRIED_NEAR "HOTLANE_NEAR=0 has ranks of a node use the network"
#define HL_CARRIED_FABRICS                                                                                   \
    "as by shm:ofi, ranks of a node share memory and others use the network (HOTLANE_NEAR=0: all use it, "   \
    "as by ofi)"
#define HL_CARRIED_LOG "HOTLANE_LOG=info tells what was chosen"

#endif
