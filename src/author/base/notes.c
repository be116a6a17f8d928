// Lines for the person who waits; see notes.h.
#include "base/notes.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names that a line for several notes has, and the letters of each.
enum { MOST_NAMES = 4, NAME_LETTERS = 40 };

void jnaNotes_Add(jnaNotes* notes, const char* format, ...)
{
    if (notes == NULL) {
        return;
    }
    void* lines = realloc(notes->lines, ((size_t)notes->count + 1) * sizeof(*notes->lines));
    if (lines == NULL) {
        return;
    }
    notes->lines = lines;
    va_list arguments;
    va_start(arguments, format);
    char* line = notes->lines[notes->count++];
    vsnprintf(line, JNA_NOTE_LENGTH, format, arguments);
    va_end(arguments);
    for (; *line != '\0'; ++line) {
        *line = (unsigned char)*line < ' ' || *line == 127 ? ' ' : *line;
    }
}

// Steps over a number or over what stands between two quotes; whether there was one.
static bool SkipChanging(const char** at, bool* named)
{
    const char* end = **at == '\'' && !*named ? strchr(*at + 1, '\'') : NULL;
    if (end != NULL) {
        *named = true;
        *at = end + 1;
        return true;
    }
    if (!isdigit((unsigned char)**at)) {
        return false;
    }
    *at += strspn(*at, "0123456789.");
    return true;
}

static bool AreAlike(const char* a, const char* b)
{
    bool namedA = false, namedB = false;
    while (*a != '\0' || *b != '\0') {
        bool skippedA = SkipChanging(&a, &namedA), skippedB = SkipChanging(&b, &namedB);
        if (skippedA != skippedB || namedA != namedB || (!skippedA && *a++ != *b++)) {
            return false;
        }
    }
    return namedA;
}

// The first name of a note, with its quotes; nothing where there is none.
static int FindName(const char* line, const char** name)
{
    *name = strchr(line, '\'');
    const char* end = *name != NULL ? strchr(*name + 1, '\'') : NULL;
    return end != NULL ? (int)(end - *name) + 1 : 0;
}

// Adds the line `first` of the notes, with the names of those that are like it.
static void AddGroup(const jnaNotes* notes, int first, bool* taken, jnaNotes* groups)
{
    char names[MOST_NAMES * (NAME_LETTERS + 8)] = "";
    size_t length = 0;
    int count = 0;
    for (int i = first + 1; i < notes->count; ++i) {
        if (taken[i] || !AreAlike(notes->lines[first], notes->lines[i])) {
            continue;
        }
        taken[i] = true;
        const char* name;
        int letters = FindName(notes->lines[i], &name);
        if (count++ < MOST_NAMES && letters <= NAME_LETTERS) {
            length += (size_t)snprintf(
                names + length, sizeof(names) - length, "%s%.*s", length > 0 ? ", " : "", letters, name);
        }
    }
    char more[32] = "";
    if (count > MOST_NAMES) {
        snprintf(more, sizeof(more), " and %d more", count - MOST_NAMES);
    }
    // The names count more than the end of a long line.
    int room = JNA_NOTE_LENGTH - (int)length - 64;
    if (count > 0) {
        jnaNotes_Add(groups, "%.*s; the same for %d more: %s%s", room, notes->lines[first], count, names, more);
    } else {
        jnaNotes_Add(groups, "%s", notes->lines[first]);
    }
}

jnaNotes jnaNotes_Group(const jnaNotes* notes)
{
    jnaNotes groups = {0};
    bool* taken = calloc((size_t)notes->count + 1, sizeof(bool));
    for (int i = 0; taken != NULL && i < notes->count; ++i) {
        if (!taken[i]) {
            AddGroup(notes, i, taken, &groups);
        }
    }
    free(taken);
    return groups;
}

void jnaDestroyNotes(jnaNotes* notes)
{
    free(notes->lines);
    *notes = (jnaNotes){0};
}
