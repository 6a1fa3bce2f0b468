#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "kube/client.h"
#include "tests/histories/link.h"
#include "tests/histories/parts.h"
#include "tests/histories/random.h"

namespace strata::histories {

// A scheduler or the controllers as a process: it is started, stopped, killed, paused and started
// again, and its clock is set. All its parts run on the timeline; its own thread wakes a moment
// after its transport has brought something.
class Process {
 public:
  Process(const World& world, PartKind kind, int number, Random random);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void Start();  // nothing when it runs
  void Kill();   // kill -9; it is started again later
  // As asked by SIGTERM: it waits for answers and releases its lease, then it is started again.
  void Stop();
  void Pause(Duration time);
  // Its watches of pods say nothing more.
  void SilencePods() {
    if (life_) life_->link->SilenceWatch("/api/v1/pods");
  }
  [[nodiscard]] bool HasSilentWatch() const { return life_ && life_->link->HasSilentWatch(); }
  void StepClock(Duration by) { clock_.offset += by; }
  // From now on it starts again at once.
  void Calm() { calm_ = true; }

 private:
  class ProcessClock final : public Clock {
   public:
    explicit ProcessClock(const Timeline& timeline) : timeline_(timeline) {}
    [[nodiscard]] Time Now() const override { return timeline_.Now() + offset; }
    Duration offset{};

   private:
    const Timeline& timeline_;
  };
  // One life of it, from start to end.
  struct Life {
    kube::FakeTransport transport;
    std::shared_ptr<Link> link;
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<Part> part;  // null: it has released its lease and goes
    std::string identity;        // in its lease
    // Requests up to this one were handed to the network before a pause.
    net::RequestId sent_before_pause{};
    net::SteadyTime step_at{};
    bool stopping = false;
    net::SteadyTime stop_until{};
  };

  void Send(net::RequestId id, const net::ClientRequest& request);
  void Run();
  void Step();
  void WindDown();
  void Deliver(std::function<void()> task);
  void PauseSoon(Duration wait, Duration time);
  void Resume();
  void Plan();
  void End();
  [[nodiscard]] net::SteadyTime now() const { return world_.timeline.now(); }
  // The time of the process follows the timeline, without running what is due.
  void SetTime();

  const World& world_;
  const PartKind kind_;
  const int number_;
  const std::string name_;
  Random random_;
  ProcessClock clock_;
  TraceSink sink_;
  obs::Log log_;
  int lives_ = 0;
  bool calm_ = false;
  bool paused_ = false;
  std::deque<std::function<void()>> inbox_;  // what came while it was paused
  Timeline::TaskId wake_ = 0;
  std::unique_ptr<Life> life_;
};

}  // namespace strata::histories
