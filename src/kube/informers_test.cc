#include "kube/informers.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/test_fake_api.h"
#include "kube/test_fake_transport.h"
#include "tests/support/property.h"

namespace strata::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

enum class Trouble : std::uint8_t {
  kNone,
  kConflict,     // 409, where it makes no sense
  kGone,         // 410
  kBusy,         // 429 with Retry-After
  kError,        // 500
  kUnknownWord,  // 422: cannot stream lists
  kRefused,      // no connection
  kReset,        // cut in the middle
  kStall,        // silence
  kHalfClose,    // ends early, but properly
  kGarble,       // a byte is wrong
  kErrorEvent,   // ERROR with 500
  kForget,       // the history goes away
  kTwice,        // every line comes twice
};
constexpr int kTroubles = 14;

struct Fault {
  Trouble trouble = Trouble::kNone;
  int when = 0;  // after so many lines or bytes
};

std::string Garbled(std::string text, int where) {
  if (!text.empty()) text[static_cast<std::size_t>(where) % text.size()] = '\x01';
  return text;
}

// An API server with a schedule of faults, one per request, over a FakeTransport.
class FaultyServer {
 public:
  FaultyServer(FakeTransport& transport, std::vector<Fault> faults)
      : transport_(transport), faults_(std::move(faults)) {
    Hear();
    KeepBookmarks();
  }

  FakeApi api;

  // Nothing comes over the connections that there are; Hear answers on new ones.
  void Mute() { streams_.clear(); }
  void Hear() {
    transport_.on_request = [this](net::RequestId id, const net::ClientRequest& request) {
      transport_.After(milliseconds(3), [this, id, query = request.message.query] {
        if (transport_.IsActive(id)) Answer(id, query);
      });
    };
  }

  // Sends what has happened to every open stream.
  void Pump() {
    for (auto& [id, stream] : streams_) {
      if (!transport_.IsActive(id)) continue;
      for (const std::string& line : api.LinesSince(stream.at)) SendLine(id, stream, line);
    }
    std::erase_if(streams_,
                  [this](const auto& entry) { return !transport_.IsActive(entry.first); });
  }
  void StopFaults() { faults_.clear(); }

 private:
  struct Stream {
    std::uint64_t at = 0;
    Fault fault;
    int lines = 0;
  };

  Fault NextFault() { return next_ < faults_.size() ? faults_[next_++] : Fault{}; }

  void KeepBookmarks() {
    transport_.After(seconds(60), [this] {
      for (auto& [id, stream] : streams_) {
        if (stream.fault.trouble != Trouble::kStall) SendLine(id, stream, api.Bookmark());
      }
      KeepBookmarks();
    });
  }

  // True when the fault was the whole answer.
  bool AnswerByFault(net::RequestId id, const Fault& fault) {
    const auto status = [&](int code, std::vector<net::Header> headers = {}) {
      transport_.Respond(id, code, FakeApi::StatusText(code, ""), std::move(headers));
      return true;
    };
    switch (fault.trouble) {
      case Trouble::kConflict:
        return status(409);
      case Trouble::kGone:
        return status(410);
      case Trouble::kBusy:
        return status(429, {{"Retry-After", "3"}});
      case Trouble::kError:
        return status(500);
      case Trouble::kUnknownWord:
        return status(422);
      case Trouble::kRefused:
        transport_.Break(id, FakeTransport::Cause::kConnection, FakeTransport::Sent::kNo);
        return true;
      case Trouble::kForget:
        api.Forget();
        return false;
      default:
        return false;
    }
  }

  void Answer(net::RequestId id, const std::string& query) {
    const Fault fault = NextFault();
    if (AnswerByFault(id, fault)) return;
    const auto answer = api.Get(query);
    if (!answer) return transport_.Respond(id, 410, FakeApi::StatusText(410, "Expired"));
    transport_.Head(id, 200);
    if (!answer->stream) return AnswerList(id, fault, answer->body);
    Stream& stream = streams_[id];
    stream = {answer->from, fault, 0};
    for (const std::string& line : answer->lines) SendLine(id, stream, line);
    if (answer->from == UINT64_MAX) transport_.End(id);
    Pump();
  }

  void AnswerList(net::RequestId id, const Fault& fault, const std::string& body) {
    const std::size_t half = static_cast<std::size_t>(fault.when) % (body.size() + 1);
    switch (fault.trouble) {
      case Trouble::kReset:
        transport_.Body(id, body.substr(0, half));
        return transport_.Break(id, FakeTransport::Cause::kConnection);
      case Trouble::kHalfClose:
        transport_.Body(id, body.substr(0, half));
        return transport_.End(id);
      case Trouble::kStall:
        return transport_.Body(id, body.substr(0, half));
      case Trouble::kGarble:
        transport_.Body(id, Garbled(body, fault.when));
        return transport_.End(id);
      default:
        transport_.Body(id, body.substr(0, half));
        transport_.Body(id, body.substr(half));
        return transport_.End(id);
    }
  }

