// The manifest is read along its table of fields: every entry of the YAML text finds its row, which says what it must
// be and where it goes. A key that has no row, a value that does not fit and a key that is missing are refused with
// file and line.
#include "workspace/manifest.h"

#include "base/arena.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "character/body.h"
#include "character/joint_names.h"
#include "character/source.h"
#include "workspace/manifest_fields.h"
#include "workspace/yaml_map.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MANIFEST = 1 << 20, POSES = 5000, FIGURE_POSES = 300 };

jnaManifest jnaDefaultManifest(void)
{
    jnaManifest m = {.version = 1, .rate = 30};
    m.materials = jnaDefaultMaterialsDef();
    m.bones = jnaDefaultBonesDef();
    m.volume = jnaDefaultVolumeDef();
    m.poses = jnaDefaultPoseDef(NULL);
    m.poses.count = 0;
    m.flesh = jnaDefaultFleshDef(NULL, NULL);
    m.flesh.gravity[1] = -0.0; // as 0 downwards is read
    m.modes = jnaDefaultModesDef();
    m.modes.ratio = 0;
    m.network.kind = jn_networkPca;
    m.springs.layer = jna_layerModal;
    m.springs.mode = jna_springsFitted;
    m.springs.hertz = 3;
    m.springs.dampingRatio = 0.2;
    m.springs.cap = (jnaCap){jna_capFlesh, 2};
    m.springs.shake = 2;
    return m;
}

int jnaManifest_PoseCount(const jnaManifest* manifest)
{
    return manifest->poses.count > 0 ? manifest->poses.count : jnaIsFigure(manifest->character) ? FIGURE_POSES : POSES;
}

jnResult jnaManifest_SetBody(const jnaManifest* manifest, jnaCharacter* character, jnError* error)
{
    memset(character->body, 0, sizeof(character->body));
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        if (manifest->body[s] != NULL) {
            JN_PASS(jnaCharacter_SetBody(character, (jnaBodySlot)s, manifest->body[s], error));
        }
    }
    return jn_ok;
}

bool jnaManifest_IsImported(const jnaManifest* manifest)
{
    bool imported = false;
    for (int i = 0; i < manifest->clipCount; ++i) {
        const jnaManifestClip* clip = &manifest->clips[i];
        imported = imported || (clip->role == jna_train && (clip->motion != NULL || clip->shapes != NULL));
    }
    return imported && manifest->modesSource == jna_modesOfMotion;
}

bool jnaManifest_Shakes(const jnaManifest* manifest)
{
    bool ours = true; // flesh that is simulated elsewhere does not swing as ours
    for (int i = 0; i < manifest->clipCount; ++i) {
        ours = ours && (manifest->clips[i].motion == NULL || manifest->clips[i].role == jna_test);
    }
    return ours && manifest->springs.shake > 0 && manifest->springs.mode == jna_springsFitted &&
           manifest->springs.layer != jna_layerVertex && !jnaManifest_IsImported(manifest);
}

jnResult jnaManifestClip_Part(const jnaManifestClip* clip, int frameCount, int* first, int* count, jnError* error)
{
    *first = clip->first;
    *count = 0;
    if (clip->frames == 0) {
        return jn_ok;
    }
    if (clip->first >= frameCount) {
        return jnFail(error, jn_badData, "clip '%s' has %d frames; the manifest wants it from frame %d on", clip->name,
            frameCount, clip->first);
    }
    int left = frameCount - clip->first;
    *count = clip->frames > 0 && clip->frames < left ? clip->frames : left;
    return jn_ok;
}

// What is being read.
typedef struct Reader {
    const char* file;
    const jnaYamlMap* map;
    jnaManifest* manifest;
    jnError* error;
    int seen[JNA_MAX_FIELDS]; // 1 where a row was read; of items of lists 1 + the item's index
    const jnaField* list;     // whose item is being read; NULL: none
    int item, itemLine;
} Reader;

