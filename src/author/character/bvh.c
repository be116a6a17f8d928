// Biovision motion capture (.bvh), read whole and by hand: the format is small, and a parser of our own can
// say the line.
//
// Rotations of a joint are multiplied in the order of its channels. Translation channels replace the joint's
// offset. End sites become joints named "End:parent", because the direction of hands, feet and heads needs
// them.
#include "base/arena.h"
#include "base/input.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_BVH_JOINTS = 1024, MAX_BVH_DEPTH = 256, MAX_CHANNELS = 6, MOST_JOINTS_A_CHANNEL = 4 };

static const char* const channelNames[MAX_CHANNELS] = {
    "Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};

typedef struct Channels {
    int count;
    int kinds[MAX_CHANNELS]; // index into channelNames
} Channels;

typedef struct Parser {
    const char* path;
    char* text; // terminated
    char* at;
    char* end;
    jnError* error;
    jnaJoint* joints;   // [MAX_BVH_JOINTS]
    Channels* channels; // [MAX_BVH_JOINTS]
    int jointCount;
    int channelCount;
} Parser;

static jnResult FailHere(const Parser* p, const char* what)
{
    int line = 1;
    for (const char* c = p->text; c < p->at; ++c) {
        line += *c == '\n';
    }
    return jnFail(p->error, jn_badData, "%s:%d: %s", p->path, line, what);
}

static void SkipSpace(Parser* p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n') {
        p->at++;
    }
}

// The next word, "" at the end; words longer than a name are cut.
static void NextWord(Parser* p, char* word)
{
    SkipSpace(p);
    size_t length = 0;
    while (*p->at != '\0' && strchr(" \t\r\n", *p->at) == NULL) {
        if (length + 1 < JNA_NAME_LENGTH) {
            word[length++] = *p->at;
        }
        p->at++;
    }
    word[length] = '\0';
}

static bool Expect(Parser* p, const char* expected)
{
    char word[JNA_NAME_LENGTH];
    char* before = p->at;
    NextWord(p, word);
    if (strcmp(word, expected) == 0) {
        return true;
    }
    p->at = before;
    return false;
}

static bool NextNumber(Parser* p, double* number)
{
    SkipSpace(p);
    char* end;
    *number = strtod(p->at, &end);
    bool good = end > p->at && isfinite(*number) && fabs(*number) < 1e9;
    p->at = good ? end : p->at;
    return good;
}

static jnResult ParseChannels(Parser* p, Channels* channels)
{
    double count;
    if (!NextNumber(p, &count) || count < 0 || count > MAX_CHANNELS || count != floor(count)) {
        return FailHere(p, "CHANNELS needs a count from 0 to 6");
    }
    for (int i = 0; i < (int)count; ++i) {
        char word[JNA_NAME_LENGTH];
        NextWord(p, word);
        int kind = 0;
        while (kind < MAX_CHANNELS && strcmp(word, channelNames[kind]) != 0) {
            kind++;
        }
        if (kind == MAX_CHANNELS) {
            return FailHere(p, "a channel is neither Xposition nor Xrotation nor alike");
        }
        channels->kinds[channels->count++] = kind;
    }
    p->channelCount += channels->count;
    return jn_ok;
}

