/* Bytes as text: decimal length, a dot, URL-safe base64 without padding. */
#include "boot_code.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t body_size(size_t len)
{
    return len / 3 * 4 + (len % 3 ? len % 3 + 1 : 0);
}

size_t hl_boot_code_size(size_t len)
{
    return (size_t)snprintf(NULL, 0, "%zu.", len) + body_size(len);
}

void hl_boot_code_write(const void *data, size_t len, char *text)
{
    const unsigned char *p = data;
    text += sprintf(text, "%zu.", len);
    for (size_t at = 0; at < len; at += 3) {
        size_t left = len - at;
        uint32_t v = (uint32_t)p[at] << 16;
        v |= left > 1 ? (uint32_t)p[at + 1] << 8 : 0;
        v |= left > 2 ? p[at + 2] : 0;
        *text++ = digit[v >> 18];
        *text++ = digit[v >> 12 & 63];
        if (left > 1) {
            *text++ = digit[v >> 6 & 63];
        }
        if (left > 2) {
            *text++ = digit[v & 63];
        }
    }
    *text = 0;
}

int hl_boot_code_look(const char *text, size_t *text_len, size_t *data_len)
{
    size_t len = 0, at = 0;
    for (; text[at] >= '0' && text[at] <= '9' && at < 12; at++) {
        len = len * 10 + (size_t)(text[at] - '0');
    }
    if (!at || text[at] != '.' || (text[0] == '0' && at > 1)) {
        return -1;
    }
    *data_len = len;
    *text_len = at + 1 + body_size(len);
    return 0;
}

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

int hl_boot_code_read(const char *text, void *data, size_t data_len)
{
    size_t text_len, len;
    unsigned char *p = data;
    if (hl_boot_code_look(text, &text_len, &len) || len != data_len || strlen(text) != text_len) {
        return -1;
    }
    text += text_len - body_size(len);
    for (size_t at = 0; at < len; at += 3) {
        size_t take = len - at < 3 ? len - at : 3;
        uint32_t v = 0;
        for (size_t i = 0; i < 4; i++) {
            int d = i <= take ? digit_of(*text++) : 0;
            if (d < 0) {
                return -1;
            }
            v = v << 6 | (uint32_t)d;
        }
        for (size_t i = 0; i < take; i++) {
            p[at + i] = (unsigned char)(v >> (16 - 8 * i));
        }
        if (take < 3 && (v & (0xffffffu >> (8 * take)))) {
            return -1; /* unused bits must be zero */
        }
    }
    return 0;
}

int hl_boot_code_secret(const char *hex, uint64_t secret[2])
{
    char half[17] = "";
    if (strlen(hex) != 32 || strspn(hex, "0123456789abcdef") != 32) {
        return -1;
    }
    memcpy(half, hex, 16);
    secret[0] = strtoull(half, NULL, 16);
    secret[1] = strtoull(hex + 16, NULL, 16);
    return 0;
}
