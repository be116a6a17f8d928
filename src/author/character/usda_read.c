// Meshes of a USD text file as one moving mesh: what we write, and what Blender, Houdini and usdcat write as .usda.
//
// A recursive descent through prims: stage metadata (metersPerUnit, upAxis, timeCodesPerSecond), transforms in the
// order of xformOpOrder, and of every Mesh its points, faces, normals, UVs and ids. Everything else is skipped by its
// brackets. A mesh of several time samples has those as its frames; transforms are interpolated linearly at their
// times. Limits: references and payloads to other files, variants, instances and skeletons are read past.
#include "base/try.h"
#include "character/mesh_cache_internal.h"

#include "runtime/for_author.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64, MAX_OPS = 16, WORD = 128 };

// One transform operation and its samples over time; one sample without a time where it does not move.
typedef struct Operation {
    char name[WORD];
    int width;
    jnaFloats times, values; // [count], [count][width]
} Operation;

typedef struct Prim {
    char type[WORD];
    bool resets; // does not take the transforms above it
    int opCount;
    Operation ops[MAX_OPS];
    int orderCount;
    char order[MAX_OPS][WORD];
} Prim;

// What is collected of the mesh in hand.
typedef struct Mesh {
    jnaFloats times, points; // of the time samples; of the default value where there are none
    size_t pointsOfFrame;    // numbers in the first frame
    bool uneven;             // a frame has another number of points
    jnaFloats normals, uvs;
    jnaIntegers uvIndices, corners, sizes, ids;
    bool leftHanded;
    bool facesChange;
} Mesh;

typedef struct Parser {
    const char* path;
    const char* asked;
    const char *at, *end; // terminated text
    const char* begin;
    jnaMeshCache* cache;
    double codesPerSecond, framesPerSecond;
    int depth;
    Prim* prims; // [MAX_DEPTH]
    char name[1024];
    char found[256];
    jnError* error;
} Parser;

static jnResult Wrong(const Parser* p, const char* what)
{
    int line = 1;
    for (const char* c = p->begin; c < p->at; ++c) {
        line += *c == '\n';
    }
    return jnFail(p->error, jn_badData, "%s: line %d: %s", p->path, line, what);
}

// Blanks and comments; also line ends where `lines`.
static void Skip(Parser* p, bool lines)
{
    for (;; ++p->at) {
        if (*p->at == '#') {
            p->at += strcspn(p->at, "\n");
        }
        bool blank = *p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == ';';
        if (!blank && !(lines && *p->at == '\n')) {
            return;
        }
    }
}

static bool Take(Parser* p, char expected)
{
    Skip(p, true);
    if (*p->at != expected) {
        return false;
    }
    p->at++;
    return true;
}

// A quoted text of one or three quotation marks. text: may be NULL; what does not fit is cut.
static bool TakeString(Parser* p, char* text, size_t size)
{
    Skip(p, true);
    char quote = *p->at;
    if (quote != '"' && quote != '\'') {
        return false;
    }
    bool triple = p->at[1] == quote && p->at[2] == quote;
    p->at += triple ? 3 : 1;
    size_t length = 0;
    while (p->at < p->end) {
        if (*p->at == quote && (!triple || (p->at[1] == quote && p->at[2] == quote))) {
            p->at += triple ? 3 : 1;
            if (text != NULL) {
                text[length] = '\0';
            }
            return true;
        }
        p->at += *p->at == '\\' && p->at + 1 < p->end ? 1 : 0;
        if (text != NULL && length + 1 < size) {
            text[length++] = *p->at;
        }
        p->at++;
    }
    return false;
}

// Letters, digits and what names of types and attributes hold besides. False where none stands here.
static bool TakeWord(Parser* p, char* word)
{
    size_t length = 0;
    while (isalnum((unsigned char)*p->at) || (*p->at != '\0' && strchr("_:.[]-+!|", *p->at) != NULL)) {
        if (length + 1 < WORD) {
            word[length++] = *p->at;
        }
        p->at++;
    }
    word[length] = '\0';
    return length > 0;
}

