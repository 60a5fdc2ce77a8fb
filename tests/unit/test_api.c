/* The entry points on one rank: right results, and for every wrong argument the right class and words, never
 * a crash. Check runs each case in its own process, so each one starts MPI itself. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "api_case.h"
#include "missing.h"

START_TEST(life_is_told)
{
    int flag, level;

    MPI_Initialized(&flag);
    ck_assert(!flag);
    start();
    MPI_Initialized(&flag);
    ck_assert(flag);
    MPI_Finalized(&flag);
    ck_assert(!flag);
    MPI_Query_thread(&level);
    ck_assert_int_eq(level, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    ck_assert(flag);
    ck_assert_int_eq(MPI_Finalize(), MPI_SUCCESS);
    MPI_Finalized(&flag);
    ck_assert(flag);
}
END_TEST

START_TEST(calls_before_start_end_the_job)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}
END_TEST

START_TEST(calls_after_the_end_end_the_job)
{
    start();
    MPI_Finalize();
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
}
END_TEST

START_TEST(errors_are_fatal_by_default)
{
    MPI_Init(NULL, NULL);
    MPI_Send(NULL, 0, MPI_INT, 7, 0, MPI_COMM_WORLD);
}
END_TEST

START_TEST(wrong_arguments_have_their_class_and_words)
{
    MPI_Datatype t, freed;
    int x = 0, code;

    start();
    code = MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    ck_assert_int_eq(class_of(code), MPI_ERR_RANK);
    ck_assert(says(code, "rank 7"));
    FAILS(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    FAILS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Recv(&x, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    FAILS(MPI_Recv(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    MPI_Type_contiguous(3, MPI_INT, &t);
    code = MPI_Send(&x, 0, t, 0, 0, MPI_COMM_WORLD);
    ck_assert_int_eq(class_of(code), MPI_ERR_TYPE);
    ck_assert(says(code, "not committed"));
    freed = t;
    MPI_Type_free(&t);
    FAILS(MPI_Send(&x, 0, freed, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(&freed), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(-3, MPI_INT, &t), MPI_ERR_COUNT);
    t = MPI_INT;
    FAILS(MPI_Type_free(&t), MPI_ERR_TYPE);
    MPI_Finalize();
}
END_TEST

/* Bit patterns that are no handle of a living object of the kind asked. */
START_TEST(garbage_handles_are_refused)
{
    char here[64];
    MPI_Info info;
    int x = 0, n;

    start();
    MPI_Info_create(&info);
    uintptr_t bad[] = {0,
                       1,
                       0x7f,
                       0x100,
                       0x180,
                       0x200,
                       0x211,
                       0x1000,
                       0x2000,
                       (uintptr_t)~0u,
                       (uintptr_t)-1,
                       (uintptr_t)here,
                       0x8000000000000000u,
                       (uintptr_t)(void *)info,
                       (uintptr_t)(void *)info + 8};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(MPI_Comm_rank((MPI_Comm)bad[i], &x), MPI_ERR_COMM);
        FAILS(MPI_Type_size((MPI_Datatype)bad[i], &x), MPI_ERR_TYPE);
        FAILS(MPI_Group_size((MPI_Group)bad[i], &x), MPI_ERR_GROUP);
        FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)bad[i]), MPI_ERR_ERRHANDLER);
        FAILS(MPI_Send(&x, 1, (MPI_Datatype)bad[i], 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
        if (bad[i] != (uintptr_t)(void *)info) {
            FAILS(MPI_Info_get_nkeys((MPI_Info)bad[i], &n), MPI_ERR_INFO);
        }
        if (bad[i] != (uintptr_t)MPI_REQUEST_NULL) {
            MPI_Request r = (MPI_Request)bad[i];
            FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        }
    }
    MPI_Info_free(&info);
    MPI_Finalize();
}
END_TEST

