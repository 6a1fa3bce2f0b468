// Watches under load: the whole API server behind real sockets, with plain clients.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/api_server.h"
#include "apiserver/loop_timers.h"
#include "apiserver/store/object_store_factory.h"
#include "base/ascii.h"
#include "net/http_test_client.h"
#include "store/journal.h"

namespace strata::apiserver {
namespace {

using net::Exchange;
using net::RawClient;
using net::ServerThread;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr int kWriters = 2;
constexpr int kObjectsPerWriter = 100;
constexpr int kLife = 7;               // an object is made, changed and, as the seventh, deleted
constexpr std::size_t kInFlight = 64;  // requests that a writer sends ahead
constexpr int kLead = 20'000;          // writes that a writer may be ahead of a watcher

class WallClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
};

class CountingRandom final : public RandomSource {
 public:
  std::uint64_t Next() override { return next_ += 0x9E3779B97F4A7C15ULL; }

 private:
  std::uint64_t next_ = 1;
};

std::string Request(std::string_view method, const std::string& path, const std::string& body) {
  return std::string(method) + " " + path +
         " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

std::string ObjectName(int writer, int count) {
  return "w" + std::to_string(writer) + "-" + std::to_string(count % kObjectsPerWriter);
}

// The `count`th write of a writer, over its own objects in turn.
std::string WriteRequest(int writer, int count, std::size_t bytes) {
  const std::string name = ObjectName(writer, count);
  const int step = count / kObjectsPerWriter % kLife;
  const std::string path = std::string(kMaps) + "/" + name;
  if (step == kLife - 1) return Request("DELETE", path, "");
  const std::string body = R"({"metadata":{"name":")" + name + R"("},"data":{"step":")" +
                           std::to_string(count) + R"(","fill":")" + std::string(bytes, 'x') +
                           "\"}}";
  return step == 0 ? Request("POST", kMaps, body) : Request("PUT", path, body);
}

// Writes `count` times; every write is acknowledged. `may_go_on(n)` comes back when the n-th write
// may be made.
void WriteMany(std::uint16_t port,
               int writer,
               int count,
               std::size_t bytes,
               const std::function<void(int)>& may_go_on) {
  RawClient client(port);
  int sent = 0;
  for (int answered = 0; answered < count; ++answered) {
    may_go_on(answered);
    std::string ahead;
    while (sent < count && sent - answered < static_cast<int>(kInFlight)) {
      ahead += WriteRequest(writer, sent++, bytes);
    }
    client.Send(ahead);
    ASSERT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 20"));
  }
}

void WriteByAll(
    std::uint16_t port,
    int events,
    std::size_t bytes,
    const std::function<void(int)>& may_go_on = [](int) {}) {
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back(
        [=, &may_go_on] { WriteMany(port, i, events / kWriters, bytes, may_go_on); });
  }
  for (std::thread& writer : writers) writer.join();
}

struct Seen {
  std::string type;
  std::string name;
  std::string step;  // its content: which write it was
  std::int64_t version = 0;
};

// What a watcher saw.
struct View {
  std::vector<Seen> events;
  std::map<std::string, std::string> objects;  // the last state of what is there, as it came
  std::atomic<int> count = 0;                  // of events, for writers that must not run away
};

// The text between `before` and the next quotation mark.
std::string_view Quoted(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find('"'));
}

