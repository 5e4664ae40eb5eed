#include "tests/trace/agent/drained_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace heapgauge::trace_test {
namespace {

template <typename Word>
Word Load(Word& word) {
  return std::atomic_ref<Word>(word).load(std::memory_order_acquire);
}

// The stamp of an allocation may be too early: where there still is a block, it goes behind the
// free that makes room, which comes soon.
std::vector<Event> WithEarlyOnesInPlace(const std::vector<Event>& events,
                                        std::vector<std::string>* broken) {
  using wire::TraceEventKind;
  constexpr uint64_t kMostTicks = 40'000;  // ten microseconds at the most
  std::vector<Event> ordered;
  std::unordered_set<uint64_t> live;
  std::unordered_multimap<uint64_t, Event> waiting;  // by address
  for (const Event& e : events) {
    if (wire::MayBeEarly(e.kind) && live.contains(e.address)) {
      waiting.emplace(e.address, e);
      continue;
    }
    ordered.push_back(e);
    const uint32_t bytes = wire::TraceEventBytes(e.kind);
    if (e.kind == TraceEventKind::kFree || e.kind == TraceEventKind::kResizeBegin) {
      live.erase(e.address);
    } else if (e.kind == TraceEventKind::kResizeFailed || bytes == sizeof(wire::TraceAllocation)) {
      if (e.kind != TraceEventKind::kMap && e.kind != TraceEventKind::kUnmap)
        live.insert(e.address);
    }
    const auto next = waiting.find(e.address);
    if (next == waiting.end() || live.contains(e.address)) continue;
    if (e.time - next->second.time > kMostTicks) broken->push_back("one was much too early");
    live.insert(e.address);
    ordered.push_back(next->second);
    waiting.erase(next);
  }
  for (const auto& [address, e] : waiting) ordered.push_back(e);  // what is wrong shows there
  return ordered;
}

class Drainer {
 public:
  explicit Drainer(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    constexpr size_t kBytes = size_t{wire::kMaxSegments} * wire::kSegmentBytes;
    base_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  }
  ~Drainer() {
    munmap(base_, size_t{wire::kMaxSegments} * wire::kSegmentBytes);
    close(fd_);
  }
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  wire::Header& header() { return *reinterpret_cast<wire::Header*>(base_); }

  void Beat() { std::atomic_ref(header().trace.beat).fetch_add(1); }

