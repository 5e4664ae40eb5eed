#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/http_host.h"
#include "cli/report_options.h"
#include "cli/report_source.h"
#include "cli/ui_sources.h"
#include "cli/viewer.h"
#include "core/base/result.h"
#include "core/query/query.h"
#include "core/query/result_writer.h"
#include "core/query/schema.h"
#include "core/symbolize/name_cache.h"
#include "endpoint/api/query.h"
#include "endpoint/api/recent.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/gauge_process.h"

namespace heapgauge::cli {

// Statements run one after the other, in the order in which they came: what SQLite may take is for
// the whole process, and tables are for one at a time. Those that run or wait can be cancelled,
// which waits for nobody.
//
// Threads: any number.
class StatementTurns {
  struct Statement {
    std::string run;
    query::Query* query = nullptr;  // while it runs
    bool cancelled = false;
  };

 public:
  // The turn of one statement, from when it comes until it is over.
  class Turn {
   public:
    Turn(StatementTurns* turns, const std::string& run) : turns_(turns) {
      const std::lock_guard lock(turns_->mutex_);
      own_ = turns_->list_.insert(turns_->list_.end(), Statement{run, nullptr, turns_->ended_});
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      {
        const std::lock_guard lock(turns_->mutex_);
        turns_->list_.erase(own_);
      }
      turns_->changed_.notify_all();
    }

    // Until those before it are over. Fails if it was cancelled.
    Status Wait() {
      std::unique_lock lock(turns_->mutex_);
      turns_->changed_.wait(lock,
                            [this] { return own_->cancelled || own_ == turns_->list_.begin(); });
      if (own_->cancelled) return Fail(ErrorCode::kUnavailable, "the query was interrupted");
      return {};
    }

    // What runs in it; null: nothing does. If it was cancelled, what runs is ended.
    void Set(query::Query* query) {
      const std::lock_guard lock(turns_->mutex_);
      own_->query = query;
      if (query != nullptr && own_->cancelled) query->Interrupt();
    }

   private:
    StatementTurns* turns_;
    std::list<Statement>::iterator own_;
  };

  // Of a run; whether there was any.
  bool Cancel(const std::string& run) {
    return CancelIf([&](const Statement& statement) { return statement.run == run; });
  }

  // All, and those that come later.
  void EndAll() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    CancelIf([](const Statement&) { return true; });
  }

 private:
  template <typename Chosen>
  bool CancelIf(const Chosen& chosen) {
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      for (Statement& statement : list_) {
        if (!chosen(statement)) continue;
        any = true;
        statement.cancelled = true;
        if (statement.query != nullptr) statement.query->Interrupt();
      }
    }
    changed_.notify_all();
    return any;
  }

  std::mutex mutex_;  // held for moments only
  std::condition_variable changed_;
  std::list<Statement> list_;  // the first one runs
  bool ended_ = false;
};

// SQL for the page of `ui`: core/query over the sources that it shows. Statements run one at a
// time, each for a bounded time and in bounded memory.
std::shared_ptr<endpoint::api::Queries> MakeQueries(const SymbolOptions& symbols);

namespace {

using endpoint::api::Queries;

constexpr uint64_t kMemory = uint64_t{1} << 30;
constexpr size_t kMostText = 100'000;  // of one value

Json JsonOf(const query::Value& value) {
  switch (value.kind) {
    case query::Value::Kind::kNull:
      return nullptr;
    case query::Value::Kind::kInteger:
      return static_cast<long long>(value.integer);
    case query::Value::Kind::kReal:
      return value.real;
    case query::Value::Kind::kText:
      return value.text.substr(0, kMostText);
    case query::Value::Kind::kBytes:
      break;
  }
  return query::ValueText(value);
}

// Keeps the last result.
class Collected final : public query::ResultSink {
 public:
  Collected(uint64_t rows, Queries::Answer* answer) : rows_(rows), answer_(answer) {}

