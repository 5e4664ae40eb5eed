#include "endpoint/dialects/memory.h"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/memory/accounting.h"
#include "core/report/views/memory.h"
#include "endpoint/base/engine.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/displays.h"
#include "endpoint/dialects/envoy.h"

namespace heapgauge::endpoint {
namespace {

AllocatorAccount NativeAccount(const MemorySurvey& survey) {
  AllocatorAccount account;
  const std::string& name = survey.recording.allocator;
  account.allocator = name.empty() ? "unknown" : Printable(name);
  const Accounting& a = survey.accounting;
  if (survey.statistics) {
    const wire::AllocatorStatistics& s = *survey.statistics;
    account.source =
        survey.statistics_are_fresh ? "asked by the agent" : "asked by the agent some time ago";
    const auto add = [&](uint32_t bit, const char* key, uint64_t value) {
      if ((s.mask & bit) != 0) account.figures.emplace_back(key, value);
    };
    add(kHasInUse, "allocated", s.in_use_bytes);
    add(kHasResident, "resident", s.resident_bytes);
    add(kHasMetadata, "metadata", s.metadata_bytes);
    add(kHasMapped, "mapped", s.mapped_bytes);
    add(kHasFree, "free", s.free_bytes);
    add(kHasCached, "cached", s.cached_bytes);
    if (!account.Find("resident") && a.heap_resident != 0) {
      account.figures.emplace_back("resident", a.heap_resident);
    }
    return account;
  }
  account.source = "estimated from samples and the kernel's account";
  account.figures.emplace_back(
      "allocated", static_cast<uint64_t>(std::llround(std::fmax(0, a.live.bytes.value))));
  if (a.heap_resident != 0) {
    account.figures.emplace_back("resident", a.heap_resident);
    account.figures.emplace_back("free", a.part(Part::kFree));
  }
  return account;
}

const char* MeaningOf(std::string_view figure) {
  static constexpr std::pair<std::string_view, const char*> kMeanings[] = {
      {"allocated", "in blocks that the program holds"},
      {"active", "in pages with at least one such block"},
      {"resident", "in memory, as the allocator or the kernel sees it"},
      {"metadata", "the allocator's own book-keeping"},
      {"mapped", "address space taken from the kernel"},
      {"retained", "address space kept, its memory given back"},
      {"unmapped", "address space kept, its memory given back"},
      {"free", "kept for later"},
      {"cached", "kept for later in caches of threads"},
  };
  for (const auto& [name, meaning] : kMeanings) {
    if (name == figure) return meaning;
  }
  return "";
}

std::string Line(std::string_view name, uint64_t bytes, const std::string& meaning) {
  return fmt::format("  {:<14} {:>16} {:>9}  {}\n", name, bytes,
                     FormatBytes(static_cast<double>(bytes)), meaning);
}

}  // namespace

std::optional<uint64_t> AllocatorAccount::Find(std::string_view name) const {
  for (const auto& [key, value] : figures) {
    if (key == name) return value;
  }
  return {};
}

std::vector<AllocatorAccount> AccountsOf(Process* process, const MemorySurvey& survey) {
  std::vector<AllocatorAccount> accounts;
  accounts.push_back(NativeAccount(survey));
  const std::lock_guard lock(EngineLock());
  for (Engine* engine : process->engines()) {
    AllocatorAccount account;
    account.allocator = Printable(engine->name());
    const std::string version = Printable(engine->state().version);
    account.source = "its own interface" + (version.empty() ? "" : ", version " + version);
    account.figures = engine->Figures();
    if (!account.figures.empty()) accounts.push_back(std::move(account));
  }
  return accounts;
}

std::string AccountText(const AllocatorAccount& account) {
  std::string text = account.allocator + " (" + account.source + ")\n";
  for (const auto& [name, bytes] : account.figures) {
    text += Line(Printable(name), bytes, MeaningOf(name));
  }
  const auto allocated = account.Find("allocated");
  const auto resident = account.Find("resident");
  const auto active = account.Find("active");
  const uint64_t metadata = account.Find("metadata").value_or(0);
  const auto share = [](uint64_t part, uint64_t whole) {
    return FormatShare(static_cast<double>(part), static_cast<double>(whole));
  };
  if (allocated && active && *active >= *allocated && *active != 0) {
    const uint64_t lost = *active - *allocated;
    text += Line("fragmentation", lost,
                 "active but not allocated: " + share(lost, *active) + " of active pages");
  }
  if (allocated && resident && *resident >= *allocated + metadata && *resident != 0) {
    const uint64_t lost = *resident - *allocated - metadata;
    text += Line("overhead", lost,
                 "resident but neither allocated nor metadata: " + share(lost, *resident) +
                     " of resident memory");
  }
  return text;
}

// GET /memory. Envoy answers JSON there, brpc text, and people with a browser want a page. In this
// order:
//   ?opts=LETTERS          text, as brpc's with jemalloc: the engine's statistics, after ours
//   ?format=json|text      that
//   Accept: ... text/html  a page
//   Accept: text/plain     text
//   otherwise              JSON: programs that expect Envoy's can read nothing else, while a person
//                          at a terminal can read both
// The JSON has Envoy's six fields, texts of numbers as with protobuf, and ours below "heapgauge".

namespace {

// What malloc_stats_print takes, and brpc's default.
constexpr std::string_view kOptionLetters = "Jgmdablxeh";
constexpr size_t kMostOptions = 16;

enum class Form { kJson, kText, kHtml };

std::optional<Form> FormOf(const Call& call) {
  if (call.Parameter("opts")) return Form::kText;
  if (const auto format = call.Parameter("format")) {
    if (*format == "json") return Form::kJson;
    if (*format == "text") return Form::kText;
    return {};
  }
  const std::string_view accept = call.request.Header("Accept");
  if (accept.find("text/html") != std::string_view::npos) return Form::kHtml;
  if (accept.find("text/plain") != std::string_view::npos) return Form::kText;
  return Form::kJson;
}

// Whose figures Envoy's fields are: those of the engine that was asked for, or of the allocator
// that the agent asked, or of the first engine, or what samples estimate.
const AllocatorAccount& ChosenAccount(const std::vector<AllocatorAccount>& accounts,
                                      const MemorySurvey& survey, Engine* engine) {
  for (size_t i = 1; i < accounts.size() && engine != nullptr; ++i) {
    if (accounts[i].allocator == engine->name()) return accounts[i];
  }
  return survey.statistics || accounts.size() < 2 ? accounts[0] : accounts[1];
}

std::string EnvoyFields(const AllocatorAccount& account) {
  const auto first = [&](std::initializer_list<std::string_view> names) -> uint64_t {
    for (const std::string_view name : names) {
      if (const auto value = account.Find(name)) return *value;
    }
    return 0;
  };
  const uint64_t resident = first({"resident", "active", "allocated"});
  const uint64_t heap = std::max(first({"mapped", "resident", "active", "allocated"}), resident);
  const uint64_t unmapped = account.Find("unmapped") || account.Find("retained")
                                ? first({"unmapped", "retained"})
                                : heap - resident;
  return fmt::format(
      "{{\n \"allocated\": \"{}\",\n \"heap_size\": \"{}\",\n \"pageheap_unmapped\": \"{}\",\n"
      " \"pageheap_free\": \"{}\",\n \"total_thread_cache\": \"{}\",\n"
      " \"total_physical_bytes\": \"{}\"",
      first({"allocated"}), heap, unmapped, first({"free"}), first({"cached"}), resident);
}

std::string TextOf(const MemorySurvey& survey, const std::vector<AllocatorAccount>& accounts) {
  std::string text = MemoryText(survey, {});
  for (const AllocatorAccount& account : accounts) text += "\n" + AccountText(account);
  return text;
}

// Names of figures are ours and the engines', never the client's.
std::string AccountsJson(const std::vector<AllocatorAccount>& accounts) {
  std::string json = "[";
  for (const AllocatorAccount& account : accounts) {
    json += json.size() > 1 ? "," : "";
    json += "\n  {\"allocator\": " + JsonText(account.allocator) +
            ", \"source\": " + JsonText(account.source);
    for (const auto& [name, bytes] : account.figures) {
      json += fmt::format(", {}: {}", JsonText(name + "_bytes"), bytes);
    }
    json += "}";
  }
  return json + "]";
}

Response JsonOf(const MemorySurvey& survey, const std::vector<AllocatorAccount>& accounts,
                Engine* engine) {
  std::string json = EnvoyFields(ChosenAccount(accounts, survey, engine));
  json += ",\n \"heapgauge\": {\"allocators\": " + AccountsJson(accounts) +
          ",\n  \"memory\": " + MemoryJson(survey, {}) + "}\n}\n";
  return {200,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, max-age=0"}},
          std::move(json)};
}

Reply Answer(const Call& call, Form form) {
  const std::string options(call.Parameter("opts").value_or("Ja"));
  if (options.size() > kMostOptions ||
      options.find_first_not_of(kOptionLetters) != std::string::npos) {
    return ErrorText(400, "opts are at most 16 of the letters " + std::string(kOptionLetters));
  }
  const auto engine = call.ChosenEngine();
  if (!engine) return FailureOf(engine.error());
  const auto survey = call.process->Memory();
  if (!survey) return FailureOf(survey.error());
  const std::vector<AllocatorAccount> accounts = AccountsOf(call.process.get(), *survey);
  if (form == Form::kJson) return JsonOf(*survey, accounts, *engine);
  std::string text = TextOf(*survey, accounts);
  {
    const std::lock_guard lock(EngineLock());
    for (Engine* one : call.process->engines()) {
      if (*engine != nullptr && one != *engine) continue;
      const auto statistics = one->Statistics(options);
      text += "\n" + std::string(one->name()) + ":\n" +
              (statistics ? *statistics : Printable(statistics.error().message) + "\n");
    }
  }
  if (form == Form::kText) return PlainText(200, std::move(text));
  Page page;
  page.title = fmt::format("Memory of {} (pid {})", NameOf(survey->recording), call.process->pid());
  page.body = "<h1>" + EscapeHtml(page.title) + "</h1>\n<pre>" + EscapeHtml(text) + "</pre>\n";
  return HtmlPage(std::move(page));
}

}  // namespace

Reply Memory(const Call& call) {
  if (auto refused = RefuseOthers(call, {"opts", "format", "engine"})) return *std::move(refused);
  const auto form = FormOf(call);
  if (!form) return ErrorText(400, "format is json or text");
  return Answer(call, *form);
}

Reply MemoryStatistics(const Call& call) { return Answer(call, Form::kText); }

Reply MemoryTcmalloc(const Call& call) {
  if (auto refused = RefuseOthers(call, {})) return *std::move(refused);
  const std::lock_guard lock(EngineLock());
  for (Engine* engine : call.process->engines()) {
    if (engine->name() != "tcmalloc") continue;
    auto statistics = engine->Statistics("");
    return statistics ? PlainText(200, *std::move(statistics)) : FailureOf(statistics.error());
  }
  return ErrorText(501, "this process has no tcmalloc that can be asked from here");
}

}  // namespace heapgauge::endpoint