static bool SkipBrackets(Parser* p)
{
    int depth = 0;
    do {
        Skip(p, true);
        char c = *p->at;
        if (p->at >= p->end) {
            return false;
        }
        if (c == '"' || c == '\'') {
            if (!TakeString(p, NULL, 0)) {
                return false;
            }
            continue;
        }
        if (c == '@') {
            const char* close = strchr(p->at + 1, '@');
            if (close == NULL) {
                return false;
            }
            p->at = close;
        }
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        p->at++;
    } while (depth > 0);
    return depth == 0;
}

// Any value: a number, a word, a text, a path, an asset, or something in brackets.
static bool SkipValue(Parser* p)
{
    char word[WORD];
    Skip(p, true);
    char c = *p->at;
    if (c == '(' || c == '[' || c == '{') {
        return SkipBrackets(p);
    }
    if (c == '"' || c == '\'') {
        return TakeString(p, NULL, 0);
    }
    if (c == '@' || c == '<') {
        const char* close = strchr(p->at + 1, c == '@' ? '@' : '>');
        p->at = close != NULL ? close + 1 : p->end;
        return close != NULL;
    }
    return TakeWord(p, word);
}

static bool TakeNumber(Parser* p, double* number)
{
    char* after;
    Skip(p, true);
    *number = strtod(p->at, &after);
    bool good = after != p->at;
    p->at = after;
    return good;
}

// Every number of a value, whatever brackets are around them: (1, 2), [(1, 2), (3, 4)], ((...), (...)).
static bool TakeNumbers(Parser* p, jnaFloats* list)
{
    int depth = 0;
    do {
        Skip(p, true);
        char c = *p->at;
        if (c == '(' || c == '[') {
            depth++;
            p->at++;
        } else if (c == ')' || c == ']') {
            depth--;
            p->at++;
        } else if (c == ',') {
            p->at++;
        } else {
            double number;
            if (!TakeNumber(p, &number)) {
                return false;
            }
            jnaFloats_Add(list, (float)number);
        }
    } while (depth > 0 && !list->failed);
    return depth == 0;
}

static bool TakeIntegers(Parser* p, jnaIntegers* list)
{
    if (!Take(p, '[')) {
        return false;
    }
    list->count = 0;
    while (!Take(p, ']')) {
        double number;
        if (!TakeNumber(p, &number) || !(fabs(number) <= INT32_MAX) || number != floor(number)) {
            return false;
        }
        jnaIntegers_Add(list, (int32_t)number);
        (void)Take(p, ',');
    }
    return !list->failed;
}

// Whole numbers that are the same at every time, as Houdini and 3ds Max write faces: the first sample.
static bool TakeSteadyIntegers(Parser* p, jnaIntegers* list, bool* changes)
{
    jnaIntegers other = {0};
    bool good = Take(p, '{');
    for (int n = 0; good && !Take(p, '}'); ++n) {
        double time;
        jnaIntegers* into = n == 0 ? list : &other;
        good = TakeNumber(p, &time) && Take(p, ':') && TakeIntegers(p, into);
        if (good && n > 0) {
            *changes = *changes || other.count != list->count ||
                       (list->count > 0 && memcmp(other.values, list->values, list->count * sizeof(int32_t)) != 0);
        }
        (void)Take(p, ',');
    }
    free(other.values);
    return good;
}

// { time: value, time: value }. perSample: numbers of the first value; uneven: set where another has more or fewer.
static bool TakeSamples(Parser* p, jnaFloats* times, jnaFloats* values, size_t* perSample, bool* uneven)
{
    if (!Take(p, '{')) {
        return false;
    }
    times->count = values->count = 0;
    while (!Take(p, '}')) {
        double time;
        size_t before = values->count;
        if (!TakeNumber(p, &time) || !Take(p, ':')) {
            return false;
        }
        Skip(p, true);
        if (strncmp(p->at, "None", 4) == 0) {
            p->at += 4; // a blocked value
            (void)Take(p, ',');
            continue;
        }
        if (!TakeNumbers(p, values)) {
            return false;
        }
        *perSample = times->count == 0 ? values->count : *perSample;
        *uneven = *uneven || values->count - before != *perSample;
        jnaFloats_Add(times, (float)time);
        (void)Take(p, ',');
    }
    return !times->failed && !values->failed;
}

