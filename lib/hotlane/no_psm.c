/* Takes the place of libpsm_infinipath.so.1 or, compiled with PSM2, of libpsm2.so.2 on hosts that have no
 * adapter of theirs (fab/lib.c says why): says to libfabric what these would, that there is none. */
enum { OK = 0, NO_DEVICE = 20 }; /* of psm_error_t and psm2_error_t */

#ifdef PSM2
#define NAME(name) psm2_##name
#else
#define NAME(name) psm_##name
#endif

int NAME(init)(int *major, int *minor);
int NAME(ep_num_devunits)(unsigned *n);
int NAME(error_register_handler)(void *endpoint, void *handler);
const char *NAME(error_get_string)(int error);

int NAME(init)(int *major, int *minor)
{
    (void)major;
    (void)minor;
    return NO_DEVICE;
}

int NAME(ep_num_devunits)(unsigned *n)
{
    *n = 0;
    return OK;
}

int NAME(error_register_handler)(void *endpoint, void *handler)
{
    (void)endpoint;
    (void)handler;
    return OK;
}

const char *NAME(error_get_string)(int error)
{
    return error == OK ? "no error" : "no such adapter on this host";
}

/* What else libfabric 1.17 refers to in either, and calls only after an init that succeeded. One that refers
 * to more gets the real libraries. */
static int never_called(void)
{
    return NO_DEVICE;
}

#define NEVER_CALLED(name) int NAME(name)(void) __attribute__((alias("never_called")))
NEVER_CALLED(am_get_parameters);
NEVER_CALLED(am_get_source);
NEVER_CALLED(am_register_handlers);
NEVER_CALLED(am_register_handlers_2);
NEVER_CALLED(am_reply_short);
NEVER_CALLED(am_request_short);
NEVER_CALLED(ep_close);
NEVER_CALLED(ep_connect);
NEVER_CALLED(ep_disconnect2);
NEVER_CALLED(ep_epid_lookup);
NEVER_CALLED(ep_epid_lookup2);
NEVER_CALLED(ep_open);
NEVER_CALLED(ep_open_opts_get_defaults);
NEVER_CALLED(epaddr_getctxt);
NEVER_CALLED(epaddr_setctxt);
NEVER_CALLED(epaddr_to_epid);
NEVER_CALLED(finalize);
NEVER_CALLED(get_capability_mask);
NEVER_CALLED(info_query);
NEVER_CALLED(mq_cancel);
NEVER_CALLED(mq_finalize);
NEVER_CALLED(mq_improbe2);
NEVER_CALLED(mq_imrecv);
NEVER_CALLED(mq_init);
NEVER_CALLED(mq_ipeek);
NEVER_CALLED(mq_iprobe);
NEVER_CALLED(mq_iprobe2);
NEVER_CALLED(mq_irecv);
NEVER_CALLED(mq_irecv2);
NEVER_CALLED(mq_isend);
NEVER_CALLED(mq_isend2);
NEVER_CALLED(mq_send);
NEVER_CALLED(mq_send2);
NEVER_CALLED(mq_test);
NEVER_CALLED(mq_test2);
NEVER_CALLED(mq_wait2);
NEVER_CALLED(poll);
