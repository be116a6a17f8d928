// See import_roles.h.
#include "pipeline/import_roles.h"

#include "base/arena.h"
#include "base/near_names.h"
#include "base/try.h"
#include "character/marks.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jnResult OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory while importing");
}

bool jnaPartMarks(const jnaManifestPart* part)
{
    return part->shell > 0 || part->joints != NULL || part->mask != NULL;
}

static bool StartsWith(const char* text, const char* prefix, const char** rest)
{
    size_t length = strlen(prefix);
    *rest = text + length;
    return strncmp(text, prefix, length) == 0 && text[length] != '\0';
}

static jnResult TakeMask(const char* text, jnaManifestPart* part, jnError* error)
{
    const char* more = strchr(text, '>');
    char* end = NULL;
    part->mask = more != NULL ? strndup(text, (size_t)(more - text)) : strdup(text);
    JN_PASS(part->mask != NULL ? jn_ok : OutOfMemory(error));
    part->above = more != NULL ? strtod(more + 1, &end) : part->above;
    if (more != NULL && (end == more + 1 || *end != '\0')) {
        return jnFail(error, jn_badArgument, "--part mask:%s: what comes after '>' is no number", text);
    }
    return jn_ok;
}

static jnResult TakePart(const char* name, jnaMeshRole role, jnaManifestPart* part, jnError* error)
{
    const char* rest;
    *part = (jnaManifestPart){.role = role, .above = JNA_PART_ABOVE};
    if (StartsWith(name, "shell:", &rest)) {
        char* end;
        long shell = strtol(rest, &end, 10);
        if (*end != '\0' || shell < 1 || shell > INT_MAX) {
            return jnFail(error, jn_badArgument, "--part %s: a shell is a number from 1 on", name);
        }
        part->shell = (int)shell;
        return jn_ok;
    }
    if (StartsWith(name, "mask:", &rest)) {
        return TakeMask(rest, part, error);
    }
    if (StartsWith(name, "joints:", &rest)) {
        part->joints = strdup(rest);
        return part->joints != NULL ? jn_ok : OutOfMemory(error);
    }
    part->name = strdup(StartsWith(name, "name:", &rest) ? rest : name);
    return part->name != NULL ? jn_ok : OutOfMemory(error);
}

jnResult jnaTakeParts(const jnaWorkspaceDef* def, jnaManifest* m, jnError* error)
{
    m->parts = calloc((size_t)(def->partCount + def->followCount) + 1, sizeof(*m->parts));
    for (int i = 0; m->parts != NULL && i < def->followCount; ++i) {
        char path[PATH_MAX];
        if (realpath(def->followFiles[i], path) == NULL) {
            return jnFail(error, jn_ioFailed, "%s: cannot read: %s", def->followFiles[i], strerror(errno));
        }
        m->parts[m->partCount] =
            (jnaManifestPart){.source = strdup(path), .role = jna_meshFollows, .above = JNA_PART_ABOVE};
        JN_PASS(m->parts[m->partCount++].source != NULL ? jn_ok : OutOfMemory(error));
    }
    for (int i = 0; m->parts != NULL && i < def->partCount; ++i) {
        JN_PASS(TakePart(def->partNames[i], def->partRoles[i], &m->parts[m->partCount++], error));
    }
    return m->parts != NULL ? jn_ok : OutOfMemory(error);
}

// Whether a mesh or material is called so: a node's name is not known any more.
static bool HasPart(const jnaCharacter* c, const char* name)
{
    for (int p = 0; p < c->partCount; ++p) {
        if (strcmp(c->parts[p].name, name) == 0 || strcmp(c->parts[p].material, name) == 0) {
            return true;
        }
    }
    return false;
}

// Names in `parts:` that no part has.
static jnResult CheckNames(const jnaManifest* m, const bool* found, const jnaCharacter* c, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    char list[300], near[200];
    const char** names = jnaArena_Take(&arena, 2 * (int64_t)c->partCount, sizeof(*names));
    JN_TRY(jnaArena_Check(&arena, "parts", error));
    for (int p = 0; p < c->partCount; ++p) {
        names[2 * p] = c->parts[p].name;
        names[2 * p + 1] = c->parts[p].material;
    }
    for (int i = 0; i < m->partCount; ++i) {
        if (m->parts[i].name != NULL && !jnaPartMarks(&m->parts[i]) && !found[i] && !HasPart(c, m->parts[i].name)) {
            jnaNearNames(m->parts[i].name, names, 2 * c->partCount, near, sizeof(near));
            jnaListParts(c, list, sizeof(list));
            JN_TRY(jnFail(error, jn_badArgument,
                "parts: no mesh, node or material of the character is called '%s'; the nearest are %s; its parts are "
                "%s",
                m->parts[i].name, near, list));
        }
    }
    if (c->outfitCount >= c->vertexCount) {
        JN_TRY(jnFail(error, jn_badArgument, "parts: no part of the character is flesh; its parts are %s",
            jnaListParts(c, list, sizeof(list))));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaSetMarks(const jnaManifest* m, const bool* found, jnaCharacter* c, jnError* error)
{
    enum { PLACE_LENGTH = 24 };
    JN_PASS(CheckNames(m, found, c, error));
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int count = 0;
    jnaMarkSetting* settings = jnaArena_Take(&arena, m->partCount, sizeof(*settings));
    char(*places)[PLACE_LENGTH] = jnaArena_Take(&arena, m->partCount, PLACE_LENGTH);
    JN_TRY(jnaArena_Check(&arena, "parts", error));
    for (int i = 0; i < m->partCount; ++i) {
        const jnaManifestPart* part = &m->parts[i];
        // What a person calls flesh is none of the pieces and sheets that are recognised. Meshes of the built-in figure
        // are no parts of a file, so that nobody found them.
        bool named = part->name != NULL && (part->role == jna_meshFlesh || !found[i]) && HasPart(c, part->name);
        if (jnaPartMarks(part) || named) {
            snprintf(places[i], PLACE_LENGTH, "parts[%d]", i);
            settings[count++] =
                (jnaMarkSetting){places[i], part->name, part->shell, part->joints, part->mask, part->above, part->role};
        }
    }
    if (count > 0) {
        JN_TRY(jnaCharacter_Mark(c, settings, count, error));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaNoteParts(const jnaCharacter* c, jnaNotes* notes)
{
    for (int role = jna_meshFollows; c->outfitCount > 0 && role <= jna_meshRigid; ++role) {
        int count = 0;
        for (int p = 0; p < c->partCount; ++p) {
            count += (int)c->parts[p].role == role;
        }
        if (count > 0) {
            jnaNotes_Add(notes,
                role == jna_meshRigid ? "%d of %d parts are rigid: the joints alone move them"
                                      : "%d of %d parts follow the flesh that they lie on; they are not simulated",
                count, c->partCount);
        }
    }
    int follows = jnaCharacter_CountMarks(c, jna_meshFollows), rigid = jnaCharacter_CountMarks(c, jna_meshRigid);
    if (follows + rigid > 0) {
        jnaNotes_Add(notes, "of %d vertices, %d follow the flesh and %d are rigid, as parts: of the manifest says",
            c->vertexCount - c->outfitCount, follows, rigid);
    }
}
