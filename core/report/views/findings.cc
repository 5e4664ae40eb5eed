#include "core/report/views/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/report/labels.h"
#include "core/report/views/leaks_page.h"
#include "core/report/views/memory.h"

namespace heapgauge {
namespace {

constexpr size_t kMostHolders = 3;
constexpr size_t kMostChurners = 2;
constexpr size_t kMostLeaks = 3;
constexpr double kLargeHolder = 0.1;   // of the live heap
constexpr double kLargeChurner = 0.2;  // of all that was allocated
constexpr double kNextToNothing = 0.05;
constexpr uint64_t kFewSamples = 30;  // below this a figure is hardly more than a guess
constexpr double kMuchFree = 0.25;    // of the resident memory

// A sentence about a function needs samples to stand on.
bool IsSure(const RecordingFacts& recording, uint64_t samples) {
  return recording.interval == 0 || samples >= kFewSamples;
}

class Finder {
 public:
  Finder(const Profile& profile, const FunctionReport& report)
      : profile_(profile), report_(report), recording_(profile.recording) {}

  void Functions() {
    const std::vector<const FunctionRow*> holders = Holders();
    const std::vector<const FunctionRow*> churners = Churners();
    // Short names of all functions of a large program take as long as their figures.
    std::vector<EntityId> named;
    for (const auto* rows : {&holders, &churners}) {
      for (const FunctionRow* row : *rows) named.push_back(row->entity);
    }
    labels_ = Labels(profile_, report_.entities, std::move(named), Names::kShort, Layout());
    const double live_total = report_.total.live_bytes.value;
    for (const FunctionRow* row : holders) {
      const double live = row->flat.live_bytes.value;
      AddHolder(*row, live, live / live_total);
    }
    const double total = report_.total.allocated_bytes.value;
    for (const FunctionRow* row : churners) {
      const double allocated = row->flat.allocated_bytes.value;
      std::string text =
          fmt::format("{} allocated {}, {} of all, and freed it again", labels_[row->entity],
                      FormatBytes(allocated), FormatShare(allocated, total));
      if (recording_.lived_ns() >= 1'000'000'000) {
        const double seconds = static_cast<double>(recording_.lived_ns()) / 1e9;
        text += fmt::format(": {} a second", FormatBytes(allocated / seconds));
      }
      Add(ProfileFinding::Kind::kChurn, std::move(text), allocated / total, row, true);
    }
  }

  void Memory(const MemorySurvey& survey) {
    const auto resident = static_cast<double>(survey.accounting.resident);
    const auto kept = static_cast<double>(survey.accounting.part(Part::kFree));
    if (!(resident > 0) || kept < kMuchFree * resident) return;
    Add(ProfileFinding::Kind::kMemory,
        fmt::format("{} of the {} in memory is {}: kept for later, nobody uses it",
                    FormatBytes(kept), FormatBytes(resident),
                    PartLabel(Part::kFree, survey.allocator)),
        kept / resident, nullptr, false);
  }

  void Doubts() {
    if (recording_.interval == 0 || recording_.pid == 0) return;
    if (const uint64_t lost = recording_.lost_samples(); lost > 0) {
      Add(ProfileFinding::Kind::kSamples,
          fmt::format("{} samples found no room, about {}: heapgauge doctor {} says why",
                      FormatCount(static_cast<double>(lost)),
                      FormatBytes(static_cast<double>(recording_.lost_bytes)), recording_.pid),
          0, nullptr, false);
    }
    if (recording_.live_samples < kFewSamples) {
      Add(ProfileFinding::Kind::kSamples,
          fmt::format(
              "The figures rest on {} live samples: ranges are wide; heapgauge ctl {} sample 64K "
              "takes more",
              recording_.live_samples, recording_.pid),
          0, nullptr, false);
    }
  }

  std::vector<ProfileFinding> Take() {
    std::stable_sort(
        findings_.begin(), findings_.end(),
        [](const ProfileFinding& a, const ProfileFinding& b) { return a.weight > b.weight; });
    return std::move(findings_);
  }

 private:
  std::vector<const FunctionRow*> Holders() const {
    const double total = report_.total.live_bytes.value;
    std::vector<const FunctionRow*> rows;
    for (const FunctionRow& row : report_.rows) {
      const double live = row.flat.live_bytes.value;
      if (!(total > 0) || live < kLargeHolder * total || row.entity == kNone) continue;
      if (!IsSure(recording_, row.flat.live_samples)) continue;
      rows.push_back(&row);
      if (rows.size() == kMostHolders) break;
    }
    return rows;
  }

