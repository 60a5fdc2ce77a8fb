/* Each allocation of a call fails once: the error says for what there was no memory. */
#include "mpi_test.h"

#include "alloc_fails.h"

static MPI_Datatype made;
static MPI_Info info, copy;
static MPI_Group all, some;
static MPI_Comm comm;
static int code, extents[2] = {6, 6}, ones[2] = {1, 1};

static int make_vector(void)
{
    return MPI_Type_vector(3, 2, 4, MPI_INT, &made);
}

static int make_indexed(void)
{
    int lens[3] = {1, 2, 1}, displs[3] = {0, 3, 9};
    return MPI_Type_indexed(3, lens, displs, MPI_INT, &made);
}

static int make_struct(void)
{
    MPI_Aint displs[2] = {0, 16};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    return MPI_Type_create_struct(2, ones, displs, types, &made);
}

static int make_subarray(void)
{
    int starts[2] = {1, 2}, subsizes[2] = {2, 3};
    return MPI_Type_create_subarray(2, extents, subsizes, starts, MPI_ORDER_C, MPI_INT, &made);
}

static int make_darray(void)
{
    int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int args[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    return MPI_Type_create_darray(1, 0, 2, extents, distribs, args, ones, MPI_ORDER_C, MPI_INT, &made);
}

static int make_f90(void)
{
    return MPI_Type_create_f90_real(6, 30, &made);
}

static void free_type(void)
{
    MPI_Type_free(&made);
}

static int dup_info(void)
{
    return MPI_Info_dup(info, &copy);
}

static void free_info(void)
{
    MPI_Info_free(&copy);
}

static int add_words(void)
{
    return MPI_Add_error_string(code, "words of the program");
}

static void keep(void)
{
}

static int choose(void)
{
    int ranks[1] = {0};
    return MPI_Group_incl(all, 1, ranks, &some);
}

static int join(void)
{
    return MPI_Group_union(all, all, &some);
}

static void free_group(void)
{
    MPI_Group_free(&some);
}

static int make_cart(void)
{
    int period[1] = {0};
    return MPI_Cart_create(MPI_COMM_SELF, 1, ones, period, 0, &comm);
}

static int split(void)
{
    return MPI_Comm_split(MPI_COMM_SELF, 3, 0, &comm);
}

static void free_comm(void)
{
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    int (*call)(void);
    void (*undo)(void);
} calls[] = {{"MPI_Type_vector", make_vector, free_type},
             {"MPI_Type_indexed", make_indexed, free_type},
             {"MPI_Type_create_struct", make_struct, free_type},
             {"MPI_Type_create_subarray", make_subarray, free_type},
             {"MPI_Type_create_darray", make_darray, free_type},
             {"MPI_Type_create_f90_real", make_f90, keep},
             {"MPI_Info_dup", dup_info, free_info},
             {"MPI_Add_error_string", add_words, keep},
             {"MPI_Group_incl", choose, free_group},
             {"MPI_Group_union", join, free_group},
             {"MPI_Cart_create", make_cart, free_comm},
             {"MPI_Comm_split", split, free_comm}};

/* Plays a call until all of its allocations succeed; returns how many errors say nothing. */
static int play(size_t which)
{
    int silent = 0;
    for (int n = 0, more = 1; more; n++) {
        char words[MPI_MAX_ERROR_STRING];
        int len, class;
        MPI_Comm_size(MPI_COMM_NULL, &len); /* so that no earlier text is taken for this error's */
        alloc_left = n;
        int err = calls[which].call();
        more = alloc_has_failed();
        alloc_left = -1;
        if (err == MPI_SUCCESS) {
            calls[which].undo();
            continue;
        }
        MPI_Error_string(err, words, &len);
        MPI_Error_class(err, &class);
        bool said = strstr(words, "no memory for ") != NULL || strstr(words, "no memory to ") != NULL;
        if (class != MPI_ERR_NO_MEM || !said) {
            printf("%s, allocation %d: error class %d, \"%s\"\n", calls[which].name, n, class, words);
            silent++;
        }
    }
    return silent;
}

int main(int argc, char **argv)
{
    int class, silent = 0;
    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    dl_iterate_phdr(alloc_find_library, NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "a key", "a value");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        silent += play(i);
    }
    MPI_Group_free(&all);
    MPI_Info_free(&info);
    MPI_Finalize();
    return silent != 0;
}
