/* The program's allocations, which are the library's, too: those that the library makes itself can be made to
 * fail, and blocks are counted. Another library is one that the program names by ALLOC_LIBRARY. */
#ifndef ALLOC_FAILS_H
#define ALLOC_FAILS_H

#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef ALLOC_LIBRARY
#define ALLOC_LIBRARY "libhotlane.so"
#endif

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t of);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

static __thread long alloc_left = -1;  /* allocations of this thread that succeed before one fails; -1: all */
static long alloc_live;                /* blocks, atomic */
static uintptr_t alloc_from, alloc_to; /* the library's code */

static int alloc_find_library(struct dl_phdr_info *o, size_t bytes, void *unused)
{
    for (int i = 0; strstr(o->dlpi_name, ALLOC_LIBRARY) != NULL && i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0) {
            alloc_from = o->dlpi_addr + p->p_vaddr;
            alloc_to = alloc_from + p->p_memsz;
        }
    }
    return 0;
}

/* Has an allocation of this thread failed since alloc_left was set? */
static int alloc_has_failed(void)
{
    return alloc_left == -2;
}

static int alloc_fails(const void *back)
{
    if (alloc_left < 0 || (uintptr_t)back < alloc_from || (uintptr_t)back >= alloc_to || alloc_left-- > 0) {
        return 0;
    }
    alloc_left = -2;
    errno = ENOMEM;
    return 1;
}

static void *alloc_count(void *p)
{
    __atomic_fetch_add(&alloc_live, p != NULL, __ATOMIC_RELAXED);
    return p;
}

#define ALLOC_FAILS() alloc_fails(__builtin_return_address(0))
#define SHOWN __attribute__((visibility("default"), noinline))

SHOWN void *malloc(size_t n)
{
    return ALLOC_FAILS() ? NULL : alloc_count(__libc_malloc(n));
}

SHOWN void *calloc(size_t n, size_t of)
{
    return ALLOC_FAILS() ? NULL : alloc_count(__libc_calloc(n, of));
}

SHOWN void *realloc(void *p, size_t n)
{
    return ALLOC_FAILS() ? NULL : p == NULL ? alloc_count(__libc_malloc(n)) : __libc_realloc(p, n);
}

SHOWN void *aligned_alloc(size_t align, size_t n)
{
    return ALLOC_FAILS() ? NULL : alloc_count(__libc_memalign(align, n));
}

SHOWN int posix_memalign(void **p, size_t align, size_t n)
{
    *p = ALLOC_FAILS() ? NULL : alloc_count(__libc_memalign(align, n));
    return *p != NULL ? 0 : ENOMEM;
}

/* The next three would call malloc from the C library's code, where no allocation fails. */
SHOWN char *strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = ALLOC_FAILS() ? NULL : alloc_count(__libc_malloc(n + 1));
    if (copy != NULL) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

SHOWN char *strdup(const char *text)
{
    size_t n = strlen(text);
    char *copy = ALLOC_FAILS() ? NULL : alloc_count(__libc_malloc(n + 1));
    return copy != NULL ? memcpy(copy, text, n + 1) : NULL;
}

SHOWN int asprintf(char **text, const char *fmt, ...)
{
    va_list args;
    if (ALLOC_FAILS()) {
        return -1;
    }
    va_start(args, fmt);
    int n = vasprintf(text, fmt, args);
    va_end(args);
    return n;
}

SHOWN void free(void *p)
{
    __atomic_fetch_sub(&alloc_live, p != NULL, __ATOMIC_RELAXED);
    __libc_free(p);
}

SHOWN void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
    return ALLOC_FAILS() ? MAP_FAILED : (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
}

SHOWN int memfd_create(const char *name, unsigned flags)
{
    return ALLOC_FAILS() ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

#endif
