// Buffers of sessions: temporary ones, one that grows by realloc, lost ones, and a mapped table.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "cache.h"

namespace shop {
namespace {

struct Session {
  char* name;
  int number;
};

char* log_text = nullptr;
size_t log_size = 0;
Session* volatile last_session = nullptr;

}  // namespace

char* ReadRequest(size_t size) {
  auto* text = static_cast<char*>(malloc(size));
  memset(text, 'x', size);
  return text;
}

void GrowLog(size_t bytes) {
  log_size += bytes;
  log_text = static_cast<char*>(realloc(log_text, log_size));
}

void LoseSession(int number) {
  auto* session = new Session;
  session->name = static_cast<char*>(calloc(1, 3000));
  session->number = number;
  last_session = session;  // the one before it is lost, and its name with it
}

void* MapTable(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace shop
