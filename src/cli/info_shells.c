// The connected shells of a workspace's character, so that the manifest can name one.
#include "cli.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/shell_numbers.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

typedef struct Shells {
    jnaCharacter character;
    jnaVolume mesh; // without nodes where there is none yet
    jnaShellNumbers numbers;
    jnaShellLine* lines;
    uint8_t* kinds; // [numbers.count], jnaSkinKind of the most flesh-like vertex; 255: not known
} Shells;

static const char* KindOf(const Shells* s, int shell)
{
    static const char* const names[] = {"flesh", "outfit", "follows", "one piece", "rigid"};
    const jnaShellLine* line = &s->lines[shell];
    jnaMeshRole role = line->part >= 0 ? s->character.parts[line->part].role : jna_meshFlesh;
    return role != jna_meshFlesh ? jnaMeshRoleNames[role] : s->kinds[shell] < 5 ? names[s->kinds[shell]] : "";
}

// What the volume took each shell for, where it is made.
static void FindKinds(const char* workspace, Shells* s)
{
    memset(s->kinds, 255, (size_t)s->numbers.count);
    if (jnaLoadMesh(workspace, &s->mesh, NULL) != jn_ok || s->mesh.skinKinds == NULL ||
        s->mesh.vertexCount > s->character.vertexCount) {
        return;
    }
    for (int v = 0; v < s->mesh.vertexCount; ++v) {
        int shell = s->numbers.shellOf[v] - 1;
        if (shell >= 0 && s->mesh.skinKinds[v] < s->kinds[shell]) {
            s->kinds[shell] = s->mesh.skinKinds[v];
        }
    }
}

static void PrintLines(const Shells* s)
{
    printf("shell  triangles   size   middle                 joint, part, taken for\n");
    for (int i = 0; i < s->numbers.count; ++i) {
        const jnaShellLine* l = &s->lines[i];
        printf("%5d  %9d  %5.3f  (%6.3f, %6.3f, %6.3f)  %s, %s, %s\n", i + 1, l->triangleCount, l->size, l->middle[0],
            l->middle[1], l->middle[2], s->character.joints[l->joint].name,
            l->part >= 0 ? s->character.parts[l->part].name : "", KindOf(s, i)[0] != '\0' ? KindOf(s, i) : "not built");
    }
}

static void PrintJson(const Shells* s)
{
    json_t* list = json_array();
    for (int i = 0; i < s->numbers.count; ++i) {
        const jnaShellLine* l = &s->lines[i];
        json_array_append_new(list, json_pack("{s:i, s:i, s:f, s:[f, f, f], s:s?, s:s?, s:s}", "shell", i + 1,
                                        "triangles", l->triangleCount, "size", l->size, "middle", l->middle[0],
                                        l->middle[1], l->middle[2], "joint", s->character.joints[l->joint].name, "part",
                                        l->part >= 0 ? s->character.parts[l->part].name : NULL, "kind", KindOf(s, i)));
    }
    json_dumpf(list, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(list);
}

int jncInfoShells(const char* workspace, bool json)
{
    Shells s = {0};
    jnError error = {0};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    JN_TRY(jnaLoadWholeCharacter(workspace, &s.character, &error));
    JN_TRY(jnaNumberShells(&s.character, &s.numbers, &error));
    s.lines = jnaArena_Take(&arena, s.numbers.count, sizeof(*s.lines));
    s.kinds = jnaArena_Take(&arena, s.numbers.count, 1);
    JN_TRY(jnaArena_Check(&arena, "shells", &error));
    JN_TRY(jnaDescribeShells(&s.character, &s.numbers, s.lines, &error));
    FindKinds(workspace, &s);
    if (json) {
        PrintJson(&s);
    } else {
        PrintLines(&s);
    }
done:
    jnaDestroyVolume(&s.mesh);
    jnaDestroyShellNumbers(&s.numbers);
    jnaDestroyCharacter(&s.character);
    jnaReleaseArena(&arena);
    return jncEnd(result, &error);
}
