/* Cases of test_match: matched probe. */
START_TEST(matched_probe_waits_for_its_message)
{
    open_ranks(2, _i == 0 ? 1 : 4, true, true);
    struct pair_thread t = {&ranks[0], 0, 1, 3, 0, 0};
    ck_assert_int_eq(pthread_create(&t.thread, NULL, wild_sender, &t), 0);
    for (int i = 0; i < WILD_EACH; i++) {
        struct hl_recv any = receiving(i % 2 == 0 ? MPI_ANY_SOURCE : 3, 5, NULL, 0);
        struct hl_message *message;
        MPI_Status st = {0};
        ck_assert_int_eq(hl_match_mprobe(&ranks[1], &any, &message, &st), 0);
        ck_assert_int_eq(hl_req_status_bytes(&st), 8);
        int v[2] = {0};
        struct hl_recv r = receiving(0, 0, v, sizeof(v));
        struct hl_req *req = hl_match_imrecv(&ranks[1], message, &r);
        hl_req_wait(req);
        hl_req_finish(req, &st);
        ck_assert_int_eq(v[1], i);
    }
    pthread_join(t.thread, NULL);
    close_ranks();
}
END_TEST

static int polls;

static int count_poll(void *unused)
{
    (void)unused;
    polls++;
    return 0;
}

/* What a request would be made of now; when nobody made one since, the next is the same again. */
static uint32_t next_request(struct hl_req **at)
{
    *at = hl_req_new(HL_REQ_RECV);
    uint32_t generation = (*at)->generation;
    hl_req_free(*at);
    return generation;
}

/* Hoefler et al., section 3: no request (the message's handle takes a place of requests, once), no second
 * search and no progress of its own. */
START_TEST(matched_probe_takes_the_message_itself)
{
    open_ranks(2, 1, true, true);
    ck_assert_int_eq(hl_prog_register(count_poll, NULL, 1), 0);
    int v[2] = {6, 7}, got[2] = {0};
    struct hl_send s = sending(0, 1, 5, v, sizeof v);
    struct hl_recv probe = receiving(0, 5, NULL, 0), r = receiving(0, 0, got, sizeof got);
    ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    bool found = false;
    while (!found) {
        hl_prog_poll();
        ck_assert_int_eq(hl_match_iprobe_now(&ranks[1], &probe, &found, MPI_STATUS_IGNORE), 0);
    }

    struct hl_req *before, *after;
    struct hl_message *message;
    uint32_t generation = next_request(&before);
    polls = 0;
    ck_assert_int_eq(hl_match_improbe(&ranks[1], &probe, &message, MPI_STATUS_IGNORE), 0);
    ck_assert_ptr_nonnull(message);
    ck_assert_int_le(polls, 1);
    polls = 0;
    ck_assert_int_eq(hl_match_mrecv(&ranks[1], message, &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(polls, 0);
    ck_assert_int_eq(got[1], 7);
    ck_assert_uint_eq(next_request(&after), generation + 2);
    ck_assert_ptr_eq(after, before);

    /* A receive that does not wait is the message's place, too, and ends with it. */
    generation = next_request(&before);
    ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    do {
        ck_assert_int_eq(hl_match_improbe(&ranks[1], &probe, &message, MPI_STATUS_IGNORE), 0);
    } while (message == NULL);
    got[1] = 0;
    after = hl_match_imrecv(&ranks[1], message, &r);
    ck_assert_ptr_eq(after, &message->req);
    ck_assert(hl_req_is_done(after));
    ck_assert_int_eq(got[1], 7);
    hl_req_finish(after, MPI_STATUS_IGNORE);
    ck_assert_uint_eq(next_request(&after), generation + 2);
    ck_assert_ptr_eq(after, before);

    /* Taken from the tables by the probe: other receives do not find it in between. */
    ck_assert_int_eq(hl_match_send(&ranks[0], &s), 0);
    do {
        ck_assert_int_eq(hl_match_improbe(&ranks[1], &probe, &message, MPI_STATUS_IGNORE), 0);
    } while (message == NULL);
    ck_assert_int_eq(hl_match_iprobe_now(&ranks[1], &probe, &found, MPI_STATUS_IGNORE), 0);
    ck_assert(!found);
    ck_assert_int_eq(hl_match_mrecv(&ranks[1], message, &r, MPI_STATUS_IGNORE), 0);
    hl_prog_unregister(count_poll, NULL);
    close_ranks();
}
END_TEST
