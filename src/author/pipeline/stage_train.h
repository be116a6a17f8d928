// The network of a workspace: the stage "train", whose report is a jnaNetworkReport and whose def a jnaTrainDef.
#pragma once

#include "learn/network.h"
#include "workspace/workspace.h"

/// How the manifest wants the network trained.
jnaTrainDef jnaWorkspaceTrainDef(const jnaWorkspace* workspace);

/// Measures the trained network of a workspace again, on what was simulated since, and writes it into network.json.
jnResult jnaMeasureNetwork(jnaWorkspace* workspace, jnaNetworkReport* report, jnError* error);
