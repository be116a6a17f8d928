// Lines for the person who waits; see notes.h.
#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void jnaDestroyNotes(jnaNotes* notes)
{
    free(notes->lines);
    *notes = (jnaNotes){0};
}
