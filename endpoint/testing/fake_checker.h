// A host with one process whose memory can be looked at: what is found there, the test makes. Not
// for use outside of tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/leaks/testing/make_check.h"
#include "endpoint/api/kept_checks.h"
#include "endpoint/api/sources.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::testing {

// A server that loses sessions, with what hangs on them, and holds a cache. Blocks of `weight` > 1
// are sampled ones.
inline leaks::Check MakeLeakCheck(double weight = 1, int lost = 3) {
  leaks::testing::CheckMaker m;
  const uint32_t session = m.Stack({"malloc", "Session::Open(int)", "main"});
  const uint32_t name = m.Stack({"Name::Copy()", "Session::Open(int)", "main"});
  const uint32_t cache = m.Stack({"Cache::Insert(int)", "main"});
  for (int i = 0; i < lost; ++i) {
    const uint32_t head = m.Block(session, 1000, leaks::Kind::kDefinite, leaks::kNoBlock, weight,
                                  static_cast<uint64_t>(600 + 3600 * i));
    m.Block(name, 40, leaks::Kind::kIndirect, head, weight);
  }
  const uint32_t held = m.Block(cache, 5000, leaks::Kind::kReachable, leaks::kNoBlock, weight);
  leaks::Check& check = m.check();
  check.known.exact = weight == 1;
  check.roots.objects.push_back({"/opt/app/bin/server", 0});
  leaks::RootRange data;
  data.range = {0x8000, 0x9000};
  data.kind = leaks::RootKind::kData;
  data.object = 1;
  check.roots.ranges.push_back(data);
  leaks::Verdict& verdict = check.verdicts[held];
  verdict.has_pointer = true;
  verdict.pointer = 0x8010;
  check.unix_ns = 1'700'000'000'000'000'000;
  check.pause_ns = 3'000'000;
  check.scanned_bytes = 1 << 20;
  check.threads = 2;
  check.notes = {"one page could not be read"};
  return check;
}

class FakeChecker final : public api::LeakChecker {
 public:
  Result<leaks::Check> Look(Process* /*process*/) override {
    ++looks;
    if (meanwhile) meanwhile();
    if (!error.empty()) return Fail(ErrorCode::kPermission, error);
    return check;
  }
  const leaks::Suppressions& suppressions() const override { return rules; }

  leaks::Check check = MakeLeakCheck();
  leaks::Suppressions rules;
  std::string error;
  std::function<void()> meanwhile;  // while the program is looked at
  int looks = 0;
};

// As OneProcess, with a checker.
class CheckedProcess {
 public:
  CheckedProcess()
      : process(std::make_shared<FakeProcess>(4242)),
        processes(std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process})),
        checker(std::make_shared<FakeChecker>()),
        endpoint(processes, std::make_shared<api::Sources>(processes, nullptr, checker), Limits()) {
  }

  Response Ask(const std::string& method, const std::string& target, Headers headers = {}) {
    return AskAt(&endpoint, method, target, std::move(headers));
  }
  Response Get(const std::string& target) { return Ask("GET", target); }
  Response Post(const std::string& target, Headers headers = {}) {
    return Ask("POST", target, std::move(headers));
  }

  std::shared_ptr<FakeProcess> process;
  std::shared_ptr<FakeProcesses> processes;
  std::shared_ptr<FakeChecker> checker;
  Endpoint endpoint;
};

}  // namespace heapgauge::endpoint::testing
