// Written to the C++ side of gperftools, as brpc is: MallocExtension::instance() and texts by
// std::string.
#include <gperftools/malloc_extension.h>

#include <string>

#include "work.h"

namespace {

void Save(const char* path, const std::string& text) {
  FILE* file = fopen(path, "w");
  if (file == nullptr) abort();
  fwrite(text.data(), 1, text.size(), file);
  fclose(file);
}

// One of the program's own, as programs have that count.
class Counting : public MallocExtension {
 public:
  size_t GetThreadCacheSize() override { return 42; }
};

}  // namespace

int main() {
  MallocExtension* extension = MallocExtension::instance();
  keep_large();
  keep_small();
  churn();
  drop_large();
  std::string sample;
  extension->GetHeapSample(&sample);
  Save("sample.heap", sample);
  std::string growth = "kept";
  extension->GetHeapGrowthStacks(&growth);
  printf("appended: %d\n", growth.compare(0, 4, "kept") == 0 && growth.size() > 4);
  Save("growth.heap", growth.substr(4));
  size_t value = 0;
  printf("allocated: %d\n",
         extension->GetNumericProperty("generic.current_allocated_bytes", &value));
  printf("nonsense: %d\n", extension->GetNumericProperty("no.such.property", &value));
  extension->ReleaseFreeMemory();
  MallocExtension::Register(new Counting);
  printf("registered: %zu\n", MallocExtension::instance()->GetThreadCacheSize());
  printf("done %d\n", sink);
  return 0;
}
