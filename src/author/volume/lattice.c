#include "internal.h"
#include "mesh_internal.h"
jnResult jnaBuildLattice(const jnaSurface* surface, const jnaTree* tree, double spacing, jnaMesh* mesh, jnError* error)
{
    (void)surface;
    (void)tree;
    (void)spacing;
    (void)mesh;
    return jnFail(error, jn_badData, "no lattice yet");
}
jnResult jnaEmbedSkin(const jnaCharacter* character, const jnaSurface* surface, jnaVolume* volume, int* outsideCount,
    double* greatestOutside, jnError* error)
{
    (void)character;
    (void)surface;
    (void)volume;
    (void)outsideCount;
    (void)greatestOutside;
    (void)error;
    return jn_ok;
}
