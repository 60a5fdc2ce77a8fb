"""Defects for tests to find, in builds with -Dfaults=true only: seams.py puts them into copies of the sources, which the build compiles
instead. They show at most one at a time, the one that HOTLANE_FAULT names.

A row: name: (what is wrong, change, ...). A change: (file, text that stands in it once, text of the fault build, which asks HL_FAULT(name)
of fault.h)."""

# perf/rma-oracle finds each of them.
OF_OPERATIONS = {
    "strided_stride": ("regular layouts: every block stands one byte too far", (
        "lib/type/cursor.c",
        "l->stride, l->n - i);\n}",
        "l->stride + HL_FAULT(strided_stride), l->n - i);\n}")),
    "indexed_last": ("irregular layouts: the last block is left out", (
        "lib/type/cursor.c",
        "i = f->i, end = l->n;\n\n    if (i == end) {",
        "i = f->i, end = l->n - (HL_FAULT(indexed_last) && l->n > 1);\n\n    if (i == end) {")),
    "resized_extent": ("resized types: the next element follows the data, not the extent", (
        "lib/type/cursor.c",
        "c->extent = hl_type_extent(t);",
        "c->extent = HL_FAULT(resized_extent) ? t->true_ub - t->true_lb : hl_type_extent(t);")),
    "copy_tail": ("copies of more than 64 bytes leave out the last one", (
        "lib/op/near_copy.c",
        "    default:\n        hl_copy(dst, src, len);",
        "    default:\n        hl_copy(dst, src, len - (HL_FAULT(copy_tail) && len > 64));")),
    "unit_mine": ("displacements are taken in units of the origin's window", (
        "rma/win_reach.c",
        "(struct hl_extent){cards[i].size, cards[i].unit};",
        "(struct hl_extent){cards[i].size, HL_FAULT(unit_mine) ? (uint64_t)w->unit : cards[i].unit};")),
    "add_torn": ("sums on mapped memory are a load and a store", (
        "lib/op/near_acc.c",
        """\
static void acc_by_cpu(const struct update *how, const struct cpu_places *at, const void *origin,
                       void *fetched, size_t n)
{
""", """\
static void add_torn(const struct update *how, const struct cpu_places *at, const char *origin, char *fetched,
                     size_t n)
{
    size_t size = hl_op_size(how->basic);
    for (size_t i = 0; i < n; i++) {
        char *target = at->base + (at->disp != NULL ? at->disp[i] : (int64_t)i * at->stride);
        if (fetched != NULL) {
            memcpy(fetched + i * size, target, size);
        }
        how->kernel(target, origin + i * size, 1);
    }
}

static void acc_by_cpu(const struct update *how, const struct cpu_places *at, const void *origin,
                       void *fetched, size_t n)
{
    if (HL_FAULT(add_torn) && how->verb == ADD) {
        add_torn(how, at, origin, fetched, n);
        return;
    }
"""), (
        "lib/op/near_acc.c",
        "if (grain <= (size_t)1 << width) {",
        "if (grain <= (size_t)1 << width || (HL_FAULT(add_torn) && how->verb == ADD)) {"), (
        "lib/op/near_acc.c",
        "if (n * size < ROW_LEAST) {\n        return 0;",
        "if (n * size < ROW_LEAST || (HL_FAULT(add_torn) && how->verb == ADD)) {\n        return 0;")),
    "fetch_new": ("a sum that fetches brings the value after it", (
        "lib/op/near_acc.c",
        """\
    cpu_fns[how->verb][width_of(hl_op_size(how->basic))](*at, origin, fetched, n, how->kernel);
""", """\
    cpu_fns[how->verb][width_of(hl_op_size(how->basic))](*at, origin, fetched, n, how->kernel);
    if (HL_FAULT(fetch_new) && how->verb == ADD && fetched != NULL) {
        how->kernel(fetched, origin, n);
    }
""")),
    "cas_half": ("compare-and-swap looks at half of the bytes", (
        "lib/op/near_acc.c",
        "cas_fns[width_of(size)](target, origin, compare, fetched);",
        "cas_fns[width_of(size) - (HL_FAULT(cas_half) && size > 1)](target, origin, compare, fetched);")),
    "lock_skipped": ("elements that need a lock are updated without it", (
        "lib/op/near_acc.c",
        """\
        struct hl_near_lock *held = hl_near_lock_take(lock);
        update_held(how, target + at, skip_side(origin, at), skip_side(fetched, at), m);
        hl_near_lock_leave(held);
""", """\
        struct hl_near_lock *held = HL_FAULT(lock_skipped) ? NULL : hl_near_lock_take(lock);
        update_held(how, target + at, skip_side(origin, at), skip_side(fetched, at), m);
        if (!HL_FAULT(lock_skipped)) {
            hl_near_lock_leave(held);
        }
""")),
    "rpc_half": ("in private memory of node peers only the first element is updated", (
        "rma/rpc.c",
        "rec->flags == GET_ACC ? fetched : NULL, rec->count,",
        "rec->flags == GET_ACC ? fetched : NULL, HL_FAULT(rpc_half) ? 1 : rec->count,")),
    "exclusive_shared": ("an exclusive lock does not wait for readers", (
        "rma/lockword.c",
        "return (w & HL_LOCK_EXCLUSIVE) == 0 && (!exclusive || (w & HL_LOCK_READERS) == 0);",
        "return ((w & HL_LOCK_EXCLUSIVE) == 0 || (HL_FAULT(exclusive_shared) && exclusive)) && "
        "(!exclusive || (w & HL_LOCK_READERS) == 0);")),
    "unlock_open": ("an unlock does not complete operations on the network", (
        "rma/lock.c",
        "int failed = hl_win_flush(w, target);",
        "int failed = HL_FAULT(unlock_open) ? 0 : hl_win_flush(w, target);")),
    "fence_open": ("a fence does not complete operations on the network", (
        "rma/fence.c",
        "failed = hl_win_flush(w, -1);",
        "failed = HL_FAULT(fence_open) ? 0 : hl_win_flush(w, -1);")),
    "complete_open": ("MPI_Win_complete does not complete operations on the network", (
        "rma/pscw.c",
        "rc = hl_win_flush(w, rank_in(w, members[i]));\n        int sent =",
        "rc = HL_FAULT(complete_open) ? 0 : hl_win_flush(w, rank_in(w, members[i]));\n        int sent ="), (
        "rma/pscw.c",
        "rc = far ? hl_win_flush(",
        "rc = far && !HL_FAULT(complete_open) ? hl_win_flush(")),
    "flush_lane": ("a flush does not wait for the first of the lanes that were used", (
        "lib/lane/flush.c",
        "uint64_t bits = hl_a64_load_acquire(&hl_pool.used[peer]) & among;\n    uint32_t first =",
        "uint64_t bits = hl_a64_load_acquire(&hl_pool.used[peer]) & among;\n"
        "    bits &= HL_FAULT(flush_lane) ? bits - 1 : bits;\n    uint32_t first =")),
    "flush_local_open": ("a local flush waits for nothing", (
        "rma/flush.c",
        """\
    if (HL_LIKELY(hl_a8_load_relaxed(&w->waits) == 0)) {
        hl_flush_mapped(w, scope);
""", """\
    if (HL_LIKELY(hl_a8_load_relaxed(&w->waits) == 0) || (HL_FAULT(flush_local_open) && scope == HL_LOCAL)) {
        hl_flush_mapped(w, scope);
""")),
    "chain_last": ("the last of several chained operations is dropped", (
        "lib/rx/records.c",
        "        int rc = is_short ? run_short(rec, &found, a) : run_long(head, (const void *)at, a);",
        """\
        bool left_out =
            HL_FAULT(chain_last) && rec->op == HL_WIRE_PUT && a->record > 1 && a->record + 1 == head->count;
        int rc = left_out ? 0 : is_short ? run_short(rec, &found, a) : run_long(head, (const void *)at, a);""")),
    "chain_answer": ("a chained get is answered with a byte too little", (
        "lib/rx/records.c",
        "hl_near_copy(ans + 1, there, rec->len);",
        "hl_near_copy(ans + 1, there, rec->len - (HL_FAULT(chain_answer) && rec->len > 1));")),
}

