// jounce picture: a character as a PNG, at rest from four sides, at one frame of a clip, or as a sheet of
// frames.
#include "cli.h"

#include "jounce-author/figure.h"
#include "jounce-author/picture.h"

#include <stdlib.h>
#include <string.h>

enum { SHEET_COLUMNS = 6, SHEET_ROWS = 2, VIEWS = 4, MAX_PANELS = SHEET_COLUMNS * SHEET_ROWS };

typedef struct Options {
    bool figure;
    const char* clip;
    long frame;
    bool frameGiven;
    double rate;
    double turn;
    double height; // pixels of a panel
    const char* weights;
    long threads;
    const char* output;
} Options;

// All that a picture needs while it is drawn.
typedef struct Sheet {
    jnaCharacter character;
    jnaClip clip;
    float* triangleColors;
    float* heat;
    float* positions[MAX_PANELS];
    char captions[MAX_PANELS][64];
    const char* captionList[MAX_PANELS];
    jnaPictureMesh meshes[MAX_PANELS];
    int count;
} Sheet;

static const jncUsage usage = {
    .synopsis = "jounce picture --figure [--clip NAME [--frame N]] -o OUT.png",
    .about = "Draws the built-in figure: at rest from four sides, or one frame of a clip, or twelve frames "
             "of it side\n"
             "by side. The clips are jumping-jacks, calisthenics, shadow-boxing, run and jump-and-land.\n",
    .example = "  jounce picture --figure --clip shadow-boxing --frame 37 -o jab.png\n",
};

static void DestroySheet(Sheet* sheet)
{
    for (int i = 0; i < MAX_PANELS; ++i) {
        free(sheet->positions[i]);
    }
    free(sheet->triangleColors);
    free(sheet->heat);
    jnaDestroyClip(&sheet->clip);
    jnaDestroyCharacter(&sheet->character);
}

static jnResult OutOfMemory(jnError* error)
{
    snprintf(error->message, sizeof(error->message), "out of memory for a picture");
    return error->code = jn_outOfMemory;
}

// The weights of one joint, as heat. An unknown name leaves the heat NULL.
static jnResult FillHeat(Sheet* sheet, const char* name, jnError* error)
{
    const jnaCharacter* character = &sheet->character;
    int joint = 0;
    while (joint < character->jointCount && strcmp(character->joints[joint].name, name) != 0) {
        ++joint;
    }
    if (joint == character->jointCount) {
        snprintf(error->message, sizeof(error->message), "--weights: the figure has no joint '%s' (Hips, LeftArm, ...)",
            name);
        return error->code = jn_badArgument;
    }
    sheet->heat = calloc((size_t)character->vertexCount, sizeof(float));
    if (sheet->heat == NULL) {
        return OutOfMemory(error);
    }
    for (int v = 0; v < character->vertexCount; ++v) {
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            const jnaInfluences* influences = &character->influences[v];
            sheet->heat[v] += influences->joints[k] == joint ? influences->weights[k] : 0;
        }
    }
    return jn_ok;
}

// Adds a panel: a frame of the clip, or the rest pose where there is none.
static jnResult AddPanel(Sheet* sheet, int frame, float turn, const char* caption, jnError* error)
{
    const jnaCharacter* character = &sheet->character;
    const jnaClip* clip = sheet->clip.frameCount > 0 ? &sheet->clip : NULL;
    float* matrices = malloc(sizeof(float) * 12 * (size_t)character->jointCount);
    float* positions = malloc(sizeof(float) * 3 * (size_t)character->vertexCount);
    int panel = sheet->count;
    sheet->positions[panel] = positions;
    if (matrices == NULL || positions == NULL) {
        free(matrices);
        return OutOfMemory(error);
    }
    jnaPoseMatrices(character, clip, frame, matrices);
    jnaSkin(character, matrices, positions);
    free(matrices);
    jnaPictureMesh* mesh = &sheet->meshes[panel];
    *mesh = jnaPictureCharacter(character, positions, sheet->triangleColors);
    mesh->heat = sheet->heat;
    mesh->heatHigh = 1;
    mesh->turn = turn;
    mesh->panel = panel;
    snprintf(sheet->captions[panel], sizeof(sheet->captions[panel]), "%s", caption);
    sheet->captionList[panel] = sheet->captions[panel];
    sheet->count++;
    return jn_ok;
}

static jnResult FillPanels(Sheet* sheet, const Options* options, jnError* error)
{
    static const char* const names[VIEWS] = {"front", "three quarters", "side", "back"};
    static const float turns[VIEWS] = {0, -35, -90, 180};
    float turn = (float)options->turn;
    jnResult result = jn_ok;
    if (options->clip == NULL) {
        for (int i = 0; result == jn_ok && i < VIEWS; ++i) {
            result = AddPanel(sheet, 0, turns[i] + turn, names[i], error);
        }
        return result;
    }
    if (options->frameGiven) {
        return AddPanel(sheet, (int)options->frame, turn - 30, "", error);
    }
    for (int i = 0; result == jn_ok && i < MAX_PANELS; ++i) {
        int frame = (int)((long)i * (sheet->clip.frameCount - 1) / (MAX_PANELS - 1));
        char caption[32];
        snprintf(caption, sizeof(caption), "%.2f s", frame / sheet->clip.rate);
        result = AddPanel(sheet, frame, turn - 30, caption, error);
    }
    return result;
}

