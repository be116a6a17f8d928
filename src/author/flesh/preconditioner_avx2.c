// Triangular solves for AVX2.
#include "flesh/preconditioner_body.h"

void jnaSolvePanelsAvx2(const jnaPreconditioner* preconditioner, float* values)
{
    SolvePanels(preconditioner, values);
}
