#include "console.h"

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    char *t = to;
    for (const char *f = from; count > 0; count--) *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t count) {
    for (char *t = to; count > 0; count--) *t++ = (char)value;
    return to;
}

void write_bytes(const void *bytes, size_t count) {
    register long file __asm__("a0") = 1;
    register const void *from __asm__("a1") = bytes;
    register size_t size __asm__("a2") = count;
    register long call __asm__("a7") = 64;
    __asm__ volatile("ecall" : "+r"(file) : "r"(from), "r"(size), "r"(call) : "memory");
}

void write_text(const char *text) {
    size_t count = 0;
    while (text[count]) count++;
    write_bytes(text, count);
}

void write_number(int32_t number) {
    char digits[12];
    size_t at = sizeof digits;
    uint32_t rest = number < 0 ? 0 - (uint32_t)number : (uint32_t)number;
    do digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0) digits[--at] = '-';
    write_bytes(digits + at, sizeof digits - at);
}
