// What jounce anatomy and jounce evaluate print of a character's softness.
#pragma once

/// The sag, where it is expected, in a few lines, and the warnings. Nothing where the workspace has no volume.
void jncPrintSoftness(const char* workspace);
