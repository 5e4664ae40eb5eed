#include "cli/pprof/deliver.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "cli/cli.h"
#include "cli/pprof/load.h"
#include "cli/terminal.h"
#include "cli/viewer.h"
#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/report/draw/render.h"
#include "core/report/draw/svg_scripts.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::cli {

// Shows text on the terminal: as it is if it fits on the screen, otherwise through $PAGER (less
// -R).
//
// The text is kept only until it is known to be too long. Single-threaded.
class PagerSink final : public TextSink {
 public:
  PagerSink() = default;
  PagerSink(const PagerSink&) = delete;
  PagerSink& operator=(const PagerSink&) = delete;
  ~PagerSink() override { Finish(); }

  // Fails when the pager was left: no more is wanted.
  Status Write(std::string_view text) override;
  // Shows what is left and waits until the user has seen it.
  void Finish();
  bool closed() const { return closed_; }

 private:
  std::string pending_;
  size_t lines_ = 0;
  FILE* pager_ = nullptr;
  bool closed_ = false;
};

Status PagerSink::Write(std::string_view text) {
  if (closed_) return Fail(ErrorCode::kUnavailable, "the pager was left");
  lines_ += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  pending_ += text;
  if (pager_ == nullptr) {
    if (lines_ < DescribeTerminal(STDOUT_FILENO).height) return {};
    const char* chosen = std::getenv("PAGER");
    std::fflush(stdout);
    pager_ = popen(chosen != nullptr && *chosen != '\0' ? chosen : "less -R", "w");
    if (pager_ == nullptr) {
      lines_ = 0;
      PrintOut(pending_);
      pending_.clear();
      return {};
    }
  }
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  closed_ = std::fwrite(pending_.data(), 1, pending_.size(), pager_) != pending_.size();
  std::signal(SIGPIPE, before);
  pending_.clear();
  if (closed_) return Fail(ErrorCode::kUnavailable, "the pager was left");
  return {};
}

void PagerSink::Finish() {
  if (pager_ != nullptr) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    pclose(pager_);
    std::signal(SIGPIPE, before);
    pager_ = nullptr;
  } else if (!pending_.empty()) {
    PrintOut(pending_);
  }
  pending_.clear();
}

namespace {

using Writer = std::function<Status(TextSink*)>;

Status WriteToFd(int fd, const std::string& name, const Writer& write) {
  DescriptorSink sink(fd, name);
  const Status written = write(&sink);
  const Status finished = sink.Finish();
  if (!written && !sink.closed()) return written;
  return finished;
}

Status WriteToFile(const std::string& path, const Writer& write) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    return tl::unexpected<Error>(SystemError("cannot create '" + Printable(path) + "'", errno));
  }
  const Status status = WriteToFd(fd, "'" + Printable(path) + "'", write);
  close(fd);
  return status;
}

Status WriteToNewFile(const NewFile& file, const Writer& write) {
  const Status status = WriteToFd(file.fd, "'" + Printable(file.path) + "'", write);
  close(file.fd);
  return status;
}

Status DeliverBy(const Writer& write, pprof::Delivery delivery, const std::string& extension,
                 const std::string& viewer, const Destination& destination) {
  if (!destination.output.empty()) {
    destination.say("Generating report in " + destination.output);
    return WriteToFile(destination.output, write);
  }
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  if (delivery == pprof::Delivery::kViewer) {
    HG_ASSIGN(const NewFile file, MakeNumberedFile(TemporaryDirectory(), "pprof", "." + extension));
    HG_TRY(WriteToNewFile(file, write));
    return ShowFile(file.path, viewer, destination.in_shell);
  }
  if (delivery == pprof::Delivery::kFile && (terminal || destination.in_shell)) {
    HG_ASSIGN(const NewFile file, MakeNumberedFile("", "profile", "." + extension));
    destination.say("Generating report in " + file.path);
    return WriteToNewFile(file, write);
  }
  if (terminal && destination.in_shell) {
    PagerSink sink;
    const Status written = write(&sink);
    sink.Finish();
    return sink.closed() ? Status() : written;
  }
  return WriteToFd(STDOUT_FILENO, "standard output", write);
}

}  // namespace

Status DeliverText(const std::string& text, pprof::Delivery delivery, const std::string& extension,
                   const std::string& viewer, const Destination& destination) {
  return DeliverBy([&text](TextSink* out) { return out->Write(text); }, delivery, extension, viewer,
                   destination);
}

Status WriteCommand(Profile profile, const pprof::ReportCommand& command,
                    const std::string& pattern, const pprof::Settings& settings, bool in_shell,
                    const Say& say) {
  pprof::ReportRequest request;
  request.kind = command.kind;
  request.pattern = pattern;
  request.config = settings.config;
  HG_ASSIGN(const pprof::ReportInput input, pprof::Prepare(std::move(profile), request));
  for (const std::string& warning : input.warnings) say(warning);
  const Destination destination{settings.output, in_shell, say};
  const std::string extension = command.extension == nullptr ? "" : command.extension;
  const std::string viewer = command.viewer == nullptr ? "" : command.viewer;
  if (command.picture == nullptr) {
    return DeliverBy([&input](TextSink* out) { return pprof::WriteReport(input, out); },
                     command.delivery, extension, viewer, destination);
  }
  StringSink dot;
  HG_TRY(pprof::WriteReport(input, &dot));
  std::vector<std::string> notes;
  HG_ASSIGN(std::string picture, RenderDot(dot.text(), command.picture, &notes));
  for (const std::string& note : notes) say(note);
  if (std::string_view(command.picture) == "svg") picture = WithPanAndZoom(std::move(picture));
  return DeliverText(picture, command.delivery, extension, viewer, destination);
}

}  // namespace heapgauge::cli
