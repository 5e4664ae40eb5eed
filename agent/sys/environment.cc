#include "agent/sys/environment.h"

#include <cstring>

namespace heapgauge::agent {
namespace {

// The value of `NAME=value` if the entry has this name, else nullptr.
const char* ValueOf(const char* entry, const char* name) {
  const size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

// Removes the components of an LD_PRELOAD list that name this library; returns what is left.
char* RemoveAgentFromList(char* list) {
  char* out = list;
  char* in = list;
  while (*in != '\0') {
    char* end = in;
    while (*end != '\0' && *end != ':' && *end != ' ') ++end;
    const size_t length = static_cast<size_t>(end - in);
    const bool ours = memmem(in, length, "libheapgauge.so", 15) != nullptr;
    if (!ours && length > 0) {
      if (out != list) *out++ = ':';
      memmove(out, in, length);
      out += length;
    }
    in = *end == '\0' ? end : end + 1;
  }
  *out = '\0';
  return list;
}

}  // namespace

const char* EnvironmentValue(char** environment, const char* name) {
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (const char* value = ValueOf(*entry, name)) return value;
  }
  return "";
}

bool ParseSize(const char* text, uint64_t* size) {
  if (*text < '0' || *text > '9') return false;
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (value > (UINT64_MAX - 9) / 10) return false;
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  }
  unsigned shift = 0;
  switch (*text) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    case 't':
    case 'T':
      shift = 40;
      break;
    default:
      break;
  }
  if (shift != 0) {
    ++text;
    if (text[0] == 'i' && text[1] == 'B')
      text += 2;
    else if (text[0] == 'B')
      ++text;
  } else if (*text == 'B') {
    ++text;
  }
  if (*text != '\0' || value > UINT64_MAX >> shift) return false;
  *size = value << shift;
  return true;
}

void RemoveFromEnvironment(char** environment) {
  if (environment == nullptr) return;
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (strncmp(*entry, "HEAPGAUGE_", 10) == 0) continue;
    if (const char* preload = ValueOf(*entry, "LD_PRELOAD")) {
      if (*RemoveAgentFromList(const_cast<char*>(preload)) == '\0') continue;
    }
    *kept++ = *entry;
  }
  *kept = nullptr;
}

}  // namespace heapgauge::agent
