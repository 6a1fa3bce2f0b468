// Watches under load: the whole API server behind real sockets, with plain clients.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// The `count`th write of a writer, over its own objects in turn.
std::string WriteRequest(int writer, int count, std::size_t bytes) {
  const std::string name =
      "w" + std::to_string(writer) + "-" + std::to_string(count % kObjectsPerWriter);
  const int step = count / kObjectsPerWriter % kLife;
  const std::string path = std::string(kMaps) + "/" + name;
  if (step == kLife - 1) return Request("DELETE", path, "");
  const std::string body = R"({"metadata":{"name":")" + name + R"("},"data":{"step":")" +
                           std::to_string(count) + R"(","fill":")" + std::string(bytes, 'x') +
                           "\"}}";
  return step == 0 ? Request("POST", kMaps, body) : Request("PUT", path, body);
}

// Writes `count` times; every write is acknowledged.
void WriteMany(std::uint16_t port, int writer, int count, std::size_t bytes) {
  RawClient client(port);
  int sent = 0;
  for (int answered = 0; answered < count; ++answered) {
    std::string ahead;
    while (sent < count && sent - answered < static_cast<int>(kInFlight)) {
      ahead += WriteRequest(writer, sent++, bytes);
    }
    client.Send(ahead);
    ASSERT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 20"));
  }
}

void WriteByAll(std::uint16_t port, int events, std::size_t bytes) {
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([=] { WriteMany(port, i, events / kWriters, bytes); });
  }
  for (std::thread& writer : writers) writer.join();
}

struct Seen {
  std::string type;
  std::string name;
  std::int64_t version = 0;
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
          .version = WholeNumber(Quoted(line, R"("resourceVersion":")"), INT64_MAX).value_or(-1)};
}

std::string WatchRequest(std::int64_t from) {
  return "GET " + std::string(kMaps) + "?watch=true&resourceVersion=" + std::to_string(from) +
         " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// Reads events until the object "end" comes; goes on where it was when the stream ends before.
std::vector<Seen> WatchToTheEnd(std::uint16_t port, std::int64_t from) {
  std::vector<Seen> seen;
  for (;;) {
    RawClient client(port);
    client.Send(WatchRequest(from));
    const std::string head = client.ReadTo("\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 200")) {
      ADD_FAILURE() << head;
      return seen;
    }
    for (;;) {
      const std::string line = client.ReadTo("\n");
      if (!line.ends_with("\n")) break;              // cut off
      if (!line.starts_with("{\"type\"")) continue;  // the size of a chunk, the end of another
      Seen event = ReadEvent(line);
      if (event.type == "ERROR") {
        ADD_FAILURE() << line;
        return seen;
      }
      from = event.version;
      if (event.name == "end") return seen;
      seen.push_back(std::move(event));
    }
  }
}

// No event is lost, doubled or out of order: of each object its whole life, as it was written.
void CheckLives(const std::vector<Seen>& seen, int events) {
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(events));
  std::int64_t last = 0;
  std::map<std::string, int> steps;
  for (const Seen& event : seen) {
    ASSERT_GT(event.version, last);
    last = event.version;
    const int step = steps[event.name]++ % kLife;
    const char* wanted = step == 0 ? "ADDED" : step == kLife - 1 ? "DELETED" : "MODIFIED";
    ASSERT_EQ(event.type, wanted) << event.name << " at " << event.version;
  }
  EXPECT_EQ(steps.size(), static_cast<std::size_t>(kWriters * kObjectsPerWriter));
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
    store_ = OpenObjectStore(server_.loop(), store::OpenJournal(folder_).value()).value();
    StartApi();
  }

  // Writers and watchers at once; every watcher sees every write once and in order.
  void CheckThatNothingIsLost(int events, int watchers) {
    const std::int64_t start = StoreVersion();
    std::vector<std::vector<Seen>> seen(static_cast<std::size_t>(watchers));
    std::vector<std::thread> watching;
    for (auto& mine : seen) {
      watching.emplace_back([&] { mine = WatchToTheEnd(server_.port(), start); });
    }
    WriteByAll(server_.port(), events, 50);
    Create("end");
    for (std::thread& watcher : watching) watcher.join();
    for (const std::vector<Seen>& mine : seen) CheckLives(mine, events);
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
  // Room for watchers that a busy machine starves: whoever falls out of it would have to list
  // again.
  UseMemory({.events = 200'000, .bytes = std::size_t{512} << 20U});
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