static jnResult FailAt(const Reader* r, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
static jnResult FailAt(const Reader* r, int line, const char* format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    return jnFail(r->error, jn_badData, "%s:%d: %s", r->file, line, sentence);
}

static int LineOf(const Reader* r, const char* path)
{
    const jnaYamlEntry* entry = jnaYamlMap_Find(r->map, path);
    return entry != NULL ? entry->line : 1;
}

static jnResult OutOfMemory(const Reader* r)
{
    return jnFail(r->error, jn_outOfMemory, "%s: out of memory", r->file);
}

static void* ItemOf(const Reader* r, const jnaField* list, int item)
{
    char* items;
    memcpy(&items, (char*)r->manifest + list->offset, sizeof(items));
    return items + (size_t)item * list->itemSize;
}

static int* CountOf(const jnaManifest* m, const jnaField* list)
{
    return (int*)((char*)m + list->countOffset);
}

// Every key that an item, or the manifest itself (list NULL), must have.
static jnResult CheckRequired(const Reader* r, const jnaField* list, int item, int line)
{
    for (int i = 0; i < jnaFieldCount; ++i) {
        const jnaField* f = &jnaFields[i];
        bool wanted = (f->flags & JNA_FIELD_REQUIRED) != 0 && jnaField_List(f) == list;
        if (wanted && r->seen[i] != (list != NULL ? item + 1 : 1)) {
            return FailAt(
                r, line, "the key '%s' is missing", strrchr(f->path, '.') ? strrchr(f->path, '.') + 1 : f->path);
        }
    }
    return jn_ok;
}

static jnResult EndItem(Reader* r)
{
    const jnaField* list = r->list;
    r->list = NULL;
    return list != NULL ? CheckRequired(r, list, r->item, r->itemLine) : jn_ok;
}

static jnResult BeginItem(Reader* r, const jnaField* list, const jnaYamlEntry* entry)
{
    JN_PASS(EndItem(r));
    int* count = CountOf(r->manifest, list);
    if (entry->text != NULL || *count >= (int)list->most) {
        return entry->text != NULL ? FailAt(r, entry->line, "%s: '%s' has no keys", entry->path, entry->text)
                                   : FailAt(r, entry->line, "%s has more than %g items", list->path, list->most);
    }
    char *at = (char*)r->manifest + list->offset, *items;
    if (!jnaResize(at, *count + 1, list->itemSize)) {
        return OutOfMemory(r);
    }
    memcpy(&items, at, sizeof(items));
    memcpy(items + (size_t)*count * list->itemSize, list->item, list->itemSize);
    r->list = list;
    r->item = (*count)++;
    r->itemLine = entry->line;
    return jn_ok;
}

// A number, strictly read, within limits.
static jnResult ReadNumber(const Reader* r, const jnaField* f, const jnaYamlEntry* e, double* number)
{
    char* end = NULL;
    *number = e->text != NULL ? strtod(e->text, &end) : 0;
    if (end == NULL || end == e->text || *end != '\0' || !isfinite(*number)) {
        return FailAt(r, e->line, "%s: '%s' is not a number", e->path, e->text != NULL ? e->text : "");
    }
    if (f->kind == jna_fieldCount && strcmp(f->path, "version") == 0 && *number != f->least) {
        return FailAt(r, e->line, "version %s is not known; this is version %g", e->text, f->least);
    }
    if (*number < f->least || *number > f->most) {
        return FailAt(r, e->line, "%s is %g; it must lie between %g and %g", e->path, *number, f->least, f->most);
    }
    if ((f->kind == jna_fieldCount || f->kind == jna_fieldSeed) && *number != floor(*number)) {
        return FailAt(r, e->line, "%s is %g; it must be whole", e->path, *number);
    }
    return jn_ok;
}

static jnResult ReadName(const Reader* r, const jnaField* f, const jnaYamlEntry* e, int* value)
{
    static const char* const flags[] = {"false", "true"};
    const char* const* names = f->kind == jna_fieldFlag ? flags : f->names;
    int count = f->kind == jna_fieldFlag ? 2 : f->nameCount;
    char all[300] = "";
    for (int i = 0; i < count; ++i) {
        if (e->text != NULL && strcmp(e->text, names[i]) == 0) {
            *value = i;
            return jn_ok;
        }
        size_t used = strlen(all);
        snprintf(all + used, sizeof(all) - used, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", names[i]);
    }
    return FailAt(r, e->line, "%s is '%s'; it must be %s", e->path, e->text != NULL ? e->text : "", all);
}

static jnResult ReadText(const Reader* r, const jnaField* f, const jnaYamlEntry* e, char** text)
{
    size_t length = e->text != NULL ? strlen(e->text) : 0;
    if (e->text == NULL || (double)length < f->least || (double)length > f->most) {
        return FailAt(r, e->line, "%s must be a text of %g to %g letters", e->path, f->least, f->most);
    }
    *text = strdup(e->text);
    return *text != NULL ? jn_ok : OutOfMemory(r);
}

// "off", a multiple of the flesh's thickness, or metres: "1.5", "0.05 m".
static jnResult ReadCap(const Reader* r, const jnaField* f, const jnaYamlEntry* e, jnaCap* cap)
{
    const char* text = e->text != NULL ? e->text : "";
    char* end = NULL;
    double number = strtod(text, &end);
    bool off = strcmp(text, "off") == 0, metres = strcmp(end, " m") == 0;
    if (!off && (end == text || !(metres || *end == '\0') || !(number > f->least && number <= f->most))) {
        return FailAt(r, e->line,
            "%s is '%s'; it may be off, a multiple of the flesh's thickness (1.5) or metres (0.05 m)", e->path, text);
    }
    *cap = (jnaCap){off ? jna_capOff : metres ? jna_capMetres : jna_capFlesh, off ? 1 : number};
    return jn_ok;
}

static jnResult ReadValue(const Reader* r, const jnaField* f, const jnaYamlEntry* e, void* at)
{
    double number = 0;
    int value = 0;
    switch (f->kind) {
    case jna_fieldText:
        return ReadText(r, f, e, at);
    case jna_fieldCap:
        return ReadCap(r, f, e, at);
    case jna_fieldNumber:
    case jna_fieldDown:
        JN_PASS(ReadNumber(r, f, e, &number));
        *(double*)at = f->kind == jna_fieldDown ? -number : number;
        return jn_ok;
    case jna_fieldCount: // in its range, so that it can be converted
        JN_PASS(ReadNumber(r, f, e, &number));
        *(int*)at = (int)number;
        return jn_ok;
    case jna_fieldSeed:
        JN_PASS(ReadNumber(r, f, e, &number));
        *(uint64_t*)at = (uint64_t)fmax(number, 0);
        return jn_ok;
    case jna_fieldChoice:
        JN_PASS(ReadName(r, f, e, &value));
        *(int*)at = value;
        return jn_ok;
    case jna_fieldFlag:
        JN_PASS(ReadName(r, f, e, &value));
        *(bool*)at = value != 0;
        return jn_ok;
    case jna_fieldSection:
    case jna_fieldList:
        // An empty one is one that is not there.
        return e->text == NULL || e->text[0] == '\0' ? jn_ok
                                                     : FailAt(r, e->line, "%s: '%s' has no keys", e->path, e->text);
    }
    return jn_ok;
}

// The row of an entry: its path without the numbers of items. item: whether it is an item itself.
static const jnaField* FindRow(const char* path, bool* item)
{
    char plain[sizeof(((jnaYamlEntry*)NULL)->path)];
    size_t length = 0;
    for (const char* c = path; *c != '\0'; ++c) {
        plain[length++] = *c;
        c += *c == '[' ? strcspn(c, "]") - 1 : 0;
    }
    plain[length] = '\0';
    *item = length > 2 && strcmp(plain + length - 2, "[]") == 0;
    plain[length - (*item ? 2 : 0)] = '\0';
    for (int i = 0; i < jnaFieldCount; ++i) {
        if (strcmp(jnaFields[i].path, plain) == 0) {
            return &jnaFields[i];
        }
    }
    return NULL;
}

// A key must not have the same value in two items of a list.
static jnResult CheckUnique(const Reader* r, const jnaField* f, const jnaField* list, const jnaYamlEntry* e)
{
    for (int k = 0; k < r->item && (f->flags & JNA_FIELD_UNIQUE) != 0; ++k) {
        const char *own = (const char*)ItemOf(r, list, r->item) + f->offset,
                   *other = (const char*)ItemOf(r, list, k) + f->offset;
        bool same = f->kind == jna_fieldText ? strcmp(*(char* const*)own, *(char* const*)other) == 0
                                             : *(const int*)own == *(const int*)other;
        if (same) {
            return FailAt(r, e->line, "%s: '%s' is there twice", e->path, e->text);
        }
    }
    return jn_ok;
}

// A key without a row, with the keys of its section that it may be a slip of: at most half of its letters differ.
static jnResult RefuseKey(const Reader* r, const jnaYamlEntry* e)
{
    if (strcmp(e->path, "poses.limits") == 0) {
        return FailAt(r, e->line,
            "poses.limits is no setting any more: random poses never depend on test clips; remove this line");
    }
    enum { SHOWN = 3 };
    char text[200] = "";
    const char* dot = strrchr(e->path, '.');
    const char* key = dot != NULL ? dot + 1 : e->path;
    size_t parent = dot != NULL ? (size_t)(dot - e->path) : 0, length = 0;
    int most = (int)strlen(key) / 2, shown = 0;
    for (int distance = 1; distance <= most; ++distance) {
        for (int i = 0; i < jnaFieldCount && shown < SHOWN; ++i) {
            const jnaField* f = &jnaFields[i];
            const char* other = f->path + jnaField_ParentLength(f) + (parent > 0);
            bool beside = jnaField_ParentLength(f) == parent && strncmp(f->path, e->path, parent) == 0;
            if (beside && strlen(other) < 40 && jnaWordDistance(key, other) == distance) {
                length +=
                    (size_t)snprintf(text + length, sizeof(text) - length, "%s'%s'", shown > 0 ? ", " : "", other);
                shown++;
            }
        }
    }
    return FailAt(r, e->line, "unknown key '%s'%s%s", key, shown > 0 ? "; near to it: " : "", text);
}

static jnResult ReadEntry(Reader* r, const jnaYamlEntry* e)
{
    bool item = false;
    const jnaField* f = FindRow(e->path, &item);
    if (f == NULL || (item && f->kind != jna_fieldList)) {
        return RefuseKey(r, e);
    }
    if (item) {
        return BeginItem(r, f, e);
    }
    const jnaField* list = jnaField_List(f);
    JN_PASS(list != r->list ? EndItem(r) : jn_ok);
    int* seen = &r->seen[f - jnaFields];
    if (*seen == (list != NULL ? r->item + 1 : 1)) {
        const char* dot = strrchr(e->path, '.');
        return FailAt(r, e->line, "'%s' is given twice", dot != NULL ? dot + 1 : e->path);
    }
    *seen = list != NULL ? r->item + 1 : 1;
    char* base = list != NULL ? ItemOf(r, list, r->item) : (char*)r->manifest;
    JN_PASS(ReadValue(r, f, e, base + f->offset));
    return list != NULL ? CheckUnique(r, f, list, e) : jn_ok;
}

static jnResult CheckClipNames(const Reader* r)
{
    const jnaManifest* m = r->manifest;
    for (int i = 0; i < m->clipCount; ++i) {
        char path[40];
        snprintf(path, sizeof(path), "clips[%d].name", i);
        const char* name = m->clips[i].name;
        if (!jnaIsPlainName(name)) {
            return FailAt(r, LineOf(r, path),
                "the clip name '%s' has characters other than letters, digits, '-', '_' and '.'", name);
        }
        for (int k = 0; k < i; ++k) {
            if (strcmp(m->clips[k].name, name) == 0) {
                return FailAt(r, LineOf(r, path), "there are two clips called '%s'", name);
            }
        }
    }
    return jn_ok;
}

static jnResult CheckParts(const Reader* r)
{
    const jnaManifest* m = r->manifest;
    for (int i = 0; i < m->partCount; ++i) {
        char path[40];
        snprintf(path, sizeof(path), "parts[%d]", i);
        const jnaManifestPart* part = &m->parts[i];
        bool chooses = part->name != NULL || part->shell > 0 || part->joints != NULL || part->mask != NULL;
        if (chooses == (part->source != NULL)) {
            return FailAt(r, LineOf(r, path), "%s needs a name, shell, joints or mask, or else a source", path);
        }
        if (m->parts[i].source != NULL && m->parts[i].role == jna_meshFlesh) {
            return FailAt(
                r, LineOf(r, path), "%s: parts of another file cannot be flesh; they may be follows or rigid", path);
        }
    }
    return jn_ok;
}

// What one row alone cannot say.
static jnResult CheckTogether(const Reader* r)
{
    const jnaManifest* m = r->manifest;
    JN_PASS(CheckClipNames(r));
    JN_PASS(CheckParts(r));
    if (m->volume.nodes > 0 && m->volume.edge > 0) {
        return FailAt(
            r, LineOf(r, "volume.nodes"), "volume.edge and volume.nodes both set the resolution; one must be 0");
    }
    if (!(m->poses.random + m->poses.fromClips > 0)) {
        return FailAt(r, LineOf(r, "poses.random"), "poses.random and poses.clips are both 0; one must not be");
    }
    if (m->springs.mode == jna_springsMask && m->springs.mask == NULL) {
        return FailAt(
            r, LineOf(r, "springs.mode"), "springs by mask need springs.mask, an array of one weight per vertex");
    }
    if (m->springs.mode == jna_springsAttribute && m->springs.attribute == NULL) {
        return FailAt(
            r, LineOf(r, "springs.mode"), "springs by attribute need springs.attribute, COLOR_0.r for instance");
    }
    return jn_ok;
}

static jnResult Read(const char* file, const char* text, size_t size, jnaManifest* manifest, jnError* error)
{
    jnaYamlMap map;
    JN_PASS(jnaMapYaml(file, text, size, &map, error));
    jnResult result = jn_ok;
    Reader r = {.file = file, .map = &map, .manifest = manifest, .error = error};
    if (map.count == 0) {
        JN_TRY(jnFail(error, jn_badData, "%s:1: the manifest is empty", file));
    }
    for (int i = 0; i < map.count; ++i) {
        JN_TRY(ReadEntry(&r, &map.entries[i]));
    }
    JN_TRY(EndItem(&r));
    JN_TRY(CheckRequired(&r, NULL, 0, 1));
    JN_TRY(CheckTogether(&r));
    for (int i = 0; i < manifest->tuningCount; ++i) {
        const jnaTuning* tuning = &manifest->tuning[i];
        manifest->materials.body.softness[tuning->region] = tuning->softness;
        manifest->materials.body.damping[tuning->region] = tuning->damping;
        manifest->materials.body.tone[tuning->region] = tuning->tone;
    }
    // Modes without a damping of their own are damped as the flesh is.
    manifest->modes.damping = manifest->flesh.damping;
    manifest->modes.drag = manifest->flesh.drag;
done:
    jnaDestroyYamlMap(&map);
    return result;
}

jnResult jnaParseManifest(const char* file, const char* text, size_t size, jnaManifest* manifest, jnError* error)
{
    *manifest = jnaDefaultManifest();
    jnResult result = Read(file, text, size, manifest, error);
    if (result != jn_ok) {
        jnaDestroyManifest(manifest);
    }
    return result;
}

jnResult jnaReadManifest(const char* path, jnaManifest* manifest, jnError* error)
{
    *manifest = jnaDefaultManifest();
    FILE* file;
    JN_PASS(jnaOpenInput(path, &file, error));
    char* text = malloc(MAX_MANIFEST + 1);
    size_t size = text != NULL ? fread(text, 1, MAX_MANIFEST + 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    jnResult result;
    if (text == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    } else if (failed) {
        result = jnFail(error, jn_ioFailed, "%s: cannot read", path);
    } else if (size > MAX_MANIFEST) {
        result = jnFail(error, jn_badData, "%s: is larger than 1 MiB", path);
    } else {
        result = jnaParseManifest(path, text, size, manifest, error);
    }
    free(text);
    return result;
}

// Texts are owned, by the manifest or by an item of a list.
void jnaDestroyManifest(jnaManifest* m)
{
    for (int i = 0; i < jnaFieldCount; ++i) {
        const jnaField *f = &jnaFields[i], *list = jnaField_List(f);
        Reader r = {.manifest = m};
        int count = list != NULL ? *CountOf(m, list) : 1;
        for (int k = 0; f->kind == jna_fieldText && k < count; ++k) {
            char* base = list != NULL ? ItemOf(&r, list, k) : (char*)m;
            free(*(char**)(base + f->offset));
        }
    }
    for (int i = 0; i < jnaFieldCount; ++i) {
        if (jnaFields[i].kind == jna_fieldList) {
            void* items;
            memcpy(&items, (char*)m + jnaFields[i].offset, sizeof(items));
            free(items);
        }
    }
    *m = (jnaManifest){0};
}
