/* Part of test_conf.c: variables of other libraries. */

START_TEST(every_row_of_others_is_reached)
{
    size_t count;
    const struct hl_carried *rows = hl_conf_carried_rows(&count);
    for (size_t i = 0; i < count; i++) {
        char name[64], text[256];
        const char *star = strchr(rows[i].name, '*');
        snprintf(name, sizeof name, "%s%s", star == rows[i].name ? "X" : "",
                 rows[i].name + (star == rows[i].name));
        if (star != NULL && star != rows[i].name) {
            name[strlen(name) - 1] = 'x';
        }
        ck_assert_msg(hl_conf_carried_of(name, strlen(name)) == &rows[i], "%s is behind %s", rows[i].name,
                      hl_conf_carried_of(name, strlen(name))->name);
        hl_conf_carried_text(&rows[i], false, text, sizeof text);
        ck_assert_uint_gt(strlen(text), 8);
        if (rows[i].fate == HL_CARRIED_SAME) {
            ck_assert_ptr_nonnull(hl_conf_var_named(rows[i].words));
        }
    }
    ck_assert_ptr_null(hl_conf_carried_of("PATHS", 5));
    ck_assert_ptr_null(hl_conf_carried_of("MPI_LOCALNRANKS", 15));
    ck_assert_ptr_null(hl_conf_carried_of("", 0));
}
END_TEST

static const struct {
    const char *env[12], *line;
} carried[] = {
    {{"MPI_LOCALNRANKS=1", "HYDI_CONTROL_FD=7", "MPI_LOCALRANKID=0"}, NULL},
    {{"OMPI_COMM_WORLD_SIZE=1", "OMPI_MCA_ess=^singleton", "OMPI_MCA_initial_wdir=/tmp",
      "OMPI_MCA_mpi_oversubscribe=0", "OMPI_MCA_orte_app_num=0", "OMPI_MCA_pmix=^s1,s2,cray,isolated",
      "OMPI_MCA_shmem_RUNTIME_QUERY_hint=mmap", "PMIX_MCA_mca_base_component_show_load_errors=1"},
     NULL},
    {{"OMPI_COMM_WORLD_SIZE=1", "OMPI_MCA_PREFIXES=mca", "OMPI_MCA_num_procs=1", "PRTE_LAUNCHED=1",
      "OMPI_MCA_cpu_type=x86_64"},
     NULL},
    {{"I_MPI_HYDRA_UUID=05", "I_MPI_INFO_STATE=0", "I_MPI_PIN_INFO=0,1", "I_MPI_BIND_WIN_ALLOCATE=localalloc",
      "HYDRA_BSTRAP_LAUNCHER=ssh"},
     NULL},
    {{"OMPI_MCA_orte_precondition_transports=0-0", "OMPI_MCA_pmix=flux", "OMPI_MCA_schizo=flux"}, NULL},
    {{"MPICH_DIR=/opt", "UCX_HOME=/opt", "FI_PROVIDER_PATH=/opt", "MPICH_CC=cc"}, NULL},
    {{"MPICH_ALLOC_MEM_PG_SZ=2M", "SHMEM_SYMMETRIC_SIZE=1M", "SMA_DEBUG=0", "SHMEM_SYMETRIC_SIZE=1M",
      "MPICH_ALLOC_X=1", "SMA_SYMETRIC_SIZE=1M"},
     NULL}, /* ours, or meant for us: they have lines of their own */
    {{"OMPI_MCA_btl=self", "I_MPI_ADJUST_BCAST=1", "UCX_TLS=tcp", "SMA_X=1"},
     "OMPI_MCA_btl, I_MPI_ADJUST_BCAST, SMA_X: no effect; UCX_TLS: no effect: the network is libfabric's"},
    {{"I_MPI_HYDRA_UUID=05", "OMPI_MCA_btl=self", "I_MPI_PIN=0"}, "OMPI_MCA_btl: no effect"},
    {{"I_MPI_FABRICS=ofi", "I_MPI_DEBUG=5", "MPIR_CVAR_NOLOCAL=1"},
     "I_MPI_FABRICS: no effect: as by shm:ofi, ranks of a node share memory and others use the network "
     "(HOTLANE_NEAR=0: all use it, as by ofi); I_MPI_DEBUG: no effect: HOTLANE_LOG=info tells what was "
     "chosen; "
     "MPIR_CVAR_NOLOCAL: no effect: HOTLANE_NEAR=0 has ranks of a node use the network"},
    {{"FI_PROVIDER=tcp", "MPICH_MAX_THREAD_SAFETY=single"},
     "FI_PROVIDER: honoured by libfabric; MPICH_MAX_THREAD_SAFETY: honoured by MPI_Init_thread"},
    {{"XT_SYMMETRIC_HEAP_SIZE=1M", "SHMEM_SYMMETRIC_HEAP_SIZE=2M"},
     "XT_SYMMETRIC_HEAP_SIZE: means the same as SHMEM_SYMMETRIC_SIZE; SHMEM_SYMMETRIC_HEAP_SIZE: means the "
     "same as "
     "SHMEM_SYMMETRIC_SIZE, which is set too, or a partition, and wins"},
};

START_TEST(what_becomes_of_others_variables)
{
    static char *nothing[] = {NULL};
    environ = nothing;
    setenv("HOTLANE_CONF", "", 1);
    for (int i = 0; carried[_i].env[i] != NULL; i++) {
        ck_assert_int_eq(putenv((char *)(uintptr_t)carried[_i].env[i]), 0);
    }
    ck_assert_int_eq(hl_conf_load(), 0);
    char *line = hl_conf_carried_line();
    if (carried[_i].line == NULL) {
        ck_assert_msg(line == NULL, "%s", line);
    } else {
        ck_assert_ptr_nonnull(line);
        ck_assert_str_eq(line, carried[_i].line);
    }
    free(line);
}
END_TEST

START_TEST(others_names_of_the_heap_give_its_size)
{
    static const struct {
        const char *ours, *part;
        uint64_t size;
        const char *origin;
    } rows[] = {{NULL, NULL, 3 << 20, "XT_SYMMETRIC_HEAP_SIZE"},
                {"1M", NULL, 1 << 20, "environment"},
                {NULL, "size=2M", UINT64_MAX, "default"}};
    setenv("XT_SYMMETRIC_HEAP_SIZE", "3M", 1);
    if (rows[_i].ours != NULL) {
        setenv("SMA_SYMMETRIC_SIZE", rows[_i].ours, 1);
    }
    if (rows[_i].part != NULL) {
        setenv("SHMEM_SYMMETRIC_PARTITION1", rows[_i].part, 1);
    }
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_uint_eq(hl_conf.shmem_size, rows[_i].size);
    ck_assert_str_eq(row("SHMEM_SYMMETRIC_SIZE")->origin, rows[_i].origin);
}
END_TEST
