// The whole public API of the runtime.
#pragma once

#include "jounce/asset.h"
#include "jounce/base.h"
#include "jounce/character.h"
#include "jounce/match.h"
#include "jounce/spring_functions.h"
#include "jounce/springs.h"
