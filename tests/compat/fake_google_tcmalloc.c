/* The two functions by which google's tcmalloc is known and asked, with figures of our own: Debian
 * does not have the real one. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int MallocExtension_Internal_GetNumericProperty(const char* name, size_t size, size_t* value);
int MallocExtension_Internal_GetStatsInPbtxt(char* buffer, int size);

/* The real one returns bool; so does this by its low byte. */
int MallocExtension_Internal_GetNumericProperty(const char* name, size_t size, size_t* value) {
  static const char known[] = "generic.current_allocated_bytes";
  if (size != sizeof known - 1 || memcmp(name, known, size) != 0) return 0;
  *value = 12345;
  return 1;
}

int MallocExtension_Internal_GetStatsInPbtxt(char* buffer, int size) {
  return snprintf(buffer, (size_t)size, "in_use_by_app: 12345");
}
