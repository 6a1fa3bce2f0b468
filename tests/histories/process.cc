#include "tests/histories/process.h"

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

Process::Process(const World& world, PartKind kind, int number, Random random)
    : world_(world),
      kind_(std::move(kind)),
      number_(number),
      name_(fmt::format("{}-{}", kind_.name, number)),
      random_(random),
      clock_(world.timeline),
      sink_(world.trace, name_),
      log_(name_, clock_, {&sink_}) {}

Process::~Process() {
  if (life_) End();
}

void Process::Start() {
  if (life_) return;
  world_.trace.Say(name_, "starts");
  life_ = std::make_unique<Life>();
  life_->link = std::make_shared<Link>(
      world_,
      Link::Ends{.process = number_,
                 .name = name_,
                 .transport = life_->transport,
                 .deliver = [this](std::function<void()> task) { Deliver(std::move(task)); },
                 .after_effect =
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
  life_->transport.on_request = [this](net::RequestId id, const net::ClientRequest& request) {
    Send(id, request);
  };
  SetTime();
  const auto random = std::make_shared<Random>(random_.Split());
  kube::ClientOptions client;
  client.random = [random] { return random->Fraction(); };
  life_->client =
      std::make_unique<kube::Client>(life_->transport, life_->transport, std::move(client));
  life_->identity = fmt::format("{}-{}", name_, ++lives_);
  kube::LeaseSettings lease;
  lease.ns = "volcano-system";
  lease.name = kind_.lease;
  lease.identity = life_->identity;
  life_->part = kind_.make({.client = *life_->client,
                            .lease = std::move(lease),
                            .random = [random] { return random->Fraction(); },
                            .log = log_,
                            .clock = clock_});
  life_->part->Start();
  life_->step_at = now();
  Plan();
}

// What only a leader may write is sent by one, unless it was stopped between its decision and the
// sending.
void Process::Send(net::RequestId id, const net::ClientRequest& request) {
  const net::HttpRequest& message = request.message;
  const bool for_all = message.method == "GET" ||
                       message.path.find("/leases") != std::string::npos ||
                       message.path.find("/events") != std::string::npos;
  if (!for_all && id > life_->sent_before_pause) {
    world_.on_write(kind_.lease, life_->identity, message);
  }
  life_->link->Send(id, request);
}

void Process::Kill() {
  if (!life_) return;
  world_.trace.Say(name_, "killed");
  End();
}

void Process::Stop() {
  if (!life_ || life_->stopping) return;
  world_.trace.Say(name_, "asked to stop");
  life_->stopping = true;
  life_->stop_until = now() + kLastAnswers;
  life_->step_at = now();
  if (!paused_) Plan();
}

void Process::Pause(Duration time) {
  if (!life_ || paused_) return;
  world_.trace.Say(name_, fmt::format("paused for {} ms", time.count()));
  paused_ = true;
  life_->sent_before_pause = life_->transport.last_request();
  world_.timeline.Cancel(wake_);
  world_.timeline.After(time, [this, life = lives_] {
    if (paused_ && life == lives_) Resume();
  });
}

void Process::PauseSoon(Duration wait, Duration time) {
  world_.timeline.After(wait, [this, time, life = lives_] {
    if (life == lives_ && !calm_) Pause(time);
  });
}

void Process::Resume() {
  world_.trace.Say(name_, "goes on");
  paused_ = false;
  SetTime();
  // Whether the answers or the timers are seen first is up to the machine.
  if (random_.OneIn(2)) life_->transport.Advance(Duration(0));
  for (const auto& task : std::exchange(inbox_, {})) task();
  life_->step_at = now();
  Plan();
}

void Process::SetTime() {
  life_->transport.Suspend(now() - life_->transport.Now());
}

void Process::Deliver(std::function<void()> task) {
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

void Process::Plan() {
  net::SteadyTime next = life_->step_at;
  if (const auto timer = life_->transport.next_timer()) next = std::min(next, *timer);
  world_.timeline.Cancel(wake_);
  wake_ = world_.timeline.After(next - now(), [this] { Run(); });
}

void Process::Run() {
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

void Process::Step() {
  const Duration sleep = life_->part->Step();
  life_->step_at = now() + std::max<Duration>(sleep, milliseconds(1));
  if (life_->part->HasLostLease()) {
    world_.trace.Say(name_, "has lost its lease");
    return Stop();
  }
  const auto timer = life_->transport.next_timer();
  const bool sends = timer && *timer <= now();
  if (sends && !calm_ && world_.faults.stops_before_send() && random_.OneIn(30)) {
    Pause(random_.Between(seconds(1), kLongestPause));
  }
}

// What the Run of a part and its destructor do at the end, in the time of the history.
void Process::WindDown() {
  if (!life_->part) return End();
  if (!life_->part->Drain() && now() < life_->stop_until) {
    life_->step_at = now() + milliseconds(10);
    return;
  }
  life_->part->Finish();
  life_->part.reset();
  life_->step_at = now() + kRelease;
}

void Process::End() {
  world_.timeline.Cancel(wake_);
  life_->link->Close();
  life_->transport.on_request = nullptr;
  life_->part.reset();
  life_->client.reset();
  life_.reset();
  paused_ = false;
  inbox_.clear();
  const Duration down = calm_ ? seconds(1) : random_.Between(milliseconds(100), seconds(25));
  world_.timeline.After(down, [this] { Start(); });
}

}  // namespace strata::histories
