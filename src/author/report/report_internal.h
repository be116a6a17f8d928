// What the files of the report share. Not installed.
#pragma once

#include "asset/asset_writer.h"
#include "draw/chart.h"
#include "draw/picture.h"
#include "pipeline/stage_fit.h"
#include "report/report.h"
#include "workspace/manifest.h"

#include <jansson.h>

enum { ROBUST_CANDIDATES = 64, SPREAD_VERTICES = 512 };

/// Lengths that are followed over a clip, metres: means over the vertices, or of one of them.
typedef enum ReportCurve {
    curve_position, // of the simulated vertex, from the pelvis
    curve_skinnedToSimulated,
    curve_targetToSimulated, // the dynamics layer
    curve_targetToOurs,      // what the springs that ship make of it
    curve_oursToSimulated,   // what they leave
    curve_targetToPaper,     // what learned springs per vertex make of it, the paper's
    curve_paperToSimulated,  // what they leave
    curve_count,
} ReportCurve;

/// Surfaces of a still.
typedef enum ReportStill {
    still_skinned,
    still_paper, // springs per vertex
    still_ours,  // what ships
    still_simulated,
    still_count,
} ReportStill;

/// The frame in which a vertex is farthest from its target.
typedef struct ReportWorst {
    int frame;         // of the motion; -1: none
    double offsets[2]; // metres, of ours and of the simulated one
    int vertices[2];   // where
    float* surfaces;   // [3][vertexCount][3], skinned, ours, simulated; NULL: not wanted
} ReportWorst;

/// One clip of the manifest and what there is to show of it.
typedef struct ReportClip {
    const char* name;
    bool trained;
    const jnaClip* clip;
    int assetClip;               // index in the asset; -1: not there
    int first;                   // frame of the clip that the motion begins with
    int frameCount;              // of the motion; 0: none
    jnaArray simulated;          // (frames, vertices, 3), where frameCount is not 0
    jnaArray quasistatic;        // the same; count 0: none
    double* means[curve_count];  // [frameCount], by the first playing
    double* single[curve_count]; // [frameCount], of the soft vertex, by the second playing
    double layerSquares;         // sum over frames and vertices of the dynamics layer, m2
    double leftSquares;          // and of what the springs that ship leave
    double paperSquares;         // and of what springs per vertex leave
    int strongest;               // frame with the largest layer; -1: none
    float* stills[still_count];  // [vertexCount][3], at that frame; the paper's NULL where there is none
    ReportWorst worst;           // by the second playing
} ReportClip;

/// A report in the making.
typedef struct Report {
    const char* workspace;
    jnaWorkspace* opened; // owns manifest, character and clips
    const jnaReportDef* def;
    jnaNotes* notes;
    FILE* out;
    const jnaManifest* manifest;
    jnaSpringLayer layer; // that ships
    char* manifestText;
    const jnaCharacter* character;
    jnaAssetFile asset; // asset NULL: none
    int32_t* place;     // [vertexCount], the character's vertex of an asset's
    int clipCount;
    ReportClip* clips;
    json_t *evaluation, *fit, *poses, *network, *networkErrors; // NULL where there is none
    float *stiffness, *damping;                 // [vertexCount], learned springs per vertex; NULL: none
    bool showsPaper;                            // they are shown beside what ships, which is something else
    int pelvis;                                 // joint
    bool played;                                // at least one clip with motion was
    int softVertex;                             // moves most against its target
    int candidates[ROBUST_CANDIDATES];          // soft vertices
    int candidateCount;
    float* triangleColors; // [triangleCount][3]
    double share;          // of the work that is done
} Report;

/// Surfaces of one frame, [vertexCount][3] in the character's order.
typedef struct ReportFrame {
    int index; // of the motion
    const float *skinned, *target, *ours, *simulated;
    const float* paper;  // springs per vertex; NULL: none, or what ships
    const float* pelvis; // x, y, z
} ReportFrame;
typedef void ReportTake(const ReportFrame* frame, void* user);

// report_data.c: what the workspace has.
jnResult jnaReport_Load(Report* report, jnError* error);
void jnaReport_Destroy(Report* report);
/// An array of so many numbers, as floats, 0 where one is not finite; *numbers is NULL where there is none. The caller
/// frees it.
jnResult jnaReport_ReadNumbers(const Report* report, const char* name, int count, float** numbers, jnError* error);
/// One row of a motion as floats: in the file where it has floats, else in `scratch`.
const float* jnaReport_Row(const jnaArray* array, int frame, float* scratch);

/// What ships, in a word: "modes", "springs per vertex".
const char* jnaReport_OursName(const Report* report);
/// The name of the joint that moves a vertex most.
const char* jnaReport_RegionOf(const Report* report, int vertex);
jnResult jnaReport_OutOfMemory(jnError* error);

