#include "core/formats/legacy/legacy_cpu_reader.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "core/formats/mappings/mappings.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {
namespace {

constexpr const char* kCpuFormat = "binary CPU profile";
constexpr size_t kHeaderWords = 5;

class WordReader {
 public:
  explicit WordReader(LineReader* lines) : lines_(lines) {}

  // Finds size and order of words from the header. Consumes it.
  Result<std::array<uint64_t, kHeaderWords>> ReadHeader() {
    std::array<char, kHeaderWords * 8> bytes{};
    HG_ASSIGN(size_t got, Fill(bytes.data(), kHeaderWords * 4));
    for (const size_t size : {size_t{4}, size_t{8}}) {
      word_size_ = size;
      if (size == 8) {
        HG_ASSIGN(const size_t more, Fill(bytes.data() + got, kHeaderWords * 4));
        got += more;
      }
      for (const bool big : {false, true}) {
        big_ = big;
        std::array<uint64_t, kHeaderWords> words{};
        for (size_t i = 0; i < kHeaderWords; ++i) words[i] = Decode(bytes.data() + i * size);
        if (got == kHeaderWords * size && words[0] == 0 && words[1] == 3 && words[2] <= 1 &&
            words[3] > 0 && words[4] == 0) {
          return words;
        }
      }
    }
    return Fail(ErrorCode::kNotRecognized, "not the header of a CPU profile");
  }

  // False at the end of the file. A word that is cut is an error.
  Result<bool> Next(uint64_t* word) {
    char bytes[8];
    HG_ASSIGN(const size_t got, Fill(bytes, word_size_));
    if (got == 0) return false;
    if (got != word_size_) return Fail(ErrorCode::kTruncated, "the file ends amid a word");
    *word = Decode(bytes);
    return true;
  }

  uint64_t offset() const { return offset_; }

 private:
  Result<size_t> Fill(char* to, size_t size) {
    size_t got = 0;
    while (got < size) {
      HG_ASSIGN(const size_t n, lines_->Read(to + got, size - got));
      if (n == 0) break;
      got += n;
    }
    offset_ += got;
    return got;
  }

  uint64_t Decode(const char* bytes) const {
    uint64_t word = 0;
    for (size_t i = 0; i < word_size_; ++i) {
      const size_t at = big_ ? i : word_size_ - 1 - i;
      word = word << 8 | static_cast<unsigned char>(bytes[at]);
    }
    return word;
  }

  LineReader* lines_;
  size_t word_size_ = 8;
  bool big_ = false;
  uint64_t offset_ = 0;
};

struct CpuStack {
  uint64_t count = 0;
  size_t first = 0;  // in the list of all addresses
  size_t depth = 0;
};

struct CpuStacks {
  std::vector<CpuStack> stacks;
  std::vector<uint64_t> addresses;
};

Status ReadStacks(WordReader* words, CpuStacks* out) {
  for (;;) {
    CpuStack stack;
    uint64_t depth = 0;
    HG_ASSIGN(bool more, words->Next(&stack.count));
    if (!more) return {};  // some writers forget the end
    HG_ASSIGN(more, words->Next(&depth));
    if (!more) return Fail(ErrorCode::kTruncated, "the file ends amid a stack");
    if (depth > Profile::kMaxDepth) {
      return Fail(ErrorCode::kCorrupt, fmt::format("a stack has {} frames", depth));
    }
    stack.first = out->addresses.size();
    stack.depth = static_cast<size_t>(depth);
    for (size_t i = 0; i < stack.depth; ++i) {
      uint64_t address = 0;
      HG_ASSIGN(more, words->Next(&address));
      if (!more) return Fail(ErrorCode::kTruncated, "the file ends amid a stack");
      out->addresses.push_back(address);
    }
    if (stack.count == 0 && stack.depth == 1 && out->addresses.back() == 0) {
      out->addresses.pop_back();
      return {};
    }
    out->stacks.push_back(stack);
  }
}

// If nearly all stacks have the same second frame, the signal handler pushed it.
void DropHandlerFrames(CpuStacks* all) {
  const size_t most = all->stacks.size() - all->stacks.size() / 32;
  for (int round = 0; round < 2; ++round) {
    std::unordered_map<uint64_t, size_t> seconds;
    for (const CpuStack& s : all->stacks) {
      if (s.depth > 1) ++seconds[all->addresses[s.first + 1]];
    }
    for (const auto& [address, count] : seconds) {
      if (count < most) continue;
      for (CpuStack& s : all->stacks) {
        if (s.depth < 2 || all->addresses[s.first + 1] != address) continue;
        all->addresses[s.first + 1] = all->addresses[s.first];
        ++s.first;
        --s.depth;
      }
      break;
    }
  }
}

int64_t Whole(uint64_t n) {
  return static_cast<int64_t>(
      std::min<uint64_t>(n, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

void AddRow(const CpuStacks& all, const CpuStack& s, TextProfile* out) {
  Profile& profile = out->profile();
  auto& stack = out->stack();
  stack.clear();
  for (size_t i = 0; i < s.depth; ++i) {
    stack.push_back(out->addresses().At(all.addresses[s.first + i], i == 0));
  }
  // The innermost address comes from the registers and, behind it, often once more from the walk.
  if (stack.size() > 1 && profile.locations[stack[0]].lookup_address() ==
                              profile.locations[stack[1]].lookup_address() + 1) {
    stack.erase(stack.begin() + 1);
  }
  out->AddRow(out->Leaf());
  const int64_t count = Whole(s.count);
  int64_t time = 0;
  if (__builtin_mul_overflow(count, profile.period, &time)) {
    time = std::numeric_limits<int64_t>::max();
  }
  profile.values.insert(profile.values.end(), {count, time});
}

}  // namespace

Result<Profile> ReadLegacyCpu(ByteStream* stream, const std::string& name,
                              const TextReadOptions& options) {
  LineReader lines(stream, kCpuFormat, name);
  return ReadLegacyCpu(&lines, options);
}

Result<Profile> ReadLegacyCpu(LineReader* lines, const TextReadOptions&) {
  lines->set_format(kCpuFormat);
  WordReader words(lines);
  const auto failed = [&](const Error& error) {
    return Fail(error.code,
                fmt::format("{}: {}: byte {}: {}", kCpuFormat, lines->name(), words.offset(),
                            error.message),
                words.offset());
  };
  const auto header = words.ReadHeader();
  if (!header) return failed(header.error());
  if ((*header)[2] == 1) {
    return failed({ErrorCode::kUnsupported, "profiles of Java programs are not read", 0});
  }
  CpuStacks all;
  const Status status = ReadStacks(&words, &all);
  if (!status) return failed(status.error());
  DropHandlerFrames(&all);
  TextProfile out;
  Profile& profile = out.profile();
  profile.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  profile.period_type = {"cpu", "nanoseconds"};
  if (__builtin_mul_overflow(Whole((*header)[3]), int64_t{1000}, &profile.period)) {
    return failed({ErrorCode::kCorrupt, "the period is absurd", 0});
  }
  for (const CpuStack& stack : all.stacks) AddRow(all, stack, &out);
  HG_ASSIGN(std::vector<Module> modules, ReadMappings(lines));
  Profile result = out.Take();
  SetLegacyFrames(LegacyKind::kOther, &result);
  AssignModules(std::move(modules), &result);
  return result;
}

}  // namespace heapgauge
