#include "kube/leader_lease.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

namespace strata::kube {
namespace {

constexpr double kTryJitter = 1.2;  // of the pause between attempts to take a lease
constexpr Duration kReleaseLimit = std::chrono::seconds(2);

// A write failed: the lease is not the one that it was meant for.
bool IsRefusal(const Reply& reply) {
  return !reply && (reply.error().http_status == 404 || reply.error().http_status == 409);
}

}  // namespace

// On the thread of client.writes().
class LeaderLease::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Client& client, LeaseSettings settings, Hooks hooks, const Clock& clock, Random random)
      : client_(client),
        transport_(client.writes()),
        state_(std::move(settings)),
        hooks_(std::move(hooks)),
        leadership_(hooks_.leadership ? hooks_.leadership : std::make_shared<Leadership>()),
        clock_(clock),
        random_(std::move(random)),
        path_{kLeases, state_.settings().ns, state_.settings().name, ""} {}

  [[nodiscard]] net::Transport& transport() const { return transport_; }

  [[nodiscard]] bool Leads() const { return leadership_->Holds(transport_.Now()); }

  void Attempt() {
    if (closed_) return;
    if (const std::string late = hooks_.late_thread ? hooks_.late_thread() : ""; !late.empty()) {
      return StandBack(late);
    }
    const net::SteadyTime sent = transport_.Now();
    const LeaseState::Step step = state_.Next(sent);
    if (step == LeaseState::Step::kWait) return TryLater();
    Call call = MakeCall(step);
    call.timeout = state_.settings().renew / 2;
    call.repeat = Repeat::kNever;  // a late success would count from its first attempt
    call.paced = false;
    under_way_ = true;
    client_.Start(std::move(call), [self = shared_from_this(), step, sent](Reply reply) {
      // Reads are answered on another thread.
      self->transport_.Post(
          [self, step, sent, reply = std::move(reply)] { self->TakeReply(step, sent, reply); });
    });
  }

  // Gives the lease back; ready when the server has answered, or when there is nothing to give.
  std::future<void> Close() {
    closed_ = true;
    // Also one that we do not lead by yet, or are about to get.
    gives_back_ = !keeps_ && (under_way_ || state_.holder() == state_.settings().identity);
    state_.Resign();
    Announce();
    std::future<void> released = released_.get_future();
    if (!gives_back_) {
      released_.set_value();
    } else if (!under_way_) {
      Release();
    }  // else TakeLast
    return released;
  }

  void KeepToItsEnd() { keeps_ = true; }

 private:
  void StandBack(const std::string& why) {
    if (leading_ && hooks_.trouble) {
      hooks_.trouble("lease " + path_.ns + "/" + path_.name + " given up: " + why);
    }
    state_.Resign();
    Announce();
    TryLater();
  }

  Call MakeCall(LeaseState::Step step) const {
    switch (step) {
      case LeaseState::Step::kCreate:
        return CreateCall({kLeases, path_.ns, "", ""}, state_.Body(clock_.Now()));
      case LeaseState::Step::kUpdate:
        return UpdateCall(path_, state_.Body(clock_.Now()));
      default:
        return GetCall(path_);
    }
  }

  void Release() {
    std::optional<std::string> body = state_.ReleaseBody(clock_.Now(), transport_.Now());
    if (!body) return released_.set_value();
    Call release = UpdateCall(path_, std::move(*body));
    release.paced = false;
    client_.Start(std::move(release),
                  [self = shared_from_this()](const Reply&) { self->released_.set_value(); });
  }

  // An answer that came after Close has the version that the release must name. Without one the
  // client may be on its way out, and is left alone.
  void TakeLast(const Reply& reply) {
    if (!gives_back_) return;
    if (!reply || !state_.TakeRead(*reply, transport_.Now())) return released_.set_value();
    Release();
  }

  void TakeReply(LeaseState::Step step, net::SteadyTime sent, const Reply& reply) {
    under_way_ = false;
    if (closed_) return TakeLast(reply);
    const bool is_read = step == LeaseState::Step::kRead;
    const net::SteadyTime now = transport_.Now();
    Status taken;
    if (reply) {
      taken = is_read ? state_.TakeRead(*reply, now) : state_.TakeWritten(*reply, sent, now);
    } else if (is_read && reply.error().http_status == 404) {
      state_.TakeMissing();
    } else {
      state_.TakeFailure();
      taken = tl::unexpected(reply.error().error);
    }
    if (!taken && hooks_.trouble) {
      hooks_.trouble("lease " + path_.ns + "/" + path_.name + ": " + taken.error().message);
    }
    Announce();
    TellWait(now);
    // What was read may be written to at once, and who was refused looks at once whether the lease
    // is still its own; but not both in turns without a pause.
    const bool was_refused = std::exchange(refused_, !is_read && IsRefusal(reply));
    const bool may_write = is_read && taken && state_.Next(now) != LeaseState::Step::kWait;
    if (refused_ || (may_write && !was_refused)) return Attempt();
    TryLater();
  }

  // Says whom it waits for, once for each holder.
  void TellWait(net::SteadyTime now) {
    if (leading_) return told_.reset();
    const LeaseSettings& settings = state_.settings();
    const bool own = state_.holder() == settings.identity;
    if (!own && state_.Next(now) != LeaseState::Step::kWait) return;
    if (!hooks_.waiting || told_ == state_.holder()) return;
    told_ = state_.holder();
    const std::string lease = "lease " + path_.ns + "/" + path_.name;
    const std::string seconds =
        std::to_string(std::chrono::ceil<std::chrono::seconds>(settings.duration).count());
    if (own) return hooks_.waiting(lease + " is new: this process leads after " + seconds + "s");
    hooks_.waiting(lease + " is held by " + (told_->empty() ? "nobody" : *told_) +
                   ": this process leads when the lease is released, or was not renewed for " +
                   seconds + "s");
  }

  // Lets the others know whether we lead, and looks again when that ends.
  void Announce() {
    const net::SteadyTime now = transport_.Now();
    const bool leads = state_.Leads(now);
    if (leads) {
      leadership_->GrantUntil(*state_.leads_until());
    } else {
      leadership_->Revoke();
    }
    if (leads != std::exchange(leading_, leads)) {
      if (!leads) client_.CancelLeaderCalls();
      const std::function<void()>& hook = leads ? hooks_.started : hooks_.stopped;
      if (hook) hook();
    }
    transport_.CancelTimer(end_timer_);
    if (!leads) return;
    end_timer_ = transport_.After(*state_.leads_until() - now,
                                  [self = shared_from_this()] { self->Announce(); });
  }

  void TryLater() {
    Duration pause = state_.settings().retry;
    if (!leading_) {
      const double part = static_cast<double>(pause.count()) * kTryJitter * random_();
      pause += Duration(static_cast<Duration::rep>(part));
      // Others' leases are looked at afresh.
      if (state_.holder() != state_.settings().identity) state_.TakeFailure();
    }
    transport_.After(pause, [self = shared_from_this()] { self->Attempt(); });
  }

  Client& client_;
  net::Transport& transport_;
  LeaseState state_;
  Hooks hooks_;
  std::shared_ptr<Leadership> leadership_;
  const Clock& clock_;
  Random random_;
  ResourcePath path_;
  bool closed_ = false;
  bool keeps_ = false;
  bool gives_back_ = false;
  bool under_way_ = false;
  std::promise<void> released_;
  bool leading_ = false;
  bool refused_ = false;             // the last write
  std::optional<std::string> told_;  // the holder that hooks_.waiting has heard
  net::TimerId end_timer_{};
};

LeaderLease::LeaderLease(
    Client& client, LeaseSettings settings, Hooks hooks, const Clock& clock, Random random)
    : impl_(std::make_shared<Impl>(
          client, std::move(settings), std::move(hooks), clock, std::move(random))) {
  client.writes().Post([impl = impl_] { impl->Attempt(); });
}

LeaderLease::~LeaderLease() {
  std::future<void> released;
  net::Transport& transport = impl_->transport();
  transport.Run([&] { released = impl_->Close(); });
  // A client that goes next would give up what is under way, and the next holder wait for nothing.
  if (!transport.OnThread()) released.wait_for(kReleaseLimit);
}

void LeaderLease::KeepToItsEnd() {
  impl_->transport().Run([this] { impl_->KeepToItsEnd(); });
}

bool LeaderLease::Leads() const {
  return impl_->Leads();
}

}  // namespace strata::kube