START_TEST(user_handlers_run)
{
    MPI_Errhandler mine, got;

    start();
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    FAILS(MPI_Send(NULL, 0, MPI_INT, 5, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    ck_assert_int_eq(handler_calls, 1);
    ck_assert_ptr_eq(handler_comm, MPI_COMM_SELF);
    ck_assert_int_eq(class_of(handler_code), MPI_ERR_RANK);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
    ck_assert_ptr_eq(got, mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    ck_assert_ptr_eq(mine, MPI_ERRHANDLER_NULL);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    ck_assert_int_eq(handler_code, MPI_ERR_OTHER);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    ck_assert_ptr_eq(got, MPI_ERRORS_RETURN);
    MPI_Finalize();
}
END_TEST

START_TEST(what_is_not_supported_says_so)
{
    MPI_Comm children;
    char port[MPI_MAX_PORT_NAME];
    int n = 0;

    start();
    int code = MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                              MPI_ERRCODES_IGNORE);
    ck_assert_int_eq(class_of(code), MPI_ERR_SPAWN);
    ck_assert(says(code, "MPI_Comm_spawn"));
    ck_assert(children == MPI_COMM_NULL);
    FAILS(MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION);
    while (hl_api_missing()[n] != NULL) {
        n++;
    }
    ck_assert_int_eq(n, 10);
    MPI_Finalize();
}
END_TEST

START_TEST(added_error_codes_can_be_asked_and_removed)
{
    int class_, code, *last, flag;

    start();
    ck_assert_int_eq(MPI_Add_error_class(&class_), MPI_SUCCESS);
    ck_assert_int_gt(class_, MPI_ERR_LASTCODE);
    ck_assert_int_eq(MPI_Add_error_code(class_, &code), MPI_SUCCESS);
    ck_assert_int_eq(class_of(code), class_);
    MPI_Add_error_string(code, "mine");
    ck_assert(says(code, "mine"));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    ck_assert(flag && *last == code);
    FAILS(MPI_Add_error_code(99999, &code), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(class_), MPI_ERR_ARG);
    ck_assert_int_eq(MPI_Remove_error_string(code), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Remove_error_code(code), MPI_SUCCESS);
    ck_assert_int_eq(MPI_Remove_error_class(class_), MPI_SUCCESS);
    MPI_Finalize();
}
END_TEST

START_TEST(info_keeps_pairs_in_order)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY], longer[MPI_MAX_INFO_KEY + 2];
    int flag, len, n;

    start();
    MPI_Info_create(&info);
    MPI_Info_set(info, "b", " two words ");
    MPI_Info_set(info, "a", "1");
    MPI_Info_set(info, "b", "2");
    MPI_Info_get_nkeys(info, &n);
    ck_assert_int_eq(n, 2);
    MPI_Info_get_nthkey(info, 0, key);
    ck_assert_str_eq(key, "b");
    FAILS(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "b");
    FAILS(MPI_Info_delete(info, "b"), MPI_ERR_INFO_NOKEY);
    MPI_Info_get(copy, "b", MPI_MAX_INFO_VAL - 1, value, &flag);
    ck_assert(flag);
    ck_assert_str_eq(value, "2");
    len = 0;
    MPI_Info_get_string(copy, "b", &len, NULL, &flag);
    ck_assert(flag && len == 2);
    MPI_Info_get_valuelen(copy, "none", &len, &flag);
    ck_assert(!flag);
    memset(longer, 'k', sizeof longer);
    longer[sizeof longer - 1] = 0;
    FAILS(MPI_Info_set(info, longer, "v"), MPI_ERR_INFO_KEY);
    MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL - 1, value, &flag);
    ck_assert(flag && strstr(value, "test_api") != NULL);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    ck_assert_ptr_eq(info, MPI_INFO_NULL);
    FAILS(MPI_Info_free(&info), MPI_ERR_INFO);
    MPI_Finalize();
}
END_TEST

START_TEST(attributes_of_self_end_with_finalize_last_first)
{
    static int one = 1, two = 2;
    int a, b, flag, *got;

    start();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &a, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &b, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, a, &one);
    MPI_Comm_set_attr(MPI_COMM_SELF, b, &two);
    MPI_Comm_get_attr(MPI_COMM_SELF, a, &got, &flag);
    ck_assert(flag && got == &one);
    MPI_Comm_get_attr(MPI_COMM_WORLD, a, &got, &flag);
    ck_assert(!flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag);
    ck_assert(flag && *got >= 32767);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &one), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_get_attr(MPI_COMM_WORLD, 12345678, &got, &flag), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&a);
    ck_assert_int_eq(a, MPI_KEYVAL_INVALID);
    MPI_Finalize();
    ck_assert_int_eq(n_deleted, 2);
    ck_assert_int_eq(deleted[0], 2);
    ck_assert_int_eq(deleted[1], 1);
}
END_TEST

