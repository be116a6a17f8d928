// Sizes of the public structs; a test holds the list against the headers.
#include "internal.h"

#include "jounce/jounce.h"

#define ENTRY(type)                                                                                                    \
    {                                                                                                                  \
#type, sizeof(type)                                                                                            \
    }

const jnTypeSize* jnAbi(void)
{
    static const jnTypeSize sizes[] = {
        ENTRY(jnError),
        ENTRY(jnAllocator),
        ENTRY(jnTransform),
        ENTRY(jnTypeSize),
        ENTRY(jnSpringResponse),
        ENTRY(jnSpringsDef),
        ENTRY(jnSpringsInput),
        ENTRY(jnSpringsOutput),
        ENTRY(jnSpringsLoop),
        ENTRY(jnAssetJoint),
        ENTRY(jnAssetPart),
        ENTRY(jnAssetTarget),
        ENTRY(jnAssetFollower),
        ENTRY(jnAssetClip),
        ENTRY(jnAssetMode),
        ENTRY(jnAssetModes),
        ENTRY(jnAssetPatch),
        ENTRY(jnAssetMorphs),
        ENTRY(jnAsset),
        ENTRY(jnAssetDef),
        ENTRY(jnAssetCounts),
        ENTRY(jnAssetSection),
        ENTRY(jnPose),
        ENTRY(jnCharacterDef),
        ENTRY(jnCharacterInput),
        ENTRY(jnCharacterOutput),
        ENTRY(jnCharacterLoop),
        ENTRY(jnModeReport),
        ENTRY(jnCharacterReport),
        ENTRY(jnBoneMatch),
        ENTRY(jnEngineSpace),
        ENTRY(jnImportedVertices),
        ENTRY(jnCollider),
        ENTRY(jnContact),
        {NULL, 0},
    };
    return sizes;
}
