/* Error codes and the words that go with them. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local int said_code;
static _Thread_local char said_text[1024];

int hl_err_say(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(said_text, sizeof said_text, fmt, args);
    va_end(args);
    said_code = code;
    return code;
}

const char *hl_err_words(int code)
{
    switch (code) {
#define HL_ERR_CASE(name, number, words)                                                                     \
    case HL_ERR_##name:                                                                                      \
        return words;
        HL_ERR_ROWS(HL_ERR_CASE)
#undef HL_ERR_CASE
    default:
        return code == 0 ? "no error" : "unknown error";
    }
}

const char *hl_err_text(int code)
{
    return code != 0 && code == said_code ? said_text : hl_err_words(code);
}

int hl_err_class(int code)
{
    if (code >= 0) {
        return code == 0 ? 0 : -HL_ERR_UNKNOWN;
    }
    return code >= HL_ERR_ABI ? -code : -HL_ERR_OTHER;
}