# tests/mpi/p2p_faults.py finds each of them, but leave_deaf and ask_once, which only some interleavings show:
# tests/interleave/test_inbox.c finds those.
OF_MESSAGES = {
    "port_wander": ("messages of one pair leave by any port", (
        "lib/match/port.c",
        ".hash = hl_match_hash(head->ctx, head->src) >> 4,",
        ".hash = (hl_match_hash(head->ctx, head->src) >> 4) + (HL_FAULT(port_wander) ? hl_now_ns() >> 6 : 0),")),
    "poll_one": ("who waits looks at one inbox only", (
        "lib/match/match.c",
        "i < m->n_inboxes; i++) {\n        hl_inbox_poll(",
        "i < (HL_FAULT(poll_one) ? 1 : m->n_inboxes); i++) {\n        hl_inbox_poll(")),
    "overtake": ("a send does not mind that earlier ones have not left", (
        "lib/match/send.c",
        "HL_UNLIKELY(hl_a32_load_acquire(p->state)",
        "HL_UNLIKELY(!HL_FAULT(overtake) && hl_a32_load_acquire(p->state)")),
    "newest_first": ("a receive takes the newest message that fits", (
        "lib/match/table.c",
        """\
struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag)
{
""", """\
static HL_COLD struct hl_entry *find_newest(const struct hl_table *t, uint64_t ctx, int src, int tag)
{
    struct hl_entry *found = NULL;
    for (struct hl_entry *e = t->arrival.head; e != NULL; e = e->younger) {
        if (e->ctx == ctx && (src == e->src || src == MPI_ANY_SOURCE) && does_tag_fit(tag, e->tag)) {
            found = e;
        }
    }
    return found;
}

struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag)
{
    if (HL_FAULT(newest_first)) {
        return find_newest(t, ctx, src, tag);
    }
""")),
    "xoff_ignored": ("a throttled source goes on", (
        "lib/match/send.c",
        "bool throttled = (hl_a32_load_relaxed(p->state) & HL_PEER_XOFF) != 0;",
        "bool throttled = (hl_a32_load_relaxed(p->state) & HL_PEER_XOFF) != 0 && !HL_FAULT(xoff_ignored);"), (
        "lib/match/send.c",
        " != 0)) {\n        return HL_NO_ROOM;",
        " != 0 && !HL_FAULT(xoff_ignored))) {\n        return HL_NO_ROOM;")),
    "isend_waits": ("a nonblocking send waits for room", (
        "lib/match/send.c",
        "    int err = hold_and_send(m, p, s, r);\n    if (err != 0) {\n        hl_req_free(r);",
        """\
    int err = hold_and_send(m, p, s, r);
    if (HL_FAULT(isend_waits) && err == 0) {
        hl_req_wait(r);
    }
    if (err != 0) {
        hl_req_free(r);""")),
    "command_order": ("an inbox's owner does what he was asked to in any order", (
        "lib/match/inbox.c",
        """\
        struct hl_command *young = hl_aptr_xchg_full(&ib->command, NULL), *old = NULL;
""", """\
        struct hl_command *young = hl_aptr_xchg_full(&ib->command, NULL), *old = NULL;
        if (HL_FAULT(command_order)) {
            old = young;
            young = NULL;
        }
""")),
    "deaths_untold": ("nobody is told of deaths", (
        "lib/match/deaths.c",
        "if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0) || !claim_visit(m, idle)) {",
        "if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0) || HL_FAULT(deaths_untold) || !claim_visit(m, idle)) {")),
    "die_claimed": ("rank 1 dies with a slot claimed", (
        "lib/match/ring.c",
        "    if (HL_UNLIKELY(hl_mpsc_stamp(&s->stamp, claimed))) {",
        """\
    if (HL_FAULT(die_claimed) && hl_job.rank == 1 && claimed >> 1 >= 100) {
        raise(SIGKILL);
    }
    if (HL_UNLIKELY(hl_mpsc_stamp(&s->stamp, claimed))) {""")),
    "leave_deaf": ("an inbox's owner leaves without looking what he was asked meanwhile", (
        "lib/match/inbox.c",
        "return HL_UNLIKELY(hl_aptr_load_relaxed(&ib->command) != NULL);",
        "return HL_UNLIKELY(hl_aptr_load_relaxed(&ib->command) != NULL) && !HL_FAULT(leave_deaf);")),
    "ask_once": ("who asks an inbox's owner does not look whether he has left", (
        "lib/match/inbox.c",
        "    hl_fence_behind_full();\n    if (try_own(m, ib)) {",
        "    hl_fence_behind_full();\n    if (!HL_FAULT(ask_once) && try_own(m, ib)) {")),
    "die_helping": ("rank 1 dies while it copies to a receiver", (
        "lib/match/split_copy.c",
        "p->node != m->node_rank && !hl_prog_crowded();",
        "p->node != m->node_rank && (!hl_prog_crowded() || HL_FAULT(die_helping));"), (
        "lib/match/split_copy.c",
        "        drop_help(m, help);\n        return 1;\n    }\n",
        """\
        drop_help(m, help);
        return 1;
    }
    if (HL_FAULT(die_helping) && m->world_rank == 1) {
        raise(SIGKILL);
    }
""")),
    "help_fails": ("a sender cannot write into its receiver's memory", (
        "lib/match/split_copy.c",
        "hl_cma_move(m, help->peer, HL_NEAR_WRITE,",
        "!HL_FAULT(help_fails) && hl_cma_move(m, help->peer, HL_NEAR_WRITE,")),
    "port_full": ("two of three times the network has no room for a message", (
        "lib/match/port.c",
        "int rc = hl_fab_ep_send(&port->ep, b->to->addr[i], b->data,",
        "bool full = HL_FAULT(port_full) && (hl_now_ns() >> 10) % 3 != 0;\n"
        "    int rc = full ? -FI_EAGAIN : hl_fab_ep_send(&port->ep, b->to->addr[i], b->data,")),
}

# No defects: the library takes the name from the environment as it loads its settings, and knows the variable.
SWITCH = ((
    "lib/conf/conf.c",
    "    return rc;\n}\n\nint hl_conf_load(void)",
    "    return rc == 0 ? hl_fault_read() : rc;\n}\n\nint hl_conf_load(void)"), (
    "lib/conf/names.c",
    "    HL_TOOL_VARS(NAME_ONLY)\n",
    "    HL_TOOL_VARS(NAME_ONLY) \"HOTLANE_FAULT\",\n"))