  void SendLine(net::RequestId id, Stream& stream, const std::string& line) {
    const Fault& fault = stream.fault;
    const bool now = stream.lines++ == fault.when % 4;
    switch (fault.trouble) {
      case Trouble::kReset:
        if (!now) break;
        transport_.Body(id, line.substr(0, line.size() / 2));
        return transport_.Break(id, FakeTransport::Cause::kConnection);
      case Trouble::kHalfClose:
        if (!now) break;
        transport_.Body(id, line.substr(0, line.size() / 2));
        return transport_.End(id);
      case Trouble::kStall:
        if (stream.lines > fault.when % 4) return;
        break;
      case Trouble::kGarble:
        if (!now) break;
        return transport_.Body(id, Garbled(line, fault.when) + "\n");
      case Trouble::kErrorEvent:
        if (!now) break;
        transport_.Body(id, FakeApi::ErrorLine(500) + "\n");
        return transport_.End(id);
      case Trouble::kTwice:
        transport_.Body(id, line + "\n");
        break;
      default:
        break;
    }
    transport_.Body(id, line + "\n");
  }

  FakeTransport& transport_;
  std::vector<Fault> faults_;
  std::size_t next_ = 0;
  std::map<net::RequestId, Stream> streams_;
};

struct InformerWorld {
  explicit InformerWorld(std::vector<Fault> faults,
                         ReflectorState::Streaming streaming = ReflectorState::Streaming::kTry)
      : server(transport, std::move(faults)) {
    ClientOptions client_options;
    client_options.random = [] { return 0.5; };
    client = std::make_unique<Client>(transport, transport, client_options);
    Informers::Options options;
    options.page_size = 3;
    options.streaming = streaming;
    options.random = client_options.random;
    options.trouble = [this](const WatchTrouble& trouble) { troubles.push_back(trouble); };
    options.sight = [this](int /*source*/, Reflector::Sight sight) { sights.push_back(sight); };
    informers = std::make_unique<Informers>(*client, queue, options);
    informers->Add({kPods, "", "", ""});
  }

  void Advance(Duration time) {
    transport.Advance(time);
    server.Pump();
    for (const Delta& delta : queue.Take()) view.Apply(delta);
  }

  FakeTransport transport;
  FaultyServer server;
  std::unique_ptr<Client> client;
  DeltaQueue queue;
  std::unique_ptr<Informers> informers;
  StrictView view;
  std::vector<WatchTrouble> troubles;
  std::vector<Reflector::Sight> sights;
};

TEST(Informers, FollowTheServer) {
  InformerWorld world({});
  world.server.api.Put("a", "1");
  world.Advance(seconds(1));
  EXPECT_EQ(world.view.synced, 1);
  world.server.api.Put("a", "2");
  world.server.api.Put("b", "1");
  world.Advance(seconds(1));
  EXPECT_EQ(world.view.objects, world.server.api.Objects());
  EXPECT_THAT(world.troubles, IsEmpty());
  EXPECT_EQ(world.transport.sent.size(), 1U);
}

// Kubernetes 1.37 compresses a watch as several gzip streams; libcurl reads the first.
TEST(Informers, AskForWatchesAsTheyAre) {
  InformerWorld world({});
  world.Advance(seconds(1));
  const std::vector<net::Header>& headers = world.transport.sent.at(0).message.headers;
  const auto is_encoding = [](const net::Header& header) {
    return header.name == "Accept-Encoding" && header.value == "identity";
  };
  EXPECT_EQ(std::count_if(headers.begin(), headers.end(), is_encoding), 1);
}

TEST(Informers, TellWhatWentWrongInOneLine) {
  InformerWorld world({{Trouble::kRefused}});
  world.Advance(seconds(1));
  ASSERT_THAT(world.troubles, ::testing::SizeIs(1));
  EXPECT_EQ(world.troubles[0].Text(), "pods: broken");
  EXPECT_EQ(world.troubles[0].kind, WatchTrouble::Kind::kFailed);
  EXPECT_FALSE(world.troubles[0].IsMissing()) << "it is there: nobody answered";
}

TEST(Informers, PushNothingOnceTheyAreGone) {
  InformerWorld world({});
  world.Advance(seconds(1));
  world.informers.reset();
  world.server.api.Put("a", "1");
  world.Advance(seconds(1000));
  EXPECT_THAT(world.view.objects, IsEmpty());
  EXPECT_EQ(world.transport.under_way(), 0U);
}

TEST(Informers, AStreamThatNeverEndsItsInitialEventsIsGivenUp) {
  InformerWorld world({{Trouble::kStall}});
  world.server.api.Put("a", "1");
  world.Advance(seconds(29));
  EXPECT_EQ(world.view.synced, 0);
  world.Advance(seconds(3));
  EXPECT_EQ(world.view.synced, 1);
  EXPECT_EQ(world.view.objects, world.server.api.Objects());
}

