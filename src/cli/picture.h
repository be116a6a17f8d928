// What jounce picture draws from: a character, a clip, and the surface at the frames that are wanted.
#pragma once

#include "draw/picture.h"

enum { JNC_MAX_PANELS = 24 };

/// Where the surface comes from and how far it is taken.
typedef struct jncScene {
    const char* workspace; // NULL: the built-in figure
    const char* clip;      // NULL: the rest pose
    double rate;           // of the figure's clips
    bool dynamic;          // with the springs of the workspace's character file
    jnaCharacter character;
    jnaClip motion; // frameCount 0 in the rest pose
} jncScene;

/// Loads character and clip; the fields above them are set by the caller. Destroy it whatever comes back.
jnResult jncScene_Load(jncScene* scene, jnError* error);
void jncScene_Destroy(jncScene* scene);

/// The surface at some frames: positions[i], [vertexCount][3], allocated by this call, is that of frames[i].
/// offsets[i], [vertexCount], is how far each vertex is from its skinned place, in metres; NULL: not wanted.
jnResult jncScene_Pose(
    const jncScene* scene, const int* frames, int count, float** positions, float** offsets, jnError* error);

/// Writes the first picture as a PNG, or all as the frames of a GIF, as the path ends, and says so.
/// panels: in a picture; rate: pictures a second.
jnResult jncWritePictures(
    const jnaPicture* pictures, int count, int panels, double rate, const char* path, jnError* error);

/// Frames of a clip close up, a row for each: skinned, by the network, simulated; or, dynamic, skinned, as the
/// character file plays it, and the simulated motion.
typedef struct jncComparison {
    const char* workspace;
    const char* clip;
    const char* joint; // that is looked at
    bool dynamic;
    const int* frames;  // [count]; in motion the first and the last, or none: all
    int count;          // at most a third of JNC_MAX_PANELS
    bool moving;        // a GIF with a row for each of its frames, not one picture with all rows
    double yaw, pitch;  // degrees, of the camera
    double across;      // metres from bottom to top of a panel
    double panelHeight; // pixels
    int threads;
    const char* output;
} jncComparison;

/// Draws it from the workspace's network and motion/NAME/quasistatic.npy, or its file and dynamic.npy. The exit code.
int jncPicture_Compare(const jncComparison* comparison);

/// Draws the worst frames of all workspaces in a folder, skinned above played, as their builds saw them. The exit code.
int jncPicture_Sheet(const char* folder, const char* output);

/// Draws the bones of a workspace's volume as the manifest has them now. The exit code.
int jncPicture_Bones(const char* workspace, const char* output);
