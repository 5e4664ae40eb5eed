#include "core/gauge/gauge_save.h"

#include "core/base/file.h"
#include "core/gauge/gauge_dump.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/gauge_names.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/gauge_summary.h"

namespace heapgauge {

Result<SavedGauge> SaveGauge(const std::string& path,
                             const std::function<void(Profile*)>& symbolize) {
  SavedGauge saved;
  HG_ASSIGN(saved.bytes, CopyGauge(path));
  const MemorySource copy(saved.bytes);
  GaugeReadOptions options;
  options.every_node = true;  // the stacks of the peak as well
  HG_ASSIGN(Profile profile, ReadGauge(copy, path, options));
  // Whether the program still runs decides where its files are looked for.
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(copy, path));
  FindState(layout, path, 0, &profile.recording);
  symbolize(&profile);
  saved.names = CountNames(profile);
  HG_ASSIGN(const std::string names, EncodeNames(profile));
  HG_ASSIGN(saved.bytes, WithNames(std::move(saved.bytes), names));
  return saved;
}

}  // namespace heapgauge