START_TEST(types_tell_how_they_were_made)
{
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, t, parts[2];
    int lens[2] = {1, 2}, ni, na, nd, combiner, ints[3];
    MPI_Aint disps[2] = {0, 8}, addrs[2], lb, extent;
    MPI_Count large[3], ln[4];

    start();
    MPI_Type_create_struct(2, lens, disps, types, &t);
    MPI_Type_get_extent(t, &lb, &extent);
    ck_assert_int_eq(extent, 24);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    ck_assert(ni == 3 && na == 2 && nd == 2 && combiner == MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(t, 3, 2, 2, ints, addrs, parts);
    ck_assert(ints[0] == 2 && ints[2] == 2 && addrs[1] == 8 && parts[1] == MPI_DOUBLE);
    FAILS(MPI_Type_get_contents(t, 2, 2, 2, ints, addrs, parts), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(MPI_INT, 2, 2, 2, ints, addrs, parts), MPI_ERR_TYPE);
    MPI_Type_free(&t);
    MPI_Type_vector_c(2, 3, 4, MPI_INT, &t);
    FAILS(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner), MPI_ERR_TYPE);
    MPI_Type_get_envelope_c(t, &ln[0], &ln[1], &ln[2], &ln[3], &combiner);
    ck_assert(ln[0] == 0 && ln[1] == 0 && ln[2] == 3 && ln[3] == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents_c(t, 0, 0, 3, 1, NULL, NULL, large, parts);
    ck_assert(large[0] == 2 && large[1] == 3 && large[2] == 4);
    MPI_Type_free(&t);
    MPI_Finalize();
}
END_TEST

START_TEST(packed_bytes_come_back)
{
    int from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {0}, position = 0, size;
    char packed[64];
    MPI_Datatype t;

    start();
    MPI_Type_vector(2, 2, 4, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Pack_size(1, t, MPI_COMM_WORLD, &size);
    ck_assert_int_ge(size, 16);
    MPI_Pack(from, 1, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
    ck_assert_int_eq(position, 16);
    position = 0;
    MPI_Unpack(packed, 16, &position, to, 1, t, MPI_COMM_WORLD);
    ck_assert(to[0] == 1 && to[1] == 2 && to[4] == 5 && to[5] == 6 && to[2] == 0);
    position = 60;
    FAILS(MPI_Pack(from, 1, t, packed, sizeof packed, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    ck_assert_int_eq(position, 60);
    MPI_Type_free(&t);
    MPI_Finalize();
}
END_TEST

START_TEST(messages_to_oneself_arrive)
{
    int x = 42, y = 0, count, flag, indx;
    MPI_Status status, all[2];
    MPI_Request r[2];
    MPI_Message m;

    start();
    MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, all);
    ck_assert_int_eq(y, 42);
    ck_assert(all[0].MPI_SOURCE == 0 && all[0].MPI_TAG == 9 && all[0].MPI_ERROR == MPI_SUCCESS);
    ck_assert(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    MPI_Get_count(&all[0], MPI_INT, &count);
    ck_assert_int_eq(count, 1);
    MPI_Get_count(&all[0], MPI_DOUBLE, &count);
    ck_assert_int_eq(count, MPI_UNDEFINED);
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    ck_assert_int_eq(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Mprobe(0, 3, MPI_COMM_WORLD, &m, &status);
    y = 0;
    MPI_Mrecv(&y, 1, MPI_INT, &m, &status);
    ck_assert(y == 42 && m == MPI_MESSAGE_NULL);
    MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, &status);
    ck_assert(!flag);
    MPI_Irecv(&y, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, &r[0]);
    MPI_Testany(1, r, &indx, &flag, &status);
    ck_assert(!flag && indx == MPI_UNDEFINED);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &status);
    MPI_Test_cancelled(&status, &flag);
    ck_assert(flag);
    MPI_Waitany(1, r, &indx, &status);
    ck_assert_int_eq(indx, MPI_UNDEFINED);
    MPI_Finalize();
}
END_TEST

START_TEST(no_request_starves_behind_one_that_is_posted_again)
{
    int x = 1, y[3], indx;
    MPI_Request r[3];

    start();
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&y[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    for (int k = 0; k < 9; k++) {
        MPI_Waitany(3, r, &indx, MPI_STATUS_IGNORE);
        ck_assert_int_eq(indx, k % 3);
        MPI_Irecv(&y[indx], 1, MPI_INT, 0, indx, MPI_COMM_WORLD, &r[indx]);
        MPI_Send(&x, 1, MPI_INT, 0, indx, MPI_COMM_WORLD);
    }
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
}
END_TEST

START_TEST(absolute_addresses_work_in_collectives)
{
    int from[2] = {4, 5}, to[2] = {0, 0}, one = 1, zero = 0, two = 2;
    MPI_Aint at[2];
    MPI_Datatype t[2], basic = MPI_INT;

    start();
    MPI_Get_address(from, &at[0]);
    MPI_Get_address(to, &at[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_struct(1, &two, &at[i], &basic, &t[i]);
        MPI_Type_commit(&t[i]);
    }
    MPI_Alltoallw(MPI_BOTTOM, &one, &zero, &t[0], MPI_BOTTOM, &one, &zero, &t[1], MPI_COMM_WORLD);
    ck_assert(to[0] == 4 && to[1] == 5);
    MPI_Type_free(&t[0]);
    MPI_Type_free(&t[1]);
    MPI_Finalize();
}
END_TEST

START_TEST(truncated_messages_are_errors)
{
    int x[2] = {1, 2}, y[2] = {0, 0};
    MPI_Request r;

    start();
    MPI_Isend(x, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
    FAILS(MPI_Recv(y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Irecv(y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
    MPI_Send(x, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Status status;
    FAILS(MPI_Waitall(1, &r, &status), MPI_ERR_IN_STATUS);
    ck_assert_int_eq(class_of(status.MPI_ERROR), MPI_ERR_TRUNCATE);
    MPI_Irecv(y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
    MPI_Send(x, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
    FAILS(MPI_Waitall(1, &r, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    MPI_Finalize();
}
END_TEST

START_TEST(statuses_can_be_filled)
{
    MPI_Status s;
    int n, flag;

    start();
    memset(&s, 0, sizeof s);
    MPI_Status_set_source(&s, 3);
    MPI_Status_set_elements(&s, MPI_DOUBLE_INT, 3);
    MPI_Status_set_cancelled(&s, 1);
    MPI_Status_get_source(&s, &n);
    ck_assert_int_eq(n, 3);
    MPI_Get_elements(&s, MPI_DOUBLE_INT, &n);
    ck_assert_int_eq(n, 3);
    MPI_Get_count(&s, MPI_DOUBLE_INT, &n);
    ck_assert_int_eq(n, MPI_UNDEFINED);
    MPI_Test_cancelled(&s, &flag);
    ck_assert(flag);
    MPI_Finalize();
}
END_TEST

START_TEST(handles_become_integers_and_back)
{
    MPI_Datatype t;
    int x;

    start();
    ck_assert_int_eq(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    ck_assert_ptr_eq(MPI_Comm_fromint(0x101), MPI_COMM_WORLD);
    MPI_Type_contiguous(2, MPI_INT, &t);
    ck_assert_ptr_eq(MPI_Type_fromint(MPI_Type_toint(t)), t);
    FAILS(MPI_Type_size(MPI_Type_fromint(123456), &x), MPI_ERR_TYPE);
    MPI_Type_free(&t);
    MPI_Finalize();
}
END_TEST

START_TEST(memory_is_given_and_taken)
{
    MPI_Info info;
    char *p;

    start();
    MPI_Info_create(&info);
    MPI_Info_set(info, " mpi_minimum_memory_alignment ", " 4096\t"); /* blanks around hints do not count */
    ck_assert_int_eq(MPI_Alloc_mem(10000, info, &p), MPI_SUCCESS);
    ck_assert_int_eq((uintptr_t)p % 4096, 0);
    memset(p, 1, 10000);
    ck_assert_int_eq(MPI_Free_mem(p), MPI_SUCCESS);
    FAILS(MPI_Free_mem(p), MPI_ERR_BASE);
    FAILS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p), MPI_ERR_ARG);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "3");
    ck_assert_int_eq(MPI_Alloc_mem(1, info, &p), MPI_SUCCESS); /* a hint that is not taken */
    ck_assert_int_eq(MPI_Free_mem(p), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Finalize();
}
END_TEST

START_TEST(communicators_are_made_with_what_they_inherit)
{
    static int value = 5;
    MPI_Comm dup, part, none;
    MPI_Errhandler e;
    int key, result, flag, *got;

    start();
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    ck_assert_int_eq(MPI_Comm_dup(MPI_COMM_WORLD, &dup), MPI_SUCCESS);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
    ck_assert_int_eq(result, MPI_CONGRUENT);
    MPI_Comm_get_attr(dup, key, &got, &flag);
    ck_assert(flag && got == &value);
    MPI_Comm_get_errhandler(dup, &e);
    ck_assert_ptr_eq(e, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
    ck_assert_ptr_eq(none, MPI_COMM_NULL);
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &part), MPI_ERR_ARG);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    MPI_Comm_compare(part, dup, &result);
    ck_assert_int_eq(result, MPI_CONGRUENT);
    MPI_Comm stale = dup;
    MPI_Comm_free(&dup);
    ck_assert_int_eq(n_deleted, 1);
    FAILS(MPI_Barrier(stale), MPI_ERR_COMM);
    MPI_Comm_free(&part);
    part = MPI_COMM_WORLD;
    FAILS(MPI_Comm_free(&part), MPI_ERR_COMM);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Finalize();
}
END_TEST

START_TEST(collectives_check_what_matters_here)
{
    int x[2] = {6, 7}, y[2] = {0, 0}, counts[1] = {1}, minus[1] = {-1}, zero[1] = {0}, commute;
    MPI_Op op;

    start();
    ck_assert_int_eq(MPI_Allreduce(x, y, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    ck_assert(y[0] == 6 && y[1] == 7);
    ck_assert_int_eq(MPI_Allgatherv(x, 1, MPI_INT, y, counts, zero, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    FAILS(MPI_Allgatherv(x, 1, MPI_INT, y, minus, zero, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(x, y, 2, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(x, y, -2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(x, MPI_IN_PLACE, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Bcast(x, 1, MPI_INT, 1, MPI_COMM_WORLD), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Gather(x, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Gather(x, 1, MPI_INT, y, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Op_create(halve, 0, &op);
    MPI_Op_commutative(op, &commute);
    ck_assert(!commute);
    MPI_Reduce_local(x, y, 2, MPI_INT, op);
    ck_assert(y[0] == 3 && y[1] == 3);
    MPI_Op_free(&op);
    ck_assert_ptr_eq(op, MPI_OP_NULL);
    FAILS(MPI_Op_free(&op), MPI_ERR_OP);
    MPI_Reduce_local(x, y, 2, MPI_INT, MPI_PROD);
    ck_assert(y[0] == 18 && y[1] == 21);
    MPI_Finalize();
}
END_TEST

static Suite *api_suite(void)
{
    Suite *suite = suite_create("api");
    TCase *tc = tcase_create("api");

    tcase_set_timeout(tc, 20);
    tcase_add_test(tc, life_is_told);
    tcase_add_exit_test(tc, calls_before_start_end_the_job, MPI_ERR_OTHER);
    tcase_add_exit_test(tc, calls_after_the_end_end_the_job, MPI_ERR_OTHER);
    tcase_add_exit_test(tc, errors_are_fatal_by_default, MPI_ERR_RANK);
    tcase_add_test(tc, wrong_arguments_have_their_class_and_words);
    tcase_add_test(tc, garbage_handles_are_refused);
    tcase_add_test(tc, user_handlers_run);
    tcase_add_test(tc, what_is_not_supported_says_so);
    tcase_add_test(tc, added_error_codes_can_be_asked_and_removed);
    tcase_add_test(tc, info_keeps_pairs_in_order);
    tcase_add_test(tc, attributes_of_self_end_with_finalize_last_first);
    tcase_add_test(tc, types_tell_how_they_were_made);
    tcase_add_test(tc, packed_bytes_come_back);
    tcase_add_test(tc, messages_to_oneself_arrive);
    tcase_add_test(tc, no_request_starves_behind_one_that_is_posted_again);
    tcase_add_test(tc, absolute_addresses_work_in_collectives);
    tcase_add_test(tc, truncated_messages_are_errors);
    tcase_add_test(tc, statuses_can_be_filled);
    tcase_add_test(tc, handles_become_integers_and_back);
    tcase_add_test(tc, memory_is_given_and_taken);
    tcase_add_test(tc, communicators_are_made_with_what_they_inherit);
    tcase_add_test(tc, collectives_check_what_matters_here);
    suite_add_tcase(suite, tc);
    return suite;
}

UNIT_MAIN(api_suite)
