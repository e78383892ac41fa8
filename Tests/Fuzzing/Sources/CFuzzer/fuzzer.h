#include <stddef.h>
#include <stdint.h>

/// libFuzzer, as a library: runs `test` on inputs until one traps, or the time is over.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *_Nullable bytes, size_t count));
