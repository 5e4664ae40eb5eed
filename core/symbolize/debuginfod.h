// Debug files and sources by build-id from the servers in DEBUGINFOD_URLS, by way of elfutils'
// client library, which keeps what it fetched.
//
// The library is loaded when the first file is asked for, so that nobody without debuginfod pays
// for it. All requests of one object share a time limit; after a server failed to answer, no more
// are made. Owned by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace heapgauge {

class Debuginfod {
 public:
  // Null if DEBUGINFOD_URLS is not set.
  static std::unique_ptr<Debuginfod> FromEnvironment(uint64_t limit_seconds = 30);
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  // The path of the debug file, or "".
  std::string FindDebugInfo(const std::string& build_id);
  // The path of a source file that the module was compiled from, by its absolute name, or "".
  std::string FindSource(const std::string& build_id, const std::string& source);

  // Why there was no answer, for people; "" if servers answered.
  const std::string& trouble() const { return trouble_; }

 private:
  explicit Debuginfod(uint64_t limit_seconds) : limit_seconds_(limit_seconds) {}
  bool Start();
  bool Ready();
  std::string Answer(int fd, char* path);

  uint64_t limit_seconds_;
  uint64_t deadline_ns_ = 0;
  bool started_ = false;
  void* library_ = nullptr;
  void* client_ = nullptr;
  std::string trouble_;
};

}  // namespace heapgauge