  void Pass(bool release) {
    FindBuffers();
    bool released = false;
    for (Buffer& buffer : buffers_) {
      if (release) Beat();  // a pass may take long on a busy machine
      released |= Read(&buffer) && release && Release(&buffer);
    }
    if (!released) return;
    std::atomic_ref(header().trace.releases).fetch_add(1);
    if (Load(header().trace.waiting) != 0) {
      syscall(SYS_futex, &header().trace.releases, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
    }
  }

  Process Result() {
    Process& p = process_;
    p.pid = header().pid;
    p.forked = header().forked != 0;
    p.control = header().trace;
    p.buffers = static_cast<uint32_t>(buffers_.size());
    ReadStacks();
    std::stable_sort(p.events.begin(), p.events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    p.events = WithEarlyOnesInPlace(p.events, &p.broken);
    return std::move(p);
  }

 private:
  struct Buffer {
    wire::TraceBufferHeader* header;
    uint32_t round = 0;
    uint32_t offset = 0;
    uint64_t last_time = 0;
  };

  void FindBuffers() {
    const uint32_t count = Load(header().segment_count);
    auto* directory = reinterpret_cast<uint32_t*>(base_ + wire::kHeaderBytes);
    for (uint32_t i = 1; i < count; ++i) {
      if (i >= known_.size()) known_.resize(i + 1);
      const uint32_t word = Load(directory[i]);
      if (known_[i] || wire::DirectoryKind(word) != uint32_t(wire::SegmentKind::kTrace)) continue;
      known_[i] = true;
      buffers_.push_back(
          {reinterpret_cast<wire::TraceBufferHeader*>(base_ + size_t{i} * wire::kSegmentBytes)});
    }
  }

  void ReadStacks() {
    constexpr uint32_t kPerSegment = wire::RecordsPerSegment(sizeof(wire::StackRecord));
    auto* directory = reinterpret_cast<uint32_t*>(base_ + wire::kHeaderBytes);
    process_.stacks.resize(Load(header().stack_count));
    for (uint32_t i = 1; i < Load(header().segment_count); ++i) {
      const uint32_t word = Load(directory[i]);
      if (wire::DirectoryKind(word) != uint32_t(wire::SegmentKind::kStacks)) continue;
      const auto* from =
          reinterpret_cast<wire::StackRecord*>(base_ + size_t{i} * wire::kSegmentBytes);
      for (uint32_t k = 0; k < kPerSegment; ++k) {
        const uint32_t number = wire::DirectoryOrdinal(word) * kPerSegment + k;
        if (number < process_.stacks.size()) process_.stacks[number] = from[k];
      }
    }
  }

  // True if a closed round was read to its end.
  bool Read(Buffer* buffer) {
    wire::TraceBufferHeader& header = *buffer->header;
    const uint32_t round = Load(header.round);
    if (round == 0 || round == Load(header.released)) return false;
    if (round != buffer->round) {
      if (round != buffer->round + 1) process_.broken.push_back("a round was left out");
      *buffer = {buffer->header, round, sizeof header};
      ++process_.rounds;
    }
    const bool closed = Load(header.closed) == round;
    const uint32_t position = Load(header.position) & ~1u;
    if (position > wire::kSegmentBytes) process_.broken.push_back("a position beyond the end");
    while (buffer->offset < position) {
      const char* at = reinterpret_cast<char*>(&header) + buffer->offset;
      wire::TraceAllocation a{};
      memcpy(&a, at, sizeof(wire::TraceFree));
      const auto kind = wire::TraceKindOf(a.what);
      const uint32_t bytes = wire::TraceEventBytes(kind);
      if (bytes == 0 || buffer->offset + bytes > position) {
        process_.broken.push_back("an event that is none");
        buffer->offset = position;
        break;
      }
      memcpy(&a, at, bytes);
      if (a.time < buffer->last_time) process_.broken.push_back("time went back in a buffer");
      buffer->last_time = a.time;
      process_.events.push_back({a.time, kind, wire::TraceAddressOf(a.what), a.size, header.token,
                                 header.thread, a.stack, a.slack, a.function, a.alignment_log2});
      buffer->offset += bytes;
    }
    return closed;
  }

  static bool Release(Buffer* buffer) {
    std::atomic_ref(buffer->header->released).store(buffer->round, std::memory_order_release);
    return true;
  }

  int fd_;
  char* base_;
  std::vector<bool> known_;
  std::vector<Buffer> buffers_;
  Process process_;
};

bool IsComplete(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char magic[8] = {};
  const bool read_it = fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic;
  if (fd >= 0) close(fd);
  return read_it && memcmp(magic, wire::kMagic, sizeof magic) == 0;
}

pid_t Spawn(const std::vector<std::string>& command, const Options& options,
            const std::string& directory, int* out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    const std::string preload =
        HG_AGENT + (options.preload.empty() ? std::string() : ":" + options.preload);
    setenv("HEAPGAUGE_CONFIG", "", 1);
    setenv("HEAPGAUGE_DIR", directory.c_str(), 1);
    setenv("HEAPGAUGE_TRACE", "1", 1);
    setenv("HEAPGAUGE_TRACE_CLOCK", options.clock.c_str(), 1);
    setenv("LD_PRELOAD", options.agent ? preload.c_str() : options.preload.c_str(), 1);
    for (const std::string& entry : options.environment) putenv(strdup(entry.c_str()));
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  *out = ends[0];
  return pid;
}

}  // namespace

Outcome RunDrained(const std::vector<std::string>& command, const Options& options) {
  using Clock = std::chrono::steady_clock;
  char pattern[] = "/tmp/heapgauge-trace-XXXXXX";
  const std::string directory = mkdtemp(pattern);
  Outcome run;
  int out = -1;
  const pid_t pid = Spawn(command, options, directory, &out);
  if (pid < 0) return run;
  fcntl(out, F_SETFL, O_NONBLOCK);
  std::map<std::string, std::unique_ptr<Drainer>> drainers;
  const auto start = Clock::now();
  bool ended = false;
  for (bool last = false;; last = ended) {
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
    const bool drains =
        options.drain && (options.drain_for_ms < 0 || passed < options.drain_for_ms);
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string path = entry.path();
      if (drainers.count(path) == 0 && IsComplete(path)) {
        drainers.emplace(path, std::make_unique<Drainer>(path));
      }
    }
    for (auto& [path, drainer] : drainers) {
      if (drains || ended) drainer->Pass(drains);
    }
    char text[4096];
    for (ssize_t got; (got = read(out, text, sizeof text)) > 0;) run.out.append(text, size_t(got));
    if (last) break;
    if (!ended) ended = waitpid(pid, &run.status, WNOHANG) == pid;
    if (!ended) usleep(static_cast<useconds_t>(options.pause_us));
  }
  close(out);
  for (auto& [path, drainer] : drainers) {
    Process process = drainer->Result();
    const bool first = process.pid == static_cast<uint32_t>(pid);
    run.processes.insert(first ? run.processes.begin() : run.processes.end(), std::move(process));
  }
  std::filesystem::remove_all(directory);
  return run;
}

Account Follow(const std::vector<Event>& events) {
  using wire::TraceEventKind;
  struct Block {
    uint64_t size;
    uint64_t token;
  };
  Account account;
  std::unordered_map<uint64_t, Block> live;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, Block>>> changing;  // by token
  const auto take = [&](uint64_t address) {
    const auto at = live.find(address);
    if (at == live.end()) return Block{UINT64_MAX, 0};
    const Block block = at->second;
    live.erase(at);
    account.threads[block.token].live_blocks--;
    account.threads[block.token].live_bytes -= static_cast<int64_t>(block.size);
    return block;
  };
  const auto put = [&](uint64_t address, const Block& block) {
    if (!live.emplace(address, block).second) ++account.twice_allocated;
    account.threads[block.token].live_blocks++;
    account.threads[block.token].live_bytes += static_cast<int64_t>(block.size);
  };
  for (const Event& e : events) {
    switch (e.kind) {
      case TraceEventKind::kAllocate:
        ++account.allocations;
        account.threads[e.token].allocations++;
        account.threads[e.token].allocated_bytes += e.size;
        put(e.address, {e.size, e.token});
        break;
      case TraceEventKind::kFree:
        ++account.frees;
        if (take(e.address).size == UINT64_MAX) ++account.unknown_frees;
        break;
      case TraceEventKind::kResizeBegin:
        changing[e.token].push_back({e.address, take(e.address)});
        if (changing[e.token].back().second.size == UINT64_MAX) ++account.unknown_frees;
        break;
      case TraceEventKind::kResizeEnd:
      case TraceEventKind::kResizeFailed: {
        auto& begun = changing[e.token];
        if (begun.empty()) {
          ++account.unmatched_ends;
          break;
        }
        const auto [address, block] = begun.back();
        begun.pop_back();
        if (e.kind == TraceEventKind::kResizeFailed) {
          if (address != e.address) ++account.unmatched_ends;
          put(address, block);
          break;
        }
        ++account.resizes;
        put(e.address, {e.size, e.token});
        break;
      }
      default:
        break;
    }
  }
  account.live_blocks = live.size();
  for (const auto& [address, block] : live) account.live_bytes += block.size;
  return account;
}

}  // namespace heapgauge::trace_test
