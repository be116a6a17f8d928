// An opened workspace: the one owner of a character's manifest and of what was imported, made and learned.
//
// The manifest is read when it is opened. Everything else is loaded when it is first asked for and kept until a stage
// makes it anew (jnaWorkspace_Forget). What the functions return belongs to the workspace and stays where it is until
// then. One thread at a time.
#pragma once

#include "workspace/lock.h"
#include "workspace/manifest.h"
#include "workspace/stage.h"

typedef struct jnaWorkspace {
    const char* path;     // the folder
    jnaManifest manifest; // as read; a caller may change it for one run, the file stays
    struct jnaLoaded* loaded;
    jnaWorkspaceLock lock; // held by who makes something; see jnaOpenWorkspaceToWrite
} jnaWorkspace;

/// Opens a folder that has a manifest.
jnResult jnaOpenWorkspace(const char* path, jnaWorkspace** workspace, jnError* error);
/// The same for one who makes stages in it: with the lock, alone, until it is closed. who: "jounce build".
jnResult jnaOpenWorkspaceToWrite(const char* path, const char* who, jnaWorkspace** workspace, jnError* error);
void jnaCloseWorkspace(jnaWorkspace* workspace); // NULL is allowed

/// Forgets what was loaded: the files have changed.
void jnaWorkspace_Forget(jnaWorkspace* workspace);

/// The flesh of the imported character, which all stages but the export work on, and its clips in the order of the
/// manifest [clipCount].
jnResult jnaWorkspace_Character(jnaWorkspace* workspace, const jnaCharacter** character, jnError* error);
/// The same with all that it wears; the same pointer where that is nothing.
jnResult jnaWorkspace_Whole(jnaWorkspace* workspace, const jnaCharacter** character, jnError* error);
jnResult jnaWorkspace_Clips(jnaWorkspace* workspace, const jnaClip** clips, jnError* error);

/// The flesh; the modes as the physics says.
jnResult jnaWorkspace_Volume(jnaWorkspace* workspace, const jnaVolume** volume, jnError* error);
jnResult jnaWorkspace_Modes(jnaWorkspace* workspace, const jnaModes** modes, jnError* error);

/// The trained network. *network is NULL where there is none of the manifest's kind, or it was left out.
jnResult jnaWorkspace_Network(jnaWorkspace* workspace, const jnaNetwork** network, jnError* error);

/// "PATH/NAME", the name by a format. path: [JNA_PATH_LENGTH].
jnResult jnaWorkspace_Path(const jnaWorkspace* workspace, char* path, jnError* error, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/// Whether a file of the workspace is there.
bool jnaWorkspace_Has(const jnaWorkspace* workspace, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Adds the settings of the manifest that the outcome of the stage depends on.
void jnaWorkspace_Depend(const jnaWorkspace* workspace, jnaStage* stage);
