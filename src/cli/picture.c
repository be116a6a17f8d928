// jounce picture: a character as a PNG, at rest from four sides, or frames of a clip side by side; or a clip as a GIF.
#include "picture.h"
#include "cli.h"

#include "base/arena.h"
#include "base/try.h"
#include "draw/gif.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEFAULT_FRAMES = 12, WIDEST_ROW = 6, VIEWS = 4 };

typedef struct Options {
    bool figure;
    const char* workspace;
    const char* clip;
    jncList frames, times;
    long spread;
    double rate;
    int view; // of viewNames; VIEWS: none was asked for
    double turn, pitch, across;
    bool compare, bones, sheet;
    const char* near;
    int stage;
    bool offset;
    double height; // pixels of a panel
    const char* weights;
    long threads;
    const char* output;
    bool moving; // the output is a GIF
} Options;

// All that a picture needs while it is drawn.
typedef struct Sheet {
    jncScene scene;
    float* triangleColors;
    float* heat;          // of the joint's weights, the same in all panels
    int count;            // of panels; in a GIF each is a frame of its own
    int* frames;          // [count], and so are the others
    float** positions;    // [vertexCount][3]
    float** offsets;      // [vertexCount]
    char (*captions)[32]; // "front", "1.20 s"
    const char** captionList;
    jnaPictureMesh* meshes;
    jnaArena arena; // that these are in
} Sheet;

static const char* const viewNames[VIEWS] = {"front", "three-quarter", "side", "back"};
static const float viewTurns[VIEWS] = {0, -35, -90, 180};

static const jncUsage usage = {
    .synopsis =
        "jounce picture WORKSPACE | --figure [--clip NAME [--frame N | --time S ...] | --bones] -o OUT.png|OUT.gif",
    .about =

        "Draws a character to a PNG file: at rest from four sides, or frames of a clip side by side. With --stage "
        "dynamic\n"
        "the surface moves with the springs of WORKSPACE/character.jounce, which jounce build makes. The clips of the "
        "built-in\n"
        "figure are jumping-jacks, calisthenics, shadow-boxing, run, jump-and-land, walk, dance and drop.\n"
        "\n"
        "An output that ends in .gif shows the clip in motion: all of it, or from the first to the second --frame or "
        "--time.\n",
    .example = "  jounce picture hero -o hero.png\n"
               "  jounce picture hero --clip walk --time 0.4 --time 0.6 --stage dynamic --offset -o walk.png\n"
               "  jounce picture hero --clip walk --frame 12 --compare --near LeftLeg --view back -o knee.png\n"
               "  jounce picture hero --clip walk --stage dynamic --height 320 -o walk.gif\n"
               "  jounce picture hero --bones -o bones.png\n"
               "  jounce picture --figure --clip shadow-boxing --frame 37 -o jab.png\n",
};

static void DestroySheet(Sheet* sheet)
{
    for (int i = 0; sheet->positions != NULL && i < sheet->count; ++i) {
        free(sheet->positions[i]);
        free(sheet->offsets[i]);
    }
    jnaReleaseArena(&sheet->arena);
    free(sheet->triangleColors);
    free(sheet->heat);
    jncScene_Destroy(&sheet->scene);
}

// The weights of one joint, as heat.
static jnResult FillHeat(Sheet* sheet, const char* name, jnError* error)
{
    const jnaCharacter* character = &sheet->scene.character;
    int joint = 0;
    while (joint < character->jointCount && strcmp(character->joints[joint].name, name) != 0) {
        ++joint;
    }
    if (joint == character->jointCount) {
        return jnFail(error, jn_badArgument, "--weights: there is no joint '%s' (but %s, for one)", name,
            character->joints[0].name);
    }
    sheet->heat = calloc((size_t)character->vertexCount, sizeof(float));
    for (int v = 0; sheet->heat != NULL && v < character->vertexCount; ++v) {
        const jnaInfluences* influences = &character->influences[v];
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            sheet->heat[v] += influences->joints[k] == joint ? influences->weights[k] : 0;
        }
    }
    return sheet->heat != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for a picture");
}

