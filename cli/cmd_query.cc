// query: SQL over a trace or a profile.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "cli/line_reader.h"
#include "cli/progress_line.h"
#include "cli/report_source.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/query/query.h"
#include "core/query/result_writer.h"
#include "core/query/schema.h"
#include "core/query/sql_text.h"
#include "core/recording/recording.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {
namespace {

constexpr uint64_t kMostSqlBytes = 1 << 20;
constexpr int kRowsOnTerminal = 1000;

struct QueryCommand {
  ReportOptions report;  // sources, names, -o, --csv
  std::string sql;
  std::string file;
  std::string memory = "2G";
  double timeout = 600;
  int limit = -1;
  bool json = false;
  bool no_header = false;
  bool schema = false;
};

// The progress line until the first row is shown.
class ProgressUntilOutput final : public ProgressSink {
 public:
  void Report(std::string_view what, uint64_t done, uint64_t total,
              std::string_view unit) override {
    if (!ended_) BeginProgress()->Report(what, done, total, unit);
  }
  void End() {
    ended_ = true;
    EndProgress();
  }
  void Again() { ended_ = false; }

 private:
  bool ended_ = false;
};

class SinkAfterProgress final : public TextSink {
 public:
  SinkAfterProgress(TextSink* to, ProgressUntilOutput* progress) : to_(to), progress_(progress) {}
  Status Write(std::string_view text) override {
    progress_->End();
    return to_->Write(text);
  }

