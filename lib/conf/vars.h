/* THE table of environment variables. A row makes the field, the parser's rule, --env and
 * docs/ENVIRONMENT.md.
 *
 *   X(field, kind, "NAME", "default", min, max, "choices", "help")
 *
 *   kind       BOOL    int 0 or 1: 1 0 yes no on off true false
 *              SWITCH  enum hl_conf_switch: the words of BOOL, or auto
 *              INT     int64_t; choices 2^n: powers of two (and 0, if that is the least)
 *              SIZE    uint64_t bytes, suffixes K M G T
 *              PAGE    uint64_t bytes: one of the words of `choices`, or its bytes as a number;
 *                      UINT64_MAX for auto, where that is the first word
 *              TEXT    const char *
 *              NODES   const char *: a list of memory nodes as in 8-15 or 1,3, or all, or nothing
 *              FLAG    int 0 or 1: any text is 1, except 0, no, off, false and an empty one
 *              HEAP    uint64_t bytes, written as OpenSHMEM says; UINT64_MAX: auto
 *              PARTS   a family of names, one for each number at the end (part.h)
 *              CHOICE  int: index into the words of `choices`, which are separated by '|'
 *   min, max   bounds of INT and SIZE; 0, 0 = none
 *
 * Rows of one topic stand together, topics from the lowest module up. */
#ifndef HL_VARS_H
#define HL_VARS_H

