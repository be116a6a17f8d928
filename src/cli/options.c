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

int jncEnd(jnResult result, const jnError* error)
{
    return result == jn_ok ? JNC_DONE : jncFail(error);
}

void jncJoinWords(const char* const* words, int count, char* text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < count && used < size; ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "|" : "", words[i]);
    }
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

enum { COLUMN = 34 };

static void PrintHelp(const jncUsage* usage, const jncOption* options)
{
    printf("usage: %s\n\n%s", usage->synopsis, usage->about);
    if (options->name != NULL) {
        printf("\noptions:\n");
    }
    for (const jncOption* o = options; o->name != NULL; ++o) {
        const char* argument = o->choices != NULL ? o->choices : o->argument;
        int width = printf(argument == NULL ? "  %s" : o->optional ? "  %s [%s]" : "  %s %s", o->name, argument);
        // What is too long for its column has its line to itself.
        printf(width > COLUMN ? "\n%*s %s\n" : "%*s %s\n", width > COLUMN ? COLUMN : COLUMN - width, "", o->help);
    }
    printf("  %-32s %s\n", "--help", "show this");
    if (usage->example != NULL) {
        printf("\nexample:\n%s", usage->example);
    }
}

// Text in a cell of a Markdown table: a bar would end the cell.
static void PrintCell(const char* text)
{
    for (; *text != '\0'; ++text) {
        printf(*text == '|' ? "\\|" : "%c", *text);
    }
}

// The same as a section of docs/reference/command-line.md.
static void PrintMarkdown(const jncUsage* usage, const jncOption* options)
{
    printf("```text\n%s\n```\n\n%s\n", usage->synopsis, usage->about);
    printf(options->name != NULL ? "| option | meaning |\n| --- | --- |\n" : "");
    for (const jncOption* o = options; o->name != NULL; ++o) {
        const char* argument = o->choices != NULL ? o->choices : o->argument;
        printf("| `%s", o->name);
        if (argument != NULL) {
            printf(o->optional ? " [" : " ");
            PrintCell(argument);
            printf(o->optional ? "]" : "");
        }
        printf("` | ");
        PrintCell(o->help);
        printf("%s |\n", o->required ? " (required)" : o->kind == jnc_list ? " (may be repeated)" : "");
    }
    if (usage->example != NULL) {
        printf("\n```text\n%s```\n", usage->example);
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
        *o->value.flag = true;
        break;
    case jnc_text:
        *o->value.text = word;
        break;
    case jnc_number: {
        double number = strtod(word, &end);
        if (end == word || *end != '\0' || !isfinite(number)) {
            return jncMisuse("%s: '%s' is not a number", o->name, word);
        }
        if (!InRange(o, number)) {
            return jncMisuse("%s: %s is not between %g and %g", o->name, word, o->range[0], o->range[1]);
        }
        *o->value.number = number;
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
        *o->value.integer = number;
        break;
    }
    case jnc_choice: {
        int index = FindChoice(o->choices, word);
        if (index < 0) {
            return jncMisuse("%s: '%s' is not one of %s", o->name, word, o->choices);
        }
        *o->value.choice = index;
        break;
    }
    case jnc_list: {
        jncList* list = o->value.list;
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

// The option called `word`, or the next word without dashes that is still free. A word "--name=value" names its option
// up to the sign; *value is then what follows it, else NULL.
static const jncOption* FindOption(const jncOption* options, char* word, const bool* seen, char** value)
{
    bool dashed = word[0] == '-' && word[1] != '\0';
    char* sign = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t length = sign != NULL ? (size_t)(sign - word) : strlen(word);
    *value = sign != NULL ? sign + 1 : NULL;
    for (const jncOption* o = options; o->name != NULL; ++o) {
        bool positional = o->name[0] != '-';
        bool named = strlen(o->name) == length && memcmp(o->name, word, length) == 0;
        if (dashed ? named : positional && !seen[o - options]) {
            return o;
        }
    }
    return NULL;
}

// Words that an option takes after its name.
static int CountWords(const jncOption* o)
{
    bool positional = o->name[0] != '-';
    return positional || o->kind == jnc_flag ? 0 : o->kind == jnc_list ? o->arity : 1;
}

// Stores the words of the option at argv[0], or its value behind a '='; *used is how many words follow the first.
// Returns -1, or the exit code of wrong usage.
static int TakeWords(const jncOption* o, int argc, char** argv, char* value, int* used)
{
    int words = CountWords(o);
    *used = value != NULL ? 0 : words;
    if (value != NULL) {
        return words == 1 ? Store(o, &value)
                          : jncMisuse("%s %s", o->name, words == 0 ? "takes no value" : "needs words after it, no '='");
    }
    if (o->optional && (argc < 2 || strspn(argv[1], "0123456789") != strlen(argv[1]))) {
        *used = 0;
        *o->given = true;
        return -1;
    }
    bool cut = false; // the words of a pair run into the next option
    for (int k = 2; k <= words && k < argc; ++k) {
        cut = cut || strncmp(argv[k], "--", 2) == 0;
    }
    if (words >= argc || cut) {
        return jncMisuse("%s needs %s", o->name, o->choices != NULL ? o->choices : o->argument);
    }
    return Store(o, argv + (words > 0 ? 1 : 0));
}

int jncParse(int argc, char** argv, const jncUsage* usage, const jncOption* options)
{
    bool seen[64] = {false};
    for (int i = 0; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            PrintHelp(usage, options);
            return JNC_DONE;
        }
        if (strcmp(argv[i], JNC_MARKDOWN_HELP) == 0) {
            PrintMarkdown(usage, options);
            return JNC_DONE;
        }
    }
    for (int i = 0, used; i < argc; i += 1 + used) {
        char* value;
        const jncOption* o = FindOption(options, argv[i], seen, &value);
        if (o == NULL) {
            return jncMisuse(argv[i][0] == '-' ? "unknown option %s" : "'%s' is one word too many", argv[i]);
        }
        if (seen[o - options] && o->kind != jnc_list) {
            return jncMisuse("%s is given twice", o->name);
        }
        seen[o - options] = true;
        int code = TakeWords(o, argc - i, argv + i, value, &used);
        if (code >= 0) {
            return code;
        }
    }
    for (const jncOption* o = options; o->name != NULL; ++o) {
        if (o->required && !seen[o - options]) {
            return jncMisuse("%s is missing", o->name);
        }
    }
    return -1;
}

void jncPrintNotes(const jnaNotes* notes)
{
    for (int i = 0; i < notes->count; ++i) {
        printf("  note: %s\n", notes->lines[i]);
    }
}
