// See marks.h.
#include "character/marks.h"

#include "base/arena.h"
#include "base/near_names.h"
#include "base/try.h"
#include "character/shell_numbers.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_LENGTH = 240 };

/// What a setting is looked up in.
typedef struct Search {
    const jnaCharacter* character;
    jnaArena arena;
    jnaShellNumbers shells; // made when the first setting asks for it
    const char** names;     // [joints, or parts twice], scratch for messages
    uint8_t* joints;        // [jointCount], those of the setting
    uint8_t* fits;          // [vertexCount]
} Search;

static jnResult FailAtName(
    const jnaMarkSetting* m, const char* what, const char* name, const char* const* names, int count, jnError* error)
{
    char list[LIST_LENGTH];
    jnaNearNames(name, names, count, list, sizeof(list));
    return jnFail(error, jn_badArgument,
        list[0] != '\0' ? "%s: the character has no %s '%s'; the nearest are %s" : "%s: the character has no %s '%s'%s",
        m->place, what, name, list);
}

// Keeps the vertices of parts by name.
static jnResult FitName(Search* s, const jnaMarkSetting* m, jnError* error)
{
    const jnaCharacter* c = s->character;
    uint8_t* own = jnaArena_Take(&s->arena, c->vertexCount, 1);
    JN_PASS(jnaArena_Check(&s->arena, "marks", error));
    bool found = false;
    for (int p = 0; p < c->partCount; ++p) {
        const jnaPart* part = &c->parts[p];
        s->names[2 * p] = part->name;
        s->names[2 * p + 1] = part->material;
        bool has = strcmp(part->name, m->name) == 0 || strcmp(part->material, m->name) == 0;
        found = found || has;
        for (int i = 0; has && i < 3 * part->triangleCount; ++i) {
            own[c->weld[c->triangles[3 * (size_t)part->firstTriangle + (size_t)i]]] = 1;
        }
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        s->fits[v] &= own[v];
    }
    return found ? jn_ok : FailAtName(m, "mesh or material", m->name, s->names, 2 * c->partCount, error);
}

static jnResult FitShell(Search* s, const jnaMarkSetting* m, jnError* error)
{
    if (s->shells.shellOf == NULL) {
        JN_PASS(jnaNumberShells(s->character, &s->shells, error));
    }
    if (m->shell > s->shells.count) {
        return jnFail(error, jn_badArgument, "%s: there is no shell %d; the character has %d (jounce info --shells)",
            m->place, m->shell, s->shells.count);
    }
    for (int v = 0; v < s->character->vertexCount; ++v) {
        s->fits[v] &= s->shells.shellOf[v] == m->shell;
    }
    return jn_ok;
}

// One name of the list; a star takes all joints below too.
static jnResult TakeJoint(Search* s, const jnaMarkSetting* m, char* name, jnError* error)
{
    const jnaCharacter* c = s->character;
    size_t length = strlen(name);
    bool below = length > 1 && name[length - 1] == '*';
    name[length - below] = '\0';
    int found = -1, plain = -1; // "Head" is found where it is called "mixamorig:Head"
    for (int j = 0; j < c->jointCount; ++j) {
        const char* colon = strrchr(c->joints[j].name, ':');
        s->names[j] = c->joints[j].name;
        found = strcmp(c->joints[j].name, name) == 0 ? j : found;
        plain = plain < 0 && colon != NULL && strcmp(colon + 1, name) == 0 ? j : plain;
    }
    found = found >= 0 ? found : plain;
    if (found < 0) {
        return FailAtName(m, "joint", name, s->names, c->jointCount, error);
    }
    s->joints[found] = 2;
    for (int j = found + 1; below && j < c->jointCount; ++j) {
        int parent = c->joints[j].parent;
        s->joints[j] = parent >= 0 && s->joints[parent] == 2 ? 2 : s->joints[j];
    }
    for (int j = 0; j < c->jointCount; ++j) { // what the next name's star must not take for its own
        s->joints[j] = s->joints[j] > 0;
    }
    return jn_ok;
}

static jnResult FitJoints(Search* s, const jnaMarkSetting* m, jnError* error)
{
    const jnaCharacter* c = s->character;
    char* list = jnaArena_Take(&s->arena, (int64_t)strlen(m->joints) + 1, 1);
    JN_PASS(jnaArena_Check(&s->arena, "marks", error));
    memcpy(list, m->joints, strlen(m->joints) + 1);
    memset(s->joints, 0, (size_t)c->jointCount);
    char* rest = NULL;
    for (char* word = strtok_r(list, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        word += strspn(word, " ");
        for (size_t n = strlen(word); n > 0 && word[n - 1] == ' '; --n) {
            word[n - 1] = '\0';
        }
        JN_PASS(TakeJoint(s, m, word, error));
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        double sum = 0;
        for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
            sum += s->joints[c->influences[v].joints[i]] ? (double)c->influences[v].weights[i] : 0;
        }
        s->fits[v] &= sum > 0 && sum >= m->above - 1e-6;
    }
    return jn_ok;
}