static bool TakeOrder(Parser* p, Prim* prim)
{
    if (!Take(p, '[')) {
        return false;
    }
    prim->orderCount = 0;
    while (!Take(p, ']')) {
        char text[WORD];
        if (!TakeString(p, text, sizeof(text))) {
            return false;
        }
        if (strcmp(text, "!resetXformStack!") == 0) {
            prim->resets = true;
        } else if (prim->orderCount < MAX_OPS) {
            memcpy(prim->order[prim->orderCount++], text, WORD);
        }
        (void)Take(p, ',');
    }
    return true;
}

// xformOp:NAME and its samples; the operation is found again by its name.
static bool TakeOperation(Parser* p, Prim* prim, const char* name, bool samples)
{
    if (prim->opCount == MAX_OPS) {
        return SkipValue(p);
    }
    int at = 0;
    while (at < prim->opCount && strcmp(prim->ops[at].name, name) != 0) {
        at++;
    }
    Operation* op = &prim->ops[at];
    if (at == prim->opCount) {
        prim->opCount++;
        snprintf(op->name, sizeof(op->name), "%s", name);
    }
    size_t width = 0;
    bool uneven = false;
    if (samples) {
        if (!TakeSamples(p, &op->times, &op->values, &width, &uneven) || uneven) {
            return false;
        }
    } else if (op->times.count > 0) {
        return SkipValue(p); // samples count for more than the default
    } else {
        op->values.count = 0;
        if (!TakeNumbers(p, &op->values)) {
            return false;
        }
        width = op->values.count;
    }
    op->width = width <= 16 ? (int)width : 0;
    return true;
}

