// The paper's figure of the network: armpit and back of the knee, where skinning collapses or goes through itself.
//
// Shown are the frames in which skinning is farthest from the flesh around a shoulder and around a knee: of clips that
// were never learned from where their equilibria were solved, else of the training poses. The camera goes to where most
// of what has to be corrected can be seen.
#include "report/report_internal.h"

#include "base/try.h"
#include "character/humanoid.h"
#include "workspace/shapes.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPOTS = 2, SPOT_JOINTS = 2, CLOSE_PANELS = 3, MOST_TRIED = 800, LEAST_AROUND = 12 };
#define RADIANS 0.017453292519943295

// One place of the body: joints to look around, and the pose that shows it.
typedef struct Spot {
    const char *id, *title;
    int joints[SPOT_JOINTS]; // -1: none
    double most;             // m2, the largest mean square of what skinning misses so far
    int pose, joint;         // where that is
} Spot;

// A pose whose equilibrium is known.
typedef struct Pose {
    const ReportClip* clip; // NULL: a training pose
    int frame;              // of the motion, or the pose's number
} Pose;

typedef struct Search {
    Report* report;
    ReportPoser* poser;
    jnaShapes shapes;
    Pose* poses; // [count]
    int count;
    float radius;                                // metres around a joint
    float* numbers;                              // one block for all below
    float* rest;                                 // [jointCount][12], matrices at rest
    float* matrices;                             // [jointCount][12]
    float *skinned, *target, *scratch, *normals; // [vertexCount][3]
    Spot spots[SPOTS];
} Search;

static void EndSearch(Search* s)
{
    jnaReport_DestroyPoser(s->poser);
    jnaCloseShapes(&s->shapes);
    free(s->poses);
    free(s->numbers);
}