Seen ReadEvent(std::string_view line) {
  return {.type = std::string(Quoted(line, R"({"type":")")),
          .name = std::string(Quoted(line, R"("name":")")),
          .step = std::string(Quoted(line, R"("step":")")),
          .version = WholeNumber(Quoted(line, R"("resourceVersion":")"), INT64_MAX).value_or(-1)};
}

std::string WatchRequest(std::int64_t from) {
  return "GET " + std::string(kMaps) + "?watch=true&resourceVersion=" + std::to_string(from) +
         " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// The object of an event's line {"type":"...","object":{...}}.
std::string ObjectOf(std::string_view line) {
  constexpr std::string_view kBefore = R"("object":)";
  line.remove_prefix(line.find(kBefore) + kBefore.size());
  return std::string(line.substr(0, line.rfind('}')));
}

void TakeEvent(View& view, Seen event, std::string_view line) {
  if (event.type == "DELETED") {
    view.objects.erase(event.name);
  } else {
    view.objects[event.name] = ObjectOf(line);
  }
  view.events.push_back(std::move(event));
  ++view.count;
  view.count.notify_all();
}

// Reads events until the object "end" comes; goes on where it was when the stream ends before.
void WatchToTheEnd(std::uint16_t port, std::int64_t from, View& view) {
  for (;;) {
    RawClient client(port);
    client.Send(WatchRequest(from));
    const std::string head = client.ReadTo("\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 200")) {
      ADD_FAILURE() << head;
      return;
    }
    for (;;) {
      const std::string line = client.ReadTo("\n");
      if (!line.ends_with("\n")) break;              // cut off
      if (!line.starts_with("{\"type\"")) continue;  // the size of a chunk, the end of another
      Seen event = ReadEvent(line);
      if (event.type == "ERROR") {
        ADD_FAILURE() << line;
        return;
      }
      from = event.version;
      if (event.name == "end") return;
      TakeEvent(view, std::move(event), line);
    }
  }
}

// No event is lost, doubled or out of order: of each object its whole life, as it was written.
void CheckLives(const std::vector<Seen>& seen, int events) {
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(events));
  std::int64_t last = 0;
  std::map<std::string, int> lives;
  for (const Seen& event : seen) {
    ASSERT_GT(event.version, last);
    last = event.version;
    const int turn = lives[event.name]++;
    const int step = turn % kLife;
    const bool gone = step == kLife - 1;
    const char* wanted = step == 0 ? "ADDED" : gone ? "DELETED" : "MODIFIED";
    ASSERT_EQ(event.type, wanted) << event.name << " at " << event.version;
    // A deletion shows the last state.
    const int number = std::stoi(event.name.substr(event.name.find('-') + 1));
    const int written = (gone ? turn - 1 : turn) * kObjectsPerWriter + number;
    ASSERT_EQ(event.step, std::to_string(written)) << event.name << " at " << event.version;
  }
  EXPECT_EQ(lives.size(), static_cast<std::size_t>(kWriters * kObjectsPerWriter));
}

// What the server has of what the writers made, by name.
std::map<std::string, nlohmann::json> ServersObjects(std::uint16_t port) {
  std::map<std::string, nlohmann::json> objects;
  RawClient client(port);
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int i = 0; i < kObjectsPerWriter; ++i) {
      const std::string name = ObjectName(writer, i);
      client.Send(Request("GET", std::string(kMaps) + "/" + name, ""));
      const std::string answer = client.ReadAnswer();
      if (answer.starts_with("HTTP/1.1 404")) continue;
      objects[name] = nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n")), nullptr, false);
    }
  }
  return objects;
}

std::map<std::string, nlohmann::json> Parsed(const std::map<std::string, std::string>& texts) {
  std::map<std::string, nlohmann::json> objects;
  for (const auto& [name, text] : texts) {
    objects[name] = nlohmann::json::parse(text, nullptr, false);
  }
  return objects;
}

class Stress : public ::testing::Test {
 protected:
  Stress() : server_([this](std::shared_ptr<Exchange> asked) { api_->Handle(std::move(asked)); }) {}
  ~Stress() override {
    server_.Stop();
    api_.reset();
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void UseMemory(HistoryLimits limits) {
    store_ = MakeMemoryObjectStore(limits);
    StartApi();
  }
  void UseFolder() {
    folder_ = ::testing::TempDir() + "/stress.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = OpenObjectStore(server_.loop(), store::OpenJournal(folder_).value(), Time()).value();
    StartApi();
  }

  // Writers and watchers at once; every watcher sees every write once and in order, and has in the
  // end what the server has.
  void CheckThatNothingIsLost(int events, int watchers) {
    const std::int64_t start = StoreVersion();
    std::vector<View> views(static_cast<std::size_t>(watchers));
    std::vector<std::thread> watching;
    for (View& mine : views) {
      watching.emplace_back([&] {
        WatchToTheEnd(server_.port(), start, mine);
        mine.count = INT_MAX;  // nobody waits for it
        mine.count.notify_all();
      });
    }
    // A watch that falls out of the history would have to list again, and miss what was in between:
    // so writers wait for watchers that a busy machine starves.
    WriteByAll(server_.port(), events, 50, [&](int written) {
      for (const View& view : views) {
        int seen = view.count;
        while (seen < (written - kLead) * kWriters) {
          view.count.wait(seen);
          seen = view.count;
        }
      }
    });
    Create("end");
    for (std::thread& watcher : watching) watcher.join();
    const auto truth = ServersObjects(server_.port());
    for (const View& mine : views) {
      CheckLives(mine.events, events);
      EXPECT_EQ(Parsed(mine.objects), truth);
    }
  }

  void Create(const std::string& name) {
    RawClient client(server_.port());
    client.Send(Request("POST", kMaps, R"({"metadata":{"name":")" + name + "\"}}"));
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 201"));
  }
  std::int64_t StoreVersion() {
    std::int64_t version = 0;
    server_.OnLoop([&] { version = store_->version(); });
    return version;
  }

  std::string folder_;
  WallClock clock_;
  CountingRandom random_;
  std::unique_ptr<ObjectStore> store_;
  std::optional<ApiServer> api_;
  ServerThread server_;
  LoopTimers timers_{server_.loop()};

 private:
  void StartApi() {
    server_.OnLoop([this] {
      api_.emplace(*store_, timers_, clock_, random_, ApiServerOptions{});
      EXPECT_TRUE(api_->Start());
    });
  }
};

TEST_F(Stress, TwoWritersTenWatchersAHundredThousandEvents) {
  UseMemory({});
  CheckThatNothingIsLost(100'000, 10);
}

TEST_F(Stress, TwoWritersTenWatchersOverAFolder) {
  UseFolder();
  CheckThatNothingIsLost(1'400, 10);
}

TEST_F(Stress, FiveHundredWatchesLiveOnOneThread) {
  constexpr std::size_t kWatches = 500;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  UseMemory({});
  const std::int64_t start = StoreVersion();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t i = 0; i < kWatches; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_.port()));
    clients.back()->Send(WatchRequest(start));
  }
  for (const char* const name : {"one", "two", "three"}) {
    Create(name);
    for (const auto& client : clients) {
      ASSERT_THAT(client->ReadTo("}\n\r\n"), HasSubstr("\"name\":\"" + std::string(name) + "\""));
    }
  }
}

TEST_F(Stress, AWatcherThatDoesNotReadCostsNoMemory) {
  constexpr std::size_t kHistory = std::size_t{4} << 20U;
  UseMemory({.bytes = kHistory});
  RawClient stuck(server_.port());
  stuck.Send(WatchRequest(StoreVersion()));
  stuck.ReadTo("\r\n\r\n");
  const std::size_t before = mallinfo2().uordblks;
  WriteByAll(server_.port(), 30'000, 2'000);  // 60 MB
  EXPECT_LT(mallinfo2().uordblks, before + 3 * kHistory);
  // What was on its way to it comes, and then the end of the stream.
  EXPECT_THAT(stuck.ReadTo("\r\n0\r\n\r\n"), EndsWith("\r\n0\r\n\r\n"));
}

}  // namespace
}  // namespace strata::apiserver
