// What `jounce view` does besides serving: a bare model becomes a workspace, the simulated motion is read or packed,
// and the page becomes a folder.
#pragma once

#include "base/path.h"
#include "view/server.h"

#include "jounce/asset.h"

#include <stddef.h>
#include <sys/types.h>

enum { JNC_VIEW_PORT = 4517 };

/// The folder of the built viewer, "../share/jounce/viewer" beside the command, unless another is given.
jnResult jncFindViewer(const char* given, char path[JNA_PATH_LENGTH], jnError* error);

/// Opens an address in a browser where there is a screen and xdg-open; says nothing where not.
void jncOpenBrowser(const char* address);

/// Serves until Ctrl-C, on any port where the wanted one is taken and anyPort is set. Prints the address, with `query` after
/// it and `what` behind "in a browser".
jnResult jncServe(jnaServerDef* def, bool anyPort, bool opens, const char* query, const char* what, jnError* error);

/// Whether a path names a model that `jounce new --from` reads, by its ending.
bool jncIsModel(const char* path);

/// Makes a workspace of a model in a folder of its own below TMPDIR, and builds it until it has flesh on its modes.
/// Prints the progress of both verbs. folder: [size], what jncRemoveModelWorkspace takes; workspace: [size], inside it.
/// Returns JNC_DONE or the code of the verb that failed, which has said why.
int jncMakeModelWorkspace(const char* model, char* folder, char* workspace, size_t size);
void jncRemoveModelWorkspace(const char* folder); // "" is allowed

/// Writes documents as files below a folder, which is made where it is not there.
jnResult jncWriteDocuments(const char* folder, const jnaDocument* documents, int count, jnError* error);

/// The simulated or scanned motion of a clip: float32 (frames, vertices, 3) in a file, which is read for every request.
/// It is not mapped: a simulation that runs meanwhile may replace it or cut it.
typedef struct jncMotion {
    int file;                // descriptor, where frames > 0
    off_t start;             // of the numbers in the file
    size_t frames, vertices; // 0: there is none
    int first;               // frame of the clip that its first one is
} jncMotion;

typedef struct jncMotions {
    const jnAsset* asset;
    jncMotion* clips; // [clipCount]
} jncMotions;

/// Opens what a workspace has of the asset's clips; workspace NULL: nothing.
jnResult jncOpenMotions(const char* workspace, const jnAsset* asset, jncMotions* motions, jnError* error);
void jncCloseMotions(jncMotions* motions);

/// "/motion/CLIP/VERTEX" and "/frames/CLIP/FRAME", all numbers, as jnaServerDef.answer; user: jncMotions.
bool jncAnswerMotion(const char* path, void** bytes, size_t* size, void* user);

/// What was packed: bytes of all, and the largest distances of any clip from the simulation, in metres.
typedef struct jncWritten {
    int clips;
    size_t bytes;
    double rms, worst;
} jncWritten;

enum { JNC_MOTION_PATH = 32 };

/// Whether a motion is long enough to be packed, and where it is below the page: "/motion/CLIP.bin".
bool jncCanPack(const jncMotion* motion);
void jncMotionPath(int clip, char path[JNC_MOTION_PATH]);

/// Packs all motions into a folder, in so many megabytes together.
jnResult jncWriteMotions(
    const char* folder, const jncMotions* motions, double megabytes, jncWritten* written, jnError* error);
