// GET /memory. Envoy answers JSON there, brpc text, and people with a browser want a page. In this
// order:
//   ?opts=LETTERS          text, as brpc's with jemalloc: the engine's statistics, after ours
//   ?format=json|text      that
//   Accept: ... text/html  a page
//   Accept: text/plain     text
//   otherwise              JSON: programs that expect Envoy's can read nothing else, while a person
//                          at a terminal can read both
// The JSON has Envoy's six fields, texts of numbers as with protobuf, and ours below "heapgauge".

#include <fmt/format.h>

#include <mutex>

#include "core/base/html.h"
#include "core/base/text.h"
#include "core/report/views/memory.h"
#include "endpoint/base/answers.h"
#include "endpoint/base/engine_lock.h"
#include "endpoint/dialects/allocator_accounts.h"
#include "endpoint/dialects/envoy.h"
#include "endpoint/dialects/page.h"

namespace heapgauge::endpoint {
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
