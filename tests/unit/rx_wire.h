/* The checker of messages: good ones pass, bad ones are named, damage is survived. */
#define WIRE_NONCE UINT64_C(0x1234567812345678)
#define WIRE_RANKS 4

/* A message of a HELLO, two long records and three short ones, built into out; returns its bytes. */
static size_t build_message(uint8_t *out)
{
    struct hl_wire_head head = {
        .nonce = WIRE_NONCE, .from = 2, .kind = HL_WIRE_DATA, .flags = HL_WIRE_HELLO, .count = 5};
    struct hl_wire_hello hello = {.len = 16};
    struct hl_wire_short small[] = {{.op = HL_WIRE_KEY, .addr = 7},
                                    {.op = HL_WIRE_GET, .len = 4000, .addr = 8},
                                    {.op = HL_WIRE_PUT, .len = 5, .addr = 8}};
    struct hl_wire_rec rec = {.op = HL_WIRE_ACC, .len = 12};
    size_t at = sizeof head;
    memcpy(out + at, &hello, sizeof hello);
    at += sizeof hello;
    for (int i = 0; i < 2; i++) {
        memcpy(out + at, &rec, sizeof rec);
        at += sizeof rec;
        memset(out + at, 0, 16);
        at += 16;
    }
    memcpy(out + at, small, sizeof small);
    at += sizeof small;
    memset(out + at, 0, 8);
    at += 8;
    head.len = (uint32_t)at;
    memcpy(out, &head, sizeof head);
    return at;
}

START_TEST(good_messages_pass)
{
    _Alignas(8) uint8_t msg[512];
    size_t len = build_message(msg);
    ck_assert_ptr_null(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS));
    const struct hl_wire_head *head = (const void *)msg;
    ck_assert_uint_eq(hl_wire_hello_of(head)->len, 16);
    ck_assert_ptr_eq(hl_wire_body(head), msg + sizeof *head + sizeof(struct hl_wire_hello));
    struct hl_wire_head ack = {.nonce = WIRE_NONCE, .from = 0, .kind = HL_WIRE_ACK, .len = sizeof ack};
    ck_assert_ptr_null(hl_wire_check(&ack, sizeof ack, WIRE_NONCE, WIRE_RANKS));
}
END_TEST

START_TEST(bad_messages_are_named)
{
    _Alignas(8) uint8_t msg[512];
    size_t len = build_message(msg);
    struct hl_wire_head *head = (void *)msg;
    ck_assert_str_eq(hl_wire_check(msg, len, WIRE_NONCE + 1, WIRE_RANKS), "of another job");
    ck_assert_ptr_nonnull(hl_wire_check(msg, len - 8, WIRE_NONCE, WIRE_RANKS));
    ck_assert_ptr_nonnull(hl_wire_check(msg, 8, WIRE_NONCE, WIRE_RANKS));
    head->from = WIRE_RANKS;
    ck_assert_str_eq(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS), "from no rank of this job");
    build_message(msg);
    head->count = 6;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS));
    head->count = 1;
    ck_assert_str_eq(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS), "bytes left over");
    build_message(msg);
    head->kind = 9;
    ck_assert_str_eq(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS), "unknown kind");
    build_message(msg);
    struct hl_wire_rec *rec = (void *)(msg + sizeof *head + sizeof(struct hl_wire_hello));
    rec->len = UINT32_MAX;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS));
    rec->len = 12;
    rec->op = HL_WIRE_OPS;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS));
    build_message(msg);
    struct hl_wire_hello *hello = (void *)(head + 1);
    hello->len = HL_WIRE_NAME + 1;
    ck_assert_str_eq(hl_wire_check(msg, len, WIRE_NONCE, WIRE_RANKS), "endpoint name of bad length");
}
END_TEST

/* Every message that passes can be walked without leaving it: the sanitizer builds prove that the checker and
 * this walk read nothing outside. */
START_TEST(random_damage_is_survived)
{
    unsigned seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    int passed = 0;
    for (int i = 0; i < 200000; i++) {
        _Alignas(8) uint8_t msg[512];
        size_t len = build_message(msg);
        for (int flips = (int)(rand_r(&seed) % 3) + 1; flips > 0; flips--) {
            msg[8 + rand_r(&seed) % (len - 8)] = (uint8_t)rand_r(&seed);
        }
        if (rand_r(&seed) % 4 == 0) {
            len = rand_r(&seed) % (len + 1);
        }
        uint8_t *exact = malloc(len == 0 ? 1 : len);
        memcpy(exact, msg, len);
        if (hl_wire_check(exact, len, WIRE_NONCE, WIRE_RANKS) == NULL) {
            const struct hl_wire_head *head = (const void *)exact;
            const uint8_t *at = hl_wire_body(head);
            for (uint32_t n = 0; n < head->count; n++) {
                const struct hl_wire_short *rec = (const void *)at;
                at += head->kind == HL_WIRE_DATA
                          ? hl_wire_fixed(rec->op) + HL_WIRE_PAD(hl_wire_payload(rec->op, rec->len))
                          : sizeof(struct hl_wire_ans) + HL_WIRE_PAD(((const struct hl_wire_ans *)at)->len);
            }
            ck_assert_ptr_eq(at, exact + len);
            passed++;
        }
        free(exact);
    }
    ck_assert_int_gt(passed, 100);
}
END_TEST
