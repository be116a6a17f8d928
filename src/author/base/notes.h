// Lines for the person who waits.
#pragma once

enum { JNA_NOTE_LENGTH = 400 };

/// What a person should be told about work that succeeded, one line each.
typedef struct jnaNotes {
    int count;
    char (*lines)[JNA_NOTE_LENGTH]; // [count], owned
} jnaNotes;

/// Adds a line; NULL notes and an allocator that has nothing left are ignored.
void jnaNotes_Add(jnaNotes* notes, const char* format, ...) __attribute__((format(printf, 2, 3)));
void jnaDestroyNotes(jnaNotes* notes);