static bool HasSuffix(const char* text, const char* suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static bool IsUvName(const char* name)
{
    return strcmp(name, "primvars:st") == 0 || strcmp(name, "primvars:UVMap") == 0 || strcmp(name, "primvars:uv") == 0;
}

// The value of one attribute of a mesh. `samples`: it is a list of time samples.
static bool TakeMeshValue(Parser* p, Mesh* mesh, const char* name, bool samples)
{
    jnaFloats times = {0};
    size_t width = 0;
    bool uneven = false, good = true;
    if (strcmp(name, "points") == 0) {
        if (samples) {
            return TakeSamples(p, &mesh->times, &mesh->points, &mesh->pointsOfFrame, &mesh->uneven);
        }
        if (mesh->times.count > 0) {
            return SkipValue(p);
        }
        mesh->points.count = 0;
        good = TakeNumbers(p, &mesh->points);
        mesh->pointsOfFrame = mesh->points.count;
        return good;
    }
    jnaFloats* floats = strcmp(name, "normals") == 0 || strcmp(name, "primvars:normals") == 0 ? &mesh->normals
                        : IsUvName(name)                                                      ? &mesh->uvs
                                                                                              : NULL;
    if (floats != NULL) {
        floats->count = 0;
        good = samples ? TakeSamples(p, &times, floats, &width, &uneven) : TakeNumbers(p, floats);
        // Of several samples the first is that of the first frame.
        floats->count = samples && good ? width : floats->count;
        free(times.values);
        return good;
    }
    jnaIntegers* integers = strcmp(name, "faceVertexCounts") == 0    ? &mesh->sizes
                            : strcmp(name, "faceVertexIndices") == 0 ? &mesh->corners
                            : strcmp(name, "primvars:st:indices") == 0 || strcmp(name, "primvars:UVMap:indices") == 0
                                ? &mesh->uvIndices
                            : jnaIsSourceId(name) ? &mesh->ids
                                                  : NULL;
    if (integers != NULL) {
        bool* changes = integers == &mesh->corners || integers == &mesh->sizes ? &mesh->facesChange : &uneven;
        return samples ? TakeSteadyIntegers(p, integers, changes) : TakeIntegers(p, integers);
    }
    if (strcmp(name, "orientation") == 0) {
        char text[WORD];
        good = TakeString(p, text, sizeof(text));
        mesh->leftHanded = good && strcmp(text, "leftHanded") == 0;
        return good;
    }
    return SkipValue(p);
}

static void DestroyMesh(Mesh* mesh)
{
    free(mesh->times.values);
    free(mesh->points.values);
    free(mesh->normals.values);
    free(mesh->uvs.values);
    free(mesh->uvIndices.values);
    free(mesh->corners.values);
    free(mesh->sizes.values);
    free(mesh->ids.values);
    *mesh = (Mesh){0};
}

// The values of an operation at a time code, linear between its samples. values: [16].
static void Sample(const Operation* op, double code, double* values)
{
    size_t count = op->times.count, low = 0;
    while (low + 1 < count && (double)op->times.values[low + 1] <= code) {
        low++;
    }
    size_t high = low + 1 < count ? low + 1 : low;
    double t = 0;
    if (high > low && (double)op->times.values[low] < code) {
        double from = (double)op->times.values[low], to = (double)op->times.values[high];
        t = to > from ? (code - from) / (to - from) : 0;
    }
    for (size_t i = 0; i < (size_t)op->width; ++i) {
        double a = (double)op->values.values[low * (size_t)op->width + i];
        double b = (double)op->values.values[high * (size_t)op->width + i];
        values[i] = (1 - t) * a + t * b;
    }
}

// Rotations about the axes in the order of letters, "XYZ": the first letter's comes first.
static jnaAffine Rotate(const char* letters, const double* degrees, int width)
{
    const double origin[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    jnaAffine m = jnaAffine_Identity();
    for (int i = 0; letters[i] >= 'X' && letters[i] <= 'Z' && i < 3; ++i) {
        int axis = letters[i] - 'X';
        double direction[3] = {axis == 0, axis == 1, axis == 2}, q[4];
        jnaQuat_FromAxis(direction, degrees[width == 1 ? 0 : axis] * (JNA_PI / 180), q);
        jnaAffine r = jnaAffine_FromTrs(origin, q, one);
        m = jnaAffine_Multiply(&r, &m);
    }
    return m;
}

// One operation as a matrix; identity for those that are not known.
static jnaAffine MakeOperation(const Operation* op, double code)
{
    jnaAffine m = jnaAffine_Identity();
    const char* kind = op->name + strlen("xformOp:");
    double v[16] = {0};
    Sample(op, code, v);
    if (strncmp(kind, "translate", 9) == 0 && op->width == 3) {
        m.m[3] = v[0];
        m.m[7] = v[1];
        m.m[11] = v[2];
    } else if (strncmp(kind, "scale", 5) == 0 && op->width == 3) {
        m.m[0] = v[0];
        m.m[5] = v[1];
        m.m[10] = v[2];
    } else if (strncmp(kind, "rotate", 6) == 0 && (op->width == 1 || op->width == 3)) {
        m = Rotate(kind + 6, v, op->width);
    } else if (strncmp(kind, "orient", 6) == 0 && op->width == 4) {
        const double origin[3] = {0, 0, 0}, one[3] = {1, 1, 1};
        double q[4] = {v[1], v[2], v[3], v[0]};
        jnaQuat_Normalize(q);
        m = jnaAffine_FromTrs(origin, q, one);
    } else if (strncmp(kind, "transform", 9) == 0 && op->width == 16) {
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 4; ++k) {
                m.m[4 * i + k] = v[4 * k + i]; // the file's vectors are rows
            }
        }
    }
    return m;
}

// Mesh to world at a time code: the prims down to the one in hand.
static jnaAffine Place(const Parser* p, double code)
{
    static const char inverse[] = "!invert!";
    jnaAffine place = jnaAffine_Identity();
    for (int d = 0; d < p->depth; ++d) {
        const Prim* prim = &p->prims[d];
        place = prim->resets ? jnaAffine_Identity() : place;
        for (int i = 0; i < prim->orderCount; ++i) {
            bool inverted = strncmp(prim->order[i], inverse, sizeof(inverse) - 1) == 0;
            const char* name = prim->order[i] + (inverted ? sizeof(inverse) - 1 : 0);
            for (int k = 0; k < prim->opCount; ++k) {
                if (strcmp(prim->ops[k].name, name) == 0 && prim->ops[k].width > 0) {
                    jnaAffine m = MakeOperation(&prim->ops[k], code);
                    place = !inverted || jnaAffine_Invert(&m, &m) ? jnaAffine_Multiply(&place, &m) : place;
                }
            }
        }
    }
    return place;
}

