// In the place of net_stages.c where oneDNN is left out.
#include "learn/net_internal.h"

#include "runtime/for_author.h"

jnResult jnaCreateStages(jnaWorker* w, jnError* error)
{
    (void)w;
    return jnFail(error, jn_badArgument,
        "this build of jounce trains no networks of kind cnn (oneDNN is left out); set network.kind to pca");
}

void jnaDestroyStages(jnaWorker* w)
{
    (void)w;
}

bool jnaStages_Forward(jnaWorker* w, int index, const float* parameters)
{
    (void)w;
    (void)index;
    (void)parameters;
    return false;
}

bool jnaStages_Backward(jnaWorker* w, int index, const float* parameters, float* gradient)
{
    (void)w;
    (void)index;
    (void)parameters;
    (void)gradient;
    return false;
}