// Notes the frame that a word on the command line names, in seconds or by number.
static jnResult AddFrame(Sheet* sheet, const char* word, bool isTime, jnError* error)
{
    const jnaClip* clip = &sheet->scene.motion;
    char* end;
    double value = strtod(word, &end), frame = isTime ? floor(value * clip->rate + 0.5) : value;
    if (end == word || *end != '\0' || !(frame >= 0 && frame < clip->frameCount) || frame != floor(frame)) {
        return jnFail(error, jn_badArgument, "%s %s: %s has frames 0 to %d at %g a second, %.2f s",
            isTime ? "--time" : "--frame", word, sheet->scene.clip, clip->frameCount - 1, clip->rate,
            (clip->frameCount - 1) / clip->rate);
    }
    sheet->frames[sheet->count++] = (int)frame;
    return jn_ok;
}

// All frames from the first to the last that were named, or all there are.
static jnResult FillRange(Sheet* sheet, int last, jnError* error)
{
    int first = sheet->count == 2 ? sheet->frames[0] : 0;
    last = sheet->count == 2 ? sheet->frames[1] : last;
    if (first > last) {
        return jnFail(error, jn_badArgument, "a GIF from frame %d to frame %d: the first comes first", first, last);
    }
    sheet->count = last - first + 1;
    for (int i = 0; i < sheet->count; ++i) {
        sheet->frames[i] = first + i;
    }
    return jn_ok;
}

// Which frame each panel shows.
static jnResult ChooseFrames(Sheet* sheet, const Options* o, jnError* error)
{
    int room = sheet->scene.motion.frameCount > JNC_MAX_PANELS ? sheet->scene.motion.frameCount : JNC_MAX_PANELS;
    sheet->frames = jnaArena_Take(&sheet->arena, room, sizeof(int));
    sheet->positions = jnaArena_Take(&sheet->arena, room, sizeof(float*));
    sheet->offsets = jnaArena_Take(&sheet->arena, room, sizeof(float*));
    sheet->captions = jnaArena_Take(&sheet->arena, room, sizeof(*sheet->captions));
    sheet->captionList = jnaArena_Take(&sheet->arena, room, sizeof(char*));
    sheet->meshes = jnaArena_Take(&sheet->arena, room, sizeof(jnaPictureMesh));
    JN_PASS(jnaArena_Check(&sheet->arena, "a picture", error));
    for (int i = 0; i < o->frames.count; ++i) {
        JN_PASS(AddFrame(sheet, o->frames.words[i], false, error));
    }
    for (int i = 0; i < o->times.count; ++i) {
        JN_PASS(AddFrame(sheet, o->times.words[i], true, error));
    }
    int last = sheet->scene.motion.frameCount - 1;
    if (o->moving) {
        return FillRange(sheet, last, error);
    }
    if (sheet->count > 0) {
        return jn_ok;
    }
    if (o->clip == NULL) {
        sheet->count = o->view == VIEWS ? VIEWS : 1;
    } else {
        sheet->count = last + 1 < o->spread ? last + 1 : (int)o->spread;
    }
    for (int i = 0; o->clip != NULL && i < sheet->count; ++i) {
        sheet->frames[i] = sheet->count > 1 ? (int)((long)i * last / (sheet->count - 1)) : 0;
    }
    return jn_ok;
}

static void FillPanel(Sheet* sheet, const Options* o, int panel, float farthest)
{
    jnaPictureMesh* mesh = &sheet->meshes[panel];
    bool manySides = o->clip == NULL && o->view == VIEWS;
    int view = manySides ? panel : o->view == VIEWS ? 1 : o->view;
    *mesh = jnaPictureCharacter(&sheet->scene.character, sheet->positions[panel], sheet->triangleColors);
    mesh->heat = o->offset ? sheet->offsets[panel] : sheet->heat;
    mesh->heatHigh = o->offset ? farthest : 1;
    mesh->turn = viewTurns[view] + (float)o->turn;
    mesh->panel = o->moving ? 0 : panel;
    jnaPictureMesh_Center(mesh);
    if (o->clip == NULL) {
        snprintf(sheet->captions[panel], sizeof(sheet->captions[panel]), "%s", viewNames[view]);
    } else {
        snprintf(sheet->captions[panel], sizeof(sheet->captions[panel]), "%.2f s",
            sheet->frames[panel] / sheet->scene.motion.rate);
    }
    sheet->captionList[panel] = sheet->captions[panel];
}

