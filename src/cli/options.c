// Parsing and help, from one table of options per verb.
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int jncFail(const jnError* error)
{
    fprintf(stderr, "jounce: %s\n", error->message);
    return JNC_FAILED;
}

int jncMisuse(const char* format, ...)
{
    fputs("jounce: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (--help shows the usage)\n", stderr);
    return JNC_USAGE;
}

static void PrintHelp(const jncUsage* usage, const jncOption* options)
{
    printf("usage: %s\n\n%s", usage->synopsis, usage->about);
    if (options->name != NULL) {
        printf("\noptions:\n");
    }
    for (const jncOption* o = options; o->name != NULL; ++o) {
        char left[64];
        const char* argument = o->choices != NULL ? o->choices : o->argument;
        const char* form = argument == NULL ? "%s" : o->optional ? "%s [%s]" : "%s %s";
        snprintf(left, sizeof(left), form, o->name, argument);
        printf("  %-32s %s\n", left, o->help);
    }
    printf("  %-32s %s\n", "--help", "show this");
    if (usage->example != NULL) {
        printf("\nexample:\n%s", usage->example);
    }
}

static int FindChoice(const char* choices, const char* word)
{
    int index = 0;
    size_t length = strlen(word);
    for (const char* at = choices; at != NULL; ++index) {
        const char* bar = strchr(at, '|');
        size_t size = bar != NULL ? (size_t)(bar - at) : strlen(at);
        if (size == length && memcmp(at, word, size) == 0) {
            return index;
        }
        at = bar != NULL ? bar + 1 : NULL;
    }
    return -1;
}

static bool InRange(const jncOption* o, double number)
{
    return o->range[1] <= o->range[0] || (number >= o->range[0] && number <= o->range[1]);
}

static int Store(const jncOption* o, char** words)
{
    char* end = NULL;
    const char* word = words[0];
    errno = 0;
    switch (o->kind) {
    case jnc_flag:
        *(bool*)o->value = true;
        break;
    case jnc_text:
        *(const char**)o->value = word;
        break;
    case jnc_number: {
        double number = strtod(word, &end);
        if (end == word || *end != '\0' || !isfinite(number)) {
            return jncMisuse("%s: '%s' is not a number", o->name, word);
        }
        if (!InRange(o, number)) {
            return jncMisuse("%s: %s is not between %g and %g", o->name, word, o->range[0], o->range[1]);
        }
        *(double*)o->value = number;
        break;
    }
    case jnc_integer: {
        long number = strtol(word, &end, 10);
        if (end == word || *end != '\0' || errno != 0) {
            return jncMisuse("%s: '%s' is not a whole number", o->name, word);
        }
        if (!InRange(o, (double)number)) {
            return jncMisuse("%s: %s is not between %g and %g", o->name, word, o->range[0], o->range[1]);
        }
        *(long*)o->value = number;
        break;
    }
    case jnc_choice: {
        int index = FindChoice(o->choices, word);
        if (index < 0) {
            return jncMisuse("%s: '%s' is not one of %s", o->name, word, o->choices);
        }
        *(int*)o->value = index;
        break;
    }
    case jnc_list: {
        jncList* list = o->value;
        if (list->count == JNC_MAX_REPEATS) {
            return jncMisuse("%s: given more than %d times", o->name, JNC_MAX_REPEATS);
        }
        for (int k = 0; k < o->arity; ++k) {
            list->words[list->count * o->arity + k] = words[k];
        }
        list->count++;
        break;
    }
    }
    if (o->given != NULL) {
        *o->given = true;
    }
    return -1;
}

// The option called `word`, or the next word without dashes that is still free.
static const jncOption* FindOption(const jncOption* options, const char* word, const bool* seen)
{
    bool dashed = word[0] == '-' && word[1] != '\0';
    for (const jncOption* o = options; o->name != NULL; ++o) {
        bool positional = o->name[0] != '-';
        if (dashed ? strcmp(o->name, word) == 0 : positional && !seen[o - options]) {
            return o;
        }
    }
    return NULL;
}

int jncParse(int argc, char** argv, const jncUsage* usage, const jncOption* options)
{
    bool seen[64] = {false};
    for (int i = 0; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            PrintHelp(usage, options);
            return JNC_DONE;
        }
    }
    for (int i = 0; i < argc; ++i) {
        const jncOption* o = FindOption(options, argv[i], seen);
        if (o == NULL) {
            return jncMisuse(argv[i][0] == '-' ? "unknown option %s" : "'%s' is one word too many", argv[i]);
        }
        bool positional = o->name[0] != '-';
        if (seen[o - options] && o->kind != jnc_list) {
            return jncMisuse("%s is given twice", o->name);
        }
        seen[o - options] = true;
        int words = positional || o->kind == jnc_flag ? 0 : o->kind == jnc_list ? o->arity : 1;
        if (o->optional && (i + 1 >= argc || strspn(argv[i + 1], "0123456789") != strlen(argv[i + 1]))) {
            *o->given = true;
            continue;
        }
        bool cut = false; // the words of a pair run into the next option
        for (int k = 2; k <= words && i + k < argc; ++k) {
            cut = cut || strncmp(argv[i + k], "--", 2) == 0;
        }
        if (i + words >= argc || cut) {
            return jncMisuse("%s needs %s", o->name, o->choices != NULL ? o->choices : o->argument);
        }
        int code = Store(o, argv + i + (positional ? 0 : words > 0 ? 1 : 0));
        if (code >= 0) {
            return code;
        }
        i += words;
    }
    for (const jncOption* o = options; o->name != NULL; ++o) {
        if (o->required && !seen[o - options]) {
            return jncMisuse("%s is missing", o->name);
        }
    }
    return -1;
}
