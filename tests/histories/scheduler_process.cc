#include "tests/histories/scheduler_process.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace strata::histories {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLastAnswers = seconds(2);  // as LiveScheduler::Run waits for them
constexpr Duration kRelease = seconds(2);      // as LeaderLease waits for its release
constexpr Duration kLongestPause = seconds(45);

}  // namespace

SchedulerProcess::SchedulerProcess(const World& world, int number, Random random)
    : world_(world),
      number_(number),
      name_(fmt::format("scheduler-{}", number)),
      random_(random),
      clock_(world.timeline),
      sink_(world.trace, name_),
      log_(name_, clock_, {&sink_}) {}

SchedulerProcess::~SchedulerProcess() {
  if (life_) End();
}

void SchedulerProcess::Start() {
  if (life_) return;
  world_.trace.Say(name_, "starts");
  life_ = std::make_unique<Life>();
  life_->link = std::make_shared<Link>(
      world_,
      Link::Ends{.process = number_,
                 .name = name_,
                 .transport = life_->transport,
                 .deliver = [this](std::function<void()> task) { Deliver(std::move(task)); },
                 .after_bind =
                     [this] {
                       if (calm_ || !random_.OneIn(world_.faults.kill_at_bind())) return;
                       world_.on_bind_trouble();
                       Kill();
                     },
                 .before_retry =
                     [this] {
                       if (!world_.faults.stops_before_send() || !random_.OneIn(2)) return;
                       PauseSoon(random_.Between(milliseconds(0), milliseconds(900)),
                                 random_.Between(seconds(12), kLongestPause));
                     }});
  life_->transport.on_request = [link = life_->link](net::RequestId id,
                                                     const net::ClientRequest& request) {
    link->Send(id, request);
  };
  SetTime();
  const auto random = std::make_shared<Random>(random_.Split());
  kube::ClientOptions client;
  client.random = [random] { return random->Fraction(); };
  life_->client =
      std::make_unique<kube::Client>(life_->transport, life_->transport, std::move(client));
  live::SchedulerOptions options;
  options.advises = false;
  options.random = [random] { return random->Fraction(); };
  options.lease.emplace();
  options.lease->ns = "volcano-system";
  options.lease->name = "volcano";
  options.lease->identity = fmt::format("{}-{}", name_, ++lives_);
  life_->scheduler =
      std::make_unique<live::LiveScheduler>(*life_->client, std::move(options), log_, clock_);
  CHECK(life_->scheduler->Start());
  life_->step_at = now();
  Plan();
}

void SchedulerProcess::Kill() {
  if (!life_) return;
  world_.trace.Say(name_, "killed");
  End();
}

void SchedulerProcess::Stop() {
  if (!life_ || life_->stopping) return;
  world_.trace.Say(name_, "asked to stop");
  life_->stopping = true;
  life_->stop_until = now() + kLastAnswers;
  life_->step_at = now();
  if (!paused_) Plan();
}

void SchedulerProcess::Pause(Duration time) {
  if (!life_ || paused_) return;
  world_.trace.Say(name_, fmt::format("paused for {} ms", time.count()));
  paused_ = true;
  world_.timeline.Cancel(wake_);
  world_.timeline.After(time, [this, life = lives_] {
    if (paused_ && life == lives_) Resume();
  });
}

void SchedulerProcess::PauseSoon(Duration wait, Duration time) {
  world_.timeline.After(wait, [this, time, life = lives_] {
    if (life == lives_ && !calm_) Pause(time);
  });
}

void SchedulerProcess::Resume() {
  world_.trace.Say(name_, "goes on");
  paused_ = false;
  SetTime();
  // Whether the answers or the timers are seen first is up to the machine.
  if (random_.OneIn(2)) life_->transport.Advance(Duration(0));
  for (const auto& task : std::exchange(inbox_, {})) task();
  life_->step_at = now();
  Plan();
}

void SchedulerProcess::SetTime() {
  life_->transport.Suspend(now() - life_->transport.Now());
}

void SchedulerProcess::Deliver(std::function<void()> task) {
  if (paused_) {
    inbox_.push_back(std::move(task));
    return;
  }
  SetTime();
  task();
  life_->step_at =
      std::min(life_->step_at, now() + random_.Between(milliseconds(0), milliseconds(4)));
  Plan();
}

void SchedulerProcess::Plan() {
  net::SteadyTime next = life_->step_at;
  if (const auto timer = life_->transport.next_timer()) next = std::min(next, *timer);
  world_.timeline.Cancel(wake_);
  wake_ = world_.timeline.After(next - now(), [this] { Run(); });
}

void SchedulerProcess::Run() {
  SetTime();
  const auto timer = life_->transport.next_timer();
  if (timer && *timer <= now()) {
    life_->transport.Advance(Duration(0));
    life_->step_at =
        std::min(life_->step_at, now() + random_.Between(milliseconds(0), milliseconds(1)));
  }
  if (now() >= life_->step_at) life_->stopping ? WindDown() : Step();
  if (life_ && !paused_) Plan();
}

void SchedulerProcess::Step() {
  const Duration sleep = life_->scheduler->Step();
  life_->step_at = now() + std::max<Duration>(sleep, milliseconds(1));
  if (life_->scheduler->HasLostLease()) {
    world_.trace.Say(name_, "has lost its lease");
    return Stop();
  }
  const auto timer = life_->transport.next_timer();
  const bool sends = timer && *timer <= now();
  if (sends && !calm_ && world_.faults.stops_before_send() && random_.OneIn(30)) {
    Pause(random_.Between(seconds(1), kLongestPause));
  }
}

// What LiveScheduler::Run and its destructor do at the end, in the time of the history.
void SchedulerProcess::WindDown() {
  if (!life_->scheduler) return End();
  if (!life_->scheduler->Drain(Duration(0)) && now() < life_->stop_until) {
    life_->step_at = now() + milliseconds(10);
    return;
  }
  static_cast<void>(life_->scheduler->Finish());
  life_->scheduler.reset();
  life_->step_at = now() + kRelease;
}

void SchedulerProcess::End() {
  world_.timeline.Cancel(wake_);
  life_->link->Close();
  life_->transport.on_request = nullptr;
  life_->scheduler.reset();
  life_->client.reset();
  life_.reset();
  paused_ = false;
  inbox_.clear();
  const Duration down = calm_ ? seconds(1) : random_.Between(milliseconds(100), seconds(25));
  world_.timeline.After(down, [this] { Start(); });
}

}  // namespace strata::histories