static jnResult OpenJoint(Parser* p, int parent, bool endSite)
{
    if (p->jointCount == MAX_BVH_JOINTS) {
        return FailHere(p, "there are more than 1024 joints");
    }
    jnaJoint* joint = &p->joints[p->jointCount++];
    *joint = (jnaJoint){.parent = parent, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (endSite) {
        memcpy(joint->name, "End:", 4);
        memcpy(joint->name + 4, p->joints[parent].name, JNA_NAME_LENGTH - 5);
    } else {
        NextWord(p, joint->name);
    }
    if (joint->name[0] == '\0' || joint->name[0] == '{' || !Expect(p, "{")) {
        return FailHere(p, "a joint needs a name and '{'");
    }
    return jn_ok;
}

// One statement inside a joint. `open` is the stack of joints that are not closed yet.
static jnResult ParseStatement(Parser* p, int* open, int* depth)
{
    int current = open[*depth - 1];
    if (Expect(p, "OFFSET")) {
        for (int i = 0; i < 3; ++i) {
            double number;
            if (!NextNumber(p, &number)) {
                return FailHere(p, "OFFSET needs three numbers");
            }
            p->joints[current].translation[i] = (float)number;
        }
        return jn_ok;
    }
    if (Expect(p, "CHANNELS")) {
        return p->channels[current].count > 0 ? FailHere(p, "a joint has CHANNELS twice")
                                              : ParseChannels(p, &p->channels[current]);
    }
    if (Expect(p, "}")) {
        (*depth)--;
        return jn_ok;
    }
    bool endSite = Expect(p, "End");
    if (endSite ? !Expect(p, "Site") : !Expect(p, "JOINT")) {
        return FailHere(p, "expected OFFSET, CHANNELS, JOINT, End Site or '}'");
    }
    if (*depth == MAX_BVH_DEPTH) {
        return FailHere(p, "joints are nested more than 256 deep");
    }
    jnResult result = OpenJoint(p, current, endSite);
    open[(*depth)++] = p->jointCount - 1;
    return result;
}

static jnResult ParseHierarchy(Parser* p)
{
    if (!Expect(p, "HIERARCHY") || !Expect(p, "ROOT")) {
        return FailHere(p, "does not start with HIERARCHY and ROOT: not a BVH file");
    }
    int open[MAX_BVH_DEPTH] = {0}, depth = 1;
    jnResult result = OpenJoint(p, -1, false);
    while (result == jn_ok && depth > 0) {
        result = ParseStatement(p, open, &depth);
    }
    return result;
}

static void RotateAbout(int axis, double degrees, double* q)
{
    double unit[3] = {axis == 0, axis == 1, axis == 2}, turn[4];
    jnaQuat_FromAxis(unit, degrees * (JNA_PI / 180), turn);
    jnaQuat_Multiply(q, turn, q);
}

static jnResult ParseFrame(Parser* p, jnaClip* clip, int frame)
{
    for (int j = 0; j < p->jointCount; ++j) {
        size_t entry = (size_t)frame * (size_t)p->jointCount + (size_t)j;
        float* t = clip->translations + 3 * entry;
        double q[4] = {0, 0, 0, 1};
        memcpy(t, p->joints[j].translation, 3 * sizeof(float));
        for (int c = 0; c < p->channels[j].count; ++c) {
            int kind = p->channels[j].kinds[c];
            double number;
            if (!NextNumber(p, &number)) {
                char what[96];
                snprintf(what, sizeof(what), "frame %d is cut off or holds something that is no number", frame);
                return FailHere(p, what);
            }
            if (kind < 3) {
                t[kind] = (float)number;
            } else {
                RotateAbout(kind - 3, number, q);
            }
        }
        for (int i = 0; i < 4; ++i) {
            clip->rotations[4 * entry + (size_t)i] = (float)q[i];
        }
    }
    return jn_ok;
}

static jnResult ParseMotion(Parser* p, jnaClip* clip)
{
    double frames, step;
    if (!Expect(p, "MOTION") || !Expect(p, "Frames:") || !NextNumber(p, &frames)) {
        return FailHere(p, "expected MOTION and Frames:");
    }
    // A number takes two characters at least, so the count cannot ask for more than the file can hold.
    double most = (double)(p->end - p->at) / (2.0 * fmax(p->channelCount, 1));
    if (!(frames >= 1) || frames != floor(frames) || frames > most + 1) {
        return FailHere(
            p, frames == 0 ? "the motion has no frames" : "the file is cut off: it cannot hold as many frames");
    }
    if (!Expect(p, "Frame") || !Expect(p, "Time:") || !NextNumber(p, &step) || !(step > 1e-5 && step < 10)) {
        return FailHere(p, "expected Frame Time: and seconds");
    }
    clip->frameCount = (int)frames;
    clip->jointCount = p->jointCount;
    // Files write 1/120 as .0083333; the exact rate keeps long clips in step.
    clip->rate = fabs(1 / step - round(1 / step)) < 1e-4 / step ? round(1 / step) : 1 / step;
    // Joints without channels take memory in every frame and nothing in the file.
    if (clip->jointCount > MOST_JOINTS_A_CHANNEL * (p->channelCount + 1)) {
        return FailHere(p, "most joints have no channels: not a motion that was captured");
    }
    if ((double)clip->frameCount * clip->jointCount > (double)(1 << 28)) {
        return FailHere(p, "the motion is longer than can be taken");
    }
    jnResult result = jnaClip_Allocate(clip, false, p->error);
    for (int f = 0; result == jn_ok && f < clip->frameCount; ++f) {
        result = ParseFrame(p, clip, f);
    }
    // Some writers count one frame too few; what follows the last counted one is left out.
    return result;
}

static jnResult ReadText(const char* path, char** text, size_t* size, jnError* error)
{
    FILE* file;
    JN_PASS(jnaOpenInput(path, &file, error));
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length < 0 || length > (long)1 << 30 || fseek(file, 0, SEEK_SET) != 0) {
        fclose(file);
        return jnFail(error, jn_ioFailed, "%s: is not a file that can be read", path);
    }
    *text = malloc((size_t)length + 1);
    *size = *text != NULL ? fread(*text, 1, (size_t)length, file) : 0;
    fclose(file);
    if (*text == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    (*text)[*size] = '\0';
    return jn_ok;
}

jnResult jnaReadBvh(const char* path, jnaSource* source, jnError* error)
{
    *source = (jnaSource){.path = path};
    Parser p = {.path = path, .error = error};
    jnaArena arena = {0};
    size_t size;
    jnResult result = jn_ok;
    p.joints = jnaArena_Take(&arena, MAX_BVH_JOINTS, sizeof(*p.joints));
    p.channels = jnaArena_Take(&arena, MAX_BVH_JOINTS, sizeof(*p.channels));
    JN_TRY(jnaArena_Check(&arena, path, error));
    JN_TRY(ReadText(path, &p.text, &size, error));
    p.at = p.text;
    p.end = p.text + size;
    JN_TRY(ParseHierarchy(&p));
    JN_TRY(ParseMotion(&p, &source->clip));
    source->skeleton.jointCount = p.jointCount;
    JN_TRY(jnaCharacter_Allocate(&source->skeleton, false, error));
    memcpy(source->skeleton.joints, p.joints, (size_t)p.jointCount * sizeof(*p.joints));
done:
    if (result != jn_ok) {
        jnaDestroySource(source);
    }
    free(p.text);
    jnaReleaseArena(&arena);
    return result;
}

void jnaDestroySource(jnaSource* source)
{
    jnaDestroyCharacter(&source->skeleton);
    jnaDestroyClip(&source->clip);
}