// Makes the panels' surfaces; returns in *farthest the largest offset of all.
static jnResult FillPanels(Sheet* sheet, const Options* o, float* farthest, jnError* error)
{
    JN_PASS(jncScene_Pose(
        &sheet->scene, sheet->frames, sheet->count, sheet->positions, o->offset ? sheet->offsets : NULL, error));
    *farthest = 1e-6f;
    for (int i = 0; o->offset && i < sheet->count; ++i) {
        for (int v = 0; v < sheet->scene.character.vertexCount; ++v) {
            *farthest = fmaxf(*farthest, sheet->offsets[i][v]);
        }
    }
    for (int i = 0; i < sheet->count; ++i) {
        FillPanel(sheet, o, i, *farthest);
    }
    return jn_ok;
}

// Lowest point of the rest pose: where the ground is.
static float FindGround(const jnaCharacter* character)
{
    float low = character->positions[1];
    for (int v = 1; v < character->vertexCount; ++v) {
        low = fminf(low, character->positions[3 * (size_t)v + 1]);
    }
    return low;
}

static jnResult DrawPanels(const Sheet* sheet, const Options* o, const jnaPictureDef* def, int first, float farthest,
    jnaPicture* picture, jnError* error)
{
    const jnaPictureMesh* meshes = &sheet->meshes[first];
    JN_PASS(jnaDrawPicture(def, meshes, o->moving ? 1 : sheet->count, picture, error));
    if (meshes[0].heat == NULL) {
        return jn_ok;
    }
    char high[32];
    snprintf(high, sizeof(high), o->offset ? "%.1f cm" : "1", 100 * (double)farthest);
    double size = 0.03 * o->height;
    return jnaPicture_ColorBar(picture, size, "0", high, error);
}

// One picture with all panels, or as many pictures with one.
static jnResult Draw(Sheet* sheet, const Options* o, float farthest, jnError* error)
{
    int pictureCount = o->moving ? sheet->count : 1, panels = o->moving ? 1 : sheet->count;
    jnaPictureDef def = jnaDefaultPictureDef();
    def.rows = (panels + WIDEST_ROW - 1) / WIDEST_ROW;
    def.columns = (panels + def.rows - 1) / def.rows;
    def.panelHeight = (int)o->height;
    def.threads = (int)o->threads;
    def.groundHeight = FindGround(&sheet->scene.character);
    jnaPictureDef_Frame(&def, sheet->meshes, sheet->count);
    jnaPicture* pictures = jnaArena_Take(&sheet->arena, pictureCount, sizeof(*pictures));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&sheet->arena, "pictures", error));
    for (int i = 0; i < pictureCount; ++i) {
        def.captions = sheet->captionList + i;
        JN_TRY(DrawPanels(sheet, o, &def, i, farthest, &pictures[i], error));
    }
    JN_TRY(jncWritePictures(pictures, pictureCount, panels, sheet->scene.motion.rate, o->output, error));
done:
    for (int i = 0; pictures != NULL && i < pictureCount; ++i) {
        jnaDestroyPicture(&pictures[i]);
    }
    return result;
}

jnResult jncWritePictures(
    const jnaPicture* pictures, int count, int panels, double rate, const char* path, jnError* error)
{
    const char* dot = strrchr(path, '.');
    bool moving = dot != NULL && strcasecmp(dot, ".gif") == 0;
    JN_PASS(moving ? jnaWriteGif(pictures, count, rate, path, error) : jnaPicture_Write(&pictures[0], path, error));
    if (moving) {
        printf("%d %s, ", count, count > 1 ? "frames" : "frame");
    } else {
        printf("%d %s, ", panels, panels > 1 ? "panels" : "panel");
    }
    printf("%d x %d pixels, written to %s\n", pictures[0].width, pictures[0].height, path);
    return jn_ok;
}

