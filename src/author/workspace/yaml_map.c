// Keys of a YAML text with their lines and values, in the order of the text.
#include "workspace/yaml_map.h"

#include "base/arena.h"

#include "runtime/for_author.h"

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
    const char* file;
    jnError* error;
    jnaYamlMap* map;
    char path[160];
    Level levels[MAX_DEPTH];
    int depth;
} Walk;

static jnResult OutOfMemory(const char* file, jnError* error)
{
    return jnFail(error, jn_outOfMemory, "%s: out of memory", file);
}

static jnResult TooLong(const Walk* walk, int line)
{
    return jnFail(walk->error, jn_badData, "%s:%d: is nested too deep or too long", walk->file, line);
}

// The entry of the walk's path.
static jnResult Append(Walk* walk, int line)
{
    jnaYamlMap* map = walk->map;
    if (map->count == MAX_ENTRIES) {
        return TooLong(walk, line);
    }
    if (!jnaReserve(&map->entries, &map->capacity, map->count + 1, sizeof(*map->entries))) {
        return OutOfMemory(walk->file, walk->error);
    }
    jnaYamlEntry* entry = &map->entries[map->count++];
    *entry = (jnaYamlEntry){.line = line};
    snprintf(entry->path, sizeof(entry->path), "%s", walk->path);
    return jn_ok;
}

static void Extend(Walk* walk, const Level* level, const char* format, const char* text, int number)
{
    size_t at = level->pathLength;
    char tail[100];
    snprintf(tail, sizeof(tail), format, text, number);
    snprintf(walk->path + at, sizeof(walk->path) - at, "%s%s", at > 0 && !level->list ? "." : "", tail);
}

// Before a value: what it is called. Returns false for a scalar that is itself a key.
static bool BeginValue(Walk* walk, const yaml_event_t* event, jnResult* result)
{
    if (walk->depth == 0) {
        return true;
    }
    Level* level = &walk->levels[walk->depth - 1];
    int line = (int)event->start_mark.line + 1;
    if (level->list) {
        Extend(walk, level, "%s[%d]", "", level->items++);
        *result = Append(walk, line);
        return true;
    }
    if (level->wantsValue) {
        level->wantsValue = false;
        return true;
    }
    level->wantsValue = true;
    const char* key = event->type == YAML_SCALAR_EVENT ? (const char*)event->data.scalar.value : "?";
    if (strpbrk(key, ".[]") != NULL) {
        // It would read as a path: a key 'clips[0].name' as an item that no list has.
        *result = jnFail(walk->error, jn_badData, "%s:%d: unknown key '%s'", walk->file, line, key);
        return false;
    }
    Extend(walk, level, "%s", key, 0);
    *result = Append(walk, line);
    return false;
}

static jnResult Visit(Walk* walk, const yaml_event_t* event)
{
    jnResult result = jn_ok;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (BeginValue(walk, event, &result) && result == jn_ok && walk->map->count > 0) {
            jnaYamlEntry* entry = &walk->map->entries[walk->map->count - 1];
            free(entry->text);
            entry->text = strdup((const char*)event->data.scalar.value);
            result = entry->text != NULL ? jn_ok : OutOfMemory(walk->file, walk->error);
        }
        return result;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        (void)BeginValue(walk, event, &result);
        if (result != jn_ok || walk->depth == MAX_DEPTH) {
            return result != jn_ok ? result : TooLong(walk, (int)event->start_mark.line + 1);
        }
        walk->levels[walk->depth++] =
            (Level){.list = event->type == YAML_SEQUENCE_START_EVENT, .pathLength = strlen(walk->path)};
        return jn_ok;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        walk->path[walk->levels[--walk->depth].pathLength] = '\0';
        return jn_ok;
    case YAML_ALIAS_EVENT:
        return jnFail(walk->error, jn_badData, "%s:%zu: aliases are not known here", walk->file,
            event->start_mark.line + 1);
    default:
        return jn_ok;
    }
}

jnResult jnaMapYaml(const char* file, const char* text, size_t size, jnaYamlMap* map, jnError* error)
{
    *map = (jnaYamlMap){0};
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
        return OutOfMemory(file, error);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char*)text, size);
    Walk walk = {.file = file, .error = error, .map = map};
    jnResult result = jn_ok;
    for (bool ended = false; !ended && result == jn_ok;) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) {
            result =
                parser.error == YAML_MEMORY_ERROR
                    ? OutOfMemory(file, error)
                    : jnFail(error, jn_badData, "%s:%zu: is not valid YAML: %s", file, parser.problem_mark.line + 1,
                          parser.problem != NULL ? parser.problem : "unknown problem");
            break;
        }
        result = Visit(&walk, &event);
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
