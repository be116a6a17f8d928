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

/// The same notes with one line for all that differ only in their first 'name' and in numbers: the first of them, how
/// many there are and whom else they concern. A shortage of memory gives fewer lines.
jnaNotes jnaNotes_Group(const jnaNotes* notes);

void jnaDestroyNotes(jnaNotes* notes);
