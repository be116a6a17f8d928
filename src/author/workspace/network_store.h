// A network in the folder of a workspace.
#pragma once

#include "learn/network.h"

/// Makes the folder `network/` unless it is there.
jnResult jnaMakeNetworkFolder(const char* workspace, jnError* error);

/// A network as files of a workspace, folder `network/`.
jnResult jnaSaveNetwork(const char* workspace, const jnaNetwork* network, jnError* error);
/// Whether a workspace has a network that is not left out.
bool jnaPlaysNetwork(const char* workspace);
jnResult jnaLoadNetwork(const char* workspace, jnaNetwork* network, jnError* error);

/// Writes errors.json, beside the network that they are of.
jnResult jnaSaveNetworkErrors(const char* workspace, const jnaNetworkReport* report, jnError* error);
