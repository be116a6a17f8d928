// What `jounce studio` is made of: the character that is open, what the page is told of it, and what the page may ask
// for.
#pragma once

#include "studio_job.h"
#include "view_parts.h"
#include "workspace/lock.h"
#include "workspace/manifest.h"

#include "asset/asset_writer.h"

#include <jansson.h>

enum { JNC_TOKEN = 32, JNC_SESSION = 40, JNC_VERSIONS = 256 };

/// What a save changed: the manifest's text and the painted mask, before and after. NULL: there was none.
typedef struct jncVersion {
    char* manifest[2];
    unsigned char* mask[2];
    size_t maskSize[2];
} jncVersion;

/// A studio. Everything but the token is the server's thread's alone.
typedef struct jncStudio {
    char folder[JNA_PATH_LENGTH];    // that nothing is written outside of
    char workspace[JNA_PATH_LENGTH]; // in it, or the same; "": none yet
    char token[JNC_TOKEN + 1];
    jnaWorkspaceLock lock;
    jnaAssetFile file; // asset NULL: it is not built yet
    jncMotions motions;
    char *view, *about;            // view.json and studio.json
    int revision;                  // counts up with every character that was opened
    bool stale;                    // the manifest says other than what was built
    char dropped[JNA_PATH_LENGTH]; // the file that the job "new" reads
    bool builds;                   // a build follows the job that runs
    jncJob job;
    int versionCount, version; // saves that are kept, and how many of them hold
    jncVersion versions[JNC_VERSIONS];
    char writer[JNC_SESSION + 1]; // the page that may change something
    double seen;                  // when it last asked, by the wall clock
} jncStudio;

/// Opens the workspace's character, or closes it where there is none (yet).
void jncStudio_Open(jncStudio* studio);
void jncStudio_Close(jncStudio* studio);

/// studio.json: the regions of the character, what they are made of, and their part in every mode. NULL: out of memory
/// or not a body; the page then shows it without sliders.
char* jncDescribeRegions(const char* workspace, const jnAsset* asset);

/// What the manifest says of the regions, as words that jnaManifestChange_Take understands: {"belly": {"softness":
/// "2"}}.
json_t* jncDescribeTuning(const jnaManifest* manifest);

/// Whether the manifest sets another material than the one that was built.
bool jncIsMaterialStale(const char* workspace, const jnaManifest* manifest);

/// Forgets what was saved so far: it cannot be taken back any more.
void jncForgetVersions(jncStudio* studio);

/// What the page asks for; see jnaTake. user: jncStudio.
int jncTakeStudio(const char* path, const void* body, size_t size, void** bytes, size_t* answerSize, void* user);

/// What the page reads; see jnaAnswer. user: jncStudio.
bool jncAnswerStudio(const char* path, void** bytes, size_t* size, void* user);
