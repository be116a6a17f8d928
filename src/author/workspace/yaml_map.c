// Keys of a YAML text with their lines, for messages: libcyaml fills structs but does not say where a value
// stood.
#include "workspace_internal.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 16, MAX_ENTRIES = 1 << 16 };

// A list or mapping that is being read.
typedef struct Level {
    bool list;
    bool wantsValue; // a mapping whose key was just read
    int items;
    size_t pathLength; // of the container itself
} Level;

typedef struct Walk {
    jnaYamlMap* map;
    char path[160];
    Level levels[MAX_DEPTH];
    int depth;
} Walk;

static jnaYamlEntry* Append(jnaYamlMap* map, const char* path, int line)
{
    if (map->count == map->capacity) {
        int capacity = map->capacity == 0 ? 64 : 2 * map->capacity;
        jnaYamlEntry* entries =
            capacity <= MAX_ENTRIES ? realloc(map->entries, (size_t)capacity * sizeof(*entries)) : NULL;
        if (entries == NULL) {
            return NULL;
        }
        map->entries = entries;
        map->capacity = capacity;
    }
    jnaYamlEntry* entry = &map->entries[map->count++];
    *entry = (jnaYamlEntry){.line = line};
    snprintf(entry->path, sizeof(entry->path), "%s", path);
    return entry;
}

static void Extend(Walk* walk, const Level* level, const char* format, const char* text, int number)
{
    size_t at = level->pathLength;
    char tail[100];
    snprintf(tail, sizeof(tail), format, text, number);
    snprintf(walk->path + at, sizeof(walk->path) - at, "%s%s", at > 0 && !level->list ? "." : "", tail);
}

// Before a value: what it is called. Returns false for a scalar that is itself a key.
static bool BeginValue(Walk* walk, const yaml_event_t* event, bool* good)
{
    if (walk->depth == 0) {
        return true;
    }
    Level* level = &walk->levels[walk->depth - 1];
    int line = (int)event->start_mark.line + 1;
    if (level->list) {
        Extend(walk, level, "%s[%d]", "", level->items++);
        *good = Append(walk->map, walk->path, line) != NULL;
        return true;
    }
    if (level->wantsValue) {
        level->wantsValue = false;
        return true;
    }
    level->wantsValue = true;
    Extend(walk, level, "%s", event->type == YAML_SCALAR_EVENT ? (const char*)event->data.scalar.value : "?", 0);
    *good = Append(walk->map, walk->path, line) != NULL;
    return false;
}

static bool Visit(Walk* walk, const yaml_event_t* event)
{
    bool good = true;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (BeginValue(walk, event, &good) && good && walk->map->count > 0) {
            jnaYamlEntry* entry = &walk->map->entries[walk->map->count - 1];
            free(entry->text);
            entry->text = strdup((const char*)event->data.scalar.value);
            good = entry->text != NULL;
        }
        return good;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        (void)BeginValue(walk, event, &good);
        if (!good || walk->depth == MAX_DEPTH) {
            return false;
        }
        walk->levels[walk->depth++] =
            (Level){.list = event->type == YAML_SEQUENCE_START_EVENT, .pathLength = strlen(walk->path)};
        return true;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        walk->path[walk->levels[--walk->depth].pathLength] = '\0';
        return true;
    default:
        return true;
    }
}

jnResult jnaMapYaml(const char* file, const char* text, size_t size, jnaYamlMap* map, jnError* error)
{
    *map = (jnaYamlMap){0};
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", file);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char*)text, size);
    Walk walk = {.map = map};
    jnResult result = jn_ok;
    for (bool ended = false; !ended && result == jn_ok;) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) {
            result = jnFail(error, jn_badData, "%s:%zu: is not valid YAML: %s", file, parser.problem_mark.line + 1,
                parser.problem != NULL ? parser.problem : "unknown problem");
            break;
        }
        if (!Visit(&walk, &event)) {
            result =
                jnFail(error, jn_badData, "%s:%zu: is nested too deep or too long", file, event.start_mark.line + 1);
        }
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (result != jn_ok) {
        jnaDestroyYamlMap(map);
    }
    return result;
}

const jnaYamlEntry* jnaYamlMap_Find(const jnaYamlMap* map, const char* path)
{
    for (int i = 0; i < map->count; ++i) {
        if (strcmp(map->entries[i].path, path) == 0) {
            return &map->entries[i];
        }
    }
    return NULL;
}

void jnaDestroyYamlMap(jnaYamlMap* map)
{
    for (int i = 0; i < map->count; ++i) {
        free(map->entries[i].text);
    }
    free(map->entries);
    *map = (jnaYamlMap){0};
}