// The peer acknowledges what is sent, and answers nothing.
TEST(Informers, AnOverdueWatchClosesItsConnection) {
  InformerWorld world({});
  world.server.api.Put("a", "1");
  world.Advance(seconds(1));
  world.transport.on_request = nullptr;
  world.server.Mute();
  world.Advance(seconds(119));
  EXPECT_EQ(world.transport.closings, 0);
  EXPECT_THAT(world.sights, IsEmpty());
  world.Advance(seconds(2));
  EXPECT_EQ(world.transport.closings, 1);
  EXPECT_THAT(world.sights, ::testing::ElementsAre(Reflector::Sight::kLost));
  world.server.Hear();
  world.server.api.Put("b", "1");
  world.Advance(seconds(120));
  EXPECT_EQ(world.view.objects, world.server.api.Objects());
  EXPECT_THAT(world.sights,
              ::testing::ElementsAre(Reflector::Sight::kLost, Reflector::Sight::kRegained));
}

TEST(Informers, HaveCaughtUpWhenTheWatchHasShownEverything) {
  InformerWorld world({});
  world.server.api.Put("a", "1");
  world.Advance(seconds(1));
  EXPECT_EQ(world.view.caught_up, 0);
  world.informers->CatchUp();
  world.Advance(milliseconds(100));
  EXPECT_EQ(world.view.caught_up, 1);
  EXPECT_EQ(world.transport.sent.size(), 2U) << "one watch, and one question for the version";
}

// The watch is silent, and nobody knows yet that its connection is dead.
TEST(Informers, ListAgainWhatASilentWatchDidNotShow) {
  InformerWorld world({});
  world.server.api.Put("a", "1");
  world.Advance(seconds(1));
  world.server.Mute();
  world.server.api.Put("b", "1");
  world.informers->CatchUp();
  world.Advance(milliseconds(500));
  EXPECT_EQ(world.view.caught_up, 0);
  world.Advance(seconds(1));
  EXPECT_EQ(world.view.caught_up, 1);
  EXPECT_EQ(world.view.objects, world.server.api.Objects());
  EXPECT_THAT(world.troubles, IsEmpty());
  world.server.api.Put("c", "1");
  world.Advance(seconds(1));
  EXPECT_EQ(world.view.objects, world.server.api.Objects()) << "the new watch goes on";
}

TEST(Informers, ListAgainWhenTheVersionCannotBeRead) {
  InformerWorld world({{Trouble::kNone}, {Trouble::kError}});
  world.server.api.Put("a", "1");
  world.Advance(seconds(1));
  world.informers->CatchUp();
  world.Advance(seconds(2));
  EXPECT_EQ(world.view.caught_up, 1);
  EXPECT_THAT(world.troubles, ::testing::SizeIs(1));
}

// Whatever goes wrong, in the end the consumer has what the server has, and it never heard anything
// that could not be.
void ViewEqualsServerInTheEnd(ReflectorState::Streaming streaming) {
  using testing::Below;
  testing::CheckProperty(150, [streaming] {
    std::vector<Fault> faults;
    const int count = *Below(25);
    for (int i = 0; i < count; ++i) {
      faults.push_back({static_cast<Trouble>(*Below(kTroubles)), *Below(400)});
    }
    InformerWorld world(faults, streaming);
    bool catches_up = false;
    const int steps = *Below(60);
    for (int i = 0; i < steps; ++i) {
      const std::string name = "p" + std::to_string(*Below(9));
      if (*Below(4) == 0) {
        world.server.api.Remove(name);
      } else {
        world.server.api.Put(name, "v" + std::to_string(i));
      }
      if (*Below(3) == 0) world.Advance(milliseconds(*Below(20'000)));
      if (*Below(9) == 0) {
        world.informers->CatchUp();
        catches_up = true;
      }
    }
    world.server.StopFaults();
    for (int minute = 0; minute < 40; ++minute) world.Advance(seconds(60));
    RC_ASSERT(world.view.complaints == std::vector<std::string>{});
    RC_ASSERT(world.view.objects == world.server.api.Objects());
    RC_ASSERT(world.view.synced == 1);
    RC_ASSERT((world.view.caught_up > 0) == catches_up);
  });
}

TEST(InformersProperty, TheViewEqualsTheServerInTheEndWhenListsAreStreamed) {
  ViewEqualsServerInTheEnd(ReflectorState::Streaming::kTry);
}
TEST(InformersProperty, TheViewEqualsTheServerInTheEndWhenListsComeInPages) {
  ViewEqualsServerInTheEnd(ReflectorState::Streaming::kNever);
}

}  // namespace
}  // namespace strata::kube
