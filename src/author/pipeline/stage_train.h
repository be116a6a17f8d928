// The network of a workspace: the stage "train", whose def is a jnaTrainDef, and the stage "measure" after it, whose
// report is a jnaNetworkReport.
#pragma once

#include "learn/network.h"
#include "workspace/workspace.h"

/// How the manifest wants the network trained.
jnaTrainDef jnaWorkspaceTrainDef(const jnaWorkspace* workspace);