// report_play.c: the clips, played by the runtime.
/// Plays all clips that have motion, twice: means and the soft vertices, then what is shown of them.
jnResult jnaReport_PlayAll(Report* report, jnError* error);
/// Surfaces that poses alone give, skinned and with the network.
typedef struct ReportPoser ReportPoser;
jnResult jnaReport_CreatePoser(const Report* report, ReportPoser** poser, jnError* error);
void jnaReport_DestroyPoser(ReportPoser* poser);
void jnaReport_Pose(ReportPoser* poser, const float* rotations, const float* translations, const float* scales,
    float* skinned, float* target);

// report_samples.c: some vertices of every clip with motion, to fit springs to.
typedef enum ReportSet {
    sample_soft,   // the report's candidates
    sample_spread, // over the whole body
    sample_setCount,
} ReportSet;

/// One clip. Arrays are [frameCount][size of the set][3], owned.
typedef struct ReportSample {
    int clip; // of the manifest
    bool trained;
    int frameCount;
    float *targets[sample_setCount], *motion[sample_setCount];
} ReportSample;

typedef struct ReportSamples {
    jnaFitTargets kind; // the targets
    int count;
    ReportSample* list; // [count], clips to learn from first
    const int* vertices[sample_setCount];
    int sizes[sample_setCount];
    int* spread; // owned
} ReportSamples;
/// Reads them. None, with a note, where the workspace's motion does not fit.
jnResult jnaReport_Sample(Report* report, ReportSamples* samples, jnError* error);
void jnaReport_DestroySamples(ReportSamples* samples);
jnaArray jnaReport_View(const float* data, int frames, int vertices);
/// A fit as `jounce fit` does it.
jnResult jnaReport_Fit(const Report* report, const jnaSequence* sequences, int count, double drop, double prior,
    jnaFit* fit, jnError* error);

// report_prior.c: what the prior does to springs per vertex, over its strength.
jnResult jnaReport_Prior(Report* report, const ReportSamples* samples, jnError* error);

// report_worst.c: the worst frames.
jnResult jnaReport_BeginWorst(const Report* report, ReportClip* clip, jnError* error);
/// Keeps a frame that is worse than those before.
void jnaReport_KeepWorst(const Report* report, ReportClip* clip, const ReportFrame* frame);

// report_page.c: the page.
void jnaReport_BeginPage(Report* report);
void jnaReport_EndPage(Report* report);
void jnaReport_BeginSection(Report* report, const char* id, const char* title);
void jnaReport_EndSection(Report* report);
/// A line in the place of a figure, and a note.
void jnaReport_Missing(Report* report, const char* format, ...) __attribute__((format(printf, 2, 3)));
/// Text with <, >, & and quotes escaped, and what is no UTF-8 replaced.
void jnaReport_Text(FILE* out, const char* text);
/// One panel of a picture as an image inside the page.
jnResult jnaReport_Image(
    Report* report, const jnaPicture* picture, int columns, int rows, int panel, const char* alt, jnError* error);
/// A PNG as it is.
void jnaReport_Png(Report* report, const uint8_t* bytes, size_t size, const char* alt);
/// A line chart as SVG. shaded: [count of the first series], where the ground is darker; may be NULL.
void jnaReport_Chart(FILE* out, const jnaChart* chart, const uint8_t* shaded, int width, int height);
/// A coloured line and its name.
void jnaReport_Key(FILE* out, uint32_t color, bool dashed, const char* label);
/// Says that so much is done; false where the caller wants to stop.
bool jnaReport_Progress(Report* report, double share);

// The sections.
void jnaReport_Summary(Report* report);
void jnaReport_Surface(Report* report);
jnResult jnaReport_Worst(Report* report, jnError* error);
void jnaReport_Evaluation(Report* report);
jnResult jnaReport_Anatomy(Report* report, jnError* error);
jnResult jnaReport_Stills(Report* report, jnError* error);
jnResult jnaReport_Curves(Report* report, jnError* error);
jnResult jnaReport_Robust(Report* report, jnError* error);
jnResult jnaReport_HeatMaps(Report* report, jnError* error);
jnResult jnaReport_Modes(Report* report, jnError* error);
jnResult jnaReport_CloseUps(Report* report, jnError* error);
void jnaReport_Poses(Report* report);
void jnaReport_Sizes(Report* report);
void jnaReport_Timings(Report* report);
void jnaReport_Settings(Report* report);

// report_pictures.c, for all sections with pictures.
/// Size and light of the report's pictures.
jnaPictureDef jnaReport_PictureDef(const Report* report, int panelHeight);
/// Where the pelvis faces in a frame, against the rest pose, degrees about Y. matrices: [jointCount][12], written.
float jnaReport_Facing(const Report* report, const jnaClip* clip, int frame, float* matrices);
/// The value that a share of the others is below. scratch: [count].
float jnaReport_Percentile(const float* values, int count, double share, float* scratch);
/// Panels of a picture in one row, each with its label under it.
jnResult jnaReport_Panels(
    Report* report, const jnaPicture* picture, int count, const char (*labels)[96], jnError* error);
/// A colour bar of the heat map with values along it, at shares of its length.
void jnaReport_HeatBar(FILE* out, int count, const double* shares, const char (*labels)[16], const char* unit);