#define HL_VARS(X)                                                                                           \
    X(log, CHOICE, "HOTLANE_LOG", "warn", 0, 0, "error|warn|info|debug",                                     \
      "most talkative kind of line shown on standard error; info: what was found and chosen at the start; "  \
      "debug: each rank's place and what was dropped, too")                                                  \
    X(conf_file, TEXT, "HOTLANE_CONF", "default", 0, 0, "",                                                  \
      "file of NAME=value lines read before the environment; empty: none; default: etc/hotlane.conf under "  \
      "the prefix, then hotlane.conf in the user's configuration folder")                                    \
    X(env_notice, BOOL, "HOTLANE_ENV_NOTICE", "1", 0, 0, "",                                                 \
      "one line at the start about variables of other libraries that are set: what becomes of them here; "   \
      "0: no such line")                                                                                     \
    X(boot, CHOICE, "HOTLANE_BOOT", "auto", 0, 0, "auto|pmi1|pmix|self",                                     \
      "how the ranks of a job find each other; auto: by what the launcher offers")                           \
    X(near, TEXT, "HOTLANE_NEAR", "1", 0, 0, "1|0|none",                                                     \
      "1: ranks of one node share memory; 0: they use the network; none: a rank reaches itself by the "      \
      "network too")                                                                                         \
    X(cliques, INT, "HOTLANE_CLIQUES", "1", 1, 1048576, "",                                                  \
      "pretend that each node is this many nodes: splits the ranks that share memory into groups")           \
    X(provider, TEXT, "HOTLANE_PROVIDER", "", 0, 0, "",                                                      \
      "libfabric provider to use, as fi_info names it; empty: the best that can do what is needed")          \
    X(lanes, INT, "HOTLANE_LANES", "0", 0, 64, "",                                                           \
      "network endpoints of a rank that has threads (MPI_THREAD_MULTIPLE; else it has one); 0: one for "     \
      "each CPU the rank may use, at most 64, or 16 where the provider takes much for each (hotlane-info "   \
      "has it); fewer where ulimit -n is low")                                                               \
    X(rma_mode, CHOICE, "HOTLANE_RMA_MODE", "hot", 0, 0, "hot|global|enqueue",                               \
      "hot: threads issue one-sided operations in parallel; for comparison: global, one lock for the "       \
      "process around every call, and enqueue, one queue that one thread at a time empties; both use one "   \
      "lane")                                                                                                \
    X(cs, CHOICE, "HOTLANE_CS", "lockfree", 0, 0,                                                            \
      "lockfree|none|global|brief|object|object+atomic|object+tlp|object+tlp+atomic",                        \
      "critical sections, for comparison: none (at most MPI_THREAD_SERIALIZED), one lock around every call " \
      "or briefly around what is shared, or a lock for each object; tlp: request pools of the threads' "     \
      "own; "                                                                                                \
      "atomic: references counted without lock; lockfree: no sections at all")                               \
    X(cs_count, BOOL, "HOTLANE_CS_COUNT", "0", 0, 0, "",                                                     \
      "1: how often threads enter the critical sections of HOTLANE_CS, and how long they wait for them, is " \
      "counted (hotlane_counter tells it, as in cs_send_wait_ns), which costs some of the rate")             \
    X(max_threads, CHOICE, "MPICH_MAX_THREAD_SAFETY", "multiple", 0, 0,                                      \
      "single|funneled|serialized|multiple",                                                                 \
      "the highest thread level that MPI_Init_thread grants; where sessions or OpenSHMEM started first, "    \
      "theirs is in force")                                                                                  \
    X(chain, SIZE, "HOTLANE_CHAIN", "auto", 0, 65536, "auto",                                                \
      "largest put or get that travels with others in one message to its target (atomics of any size do "    \
      "too); 0: each operation by itself; auto: 4K on providers without a NIC, else 0")                      \
    X(peer_timeout, INT, "HOTLANE_PEER_TIMEOUT", "60", 0, 86400, "",                                         \
      "seconds of silence after which a host and its ranks count as dead (also a rank that takes nothing "   \
      "from the network); 0: never. Deaths that the launcher or the host reports count at once; a process "  \
      "that is stopped (a debugger, Ctrl-Z) on a host that answers is waited for")                           \
    X(small, SWITCH, "HOTLANE_SMALL", "auto", 0, 0, "",                                                      \
      "1: 4 KiB network buffers instead of 16 KiB, a third of the memory and lower rates for large "         \
      "messages; auto: where all ranks are on one machine, and more than four share a CPU")                  \
    X(fastmem_nodes, NODES, "HOTLANE_FASTMEM_NODES", "", 0, 0, "",                                           \
      "memory nodes that count as fast (MCDRAM, HBM), as in 8-15 or 1,3 or all; empty: found by hwloc")      \
    X(mem_kind, CHOICE, "MPICH_ALLOC_MEM_AFFINITY", "SYS_DEFAULT", 0, 0, "SYS_DEFAULT|DDR|MCDRAM|HBM|FAST",  \
      "memory that MPI_Alloc_mem, MPI_Win_allocate and MPI_Win_allocate_shared take: the nearest of that "   \
      "kind (MCDRAM, HBM and FAST are one); SYS_DEFAULT: where the system places it")                        \
    X(mem_page, PAGE, "MPICH_ALLOC_MEM_PG_SZ", "4K", 0, 0, "4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G",      \
      "page size of that memory: the largest up to it that the system has; addresses are multiples of the "  \
      "size asked for")                                                                                      \
    X(mem_policy, CHOICE, "MPICH_ALLOC_MEM_POLICY", "P", 0, 0,                                               \
      "P|Preferred|M|Mandatory|I|Interleave|Interleaved",                                                    \
      "P: other memory where there is none of that kind or page size; M: an error then (on base pages M "    \
      "counts as P); I: page by page over all nodes of the kind")                                            \
    X(mem_huge, BOOL, "MPICH_ALLOC_MEM_HUGE_PAGES", "0", 0, 0, "",                                           \
      "old name for MPICH_ALLOC_MEM_PG_SZ=2M, which wins")                                                   \
    X(mem_huge_page, PAGE, "MPICH_ALLOC_MEM_HUGE_PG_SZ", "2M", 0, 0,                                         \
      "4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G", "old name of MPICH_ALLOC_MEM_PG_SZ, which wins")          \
    X(mem_report, INT, "HOTLANE_MEM_REPORT", "1", 0, 2, "",                                                  \
      "lines about memory asked for by kind, page size or policy: 0: none; 1: one when a request was not "   \
      "fully met; 2: one for each region")                                                                   \
    X(internal_page, PAGE, "HOTLANE_INTERNAL_PG_SZ", "auto", 0, 0,                                           \
      "auto|4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G",                                                      \
      "page size of the library's own buffers, where the system has such pages; auto: 2M, at most a "        \
      "quarter of the free pages, and none if a variable, hint or partition asks for huge pages")            \
    X(env_display, FLAG, "MPICH_ENV_DISPLAY", "", 0, 0, "", "HOTLANE_MEM_REPORT is 2, unless it is set")     \
    X(stats, CHOICE, "HOTLANE_STATS", "0", 0, 0, "0|1|2|json",                                               \
      "counters at the end: 1: one table of the job, by rank 0; 2: one line by each rank; json: one line "   \
      "of "                                                                                                  \
      "the job for programs; 0: none")                                                                       \
    X(stats_file, TEXT, "HOTLANE_STATS_FILE", "", 0, 0, "",                                                  \
      "file that HOTLANE_STATS=json is appended to; empty: standard error")                                  \
    X(initial_errhandler, CHOICE, "HOTLANE_INITIAL_ERRHANDLER", "mpi_errors_are_fatal", 0, 0,                \
      "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",                                             \
      "error handler that MPI_COMM_WORLD and MPI_COMM_SELF have at first, which is also that of errors "     \
      "without object; mpiexec -initial-errhandler sets it")                                                 \
    X(broken_hints, CHOICE, "HOTLANE_BROKEN_HINTS", "warn", 0, 0, "warn|error",                              \
      "what becomes of a call that breaks what a hint of its window or communicator asserts (no_locks, "     \
      "mpi_assert_no_any_tag, mpi_assert_no_any_source, mpi_assert_exact_length): warn: one line, and the "  \
      "program goes on as if it had not given the hint; error: the call is an error")                        \
    X(watchdog, INT, "HOTLANE_WATCHDOG", "0", 0, 86400, "",                                                  \
      "seconds after which a thread that waits says for what and for which ranks, and whether these wait "   \
      "for it; then after twice that time, and so on; 0: never")                                             \
    X(inboxes, INT, "HOTLANE_INBOXES", "0", 0, 16, "2^n",                                                    \
      "matching queues of a rank; 0: chosen by thread level and CPUs, at most 4")                            \
    X(coll_shared, INT, "HOTLANE_COLL_SHARED", "4", 0, 1000000, "",                                          \
      "blocking collective call of a communicator from which on ranks of a node share memory for them; 0: "  \
      "none")                                                                                                \
    X(cma, BOOL, "HOTLANE_CMA", "1", 0, 0, "",                                                               \
      "on one node, read and write other ranks' private memory through the kernel: large messages, windows " \
      "of MPI_Win_create; 0: through shared buffers and the target's receive thread. Under Valgrind, which " \
      "takes what others write so for uninitialised, 0 unless it is set")                                    \
    X(read_min, SIZE, "HOTLANE_READ_MIN", "64K", 0, 0, "",                                                   \
      "bytes from which on messages over the network are read out of their sender's memory; 0: never")       \
    X(a2a_mem, SIZE, "HOTLANE_A2A_MEM", "64M", 0, 0, "",                                                     \
      "bytes of a rank's mailboxes for alltoall, 2.2 KiB for each peer on its node and each communicator "   \
      "or persistent operation; those beyond it exchange messages")                                          \
    X(ring, INT, "HOTLANE_RING", "1024", 8, 1024, "2^n",                                                     \
      "messages that wait in a queue between ranks of a node before sends of more wait")                     \
    X(unex_mem, SIZE, "HOTLANE_UNEX_MEM", "256M", 0, 0, "",                                                  \
      "memory of a rank for messages that nobody has received yet: above it, the ranks that sent most of "   \
      "them keep further messages with themselves until they are received; as much for copies of short "     \
      "messages that it has sent and nobody has taken; 0: no limit")                                         \
    X(statics, CHOICE, "HOTLANE_STATICS", "share", 0, 0, "share|network|none",                               \
      "static data of OpenSHMEM programs: share: PEs of one node share it; network: they reach it by the "   \
      "network; none: it is not symmetric")                                                                  \
    X(ports, INT, "HOTLANE_PORTS", "1", 1, 8, "2^n", "network endpoints of a rank for matched messages")     \
    X(shmem_size, HEAP, "SHMEM_SYMMETRIC_SIZE", "auto", 0, 0, "",                                            \
      "bytes of the symmetric heap of each PE, when there are no partitions; what follows a unit is "        \
      "ignored, as OpenSHMEM has it; auto: half the memory of a node, divided by the PEs that share it by "  \
      "HOTLANE_NEAR and HOTLANE_CLIQUES, and at most 64G: address space that holds memory where it is used") \
    X(shmem_partitions, PARTS, "SHMEM_SYMMETRIC_PARTITION<n>", "", 1, 127, "",                               \
      "a partition of the symmetric heap; at most 7, 1 is the one of shmem_malloc. kind: N: ordinary "       \
      "memory, F: fast memory (MCDRAM, HBM), S and D: where the system places it; policy: P: other memory "  \
      "when that is not there, M: the job ends then, I: page by page over all nodes of the kind, S: with "   \
      "kind S")                                                                                              \
    X(shmem_version, FLAG, "SHMEM_VERSION", "", 0, 0, "", "PE 0 prints the library's version at start-up")   \
    X(shmem_info, FLAG, "SHMEM_INFO", "", 0, 0, "",                                                          \
      "PE 0 prints all variables at start-up, with what they mean; HOTLANE_MEM_REPORT is 2 where it is not " \
      "set")                                                                                                 \
    X(shmem_env, FLAG, "SHMEM_ENV_DISPLAY", "", 0, 0, "",                                                    \
      "PE 0 prints the variables that are set at start-up")                                                  \
    X(shmem_meminfo, FLAG, "SHMEM_MEMINFO_DISPLAY", "", 0, 0, "",                                            \
      "PE 0 prints what each partition is made of at start-up; HOTLANE_MEM_REPORT is 2 where it is not set") \
    X(shmem_debug, FLAG, "SHMEM_DEBUG", "", 0, 0, "", "HOTLANE_LOG is debug where it is not set")

/* Other names of rows. */
#define HL_OTHER_NAMES(X)                                                                                    \
    X(shmem_size, "SMA_SYMMETRIC_SIZE")                                                                      \
    X(shmem_partitions, "SMA_SYMMETRIC_PARTITION<n>")                                                        \
    X(shmem_version, "SMA_VERSION")                                                                          \
    X(shmem_info, "SMA_INFO")                                                                                \
    X(shmem_debug, "SMA_DEBUG")

/* Variables with our prefix that programs around the library read: known and documented, but not its
 * settings. */
#define HL_TOOL_VARS(X)                                                                                      \
    X("HOTLANE_CC", "compiler that mpicc and oshcc call")                                                    \
    X("HOTLANE_CXX", "compiler that mpicxx and oshc++ call")                                                 \
    X("HOTLANE_FC", "compiler that mpifort calls")                                                           \
    X("HOTLANE_BUILD", "build folder that the scripts under perf/ use")                                      \
    X("HOTLANE_PEERS",                                                                                       \
      "folder of other MPIs that the scripts under perf/ compare with (perf/install-peers)")                 \
    X("HOTLANE_FUZZ_SECONDS", "seconds for each parser under the fuzzer")

#endif
