// Symbols that parts of the agent share by their plain names, and nobody else sees.
#pragma once

#define HG_HIDDEN extern "C" __attribute__((visibility("hidden")))
