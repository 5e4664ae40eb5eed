#include "cli/ui_leaks.h"

#include <utility>

#include "core/leaks/verdict/check_process.h"

namespace heapgauge::cli {
namespace {

class LiveChecker final : public endpoint::api::LeakChecker {
 public:
  explicit LiveChecker(leaks::Suppressions suppressions) : suppressions_(std::move(suppressions)) {}

  Result<leaks::Check> Look(endpoint::Process* process) override {
    leaks::CheckOptions options;
    options.gauge_path = process->gauge_path();
    if (options.gauge_path.empty()) {
      return Fail(ErrorCode::kUnavailable, "there is no gauge file of this process here");
    }
    return leaks::CheckProcess(process->pid(), options);
  }
  const leaks::Suppressions& suppressions() const override { return suppressions_; }

 private:
  const leaks::Suppressions suppressions_;
};

}  // namespace

std::shared_ptr<endpoint::api::LeakChecker> MakeLeakChecker(leaks::Suppressions suppressions) {
  return std::make_shared<LiveChecker>(std::move(suppressions));
}

}  // namespace heapgauge::cli