// Values of the first frame spread over the corners; NULL where they fit neither points nor corners.
static float* SpreadAttribute(
    const jnaFloats* values, const jnaIntegers* indices, size_t width, const jnaCacheMesh* mesh)
{
    size_t count = values->count / width, entries = indices != NULL && indices->count > 0 ? indices->count : count;
    bool atCorners = entries == (size_t)mesh->cornerCount;
    if (entries == 0 || values->count % width != 0 || (!atCorners && entries != (size_t)mesh->pointCount)) {
        return NULL;
    }
    float* out = malloc((size_t)mesh->cornerCount * width * sizeof(float) + 1);
    for (size_t c = 0; out != NULL && c < (size_t)mesh->cornerCount; ++c) {
        size_t entry = atCorners ? c : (size_t)mesh->corners[c];
        if (indices != NULL && indices->count > 0) {
            entry = (size_t)(uint32_t)indices->values[entry];
        }
        if (entry >= count) {
            free(out);
            return NULL;
        }
        memcpy(out + c * width, values->values + entry * width, width * sizeof(float));
    }
    return out;
}

static jnResult FindTimes(const Parser* p, const Mesh* in, jnaCacheMesh* out)
{
    double rate = p->codesPerSecond > 0 ? p->codesPerSecond : p->framesPerSecond > 0 ? p->framesPerSecond : 24;
    if (in->times.count == 0) {
        return jn_ok;
    }
    double* times = malloc(in->times.count * sizeof(double));
    if (times == NULL) {
        return jnFail(p->error, jn_outOfMemory, "%s: out of memory", p->path);
    }
    for (size_t i = 0; i < in->times.count; ++i) {
        times[i] = (double)in->times.values[i] / rate;
    }
    jnaFindRate(times, out->frameCount, &out->start, &out->rate);
    free(times);
    return jn_ok;
}

static void PlaceFrames(const Parser* p, const Mesh* in, jnaCacheMesh* out)
{
    for (int f = 0; f < out->frameCount; ++f) {
        jnaAffine place = Place(p, in->times.count > 0 ? (double)in->times.values[f] : 0);
        for (size_t i = 0; i < (size_t)out->pointCount; ++i) {
            float* point = out->positions + 3 * ((size_t)f * (size_t)out->pointCount + i);
            double v[3] = {(double)point[0], (double)point[1], (double)point[2]};
            jnaAffine_Apply(&place, v, v);
            for (int k = 0; k < 3; ++k) {
                point[k] = (float)v[k];
            }
        }
    }
}

// What was collected, as a mesh of the cache.
static jnResult FinishMesh(Parser* p, Mesh* in)
{
    jnResult result = jn_ok;
    size_t frames = in->times.count > 0 ? in->times.count : 1;
    jnaCacheMesh out = {.name = p->name};
    if (in->uneven || in->pointsOfFrame % 3 != 0 || in->points.count != frames * in->pointsOfFrame) {
        return jnFail(p->error, jn_badData, "%s: '%s' has another number of points in some frames", p->path, p->name);
    }
    if (in->facesChange) {
        return jnFail(p->error, jn_badData,
            "%s: the faces of '%s' change over time; a character needs the same faces in every frame", p->path,
            p->name);
    }
    if (frames > INT32_MAX / 16 || in->pointsOfFrame > INT32_MAX / 16 || in->corners.count > INT32_MAX / 16) {
        return jnFail(p->error, jn_badData, "%s: '%s' is larger than can be taken", p->path, p->name);
    }
    out.frameCount = (int)frames;
    out.pointCount = (int)(in->pointsOfFrame / 3);
    out.positions = in->points.values;
    out.faceSizes = in->sizes.values;
    out.faceCount = (int)in->sizes.count;
    out.corners = in->corners.values;
    out.cornerCount = (int)in->corners.count;
    in->points.values = NULL;
    in->sizes.values = in->corners.values = NULL;
    JN_TRY(FindTimes(p, in, &out));
    if (out.pointCount > 0) {
        PlaceFrames(p, in, &out);
    }
    JN_TRY(jnaCheckCacheMesh(p->path, &out, p->error));
    out.normals = SpreadAttribute(&in->normals, NULL, 3, &out);
    out.uvs = SpreadAttribute(&in->uvs, &in->uvIndices, 2, &out);
    if (in->ids.count == (size_t)out.pointCount) {
        out.ids = in->ids.values;
        in->ids.values = NULL;
    }
    if (in->leftHanded) {
        jnaReverseFaces(&out);
    }
    JN_TRY(jnaMeshCache_Add(p->path, (size_t)(p->end - p->begin), p->cache, &out, p->error));
done:
    jnaDestroyCacheMesh(&out);
    return result;
}

