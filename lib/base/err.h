/* Error codes of all internal functions, and the texts that go with them. */
#ifndef HL_ERR_H
#define HL_ERR_H

#include "attr.h"

#include <stdbool.h>

/* One row for each error: name, number, words that are used when no function has left better ones. The first
 * rows have the numbers of MPI's error classes (MPI 5.0, section 9.4): the class of such a code is its
 * negative. The last rows never reach a user. */
#define HL_ERR_ROWS(X)                                                                                       \
    X(BUFFER, 1, "invalid buffer")                                                                           \
    X(COUNT, 2, "invalid count")                                                                             \
    X(TYPE, 3, "invalid datatype")                                                                           \
    X(TAG, 4, "invalid tag")                                                                                 \
    X(COMM, 5, "invalid communicator")                                                                       \
    X(RANK, 6, "invalid rank")                                                                               \
    X(REQUEST, 7, "invalid request")                                                                         \
    X(ROOT, 8, "invalid root")                                                                               \
    X(GROUP, 9, "invalid group")                                                                             \
    X(OP, 10, "invalid operation")                                                                           \
    X(TOPOLOGY, 11, "invalid topology")                                                                      \
    X(DIMS, 12, "invalid dimensions")                                                                        \
    X(ARG, 13, "invalid argument")                                                                           \
    X(UNKNOWN, 14, "unknown error")                                                                          \
    X(TRUNCATE, 15, "more data than the buffer has room for")                                                \
    X(OTHER, 16, "error without a class of its own")                                                         \
    X(INTERN, 17, "internal error")                                                                          \
    X(PENDING, 18, "operation pending")                                                                      \
    X(IN_STATUS, 19, "error code is in the status")                                                          \
    X(ACCESS, 20, "permission denied")                                                                       \
    X(AMODE, 21, "invalid access mode")                                                                      \
    X(ASSERT, 22, "invalid assertion")                                                                       \
    X(BAD_FILE, 23, "invalid file name")                                                                     \
    X(BASE, 24, "invalid base address")                                                                      \
    X(CONVERSION, 25, "data conversion failed")                                                              \
    X(DISP, 26, "invalid displacement")                                                                      \
    X(DUP_DATAREP, 27, "data representation already defined")                                                \
    X(FILE_EXISTS, 28, "file exists")                                                                        \
    X(FILE_IN_USE, 29, "file in use")                                                                        \
    X(FILE, 30, "invalid file handle")                                                                       \
    X(INFO_KEY, 31, "invalid info key")                                                                      \
    X(INFO_NOKEY, 32, "no such info key")                                                                    \
    X(INFO_VALUE, 33, "invalid info value")                                                                  \
    X(INFO, 34, "invalid info object")                                                                       \
    X(IO, 35, "input or output failed")                                                                      \
    X(KEYVAL, 36, "invalid attribute key")                                                                   \
    X(LOCKTYPE, 37, "invalid lock type")                                                                     \
    X(NAME, 38, "name not published")                                                                        \
    X(NO_MEM, 39, "no memory")                                                                               \
    X(NOT_SAME, 40, "argument differs between ranks")                                                        \
    X(NO_SPACE, 41, "no space left")                                                                         \
    X(NO_SUCH_FILE, 42, "no such file")                                                                      \
    X(PORT, 43, "invalid port")                                                                              \
    X(QUOTA, 44, "quota exceeded")                                                                           \
    X(READ_ONLY, 45, "file is read-only")                                                                    \
    X(RMA_ATTACH, 46, "memory cannot be attached")                                                           \
    X(RMA_CONFLICT, 47, "conflicting accesses to a window")                                                  \
    X(RMA_RANGE, 48, "target memory is not part of the window")                                              \
    X(RMA_SHARED, 49, "memory cannot be shared")                                                             \
    X(RMA_SYNC, 50, "wrong synchronization of one-sided calls")                                              \
    X(SERVICE, 51, "service not published")                                                                  \
    X(SIZE, 52, "invalid size")                                                                              \
    X(SPAWN, 53, "processes cannot be started")                                                              \
    X(UNSUPPORTED_DATAREP, 54, "unsupported data representation")                                            \
    X(UNSUPPORTED_OPERATION, 55, "operation not supported")                                                  \
    X(WIN, 56, "invalid window")                                                                             \
    X(RMA_FLAVOR, 57, "wrong window flavor")                                                                 \
    X(PROC_ABORTED, 58, "a peer process has ended")                                                          \
    X(VALUE_TOO_LARGE, 59, "value does not fit")                                                             \
    X(SESSION, 60, "invalid session")                                                                        \
    X(ERRHANDLER, 61, "invalid error handler")                                                               \
    X(ABI, 62, "invalid use of the ABI")                                                                     \
    X(AGAIN, 1001, "try again")                                                                              \
    X(FOUND_NONE, 1002, "nothing found")

enum hl_err {
#define HL_ERR_ENUM(name, number, words) HL_ERR_##name = -(number),
    HL_ERR_ROWS(HL_ERR_ENUM)
#undef HL_ERR_ENUM
};

/* Codes below this are those that users add to MPI's and return from their functions: the negative is MPI's
 * code, above MPI_ERR_LASTCODE. */
#define HL_ERR_USERS (-16383)

#define HL_ERR_TEXT 1024 /* bytes for any text, with the final zero */

/* Keeps the text of an error in a buffer of the calling thread, for the code that reports it, and returns
 * `code`. The function that first knows the cause calls it, once, with the values: `return
 * hl_err_say(HL_ERR_RANK, ...)`. The text of HL_ERR_NO_MEM gets a hint at limits. */
int hl_err_say(int code, const char *fmt, ...) HL_COLD HL_PRINTF(2, 3);

/* hl_err_say for a handle without an object: names the null handle ("the datatype is MPI_DATATYPE_NULL").
 * `noun`: what the handle should be, e.g. "datatype". */
int hl_err_say_none(int code, const char *noun, const void *handle) HL_COLD;

/* The text of the calling thread's last hl_err_say if that had this code, else the row's general words. */
const char *hl_err_text(int code);

/* hl_err_text for the call that reports an error: the row's words also when that text was reported before
 * (hl_err_reported), since then it tells of an earlier error. */
const char *hl_err_text_unreported(int code);

/* The calling thread's last text has been reported. */
void hl_err_reported(void);

/* A hint at what to do about an errno that a limit or a sandbox has caused: " (...)"; "" for other
 * numbers. */
const char *hl_err_hint(int error);

/* True when this resource (RLIMIT_*) of the process is limited. */
bool hl_err_is_limited(int resource);

/* The row's general words for a code, or for an MPI class, given as its negative. Never NULL. */
const char *hl_err_words(int code);

/* MPI error class of a code: 1..62, or a user's code. For a code that is no class of MPI, that of
 * MPI_ERR_OTHER. */
int hl_err_class(int code);

#endif