static jnResult Run(Sheet* sheet, const Options* o, jnError* error)
{
    float farthest = 0;
    sheet->scene = (jncScene){.workspace = o->workspace, .clip = o->clip, .rate = o->rate, .dynamic = o->stage == 1};
    JN_PASS(jncScene_Load(&sheet->scene, error));
    if (o->weights != NULL) {
        JN_PASS(FillHeat(sheet, o->weights, error));
    }
    JN_PASS(ChooseFrames(sheet, o, error));
    sheet->triangleColors = malloc(sizeof(float) * 3 * (size_t)sheet->scene.character.triangleCount);
    JN_PASS(sheet->triangleColors != NULL ? FillPanels(sheet, o, &farthest, error)
                                          : jnFail(error, jn_outOfMemory, "out of memory for a picture"));
    return Draw(sheet, o, farthest, error);
}

// The exit code of wrong usage of a GIF, or -1.
static int CheckMoving(const Options* o)
{
    int named = o->frames.count + o->times.count;
    if (o->clip == NULL) {
        return jncMisuse("-o: a .gif shows a clip in motion: it needs --clip");
    }
    if (named != 0 && named != 2) {
        return jncMisuse("-o: a .gif shows the whole clip, or that between two --frame or two --time");
    }
    return o->compare && o->times.count > 0 ? jncMisuse("--compare takes --frame, not --time") : -1;
}

// The exit code of wrong usage, or -1.
static int CheckOptions(const Options* o)
{
    if (o->figure == (o->workspace != NULL)) {
        return jncMisuse("what to draw: either WORKSPACE or --figure");
    }
    if (o->clip == NULL && (o->frames.count > 0 || o->times.count > 0 || o->stage == 1)) {
        return jncMisuse("--frame, --time and --stage dynamic need --clip");
    }
    if (o->frames.count + o->times.count > JNC_MAX_PANELS) {
        return jncMisuse("%d frames are more than %d", o->frames.count + o->times.count, JNC_MAX_PANELS);
    }
    if (o->stage == 1 && o->figure) {
        return jncMisuse("--stage dynamic needs a WORKSPACE; jounce new W --figure makes one of the figure");
    }
    if (o->offset && o->stage != 1) {
        return jncMisuse("--offset shows what the springs do: it needs --stage dynamic");
    }
    if (o->offset && o->weights != NULL) {
        return jncMisuse("either --offset or --weights");
    }
    if (o->bones && (o->figure || o->clip != NULL || o->compare || o->weights != NULL)) {
        return jncMisuse("--bones shows the rest pose of a WORKSPACE and goes with nothing else");
    }
    if (o->sheet && (o->figure || o->bones || o->clip != NULL || o->compare || o->weights != NULL)) {
        return jncMisuse("--sheet shows the previews of all workspaces in a folder and goes with nothing else");
    }
    if (o->compare != (o->near != NULL) || (o->compare && (o->workspace == NULL || o->clip == NULL))) {
        return jncMisuse("--compare needs WORKSPACE, --clip, --frame and --near JOINT, and they need it");
    }
    if (o->moving) {
        return CheckMoving(o);
    }
    if (o->compare && (o->frames.count < 1 || 3 * o->frames.count > JNC_MAX_PANELS)) {
        return jncMisuse("--compare shows 1 to %d frames: --frame N", JNC_MAX_PANELS / 3);
    }
    return -1;
}

static int Compare(const Options* o)
{
    int frames[JNC_MAX_PANELS];
    for (int i = 0; i < o->frames.count; ++i) {
        char* end;
        long frame = strtol(o->frames.words[i], &end, 10);
        if (end == o->frames.words[i] || *end != '\0' || frame < 0 || frame > 1 << 24) {
            return jncMisuse("--frame %s: is no number of a frame", o->frames.words[i]);
        }
        frames[i] = (int)frame;
    }
    int view = o->view == VIEWS ? 1 : o->view;
    jncComparison comparison = {.workspace = o->workspace,
        .clip = o->clip,
        .joint = o->near,
        .dynamic = o->stage == 1,
        .frames = frames,
        .count = o->frames.count,
        .moving = o->moving,
        .yaw = -(double)viewTurns[view] - o->turn,
        .pitch = o->pitch,
        .across = o->across,
        .panelHeight = o->height,
        .threads = (int)o->threads,
        .output = o->output};
    return jncPicture_Compare(&comparison);
}

