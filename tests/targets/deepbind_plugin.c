// The plugin of deepbind: allocates and frees on behalf of the host.

#include "tests/targets/support.h"

void* DeepAllocate(size_t size);
void DeepRelease(void* p);
uint64_t DeepExercise(uint64_t seed, size_t rounds);

void* DeepAllocate(size_t size) { return malloc(size); }
void DeepRelease(void* p) { free(p); }
uint64_t DeepExercise(uint64_t seed, size_t rounds) { return Exercise(seed, rounds); }
