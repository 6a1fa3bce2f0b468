// Informers over real sockets, against a server that goes wrong in every way.
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kube/connection.h"
#include "kube/informers.h"
#include "kube/test_fake_api.h"
#include "tests/support/property.h"
#include "tests/support/socket_server.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::RawConnection;
using testing::SocketServer;

// What goes wrong with one answer. Those from kResetLater to kEndEarly come in the middle of a
// body.
enum class Mishap : std::uint8_t {
  kNone,
  kConflict,    // 409, where it makes no sense
  kGone,        // 410
  kBusy,        // 429 with Retry-After: 0
  kError,       // 500
  kReset,       // before a byte of it
  kResetLater,  // a TCP reset
  kStall,       // silence, on an open connection
  kHalfClose,   // the server's side is closed
  kGarble,      // a byte is wrong
  kCutLine,     // half a line, then the end of the connection
  kEndEarly,    // an end that looks proper
  kBusyLong,    // 429 with Retry-After: 1
};
constexpr int kMishaps = 13;

struct Slip {
  Mishap mishap = Mishap::kNone;
  std::size_t when = 0;  // which byte of a list, which line of a stream

  friend std::ostream& operator<<(std::ostream& out, const Slip& slip) {
    return out << static_cast<int>(slip.mishap) << '@' << slip.when;
  }
};

// A FakeApi behind sockets. The n-th request it gets is answered as the n-th slip has it, and
// properly when there are no more.
class FaultySockets {
 public:
  explicit FaultySockets(std::vector<Slip> slips)
      : slips_(std::move(slips)), server_([this](RawConnection& peer) {
          while (const auto request = peer.Read()) {
            if (!Answer(peer, request->target)) return;
          }
        }) {}
  ~FaultySockets() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] std::string url() const { return server_.url(); }

  void Change(const std::function<void(FakeApi&)>& change) {
    const std::lock_guard lock(mutex_);
    change(api_);
    changed_.notify_all();
  }
  // No more slips; what is there.
  std::map<std::string, std::string> Calm() {
    const std::lock_guard lock(mutex_);
    slips_.clear();
    changed_.notify_all();
    return api_.Objects();
  }

 private:
  // False: close the connection.
  bool Answer(RawConnection& peer, const std::string& target) {
    Slip slip;
    std::optional<FakeApi::Answer> answer;
    {
      const std::lock_guard lock(mutex_);
      if (asked_ < slips_.size()) slip = slips_[asked_++];
      answer = api_.Get(target.substr(target.find('?') + 1));
    }
    if (const auto go_on = Refuse(peer, slip.mishap)) return *go_on;
    if (!answer) return peer.Answer(410, FakeApi::StatusText(410, "Expired"));
    return answer->stream ? Stream(peer, *answer, slip) : List(peer, answer->body, slip);
  }

  // Where a mishap is the whole answer.
  static std::optional<bool> Refuse(RawConnection& peer, Mishap mishap) {
    switch (mishap) {
      case Mishap::kConflict:
        return peer.Answer(409, FakeApi::StatusText(409, "Conflict"));
      case Mishap::kGone:
        return peer.Answer(410, FakeApi::StatusText(410, "Expired"));
      case Mishap::kBusy:
        return peer.Answer(429, "busy", "Retry-After: 0\r\n");
      case Mishap::kBusyLong:
        return peer.Answer(429, "busy", "Retry-After: 1\r\n");
      case Mishap::kError:
        return peer.Answer(500, "broken");
      case Mishap::kReset:
        peer.ResetOnClose();
        return false;
      default:
        return std::nullopt;
    }
  }

  // What follows a body that was left in its middle. False: close the connection.
  static bool Leave(RawConnection& peer, Mishap mishap) {
    if (mishap == Mishap::kResetLater) peer.ResetOnClose();
    if (mishap == Mishap::kHalfClose) peer.HalfClose();
    if (mishap == Mishap::kStall || mishap == Mishap::kHalfClose) peer.WaitForPeer();
    return false;
  }

  static bool List(RawConnection& peer, std::string body, const Slip& slip) {
    const std::size_t at = slip.when % body.size();
    if (slip.mishap == Mishap::kNone) return peer.Answer(200, body);
    if (slip.mishap == Mishap::kGarble) {
      body[at] = '\x01';
      return peer.Answer(200, body);
    }
    if (slip.mishap == Mishap::kEndEarly) return peer.Answer(200, body.substr(0, at));
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body.substr(0, at));
    return Leave(peer, slip.mishap);
  }

  bool Stream(RawConnection& peer, FakeApi::Answer& answer, const Slip& slip) {
    peer.StartChunked();
    const std::size_t cut = slip.mishap == Mishap::kNone ? SIZE_MAX : slip.when % 6;
    std::size_t sent = 0;
    std::vector<std::string> lines = answer.lines;
    while (true) {
      for (const std::string& line : lines) {
        const auto go_on = SendLine(peer, line, sent++ == cut ? slip.mishap : Mishap::kNone);
        if (go_on) return *go_on;
      }
      if (answer.from == UINT64_MAX) return peer.Write("0\r\n\r\n");
      lines = NextLines(answer.from, slip);
      if (lines.empty()) return false;
    }
  }

  // Sends a line as the mishap has it. None: the stream goes on; false: close the connection.
  static std::optional<bool> SendLine(RawConnection& peer, std::string line, Mishap mishap) {
    const bool leaves = mishap != Mishap::kNone && mishap != Mishap::kGarble;
    if (mishap == Mishap::kEndEarly) return peer.Write("0\r\n\r\n");
    if (mishap == Mishap::kCutLine) peer.Chunk(line.substr(0, line.size() / 2));
    if (leaves) return Leave(peer, mishap);
    if (mishap == Mishap::kGarble) line[line.size() / 2] = '\x01';
    return peer.Chunk(line + "\n") ? std::nullopt : std::optional(false);
  }

  // Waits for the lines behind `from`; none: the stream is to be closed, as one is whose slip can
  // no more come.
  std::vector<std::string> NextLines(std::uint64_t& from, const Slip& slip) {
    std::unique_lock lock(mutex_);
    std::vector<std::string> lines;
    const auto over = [&] { return stopping_ || (slips_.empty() && slip.mishap != Mishap::kNone); };
    changed_.wait(lock, [&] {
      if (api_.HasForgotten(from)) {
        lines = {FakeApi::ErrorLine(410)};
        from = UINT64_MAX;
      } else {
        lines = api_.LinesSince(from);
      }
      return over() || !lines.empty();
    });
    if (over()) lines.clear();
    return lines;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  FakeApi api_;
  std::vector<Slip> slips_;
  std::size_t asked_ = 0;
  bool stopping_ = false;
  SocketServer server_;
};

