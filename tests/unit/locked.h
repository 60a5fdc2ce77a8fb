/* A limit of locked memory, for a test. */
#ifndef HL_TEST_LOCKED_H
#define HL_TEST_LOCKED_H

#include <check.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Root may lock what it likes; users may not. */
static void be_a_user(rlim_t lockable)
{
    struct rlimit limit;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    ck_assert_int_eq(syscall(SYS_capget, &head, caps), 0);
    caps[0].effective &= ~(UINT32_C(1) << CAP_IPC_LOCK);
    ck_assert_int_eq(syscall(SYS_capset, &head, caps), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    limit.rlim_cur = lockable < limit.rlim_max ? lockable : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

#endif