static jnResult ParsePrim(Parser* p);

// `[modifiers] type name [= value] [(metadata)]`, or a child prim, or a set of variants.
static jnResult ParseStatement(Parser* p, Mesh* mesh)
{
    char word[WORD], name[WORD] = "";
    const char* before = p->at;
    while (*p->at != '=' && *p->at != '\n' && *p->at != '(' && *p->at != '}' && p->at < p->end) {
        if (*p->at == '"' ? !TakeString(p, NULL, 0) : !TakeWord(p, word)) {
            return Wrong(p, "is not USD text that can be read");
        }
        if (strcmp(word, "def") == 0 || strcmp(word, "over") == 0 || strcmp(word, "class") == 0) {
            p->at = before;
            return ParsePrim(p);
        }
        memcpy(name, word, sizeof(name));
        Skip(p, false);
    }
    if (*p->at == '=') {
        p->at++;
        Prim* prim = &p->prims[p->depth - 1];
        bool samples = HasSuffix(name, ".timeSamples"), good = true;
        if (samples) {
            name[strlen(name) - strlen(".timeSamples")] = '\0';
        }
        if (strcmp(name, "xformOpOrder") == 0) {
            good = TakeOrder(p, prim);
        } else if (strncmp(name, "xformOp:", 8) == 0) {
            good = TakeOperation(p, prim, name, samples);
        } else if (mesh != NULL) {
            good = TakeMeshValue(p, mesh, name, samples);
        } else {
            good = SkipValue(p);
        }
        if (!good) {
            return Wrong(p, "the value of an attribute cannot be read");
        }
        Skip(p, false);
    }
    if (*p->at == '(' && !SkipBrackets(p)) {
        return Wrong(p, "a bracket is not closed");
    }
    return jn_ok;
}

static void ClearPrim(Prim* prim)
{
    for (int i = 0; i < prim->opCount; ++i) {
        free(prim->ops[i].times.values);
        free(prim->ops[i].values.values);
    }
    *prim = (Prim){0};
}

// `def Mesh "name" (metadata) { ... }`; the prim's place on the stack is freed by the caller.
static jnResult ParseBody(Parser* p, Prim* prim)
{
    jnResult result = jn_ok;
    Mesh mesh = {0};
    bool isMesh = strcmp(prim->type, "Mesh") == 0, wanted = isMesh && jnaIsAskedFor(p->name, p->asked);
    while (!Take(p, '}')) {
        if (p->at >= p->end) {
            result = Wrong(p, "the file ends inside a prim");
            goto done;
        }
        JN_TRY(ParseStatement(p, wanted ? &mesh : NULL));
    }
    if (isMesh) {
        size_t used = strlen(p->found);
        snprintf(p->found + used, sizeof(p->found) - used, "%s%s", used > 0 ? ", " : "", p->name);
    }
    if (wanted && (mesh.points.failed || mesh.corners.failed || mesh.sizes.failed)) {
        result = jnFail(p->error, jn_outOfMemory, "%s: out of memory", p->path);
    } else if (wanted && mesh.points.count > 0) {
        result = FinishMesh(p, &mesh);
    }
done:
    DestroyMesh(&mesh);
    return result;
}

static jnResult ParsePrim(Parser* p)
{
    char word[WORD], name[WORD];
    size_t length = strlen(p->name);
    if (p->depth == MAX_DEPTH) {
        return Wrong(p, "prims are nested too deep");
    }
    Prim* prim = &p->prims[p->depth];
    *prim = (Prim){0};
    (void)TakeWord(p, word); // def, over or class
    bool instance = strcmp(word, "class") == 0;
    Skip(p, true);
    if (*p->at != '"' && !TakeWord(p, prim->type)) {
        return Wrong(p, "a prim has no name");
    }
    if (!TakeString(p, name, sizeof(name))) {
        return Wrong(p, "a prim has no name");
    }
    if (instance) {
        prim->type[0] = '\0'; // a class is a pattern, not a thing
    }
    Skip(p, true);
    if (*p->at == '(' && !SkipBrackets(p)) {
        return Wrong(p, "a bracket is not closed");
    }
    if (!Take(p, '{')) {
        return Wrong(p, "'{' is missing");
    }
    snprintf(p->name + length, sizeof(p->name) - length, "/%s", name);
    p->depth++;
    jnResult result = ParseBody(p, prim);
    p->depth--;
    ClearPrim(prim);
    p->name[length] = '\0';
    return result;
}

