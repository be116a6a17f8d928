// Triangular solves for any machine.
#include "flesh/preconditioner_body.h"

void jnaSolvePanelsBaseline(const jnaPreconditioner* preconditioner, float* values)
{
    SolvePanels(preconditioner, values);
}
