// Statements run one after the other, in the order in which they came: what SQLite may take is for
// the whole process, and tables are for one at a time. Those that run or wait can be cancelled,
// which waits for nobody.
//
// Threads: any number.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <string>

#include "core/base/result.h"
#include "core/query/query.h"

namespace heapgauge::cli {

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

}  // namespace heapgauge::cli
