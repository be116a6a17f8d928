// What the files of the workspace share.
#pragma once

#include "workspace/workspace.h"

#include <jansson.h>

enum { JNA_PATH_LENGTH = 4096 };

/// "folder/name", or name where it is absolute; an error where it does not fit. path: [JNA_PATH_LENGTH].
jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error);

/// Seconds of a clock that only goes forward.
double jnaWallClock(void);

/// Whether the inputs in a stage's record are as they were. *holds: goes to false where they are not, or where there is
/// no record; a stage that has other inputs by now, or other settings, it cannot tell. reason as of jnaStage_IsStale.
jnResult jnaStageRecord_Holds(const char* workspace, const char* name, bool* holds, char* reason, jnError* error);

/// Reads a JSON file of a folder; release it with json_decref. *root stays as it was on failure.
jnResult jnaLoadJson(const char* folder, const char* name, json_t** root, jnError* error);

/// Writes a JSON file, whole or not at all. digits: of real numbers, 17 bring every double back.
jnResult jnaSaveJson(const char* folder, const char* name, const json_t* root, int digits, jnError* error);

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

/// Whether a source is the built-in figure rather than a file.
bool jnaIsFigure(const char* source);

/// The character and its own clips, from a file or the built-in figure; as jnaImportCharacter.
jnResult jnaOpenSource(const char* path, const jnaImportDef* def, jnaCharacter* character, jnaClipList* clips,
    double* usedScale, jnaNotes* notes, jnError* error);

/// What a character's own clip is for until somebody says otherwise: the figure's clips know, of a file's the first is
/// learned from.
jnaRole jnaSourceRole(const char* source, int index);