  Status Begin(const std::vector<std::string>& columns) override {
    *answer_ = {};
    answer_->columns = columns;
    count_ = 0;
    bytes_ = 0;
    return {};
  }
  Result<bool> Row(const std::vector<query::Value>& values) override {
    for (const query::Value& value : values) bytes_ += value.text.size() + kOther;
    if (count_ == rows_ || bytes_ > kMost) {
      answer_->cut = true;
      return false;
    }
    ++count_;
    Json row = Json::Array();
    for (const query::Value& value : values) row.Add(JsonOf(value));
    answer_->rows.Add(std::move(row));
    return true;
  }
  Status End() override { return {}; }

 private:
  static constexpr uint64_t kMost = 32 << 20;  // of an answer
  static constexpr uint64_t kOther = 16;       // about what a value takes beside its text
  const uint64_t rows_;
  Queries::Answer* answer_;
  uint64_t count_ = 0;
  uint64_t bytes_ = 0;
};

class SqliteQueries final : public Queries {
 public:
  explicit SqliteQueries(SymbolOptions symbols) : symbols_(std::move(symbols)) {}

  Result<Answer> Run(endpoint::api::Source* source, const std::shared_ptr<const Profile>& profile,
                     const Statement& statement) override {
    StatementTurns::Turn turn(&turns_, statement.run);
    HG_TRY(turn.Wait());
    const Tables tables = TablesOf(source, profile);
    query::QueryOptions options;
    options.seconds = static_cast<double>(statement.seconds);
    options.memory_bytes = kMemory;
    HG_ASSIGN(const auto query, query::Query::Open(tables.source.get(), options));
    Answer answer;
    Collected sink(statement.rows, &answer);
    const Running running(&turn, query.get());
    HG_TRY(query->Run(statement.sql, &sink));
    return answer;
  }

  // Does not wait for statements.
  Result<Schema> SchemaOf(endpoint::api::Source* source,
                          const std::shared_ptr<const Profile>& profile) override {
    return *TablesOf(source, profile).schema;
  }

  bool Cancel(const std::string& run) override { return turns_.Cancel(run); }
  void EndAll() override { turns_.EndAll(); }

 private:
  // Says what runs as long as it lives.
  class Running {
   public:
    Running(StatementTurns::Turn* turn, query::Query* query) : turn_(turn) { turn_->Set(query); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { turn_->Set(nullptr); }

   private:
    StatementTurns::Turn* turn_;
  };

  struct Tables {
    std::shared_ptr<const void> of;              // the trace or profile
    std::shared_ptr<query::QuerySource> source;  // for who has the turn
    std::shared_ptr<const Schema> schema;
  };

  Tables TablesOf(endpoint::api::Source* source, const std::shared_ptr<const Profile>& profile) {
    const std::string id = source->facts().id;
    const auto trace = source->trace();
    const std::shared_ptr<const void> of =
        trace != nullptr ? std::shared_ptr<const void>(trace) : profile;
    const std::lock_guard lock(tables_mutex_);
    if (const Tables* known = tables_.Find(id); known != nullptr && known->of == of) return *known;
    std::shared_ptr<query::QuerySource> made =
        trace != nullptr
            ? query::QuerySource::OfTrace(trace, [this](Profile* p) { NameLocations(symbols_, p); })
            : query::QuerySource::OfProfile(*profile);
    // While nobody else uses it; it does not change.
    query::SchemaParts parts = query::PartsOfSchema(made.get());
    auto schema = std::make_shared<const Schema>(
        Schema{query::SchemaText(made.get()), std::move(parts.tables), std::move(parts.functions)});
    return tables_.Keep(id, {of, std::move(made), std::move(schema)});
  }

