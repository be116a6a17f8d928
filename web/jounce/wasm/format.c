// vsnprintf for the module: the library's own brings stdio and 20 kB along, for sentences about files. Knows what the
// runtime's messages use, %s %d %u %zu %lld %llu %g %%, without widths; another letter traps, so that a test finds it.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS = 6 }; // of %g

// What does not fit is counted, not written.
typedef struct Text {
    char* to;
    size_t size, length;
} Text;

static void Put(Text* text, char letter)
{
    if (text->length + 1 < text->size) {
        text->to[text->length] = letter;
    }
    text->length++;
}

static void PutText(Text* text, const char* words)
{
    for (; *words != '\0'; ++words) {
        Put(text, *words);
    }
}

static void PutNumber(Text* text, uint64_t number)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        Put(text, digits[--count]);
    }
}

static void PutSigned(Text* text, int64_t number)
{
    if (number < 0) {
        Put(text, '-');
    }
    PutNumber(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

// `point`: how many digits stand before the point; not above 0 for leading zeros. Trailing zeros go.
static void PutDecimal(Text* text, uint32_t digits, int point)
{
    char all[DIGITS];
    int last = 0;
    for (int i = DIGITS - 1; i >= 0; --i, digits /= 10) {
        all[i] = (char)('0' + digits % 10);
    }
    for (int i = 0; i < DIGITS; ++i) {
        last = all[i] != '0' ? i + 1 : last;
    }
    if (point <= 0) {
        PutText(text, "0.");
    }
    for (int i = point; i < 0; ++i) {
        Put(text, '0');
    }
    for (int i = 0; i < (last > point ? last : point); ++i) {
        if (i == point && i > 0) {
            Put(text, '.');
        }
        Put(text, all[i]);
    }
}

// %g: six digits, rounded; the last may differ from the library's where the number lies in the middle of two.
static void PutReal(Text* text, double value)
{
    if (signbit(value)) {
        Put(text, '-');
    }
    value = fabs(value);
    if (!isfinite(value) || value == 0.0) {
        PutText(text, isnan(value) ? "nan" : value > 0.0 ? "inf" : "0");
        return;
    }
    int exponent = 0;
    double scaled = value;
    for (; scaled >= 10.0; scaled /= 10.0) {
        exponent++;
    }
    for (; scaled < 1.0; scaled *= 10.0) {
        exponent--;
    }
    uint32_t digits = (uint32_t)(scaled * 1e5 + 0.5);
    if (digits >= 1000000) {
        digits /= 10;
        exponent++;
    }
    if (exponent >= -4 && exponent < DIGITS) {
        PutDecimal(text, digits, exponent + 1);
        return;
    }
    PutDecimal(text, digits, 1);
    PutText(text, exponent < 0 ? "e-" : "e+");
    int size = exponent < 0 ? -exponent : exponent;
    if (size < 10) {
        Put(text, '0');
    }
    PutNumber(text, (uint64_t)size);
}

int vsnprintf(char* to, size_t size, const char* format, va_list arguments)
{
    Text text = {to, size, 0};
    for (; *format != '\0'; ++format) {
        if (*format != '%') {
            Put(&text, *format);
            continue;
        }
        format++;
        bool wide = strncmp(format, "ll", 2) == 0;
        format += wide ? 2 : *format == 'z' ? 1 : 0; // size_t has 32 bits here
        switch (*format) {
        case 's':
            PutText(&text, va_arg(arguments, const char*));
            break;
        case 'd':
            PutSigned(&text, wide ? va_arg(arguments, long long) : va_arg(arguments, int));
            break;
        case 'u':
            PutNumber(&text, wide ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned));
            break;
        case 'g':
            PutReal(&text, va_arg(arguments, double));
            break;
        case '%':
            Put(&text, '%');
            break;
        default:
            __builtin_trap();
        }
    }
    if (size > 0) {
        to[text.length < size ? text.length : size - 1] = '\0';
    }
    return (int)text.length;
}
