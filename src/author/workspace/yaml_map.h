// A YAML text with the line of every entry.
#pragma once

#include "jounce/base.h"

/// Where things stand in a YAML text: one entry per key and per item of a list.
typedef struct jnaYamlEntry {
    char path[160]; // "clips[1].role"; cut where longer
    int line;
    char* text; // of a plain value; NULL for a list or a mapping
} jnaYamlEntry;

typedef struct jnaYamlMap {
    int count, capacity;
    jnaYamlEntry* entries;
} jnaYamlMap;

/// Lists all entries. A text that is no YAML is refused with its line.
jnResult jnaMapYaml(const char* file, const char* text, size_t size, jnaYamlMap* map, jnError* error);
const jnaYamlEntry* jnaYamlMap_Find(const jnaYamlMap* map, const char* path);
void jnaDestroyYamlMap(jnaYamlMap* map);
