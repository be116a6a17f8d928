// A network in the folder of a workspace.
#pragma once

#include "learn/network.h"

/// Makes the folder `network/` unless it is there.
jnResult jnaMakeNetworkFolder(const char* workspace, jnError* error);

/// Writes network.json alone.
jnResult jnaSaveNetworkDescription(
    const char* workspace, const jnaNetwork* network, const jnaNetworkReport* report, jnError* error);

/// A network as files of a workspace, folder `network/`.
jnResult jnaSaveNetwork(
    const char* workspace, const jnaNetwork* network, const jnaNetworkReport* report, jnError* error);
jnResult jnaLoadNetwork(const char* workspace, jnaNetwork* network, jnError* error);
