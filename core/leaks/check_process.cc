#include "core/leaks/check_process.h"

#include <optional>
#include <utility>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/formats/gauge/gauge_layout.h"
#include "core/formats/gauge/gauge_memory.h"
#include "core/leaks/capture/picture.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/capture/process_roots.h"
#include "core/leaks/sampled_blocks.h"

namespace heapgauge::leaks {
namespace {

// The samples of the gauge file, where the caller brings no blocks.
class SampledSource {
 public:
  static Result<SampledSource> Open(const std::string& path) {
    HG_ASSIGN(File file, File::OpenForReading(path));
    return SampledSource(std::move(file), path);
  }
  void Copy() { records_ = LiveRecords::Copy(file_); }
  Result<KnownBlocks> Read() {
    if (!records_) return Fail(ErrorCode::kUnavailable, "the live blocks were not read");
    HG_TRY(*records_);
    return SampledBlocks(path_, **records_);
  }

 private:
  SampledSource(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  File file_;
  std::string path_;
  std::optional<Result<LiveRecords>> records_;
};

std::string JoinedArguments(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text;
}

void DescribeProgram(uint32_t pid, Check* check) {
  check->pid = pid;
  check->executable = ProcessExecutable(pid);
  if (auto line = ReadWholeFile("/proc/" + std::to_string(pid) + "/cmdline", 16384)) {
    check->command_line = JoinedArguments(*std::move(line));
  }
  check->unix_ns = RealtimeNow();
}

void TakeTotals(const std::string& gauge_path, Check* check) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  if (!layout) return;
  const wire::Totals& totals = layout->header().totals;
  check->allocations = totals.allocated_objects;
  check->frees = totals.freed_objects;
  check->allocated_bytes = totals.allocated_bytes;
}

Result<Check> Run(uint32_t pid, const CheckOptions& options, PictureOptions how) {
  Check check;
  DescribeProgram(pid, &check);
  std::optional<GaugeMemory> gauge;
  if (!options.gauge_path.empty()) {
    if (auto memory = ReadGaugeMemory(options.gauge_path)) {
      gauge = *std::move(memory);
    } else {
      check.notes.push_back(memory.error().message);
    }
  }
  std::optional<SampledSource> samples;
  if (!options.known_blocks) {
    HG_ASSIGN(samples, SampledSource::Open(options.gauge_path));
    how.while_stopped = [&samples] { samples->Copy(); };
  } else {
    how.while_stopped = options.while_stopped;
  }
  HG_ASSIGN(const std::unique_ptr<Picture> picture, Picture::Take(pid, how));
  check.look = picture->look();
  check.threads = static_cast<uint32_t>(picture->threads().size());
  HG_ASSIGN(check.known, samples ? samples->Read() : options.known_blocks());
  ProcessMemoryImage image(picture->memory_process());
  RootsInput input;
  input.process = picture->memory_process();
  input.program = pid;
  input.threads = &picture->threads();
  input.blocks = &check.known.blocks;
  if (gauge) input.gauge = &*gauge;
  HG_ASSIGN(ProcessRoots found, FindRoots(input, image));
  image.SetReadable(std::move(found.readable));
  check.roots = std::move(found.roots);
  ScanResult scan = Scan(image, check.known.blocks, check.known.exact, check.roots, options.scan);
  check.verdicts = std::move(scan.verdicts);
  if (options.with_memory) options.with_memory(image, check);
  picture->Release();
  check.scanned_bytes = scan.scanned_bytes;
  check.scan_ns = scan.cpu_ns;
  check.pause_ns = picture->pause_ns();
  for (std::string& note : found.notes) check.notes.push_back(std::move(note));
  for (const std::string& note : picture->notes()) check.notes.push_back(note);
  if (!check.known.exact && !options.gauge_path.empty()) TakeTotals(options.gauge_path, &check);
  return check;
}

}  // namespace

Result<Check> CheckProcess(uint32_t pid, const CheckOptions& options) {
  PictureOptions how;
  how.may_look_in_place = ResidentBytes(pid).value_or(0) <= options.in_place_up_to;
  return Run(pid, options, std::move(how));
}

Result<Check> CheckStopped(uint32_t pid, const CheckOptions& options) {
  PictureOptions how;
  how.in_place = true;
  return Run(pid, options, std::move(how));
}

}  // namespace heapgauge::leaks