// ( key = value ... ) at the top of the file.
static jnResult ParseStage(Parser* p)
{
    char word[WORD], text[WORD];
    if (!Take(p, '(')) {
        return jn_ok;
    }
    while (!Take(p, ')')) {
        if (*p->at == '"' || *p->at == '\'') {
            if (!TakeString(p, NULL, 0)) {
                return Wrong(p, "a text is not closed");
            }
            continue;
        }
        if (!TakeWord(p, word)) {
            return Wrong(p, "is not metadata that can be read");
        }
        Skip(p, false);
        if (*p->at != '=') {
            continue; // the first of two words: `prepend subLayers = ...`
        }
        p->at++;
        double* number = strcmp(word, "metersPerUnit") == 0        ? &p->cache->metresPerUnit
                         : strcmp(word, "timeCodesPerSecond") == 0 ? &p->codesPerSecond
                         : strcmp(word, "framesPerSecond") == 0    ? &p->framesPerSecond
                                                                   : NULL;
        bool up = strcmp(word, "upAxis") == 0;
        if (number != NULL ? !TakeNumber(p, number) : up ? !TakeString(p, text, sizeof(text)) : !SkipValue(p)) {
            return Wrong(p, "a value of the stage's metadata cannot be read");
        }
        if (up) {
            p->cache->upAxis = strcmp(text, "Z") == 0 ? JNA_UP_Z : JNA_UP_Y;
        }
    }
    if (!(p->cache->metresPerUnit > 0) || !isfinite(p->cache->metresPerUnit)) {
        p->cache->metresPerUnit = 0;
    }
    return jn_ok;
}

static jnResult ParseFile(Parser* p)
{
    jnResult result = jn_ok;
    JN_TRY(ParseStage(p));
    for (Skip(p, true); p->at < p->end; Skip(p, true)) {
        char word[WORD];
        const char* before = p->at;
        if (!TakeWord(p, word) ||
            (strcmp(word, "def") != 0 && strcmp(word, "over") != 0 && strcmp(word, "class") != 0)) {
            return Wrong(p, "a prim is expected here");
        }
        p->at = before;
        JN_TRY(ParsePrim(p));
    }
    if (p->cache->meshCount == 0) {
        result = p->found[0] != '\0' ? jnFail(p->error, jn_badData, "%s: has no mesh '%s' with points; it has %s",
                                           p->path, p->asked, p->found)
                                     : jnFail(p->error, jn_badData, "%s: holds no mesh", p->path);
    }
done:
    return result;
}

jnResult jnaReadUsda(const char* path, const char* mesh, jnaMeshCache* cache, jnError* error)
{
    jnResult result = jn_ok;
    char* text = NULL;
    size_t length = 0;
    Parser parser = {.path = path, .asked = mesh, .cache = cache, .error = error};
    JN_TRY(jnaReadText(path, &text, &length, error));
    parser.begin = parser.at = text;
    parser.end = text + length;
    parser.prims = calloc(MAX_DEPTH, sizeof(*parser.prims));
    if (parser.prims == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        goto done;
    }
    if (strncmp(text, "PXR-USDC", 8) == 0) {
        result = jnFail(error, jn_badData, "%s: is USD in its binary form; usdcat -o OUT.usda makes text of it", path);
        goto done;
    }
    if (strncmp(text, "#usda 1.", 8) != 0) {
        result = jnFail(error, jn_badData, "%s: is not USD text", path);
        goto done;
    }
    JN_TRY(ParseFile(&parser));
done:
    for (int i = 0; parser.prims != NULL && i < MAX_DEPTH; ++i) {
        ClearPrim(&parser.prims[i]);
    }
    free(parser.prims);
    free(text);
    return result;
}