  const SymbolOptions symbols_;
  StatementTurns turns_;
  std::mutex tables_mutex_;
  endpoint::api::Recent<Tables> tables_{4};
};

}  // namespace

std::shared_ptr<Queries> MakeQueries(const SymbolOptions& symbols) {
  return std::make_shared<SqliteQueries>(symbols);
}

// ui: look at profiles, traces and running programs in a browser.

namespace {

constexpr std::chrono::milliseconds kShortRead{200};

struct UiOptions {
  ListenOptions http;
  std::vector<std::string> sources;
  SymbolOptions symbols;
  std::vector<std::string> suppressions;
  std::string dump_directory;
  endpoint::api::SourceLookup lookup;
  bool no_browser = false;
};

// Somebody sits in front of this machine.
bool HasScreen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

int Ui(const UiOptions& options) {
  leaks::Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    if (const Status read = suppressions.AddFile(path); !read) return FailWith(read.error());
  }
  const UntilEnded ended;
  endpoint::GaugeProcessOptions how;
  if (!options.symbols.no_cache) how.name_cache = DefaultNameCacheDir();
  how.debug_directories = options.symbols.debug_paths;
  how.use_debuginfod = !options.symbols.no_debuginfod;
  if (!options.dump_directory.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(options.dump_directory, error);
    how.dump_directory = error ? options.dump_directory : absolute.string();
  }
  endpoint::GaugeProcesses::Choice choice;
  choice.directories = DirectoriesAmong(options.sources);
  const auto processes = std::make_shared<endpoint::GaugeProcesses>(std::move(choice), how);
  const auto sources = std::make_shared<endpoint::api::Sources>(
      processes, MakeQueries(options.symbols), MakeLeakChecker(std::move(suppressions)));
  endpoint::api::SourceLookup lookup = options.lookup;
  lookup.allowed = true;
  lookup.use_debuginfod = !options.symbols.no_debuginfod;
  sources->set_lookup(std::move(lookup));
  BackgroundReads reads;
  const Status added = AddSources(options.sources, options.symbols, how, sources.get(), &reads);
  if (!added) return FailWith(added.error());
  const auto host = HttpHost::Open(options.http, processes, sources);
  if (!host) return FailWith(host.error());
  // Large files take a while: the browser loads the page meanwhile. Of others it is known whether
  // they are damaged before there is anything to see.
  reads.Start();
  if (const Status read = reads.WaitFor(kShortRead); !read) return FailWith(read.error());
  if (const Status started = (*host)->Start(); !started) return FailWith(started.error());
  const std::string url = (*host)->url() + "/ui/";
  fmt::print(stderr, "heapgauge: serving {} ; Ctrl-C ends\n", url);
  if (!options.no_browser && HasScreen() && url.starts_with("http")) {
    if (const Status shown = ShowUrl(url); !shown) {
      fmt::print(stderr, "heapgauge: {}\n", shown.error().message);
    }
  }
  if (const Status read = reads.Wait(); !read) return FailWith(read.error());
  ended.Wait(processes.get());
  (*host)->Stop();
  return kDone;
}

void DescribeUi(Command sub, Action* action) {
  auto options = std::make_shared<UiOptions>();
  options->http.address = "127.0.0.1:0";
  sub.Footer(R"(
Serves one page on this machine and opens it: an overview, the heap over time, flame graphs, tables, and the
processes that are profiled here. Nothing is fetched from elsewhere. What the page shows can be asked for by
scripts as well: docs/api.md.

Examples:
  heapgauge ui                              the processes of this host
  heapgauge ui 4242                         a running program
  heapgauge ui /run/gauges                  the processes and dumps of a directory
  heapgauge ui server.hgt                   a trace: any moment, any range
  heapgauge ui old.pb.gz new.pb.gz          profiles of any format
  heapgauge ui --http 127.0.0.1:9710 --no-browser server.hgt)");
  sub.Add("SOURCE", &options->sources,
          "profiles of any format, traces, PIDs, directories of gauge files, URLs");
  AddListenOptions(sub, &options->http, "where to listen (127.0.0.1, any free port)");
  sub.Add("--suppressions", &options->suppressions,
          "file of leaks to live with, as heapgauge leaks takes it (may be given several times)")
      .OneEachTime();
  sub.Add("--dump-dir", &options->dump_directory,
          "directory for dumps that the page asks for; without it there are none");
  sub.Flag("--no-browser", &options->no_browser, "only print the address");
  AddSourcePaths(sub, &options->lookup.search_path, &options->lookup.trim_path);
  AddSymbolOptions(sub, &options->symbols);
  sub.OnChosen([=] { *action = [=] { return Ui(*options); }; });
}

}  // namespace

const CommandEntry kUiCommand = {"ui", "look at it in a browser: ui [--http ADDR] [SOURCE...]",
                                 DescribeUi};

}  // namespace heapgauge::cli
