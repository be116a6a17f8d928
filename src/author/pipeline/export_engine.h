// The export for engines: what a workspace holds as one glTF file with morph targets and their weights.
#pragma once

#include "asset/engine_glb.h"
#include "pipeline/stage_export.h"

/// Modes stand in for springs per vertex (springs.layer auto) where they explain at least this fraction of the motion.
#define JNA_LEAST_EXPLAINED 0.5

/// Writes a workspace as a .glb. how: of the asset; engine: all but asset, source and animations.
jnResult jnaExportEngine(const char* workspace, const char* path, const jnaExportDef* how, const jnaEngineDef* engine,
    jnaEngineReport* report, jnError* error);