int jncPicture(int argc, char** argv)
{
    Options o = {.rate = 30, .height = 640, .spread = DEFAULT_FRAMES, .view = VIEWS, .across = 0.5};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", o.workspace, NULL, "folder made by jounce new")},
        {JNC_FLAG("--figure", o.figure, "draw the built-in figure instead")},
        {JNC_TEXT("-o", o.output, "OUT.png|OUT.gif", "output file"), .required = true},
        {JNC_TEXT("--clip", o.clip, "NAME", "draw frames of this clip")},
        {JNC_LIST("--frame", o.frames, "N", "a frame of the clip, counted from 0"), .arity = 1},
        {JNC_LIST("--time", o.times, "SECONDS", "the frame at this time"), .arity = 1},
        {JNC_INTEGER("--frames", o.spread, "N", 1, JNC_MAX_PANELS, "number of frames, evenly spaced, if --frame and --time are not given (default 12)")},
        {JNC_CHOICE("--view", o.view, "front|three-quarter|side|back", "viewpoint (default: all four at rest, three-quarter in a clip)")},
        {JNC_NUMBER("--turn", o.turn, "DEGREES", 0, 0, "rotate the character to the left")},
        {JNC_FLAG("--compare", o.compare, "close-ups side by side: skinned, network, simulated (needs jounce simulate --clips); with --stage dynamic: skinned, springs, simulated motion")},
        {JNC_FLAG("--bones", o.bones, "draw the bones, the nodes that they hold, and the recognised body parts")},
        {JNC_FLAG("--sheet", o.sheet, "contact sheet of the previews of all workspaces in the folder WORKSPACE: worst frames, skinned above played")},
        {JNC_TEXT("--near", o.near, "JOINT", "joint at the centre of --compare")},
        {JNC_NUMBER("--across", o.across, "METRES", 0.01, 100, "height of the region that --compare shows (default 0.5)")},
        {JNC_NUMBER("--pitch", o.pitch, "DEGREES", -89, 89, "--compare: look down by this angle")},
        {JNC_CHOICE("--stage", o.stage, "skinned|dynamic", "skinning alone, or with springs (default skinned)")},
        {JNC_FLAG("--offset", o.offset, "colour by the distance from the skinned surface")},
        {JNC_TEXT("--weights", o.weights, "JOINT", "colour by a joint's skinning weight")},
        {JNC_NUMBER("--rate", o.rate, "HZ", 1, 1000, "frames a second of the figure's clips (default 30)")},
        {JNC_NUMBER("--height", o.height, "PIXELS", 16, 4096, "height of a panel (default 640)")},
        {JNC_INTEGER("--threads", o.threads, "N", 0, 1024, "number of threads (default: all cores)")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    const char* dot = strrchr(o.output, '.');
    o.moving = dot != NULL && strcasecmp(dot, ".gif") == 0;
    code = CheckOptions(&o);
    if (code >= 0) {
        return code;
    }
    if (!o.moving && (dot == NULL || strcasecmp(dot, ".png") != 0)) {
        return jncMisuse("-o: %s must end in .png, or in .gif for a clip in motion", o.output);
    }
    if (o.compare) {
        return Compare(&o);
    }
    if (o.bones) {
        return jncPicture_Bones(o.workspace, o.output);
    }
    if (o.sheet) {
        return jncPicture_Sheet(o.workspace, o.output);
    }
    Sheet sheet = {0};
    jnError error = {0};
    jnResult result = Run(&sheet, &o, &error);
    DestroySheet(&sheet);
    return jncEnd(result, &error);
}
