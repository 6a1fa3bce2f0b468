#include "apiserver/store/commit.h"

#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace strata::apiserver {
namespace {

class CommitThread final : public CommitLog {
 public:
  CommitThread(net::EventLoop& loop, std::unique_ptr<store::Journal> journal)
      : loop_(loop), journal_(std::move(journal)), thread_([this] { Loop(); }) {}
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;
  ~CommitThread() override {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyOne();
    thread_.join();
  }

  void Commit(std::vector<store::Write> writes,
              std::int64_t last_version,
              std::function<void(Status)> done) override {
    {
      const MutexLock lock(mutex_);
      CHECK(!job_);
      job_ =
          Job{.writes = std::move(writes), .last_version = last_version, .done = std::move(done)};
    }
    changed_.NotifyOne();
  }

 private:
  struct Job {
    std::vector<store::Write> writes;
    std::int64_t last_version = 0;
    std::function<void(Status)> done;
  };

  // The next job, none when it is time to end. A job that was taken in is done in any case.
  std::optional<Job> Take() {
    const MutexLock lock(mutex_);
    while (!job_ && !stopping_) changed_.Wait(mutex_);
    return std::exchange(job_, std::nullopt);
  }

  void Loop() {
    while (std::optional<Job> job = Take()) {
      Status status = journal_->Commit(job->writes, job->last_version);
      loop_.Post([status = std::move(status), done = std::move(job->done)] { done(status); });
    }
  }

  net::EventLoop& loop_;
  std::unique_ptr<store::Journal> journal_;
  Mutex mutex_;
  CondVar changed_;
  std::optional<Job> job_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace

std::unique_ptr<CommitLog> MakeCommitThread(net::EventLoop& loop,
                                            std::unique_ptr<store::Journal> journal) {
  return std::make_unique<CommitThread>(loop, std::move(journal));
}

}  // namespace strata::apiserver
