// The whole public API of the runtime.
#pragma once

#include "jounce/base.h"