 private:
  TextSink* to_;
  ProgressUntilOutput* progress_;
};

// Ctrl-C ends the query that runs; a second one ends the program, if that did not help.
std::atomic<query::Query*> running_query = nullptr;

class InterruptBySignal {
 public:
  explicit InterruptBySignal(query::Query* query) {
    running_query = query;
    struct sigaction action {};
    action.sa_handler = [](int) {
      if (query::Query* now = running_query.load()) now->Interrupt();
    };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptBySignal() {
    sigaction(SIGINT, &before_, nullptr);
    running_query = nullptr;
  }
  InterruptBySignal(const InterruptBySignal&) = delete;
  InterruptBySignal& operator=(const InterruptBySignal&) = delete;

 private:
  struct sigaction before_ {};
};

Result<std::string> ReadStatements(const std::string& path) {
  if (path != "-") return ReadWholeFile(path, kMostSqlBytes);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t bytes = read(STDIN_FILENO, buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return Fail(ErrorCode::kIo, "cannot read standard input");
    if (bytes == 0) return text;
    text.append(buffer, static_cast<size_t>(bytes));
    if (text.size() > kMostSqlBytes) {
      return Fail(ErrorCode::kInvalidArgument, "standard input has more than 1 MB of statements");
    }
  }
}

Result<std::unique_ptr<query::QuerySource>> OpenSource(const QueryCommand& command,
                                                       std::vector<std::string>* notes) {
  const std::vector<std::string>& sources = command.report.sources;
  if (sources.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a SOURCE is needed: heapgauge query \"SELECT ...\" trace.hgt");
  }
  std::optional<Recording> recording;
  if (sources.size() == 1) {
    OpenOptions open;
    open.pick = command.report.pick;
    HG_ASSIGN(recording, Recording::Open(sources.front(), open));
  }
  if (recording && recording->is_trace()) {
    if (command.report.peak || command.report.kind != ProfileKind::kHeap) {
      return Fail(ErrorCode::kInvalidArgument,
                  Printable(sources.front()) +
                      ": of a trace, SQL chooses the moment and the kind: snapshots('peak'), "
                      "live_at('peak'), is_mapping; --peak and --kind are for gauge files");
    }
    HG_ASSIGN(auto trace, recording->Trace());
    *notes = trace->notes();
    const SymbolOptions symbols = command.report.symbols;
    return query::QuerySource::OfTrace(std::move(trace), [symbols](Profile* profile) {
      NameLocations(symbols, profile, BeginProgress());
    });
  }
  HG_ASSIGN(Loaded loaded, Load(command.report, nullptr, recording ? &*recording : nullptr));
  *notes = loaded.profile.notes;
  return query::QuerySource::OfProfile(std::move(loaded.profile));
}

query::ResultOptions ResultOptionsOf(const QueryCommand& command, const std::string& sql) {
  const Terminal terminal = Target(command.report);
  query::ResultOptions options;
  options.form = command.report.csv ? query::ResultForm::kCsv
                 : command.json     ? query::ResultForm::kJson
                                    : query::ResultForm::kTable;
  options.header = !command.no_header;
  options.several = query::CountStatements(sql) > 1;
  options.utf8 = terminal.look.utf8;
  if (terminal.is_terminal) options.width = terminal.width;
  if (command.limit >= 0) {
    options.limit = static_cast<uint64_t>(command.limit);
  } else if (terminal.is_terminal) {
    options.limit = kRowsOnTerminal;
  }
  return options;
}

int RunOnce(const QueryCommand& command, const std::string& sql, query::Query* query,
            ProgressUntilOutput* progress) {
  const query::ResultOptions options = ResultOptionsOf(command, sql);
  const InterruptBySignal interrupt(query);
  bool cut = false;
  const int code = DeliverBy(command.report, [&](TextSink* out) -> Status {
    progress->Again();
    SinkAfterProgress sink(out, progress);
    const auto writer = query::MakeResultWriter(options, &sink);
    const Status status = query->Run(sql, writer.get());
    progress->End();
    cut = writer->cut();
    const Status finished = writer->Finish();
    return status ? finished : status;
  });
  if (cut && code == kDone) {
    static_cast<void>(fprintf(stderr, "The first %s rows; --limit 0 shows all of them.\n",
                              FormatCount(static_cast<double>(options.limit)).c_str()));
  }
  return code;
}

int Prompt(const QueryCommand& command, query::Query* query, ProgressUntilOutput* progress) {
  // A script that is fed in wants its results alone.
  const char* prompt = isatty(STDIN_FILENO) == 1 ? "sql> " : "";
  PromptReader reader(prompt, [](const std::string&) { return std::vector<std::string>(); });
  std::string statement;
  while (const auto line = reader.Read()) {
    if (statement.empty() && (*line == "quit" || *line == "exit" || *line == ".quit")) break;
    statement += *line + "\n";
    const size_t last = statement.find_last_not_of(" \t\n");
    if (last == std::string::npos) {
      statement.clear();
      continue;
    }
    if (statement[last] != ';') continue;
    RunOnce(command, statement, query, progress);
    statement.clear();
  }
  return statement.find_first_not_of(" \t\n") == std::string::npos
             ? kDone
             : RunOnce(command, statement, query, progress);
}

int Query(QueryCommand command) {
  std::vector<std::string>& sources = command.report.sources;
  const bool prompt = command.file.empty() && !command.schema && sources.empty() &&
                      !command.sql.empty() &&
                      command.sql.find_first_of(" \t\n") == std::string::npos;
  // Without a statement among the words, the first one is a source.
  if ((prompt || !command.file.empty() || command.schema) && !command.sql.empty()) {
    sources.insert(sources.begin(), command.sql);
    command.sql.clear();
  }
  for (std::string& source : sources) {
    auto meant =
        MeantWhole(source, command.report.pick, "choose by WHERE time_ns BETWEEN ... AND ...");
    if (!meant) return FailWith(meant.error());
    source = *std::move(meant);
  }
  if (command.schema && sources.empty()) {
    return Deliver(command.report, query::SchemaText(nullptr));
  }
  if (command.sql.empty() && command.file.empty() && !command.schema && !prompt) {
    return FailWith("a statement is needed: heapgauge query \"SELECT ...\" SOURCE, or --file");
  }
  if (!command.file.empty()) {
    auto text = ReadStatements(command.file);
    if (!text) return FailWith(text.error());
    command.sql = *std::move(text);
  }
  const auto memory = SizeOption("--memory", command.memory);
  if (!memory) return FailWith(memory.error());
  std::vector<std::string> notes;
  const auto source = OpenSource(command, &notes);
  if (!source) return FailWith(source.error());
  if (command.schema) return Deliver(command.report, query::SchemaText(source->get()));
  EndProgress();
  TellNotes(notes);
  ProgressUntilOutput progress;
  query::QueryOptions options;
  options.seconds = command.timeout;
  options.memory_bytes = *memory;
  options.progress = &progress;
  const auto query = query::Query::Open(source->get(), options);
  if (!query) return FailWith(query.error());
  if (prompt) return Prompt(command, query->get(), &progress);
  return RunOnce(command, command.sql, query->get(), &progress);
}

void DescribeQuery(Command sub, Action* action) {
  auto command = std::make_shared<QueryCommand>();
  sub.Footer(R"(
Tables: allocations, stacks, frames, snapshots, timeline, threads, modules, memory, blocks, figures,
labels, markers, facts. --schema tells their columns, and the functions: live_at(T),
stack_contains(RE), human(BYTES), moment('peak') and more. Statements only read. Several profiles are
added up, stack by stack: single blocks and times are those of one trace.

Examples:
  heapgauge query --schema
  heapgauge query "SELECT function, human(sum(live_bytes)) AS live FROM stacks
                   GROUP BY function ORDER BY sum(live_bytes) DESC LIMIT 10" 4242
  heapgauge query "SELECT function_of(stack) AS f, count(*), sum(size) FROM allocations
                   WHERE live_at('peak') GROUP BY stack ORDER BY 3 DESC LIMIT 10" server.hgt
  heapgauge query --csv --file growth.sql -o growth.csv server.hgt
  heapgauge query server.hgt                        a prompt)");
  sub.Add("SQL", &command->sql, "statements, separated by semicolons");
  sub.Add("SOURCE", &command->report.sources,
          "trace, profile of any format, PID, directory with one gauge file, or URL");
  sub.Add("--file", &command->file, "statements from this file (- standard input)");
  sub.Flag("--schema", &command->schema, "tables, their columns and what they mean");
  const Option csv = sub.Flag("--csv", &command->report.csv, "as CSV");
  sub.Flag("--json", &command->json,
           "as JSON, an array of objects; of several statements, an array of such arrays")
      .Excludes(csv);
  sub.Flag("--no-header", &command->no_header, "without the names of columns");
  sub.Add("--limit", &command->limit,
          "rows to show, 0 for all; 1000 on a terminal unless it says otherwise")
      .NonNegative();
  sub.Add("--timeout", &command->timeout, "seconds that it may take, 0 for any; 600 by default")
      .NonNegative();
  sub.Add("--memory", &command->memory, "that sorting and joining may take; 2G by default");
  sub.Add("-o,--output", &command->report.output, "write to this file").NotEmpty();
  sub.Add("--pick", &command->report.pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  AddViewOption(sub, &command->report, "peak", "of a gauge file: the largest heap so far");
  AddViewOption(sub, &command->report, "kind", "of a gauge file: heap, mmap or pool");
  AddSymbolOptions(sub, &command->report.symbols);
  sub.OnChosen([=] { *action = [=] { return Query(*command); }; });
}

}  // namespace

const CommandEntry kQueryCommand = {"query", "SQL over a trace or any profile", DescribeQuery};

}  // namespace heapgauge::cli