// "COLOR_0.r": the attribute and its component.
static const jnaAttribute* FindMask(const jnaCharacter* c, const char* mask, int* component)
{
    static const char letters[2][5] = {"rgba", "xyzw"};
    const char* dot = strrchr(mask, '.');
    *component = 0;
    for (int i = 0; i < c->attributeCount; ++i) {
        const jnaAttribute* a = &c->attributes[i];
        size_t length = strlen(a->name);
        if (strcmp(a->name, mask) == 0) {
            return a;
        }
        if (dot != NULL && (size_t)(dot - mask) == length && strncmp(a->name, mask, length) == 0 && dot[1] != '\0' &&
            dot[2] == '\0') {
            for (int k = 0; k < 2 * a->width; ++k) {
                if (letters[k / a->width][k % a->width] == dot[1]) {
                    *component = k % a->width;
                    return a;
                }
            }
        }
    }
    return NULL;
}

static jnResult FitMask(Search* s, const jnaMarkSetting* m, jnError* error)
{
    const jnaCharacter* c = s->character;
    int component;
    const jnaAttribute* a = FindMask(c, m->mask, &component);
    if (a == NULL) {
        const char** names = jnaArena_Take(&s->arena, c->attributeCount, sizeof(*names));
        JN_PASS(jnaArena_Check(&s->arena, "marks", error));
        for (int i = 0; i < c->attributeCount; ++i) {
            names[i] = c->attributes[i].name;
        }
        return FailAtName(m, "vertex attribute", m->mask, names, c->attributeCount, error);
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        double value = (double)a->values[(size_t)v * (size_t)a->width + (size_t)component];
        s->fits[v] &= value >= m->above - 1e-6;
    }
    return jn_ok;
}

static jnResult MarkOne(Search* s, const jnaMarkSetting* m, uint8_t* marks, jnError* error)
{
    const jnaCharacter* c = s->character;
    memset(s->fits, 1, (size_t)c->vertexCount);
    JN_PASS(m->name != NULL ? FitName(s, m, error) : jn_ok);
    JN_PASS(m->shell > 0 ? FitShell(s, m, error) : jn_ok);
    JN_PASS(m->joints != NULL ? FitJoints(s, m, error) : jn_ok);
    JN_PASS(m->mask != NULL ? FitMask(s, m, error) : jn_ok);
    int count = 0, flesh = c->vertexCount - c->outfitCount;
    for (int v = 0; v < flesh; ++v) {
        marks[v] = s->fits[v] ? JNA_MARK(m->role) : marks[v];
        count += s->fits[v];
    }
    return count > 0 ? jn_ok
                     : jnFail(error, jn_badArgument,
                           "%s: no vertex fits: of the parts that are flesh none has all that it asks for", m->place);
}

jnResult jnaCharacter_Mark(jnaCharacter* c, const jnaMarkSetting* settings, int count, jnError* error)
{
    Search s = {.character = c};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int names = c->jointCount > 2 * c->partCount ? c->jointCount : 2 * c->partCount;
    uint8_t* marks = jnaArena_Give(&arena, c->vertexCount, 1);
    s.names = jnaArena_Take(&s.arena, names, sizeof(*s.names));
    s.joints = jnaArena_Take(&s.arena, c->jointCount, 1);
    s.fits = jnaArena_Take(&s.arena, c->vertexCount, 1);
    JN_TRY(jnaArena_Check(&arena, "marks", error));
    JN_TRY(jnaArena_Check(&s.arena, "marks", error));
    for (int i = 0; i < count; ++i) {
        JN_TRY(MarkOne(&s, &settings[i], marks, error));
    }
    free(c->marks);
    c->marks = marks;
    marks = NULL;
done:
    free(marks);
    jnaDestroyShellNumbers(&s.shells);
    jnaReleaseArena(&s.arena);
    return result;
}

int jnaCharacter_CountMarks(const jnaCharacter* c, jnaMeshRole role)
{
    int count = 0;
    for (int v = 0; c->marks != NULL && v < c->vertexCount; ++v) {
        count += c->marks[v] == JNA_MARK(role);
    }
    return count;
}