// Frames of test clips with their equilibria, or the training poses, not too many of them.
static jnResult ListPoses(Search* s, jnError* error)
{
    const Report* r = s->report;
    bool present = false;
    size_t total = 0;
    for (int i = 0; i < r->clipCount; ++i) {
        const ReportClip* c = &r->clips[i];
        total += !c->trained && c->assetClip >= 0 && c->quasistatic.count > 0 ? (size_t)c->frameCount : 0;
    }
    if (total == 0) {
        jnError why = {0};
        if (jnaOpenShapes(r->workspace, r->character, &present, &s->shapes, &why) != jn_ok) {
            s->shapes = (jnaShapes){0};
            if (why.code == jn_outOfMemory) {
                return jnFail(error, why.code, "%s", why.message);
            }
            jnaNotes_Add(r->notes, "%s; left out of the report", why.message);
        }
        total = (size_t)s->shapes.count;
    }
    s->poses = calloc(total + 1, sizeof(*s->poses));
    if (s->poses == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    size_t stride = 1 + total / MOST_TRIED;
    for (int i = 0; i < r->clipCount && s->shapes.count == 0; ++i) {
        const ReportClip* c = &r->clips[i];
        bool good = !c->trained && c->assetClip >= 0 && c->quasistatic.count > 0;
        for (size_t n = 0; good && n < (size_t)c->frameCount; n += stride) {
            s->poses[s->count++] = (Pose){c, (int)n};
        }
    }
    for (size_t n = 0; n < (size_t)s->shapes.count; n += stride) {
        if (s->shapes.valid == NULL || s->shapes.valid[n] != 0) {
            s->poses[s->count++] = (Pose){NULL, (int)n};
        }
    }
    return jn_ok;
}

// Shoulders and knees of a human; of anything else the joints with the most surface do.
static void ListSpots(Search* s)
{
    const jnaCharacter* c = s->report->character;
    jnaHumanoid h;
    jnaFindHumanoid(c, &h);
    s->spots[0] = (Spot){"close-armpit", "Armpit", {h.sided[jna_upperArm], h.sided[jna_upperArm + 1]}, 0, -1, -1};
    s->spots[1] = (Spot){"close-knee", "Back of the knee", {h.sided[jna_shin], h.sided[jna_shin + 1]}, 0, -1, -1};
    for (int i = 0; i < SPOTS; ++i) {
        Spot* spot = &s->spots[i];
        if (spot->joints[0] < 0 && spot->joints[1] < 0 && c->jointCount > 1) {
            spot->title = "A joint";
            spot->joints[0] = (i + 1) * (c->jointCount - 1) / SPOTS;
        }
    }
}

// How near a vertex is to a joint at rest: 1 at the joint, 0 from the radius on.
static double Near(const Search* s, int joint, size_t vertex)
{
    const float *m = s->rest + 12 * (size_t)joint, *p = s->report->character->positions + 3 * vertex;
    float x = p[0] - m[3], y = p[1] - m[7], z = p[2] - m[11];
    float share = (x * x + y * y + z * z) / (s->radius * s->radius);
    return share < 1 ? 1 - (double)share : 0;
}

// Grows the radius until some surface is around every joint.
static void FitRadius(Search* s)
{
    size_t vertices = (size_t)s->report->character->vertexCount;
    for (int i = 0; i < SPOTS * SPOT_JOINTS; ++i) {
        int joint = s->spots[i / SPOT_JOINTS].joints[i % SPOT_JOINTS];
        size_t inside = 0;
        for (int round = 0; joint >= 0 && round < 12 && inside < vertices / 2 && inside < LEAST_AROUND; ++round) {
            inside = 0;
            for (size_t v = 0; v < vertices; ++v) {
                inside += Near(s, joint, v) > 0;
            }
            s->radius *= inside < vertices / 2 && inside < LEAST_AROUND ? 1.5f : 1;
        }
    }
}

static jnResult BeginSearch(Search* s, jnError* error)
{
    const Report* r = s->report;
    size_t row = 3 * (size_t)r->character->vertexCount, joints = 12 * (size_t)r->character->jointCount;
    s->numbers = malloc((4 * row + 2 * joints) * sizeof(float));
    if (s->numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    s->skinned = s->numbers;
    s->target = s->numbers + row;
    s->scratch = s->numbers + 2 * row;
    s->normals = s->numbers + 3 * row;
    s->rest = s->numbers + 4 * row;
    s->matrices = s->rest + joints;
    jnaPoseMatrices(r->character, NULL, 0, s->rest);
    s->radius = 0.075f * (float)jnaHeightOf(r->character);
    ListSpots(s);
    FitRadius(s);
    JN_PASS(ListPoses(s, error));
    return jnaReport_CreatePoser(r, &s->poser, error);
}

// The surfaces of a pose, skinned and with the network, into s; returns the simulated one.
static const float* TakePose(Search* s, const Pose* pose)
{
    const jnAsset* asset = s->report->asset.asset;
    if (pose->clip == NULL) {
        const float* rotations = s->shapes.rotations + 4 * (size_t)pose->frame * (size_t)asset->jointCount;
        jnaReport_Pose(s->poser, rotations, NULL, NULL, s->skinned, s->target);
        return s->shapes.positions + 3 * (size_t)pose->frame * (size_t)asset->vertexCount;
    }
    jnAssetClip clip = jnAsset_Clip(asset, pose->clip->assetClip);
    size_t at = (size_t)(pose->clip->first + pose->frame) * (size_t)asset->jointCount;
    jnaReport_Pose(s->poser, clip.rotations + 4 * at, clip.translations + 3 * at,
        clip.scales != NULL ? clip.scales + 3 * at : NULL, s->skinned, s->target);
    return jnaReport_Row(&pose->clip->quasistatic, pose->frame, s->scratch);
}

static double Square(const float* a, const float* b)
{
    double x = (double)a[0] - (double)b[0], y = (double)a[1] - (double)b[1], z = (double)a[2] - (double)b[2];
    return x * x + y * y + z * z;
}

// Mean square of the distance between two surfaces around a joint.
static double MeanSquare(const Search* s, int joint, const float* a, const float* b)
{
    double sum = 0, weights = 0;
    for (size_t v = 0; v < (size_t)s->report->character->vertexCount; ++v) {
        double near = Near(s, joint, v);
        if (near > 0) {
            sum += near * Square(a + 3 * v, b + 3 * v);
            weights += near;
        }
    }
    return weights > 0 ? sum / weights : 0;
}

static void FindPoses(Search* s)
{
    for (int i = 0; i < s->count; ++i) {
        const float* simulated = TakePose(s, &s->poses[i]);
        for (int k = 0; k < SPOTS; ++k) {
            Spot* spot = &s->spots[k];
            for (int j = 0; j < SPOT_JOINTS; ++j) {
                double square = spot->joints[j] >= 0 ? MeanSquare(s, spot->joints[j], s->skinned, simulated) : 0;
                if (square > spot->most) { // never so where a frame failed and holds no numbers
                    spot->most = square;
                    spot->pose = i;
                    spot->joint = spot->joints[j];
                }
            }
        }
    }
}

// Area-weighted normals, not of unit length: large triangles are seen more.
static void FillNormals(const jnaCharacter* c, const float* positions, float* normals)
{
    memset(normals, 0, 3 * sizeof(float) * (size_t)c->vertexCount);
    for (int t = 0; t < c->triangleCount; ++t) {
        size_t v[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = 3 * (size_t)c->weld[c->triangles[3 * (size_t)t + (size_t)k]];
        }
        float a[3], b[3];
        for (int k = 0; k < 3; ++k) {
            a[k] = positions[v[1] + (size_t)k] - positions[v[0] + (size_t)k];
            b[k] = positions[v[2] + (size_t)k] - positions[v[0] + (size_t)k];
        }
        const float n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        for (int k = 0; k < 3; ++k) {
            for (size_t axis = 0; axis < 3; ++axis) {
                normals[v[k] + axis] += n[axis];
            }
        }
    }
}

// The camera that sees most of what skinning misses around the joint.
static jnaCamera Aim(const Search* s, int joint, const float* simulated)
{
    static const float pitches[3] = {-20, 5, 30};
    jnaCamera camera = {.height = 4.6f * s->radius, .fieldOfView = 20};
    double best = -1, weights = 0, middle[3] = {0};
    FillNormals(s->report->character, simulated, s->normals);
    size_t count = (size_t)s->report->character->vertexCount;
    for (size_t v = 0; v < count; ++v) {
        double near = Near(s, joint, v);
        weights += near;
        for (size_t k = 0; k < 3; ++k) {
            middle[k] += near * (double)simulated[3 * v + k];
        }
    }
    for (int i = 0; i < 3; ++i) {
        camera.target[i] = (float)(middle[i] / fmax(weights, 1e-12));
    }
    for (int i = 0; i < 72; ++i) {
        double yaw = 15 * (i % 24), pitch = (double)pitches[i / 24], seen = 0;
        double d[3] = {
            sin(yaw * RADIANS) * cos(pitch * RADIANS), sin(pitch * RADIANS), cos(yaw * RADIANS) * cos(pitch * RADIANS)};
        for (size_t v = 0; v < count; ++v) {
            double near = Near(s, joint, v);
            const float* n = s->normals + 3 * v;
            double facing = near > 0 ? (double)n[0] * d[0] + (double)n[1] * d[1] + (double)n[2] * d[2] : 0;
            seen += facing > 0 ? near * facing * sqrt(Square(s->skinned + 3 * v, simulated + 3 * v)) : 0;
        }
        if (seen > best) {
            best = seen;
            camera.yaw = (float)yaw;
            camera.pitch = (float)pitch;
        }
    }
    return camera;
}

static jnResult DrawSpot(Search* s, const Spot* spot, jnError* error)
{
    Report* r = s->report;
    const Pose* pose = &s->poses[spot->pose];
    const float* simulated = TakePose(s, pose);
    const float* surfaces[CLOSE_PANELS] = {s->skinned, s->target, simulated};
    static const char* const names[CLOSE_PANELS] = {"skinned", "with the network", "simulated at rest"};
    jnaPictureMesh meshes[CLOSE_PANELS];
    jnaPictureDef def = jnaReport_PictureDef(r, 360);
    def.panelWidth = def.panelHeight;
    def.columns = CLOSE_PANELS;
    def.ground = false;
    def.camera = Aim(s, spot->joint, simulated);
    for (int i = 0; i < CLOSE_PANELS; ++i) {
        meshes[i] = jnaPictureCharacter(r->character, surfaces[i], r->triangleColors);
        meshes[i].panel = i;
    }
    jnaPicture picture;
    JN_PASS(jnaDrawPicture(&def, meshes, CLOSE_PANELS, &picture, error));
    jnResult result = jn_ok;
    fprintf(r->out, "<figure id=\"%s\"><h3>%s: ", spot->id, spot->title);
    jnaReport_Text(r->out, r->character->joints[spot->joint].name);
    if (pose->clip != NULL) {
        fputs(", ", r->out);
        jnaReport_Text(r->out, pose->clip->name);
        fprintf(r->out, ", unseen, %.2f s", (pose->clip->first + pose->frame) / pose->clip->clip->rate);
    } else {
        fprintf(r->out, ", training pose %d", pose->frame);
    }
    fputs("</h3>\n<div class=\"row\" style=\"--least:200px\">\n", r->out);
    for (int i = 0; i < CLOSE_PANELS; ++i) {
        char label[96];
        int used = snprintf(label, sizeof(label), "%s", names[i]);
        if (i < 2) {
            snprintf(label + used, sizeof(label) - (size_t)used, ": %.1f mm rms off",
                1e3 * sqrt(MeanSquare(s, spot->joint, surfaces[i], simulated)));
        }
        fputs("<div>", r->out);
        JN_TRY(jnaReport_Image(r, &picture, CLOSE_PANELS, 1, i, label, error));
        fprintf(r->out, "<small>%s</small></div>\n", label);
    }
done:
    fputs("</div></figure>\n", r->out);
    jnaDestroyPicture(&picture);
    return result;
}

// A row of the network's own errors: "skinned_random" and the like.
static void WriteErrorRow(Report* r, const json_t* errors, const char* kind, const char* words)
{
    static const char* const keys[2] = {"rms", "percentile95"};
    char names[2][64];
    snprintf(names[0], sizeof(names[0]), "skinned_%s", kind);
    snprintf(names[1], sizeof(names[1]), "network_%s", kind);
    const json_t* first = json_object_get(errors, names[0]);
    json_int_t poses = json_integer_value(json_object_get(first, "poses"));
    if (poses < 1) {
        return;
    }
    fprintf(r->out, "<tr><td>%s</td><td>%lld</td>", words, (long long)poses);
    for (int i = 0; i < 4; ++i) {
        const json_t* value = json_object_get(json_object_get(errors, names[i % 2]), keys[i / 2]);
        fprintf(r->out, "<td>%.2f</td>", 1e3 * json_number_value(value));
    }
    fputs("</tr>\n", r->out);
}

static void WriteErrors(Report* r)
{
    const json_t* errors = json_object_get(r->networkErrors, "errors_in_metres");
    const char* kind = json_string_value(json_object_get(r->network, "kind"));
    fputs("<p>The network, of the kind <code>", r->out);
    jnaReport_Text(r->out, kind != NULL ? kind : "?");
    fprintf(r->out,
        "</code>, has %lld parameters and depends on the pose only. Errors on poses "
        "that were held back from training, then the frames in which skinning is worst around a shoulder and around a "
        "knee:</p>\n",
        (long long)json_integer_value(json_object_get(r->network, "parameters")));
    fputs("<div class=\"wide\"><table id=\"network-errors\"><tr><th></th><th>poses</th><th>skinned<br>rms "
          "mm</th><th>network"
          "<br>rms mm</th><th>skinned<br>95 % mm</th><th>network<br>95 % mm</th></tr>\n",
        r->out);
    WriteErrorRow(r, errors, "random", "random poses");
    WriteErrorRow(r, errors, "clips", "frames of clips");
    WriteErrorRow(r, errors, "test_clips", "of these, test clips");
    WriteErrorRow(r, errors, "test_frames", "solved frames of test clips");
    fputs("</table></div>\n", r->out);
}

jnResult jnaReport_CloseUps(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    jnaReport_BeginSection(r, "network", "The network");
    const jnAsset* asset = r->asset.asset;
    if (r->network == NULL) {
        jnaReport_Missing(
            r, "no network trained: jounce simulate %s --poses && jounce train %s", r->workspace, r->workspace);
    } else if (asset == NULL || asset->network == jn_networkNone) {
        jnaReport_Missing(r, "the network is not in the file that plays: jounce build %s", r->workspace);
    } else {
        WriteErrors(r);
        Search s = {.report = r};
        result = BeginSearch(&s, error);
        if (result == jn_ok) {
            FindPoses(&s);
        }
        for (int i = 0; i < SPOTS && result == jn_ok; ++i) {
            if (s.spots[i].pose >= 0) {
                result = DrawSpot(&s, &s.spots[i], error);
            }
        }
        if (result == jn_ok && s.count == 0) {
            jnaReport_Missing(r, "no equilibria to compare with: jounce simulate %s --poses", r->workspace);
        }
        EndSearch(&s);
    }
    jnaReport_EndSection(r);
    return result;
}
