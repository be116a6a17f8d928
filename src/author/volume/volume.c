// Memory of volumes.
#include "volume/volume.h"

#include <stdlib.h>

void jnaDestroyVolume(jnaVolume* volume)
{
    free(volume->nodes);
    free(volume->tetrahedra);
    free(volume->skinTetrahedra);
    free(volume->skinWeights);
    free(volume->skinOffsets);
    free(volume->skinBlend);
    free(volume->skinKinds);
    free(volume->rowStarts);
    free(volume->joints);
    free(volume->weights);
    free(volume->heldBy);
    free(volume->holdStrength);
    free(volume->regions);
    free(volume->materials);
    *volume = (jnaVolume){0};
}