// Any but those that take a second.
rc::Gen<Slip> AnySlip() {
  return rc::gen::map(
      rc::gen::pair(testing::Below(kMishaps - 1), testing::Below(1000)),
      [](const std::pair<int, int>& drawn) {
        return Slip{static_cast<Mishap>(drawn.first), static_cast<std::size_t>(drawn.second)};
      });
}

std::unique_ptr<Connection> Connect(const std::string& url) {
  ConnectionConfig config;
  config.cluster.server = url;
  config.origin = "test";
  return std::move(*Connection::Open(config, {}, SystemSurroundings()));
}

// One thing that happens to a pod, and how long the consumer then looks.
struct Happening {
  int pod = 0;
  int what = 0;

  friend std::ostream& operator<<(std::ostream& out, const Happening& happening) {
    return out << 'p' << happening.pod << ':' << happening.what;
  }
};

void Happen(FakeApi& api, const Happening& happening, std::size_t number) {
  const std::string name = "p" + std::to_string(happening.pod);
  if (happening.what == 0) api.Forget();
  if (happening.what < 3) return api.Remove(name);
  api.Put(name, "v" + std::to_string(number));
}

rc::Gen<Happening> AnyHappening() {
  return rc::gen::map(rc::gen::pair(testing::Below(6), testing::Below(8)),
                      [](const std::pair<int, int>& drawn) {
                        return Happening{drawn.first, drawn.second};
                      });
}

// Lets things happen, sees to the end what an informer makes of them, and compares. "" when its
// view is the server's and every change was one; else what is wrong, and what troubled it.
std::string CompareViews(std::vector<Slip> slips,
                         ReflectorState::Streaming streaming,
                         const std::vector<Happening>& happenings) {
  FaultySockets server(std::move(slips));
  const auto connection = Connect(server.url());
  std::string told;  // on the thread of the connection, until the informers have gone
  StrictView view;
  std::map<std::string, std::string> truth;
  {
    DeltaQueue queue;
    Informers::Options options;
    options.page_size = 2;
    options.streaming = streaming;
    options.backoff = {milliseconds(1), milliseconds(4)};
    options.patience = {milliseconds(200), milliseconds(200)};
    options.random = [] { return 0.5; };
    options.trouble = [&told](const WatchTrouble& trouble) { told += "\n" + trouble.Text(); };
    Informers informers(connection->client(), queue, options);
    informers.Add({kPods, "", "", ""});
    for (std::size_t i = 0; i < happenings.size(); ++i) {
      server.Change([&](FakeApi& api) { Happen(api, happenings[i], i); });
      const milliseconds look(happenings[i].what / 3);
      for (const Delta& delta : queue.Wait(look)) view.Apply(delta);
    }
    truth = server.Calm();
    const auto deadline = std::chrono::steady_clock::now() + seconds(30);
    while ((view.objects != truth || view.synced == 0) &&
           std::chrono::steady_clock::now() < deadline) {
      for (const Delta& delta : queue.Wait(seconds(1))) view.Apply(delta);
    }
  }
  if (view.objects != truth || view.synced != 1) return "another view; trouble:" + told;
  return view.complaints.empty() ? "" : view.complaints.front();
}

TEST(InformersOverSockets, TheViewEqualsTheServerInTheEnd) {
  testing::CheckProperty(100, [] {
    const auto slips = *rc::gen::container<std::vector<Slip>>(60, AnySlip());
    const auto happenings = *rc::gen::container<std::vector<Happening>>(40, AnyHappening());
    const bool streams = *testing::Below(2) == 0;
    RC_ASSERT(
        CompareViews(slips,
                     streams ? ReflectorState::Streaming::kTry : ReflectorState::Streaming::kNever,
                     happenings) == "");
  });
}

TEST(InformersOverSockets, NoSingleMishapIsTheEnd) {
  const std::vector<Happening> happenings = {
      {0, 7}, {1, 7}, {2, 7}, {0, 6}, {1, 1}, {3, 7}, {2, 0}, {1, 7}};
  for (int mishap = 0; mishap < kMishaps; ++mishap) {
    for (const auto streaming :
         {ReflectorState::Streaming::kTry, ReflectorState::Streaming::kNever}) {
      const Slip slip{static_cast<Mishap>(mishap), 1};
      EXPECT_EQ(CompareViews({slip, Slip{}, slip}, streaming, happenings), "")
          << "mishap " << mishap;
    }
  }
}

}  // namespace
}  // namespace strata::kube