  std::vector<const FunctionRow*> Churners() const {
    std::vector<const FunctionRow*> rows;
    if (!report_.measures.has_allocated()) return rows;
    const double total = report_.total.allocated_bytes.value;
    for (const FunctionRow& row : report_.rows) {
      const double allocated = row.flat.allocated_bytes.value;
      if (!(total > 0) || allocated < kLargeChurner * total || row.entity == kNone) continue;
      if (row.flat.live_bytes.value > kNextToNothing * allocated) continue;
      if (IsSure(recording_, row.flat.samples)) rows.push_back(&row);
    }
    std::sort(rows.begin(), rows.end(), [](const FunctionRow* a, const FunctionRow* b) {
      return a->flat.allocated_bytes.value > b->flat.allocated_bytes.value;
    });
    if (rows.size() > kMostChurners) rows.resize(kMostChurners);
    return rows;
  }

  void AddHolder(const FunctionRow& row, double live, double share) {
    const double allocated = row.flat.allocated_bytes.value;
    const std::string size = FormatBytes(live);
    const std::string of_all = FormatShare(share, 1);
    const double freed = allocated > 0 ? 1 - live / allocated : 1;
    if (freed >= kNextToNothing) {
      Add(ProfileFinding::Kind::kHolder,
          fmt::format("{} holds {}, {} of the live heap", labels_[row.entity], size, of_all), share,
          &row, false);
      return;
    }
    const uint64_t lived_ns = recording_.lived_ns();
    const std::string when = lived_ns == 0 ? std::string() : " in " + FormatDuration(lived_ns);
    Add(ProfileFinding::Kind::kGrowth,
        fmt::format("{} grew to {}{}, {} of the live heap, and {} of it was freed",
                    labels_[row.entity], size, when, of_all,
                    freed * 100 < 0.1 ? "nothing" : FormatShare(freed, 1)),
        share, &row, false);
  }

  void Add(ProfileFinding::Kind kind, std::string text, double weight, const FunctionRow* row,
           bool allocated) {
    ProfileFinding finding{kind, std::move(text), weight, "", allocated, ""};
    if (row != nullptr) {
      finding.function = profile_.functions[report_.entities[row->entity].function].name;
    }
    findings_.push_back(std::move(finding));
  }

  const Profile& profile_;
  const FunctionReport& report_;
  const RecordingFacts& recording_;
  Labels labels_;
  std::vector<ProfileFinding> findings_;
};

}  // namespace

const char* FindingKindName(ProfileFinding::Kind kind) {
  switch (kind) {
    case ProfileFinding::Kind::kGrowth:
      return "growth";
    case ProfileFinding::Kind::kHolder:
      return "holder";
    case ProfileFinding::Kind::kChurn:
      return "churn";
    case ProfileFinding::Kind::kMemory:
      return "memory";
    case ProfileFinding::Kind::kLeak:
      return "leak";
    case ProfileFinding::Kind::kSamples:
      break;
  }
  return "samples";
}

std::vector<ProfileFinding> FindingsOf(const Profile& profile, const FunctionReport& report,
                                       const MemorySurvey* survey) {
  Finder finder(profile, report);
  if (report.measures.name == "live") finder.Functions();
  if (survey != nullptr) finder.Memory(*survey);
  finder.Doubts();
  return finder.Take();
}

void AddLeakFindings(const LeaksSubject& subject, std::vector<ProfileFinding>* findings) {
  const double total = subject.losses->in_use.bytes.value;
  std::vector<ProfileFinding> leaks;
  for (const leaks::Suspect& suspect : subject.suspects->suspects) {
    if (leaks.size() == kMostLeaks) break;
    ProfileFinding finding;
    finding.kind = ProfileFinding::Kind::kLeak;
    finding.text = Printable(suspect.Text());
    const double bytes = suspect.lost ? suspect.lost_bytes.value : suspect.live_bytes.value;
    finding.weight = total > 0 ? bytes / total : 0;
    const size_t record = RecordOfSuspect(subject, suspect);
    if (record < subject.losses->records.size()) finding.leak = LeakKey(subject, record);
    // Suspects are named without parameters.
    std::erase_if(*findings, [&](const ProfileFinding& other) {
      return other.kind == ProfileFinding::Kind::kGrowth &&
             other.function.substr(0, other.function.find('(')) == suspect.function;
    });
    leaks.push_back(std::move(finding));
  }
  findings->insert(findings->begin(), leaks.begin(), leaks.end());
}

}  // namespace heapgauge
