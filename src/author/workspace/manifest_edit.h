// Changes to the text of a manifest that leave the rest of it as its author wrote it: comments, order, layout.
#pragma once

#include "volume/anatomy.h"
#include "workspace/manifest.h"

/// What may be changed of a region, in the order in which it is written.
typedef enum jnaTuningKey {
    jna_tuneSoftness,
    jna_tuneDamping,
    jna_tuneTone,
    jna_tuneLimit,
    JNA_TUNING_KEYS,
} jnaTuningKey;
extern const char* const jnaTuningKeyNames[JNA_TUNING_KEYS];

/// Changes to a manifest. Texts are as in the file; "" takes a value away, so that its default holds; NULL leaves it.
/// All zeroes: nothing changes.
typedef struct jnaManifestChange {
    const char* tuning[JNA_REGIONS][JNA_TUNING_KEYS];
    const char* build; // body.build
    const char* mask;  // springs.mask, with springs.mode mask; "": springs.mode fitted
} jnaManifestChange;

/// Takes one word of a person, "belly.softness=2", "thigh.limit=0.02 m", "belly.tone=", "build=heavy". The value is the
/// end of `word` and is not copied. The error names the words that there are.
jnResult jnaManifestChange_Take(jnaManifestChange* change, const char* word, jnError* error);

/// The text with the changes, from malloc. file: for errors. The same changes give the same bytes in whatever order
/// they were taken. The outcome is read again before it is returned: what the manifest refuses is refused with its
/// sentence.
jnResult jnaEditManifest(
    const char* file, const char* text, const jnaManifestChange* change, char** edited, jnError* error);

/// The same in a workspace's manifest.yaml, which is replaced as a whole, under the lock of its writers. changed: may
/// be NULL; whether the bytes are others now.
jnResult jnaChangeManifest(
    const char* workspace, const char* who, const jnaManifestChange* change, bool* changed, jnError* error);

/// The text of a workspace's manifest.yaml, from malloc, at most a megabyte.
jnResult jnaLoadManifestText(const char* workspace, char** text, jnError* error);

/// Puts a text that jnaLoadManifestText gave back in its place, under the lock.
jnResult jnaRestoreManifestText(const char* workspace, const char* who, const char* text, jnError* error);