static jnResult Draw(const Sheet* sheet, const Options* options, jnError* error)
{
    jnaPictureDef def = jnaDefaultPictureDef();
    def.columns = sheet->count < SHEET_COLUMNS ? sheet->count : SHEET_COLUMNS;
    def.rows = sheet->count / def.columns;
    def.panelHeight = (int)options->height;
    def.panelWidth = (int)(options->height * (options->clip == NULL ? 0.85 : options->frameGiven ? 1.0 : 0.75));
    def.captions = sheet->captionList;
    def.threads = (int)options->threads;
    // A jump needs room above the head.
    def.camera.height = options->clip == NULL ? 2.02f : 2.45f;
    def.camera.target[1] = options->clip == NULL ? 0.81f : 0.95f;
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, sheet->meshes, sheet->count, &picture, error);
    if (result == jn_ok && sheet->heat != NULL) {
        result = jnaPicture_ColorBar(&picture, 16, 16, 160, 12, "0", "1", error);
    }
    if (result == jn_ok) {
        result = jnaPicture_Write(&picture, options->output, error);
    }
    jnaDestroyPicture(&picture);
    return result;
}

// Index of the clip, -1 for an unknown name.
static int FindClip(const char* name)
{
    for (int i = 0; i < jna_figureClipCount; ++i) {
        if (strcmp(jnaFigureClipName(i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static jnResult Run(Sheet* sheet, const Options* options, int clip, jnError* error)
{
    jnResult result = jnaCreateFigure(&sheet->character, error);
    if (result == jn_ok && clip >= 0) {
        result = jnaCreateFigureClip(&sheet->character, clip, options->rate, &sheet->clip, error);
    }
    if (result == jn_ok && options->frameGiven && options->frame >= sheet->clip.frameCount) {
        snprintf(error->message, sizeof(error->message), "--frame %ld: %s has frames 0 to %d at %g a second",
            options->frame, options->clip, sheet->clip.frameCount - 1, options->rate);
        return error->code = jn_badArgument;
    }
    if (result == jn_ok && options->weights != NULL) {
        result = FillHeat(sheet, options->weights, error);
    }
    if (result == jn_ok) {
        sheet->triangleColors = malloc(sizeof(float) * 3 * (size_t)sheet->character.triangleCount);
        result = sheet->triangleColors != NULL ? jn_ok : OutOfMemory(error);
    }
    result = result == jn_ok ? FillPanels(sheet, options, error) : result;
    return result == jn_ok ? Draw(sheet, options, error) : result;
}

int jncPicture(int argc, char** argv)
{
    Options o = {.rate = 30, .height = 640};
    const jncOption options[] = {
        {.name = "--figure", .kind = jnc_flag, .value = &o.figure, .help = "draw the built-in figure"},
        {.name = "--clip", .kind = jnc_text, .value = &o.clip, .argument = "NAME", .help = "pose it by this clip"},
        {.name = "--frame",
            .kind = jnc_integer,
            .value = &o.frame,
            .argument = "N",
            .help = "only this frame, from 0",
            .given = &o.frameGiven},
        {.name = "--rate", .kind = jnc_number, .value = &o.rate, .argument = "HZ", .help = "frames a second (30)"},
        {.name = "--turn", .kind = jnc_number, .value = &o.turn, .argument = "DEGREES", .help = "turn it to the left"},
        {.name = "--height", .kind = jnc_number, .value = &o.height, .argument = "PIXELS", .help = "of a panel (640)"},
        {.name = "--weights",
            .kind = jnc_text,
            .value = &o.weights,
            .argument = "JOINT",
            .help = "colour by a joint's skinning weight"},
        {.name = "--threads", .kind = jnc_integer, .value = &o.threads, .argument = "N", .help = "0: all"},
        {.name = "-o",
            .kind = jnc_text,
            .value = &o.output,
            .argument = "OUT.png",
            .help = "where to",
            .required = true},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    int clip = o.clip != NULL ? FindClip(o.clip) : -1;
    if (!o.figure) {
        return jncMisuse("what to draw is missing: --figure");
    }
    if (o.clip != NULL && clip < 0) {
        return jncMisuse("--clip: there is no '%s'", o.clip);
    }
    if (o.frameGiven && (o.clip == NULL || o.frame < 0)) {
        return jncMisuse("--frame needs --clip and a number from 0 on");
    }
    if (!(o.height >= 16 && o.height <= 4096) || o.threads < 0 || o.threads > 1024) {
        return jncMisuse("--height is 16 to 4096 pixels, --threads 0 to 1024");
    }
    Sheet sheet = {0};
    jnError error = {0};
    jnResult result = Run(&sheet, &o, clip, &error);
    DestroySheet(&sheet);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
