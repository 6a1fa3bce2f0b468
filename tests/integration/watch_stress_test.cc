// Watches under load: the object store behind the HTTP server, with real sockets on both sides.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/store/object_store_factory.h"
#include "base/ascii.h"
#include "net/http_test_client.h"
#include "store/journal.h"

namespace strata::apiserver {
namespace {

using net::Exchange;
using net::RawClient;
using net::ServerThread;

constexpr int kWriters = 2;
constexpr int kObjectsPerWriter = 100;
constexpr std::size_t kInFlight = 64;  // requests that a writer sends ahead

// One line per change: name, version, what happened, a large object's body. Ends when the watcher
// was too slow.
class ChangeLines final : public net::BodySource {
 public:
  ChangeLines(const ObjectStore& store, WatchPosition position, ObjectStore::Token token)
      : store_(store), position_(std::move(position)), token_(std::move(token)) {}
  More Pull(std::string& out) override {
    while (out.size() < 60'000) {
      const Result<const Change*> change = store_.Next(position_);
      if (!change) return More::kEnd;
      if (*change == nullptr) return out.empty() ? More::kLater : More::kReady;
      out += (*change)->after->name + " " + std::to_string((*change)->version) + " " +
             std::to_string(static_cast<int>((*change)->kind));
      if ((*change)->after->body.size() > 1000) out += " " + (*change)->after->body;
      out += "\n";
    }
    return More::kReady;
  }

 private:
  const ObjectStore& store_;
  WatchPosition position_;
  ObjectStore::Token token_;
};

// PUT /name writes an object (a new state of it each time, and each seventh time its deletion), GET
// /?version watches.
class StoreHandler {
 public:
  explicit StoreHandler(ObjectStore& store) : store_(store) {}

  void operator()(const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().method == "GET") return Watch(exchange);
    const ObjectKey key{"things", "", exchange->request().path.substr(1)};
    const ObjectRef before = store_.GetLatest(key);
    const std::int64_t expected = before == nullptr ? 0 : before->version;
    nlohmann::json object = {{"metadata", {{"name", key.name}}},
                             {"data", exchange->request().body}};
    const auto done = [exchange](const Result<ObjectRef>& written) {
      exchange->Respond({.status = 200,
                         .headers = {},
                         .body = written ? std::to_string((*written)->version) : "0"});
    };
    if (before != nullptr && ++count_ % 7 == 0) {
      store_.Delete(key, expected, std::move(object), done);
    } else {
      store_.Put(key, expected, std::move(object), done);
    }
  }

 private:
  void Watch(const std::shared_ptr<Exchange>& exchange) {
    const std::int64_t version =
        WholeNumber(exchange->request().query, INT64_MAX).value_or(store_.version());
    const Result<WatchPosition> position = store_.WatchFrom("things", version);
    if (!position) return exchange->Respond({.status = 410, .headers = {}, .body = {}});
    // The connection goes when its peer does, and the source with it.
    auto token = store_.Subscribe("things", [exchange] { exchange->Wake(); });
    exchange->RespondStream({}, std::make_unique<ChangeLines>(store_, *position, std::move(token)));
  }

  ObjectStore& store_;
  int count_ = 0;
};

std::string PutRequest(const std::string& name, const std::string& body) {
  return "PUT /" + name + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// Writes `count` times, over its own objects in turn, and returns the versions it was given.
std::vector<std::int64_t> WriteMany(std::uint16_t port, int writer, int count, std::size_t bytes) {
  RawClient client(port);
  const std::string body(bytes, 'x');
  std::vector<std::int64_t> versions;
  int sent = 0;
  while (static_cast<int>(versions.size()) < count) {
    std::string ahead;
    while (sent < count && static_cast<std::size_t>(sent) - versions.size() < kInFlight) {
      const std::string name =
          "w" + std::to_string(writer) + "-" + std::to_string(sent % kObjectsPerWriter);
      ahead += PutRequest(name, body);
      ++sent;
    }
    client.Send(ahead);
    const std::string answer = client.ReadAnswer();
    const std::size_t end = answer.rfind("\r\n");
    if (end == std::string::npos) break;
    versions.push_back(WholeNumber(answer.substr(end + 2), INT64_MAX).value_or(-1));
  }
  return versions;
}

struct Seen {
  std::string name;
  std::int64_t version = 0;
};

// Reads lines until a change of the object "end" comes; begins again where it was when the stream
// ends before.
std::vector<Seen> WatchToTheEnd(std::uint16_t port, std::int64_t from) {
  std::vector<Seen> seen;
  for (;;) {
    RawClient client(port);
    client.Send("GET /?" + std::to_string(from) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string head = client.ReadTo("\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 200")) {
      ADD_FAILURE() << head;
      return seen;
    }
    for (;;) {
      const std::string line = client.ReadTo("\n");
      if (!line.ends_with("\n")) break;  // cut off
      const std::vector<std::string_view> words = Split(Trim(line), ' ');
      if (words.size() != 3) continue;  // the size of a chunk, and the end of the one before
      from = WholeNumber(words[1], INT64_MAX).value_or(-1);
      if (words[0] == "end") return seen;
      seen.push_back({.name = std::string(words[0]), .version = from});
    }
  }
}

// A store behind a server.
class Stress : public ::testing::Test {
 protected:
  Stress()
      : server_([this](const std::shared_ptr<Exchange>& exchange) { (*handler_)(exchange); }) {}
  ~Stress() override {
    server_.Stop();
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void UseMemory(HistoryLimits limits = {}) {
    store_ = MakeMemoryObjectStore(limits);
    handler_.emplace(*store_);
  }
  void UseFolder() {
    folder_ = ::testing::TempDir() + "/stress.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = OpenObjectStore(server_.loop(), store::OpenJournal(folder_).value()).value();
    handler_.emplace(*store_);
  }

  // Writers and watchers at once; every watcher sees every write once and in order.
  void CheckThatNothingIsLost(int events, int watchers) {
    const std::int64_t start = store_->version();
    std::vector<std::vector<Seen>> seen(static_cast<std::size_t>(watchers));
    std::vector<std::thread> watching;
    for (auto& mine : seen) {
      watching.emplace_back([&] { mine = WatchToTheEnd(server_.port(), start); });
    }
    const std::set<std::int64_t> written = WriteByAll(events, 50);
    EXPECT_EQ(written.size(), static_cast<std::size_t>(events));
    RawClient last(server_.port());
    last.Send(PutRequest("end", ""));
    last.ReadAnswer();
    for (std::thread& watcher : watching) watcher.join();
    for (const std::vector<Seen>& mine : seen) {
      // In order as a whole, so also for each object; none twice, none missing.
      std::vector<std::int64_t> versions;
      for (const Seen& change : mine) versions.push_back(change.version);
      EXPECT_TRUE(std::equal(versions.begin(), versions.end(), written.begin(), written.end()));
    }
  }

  // The versions that all writers together were given.
  std::set<std::int64_t> WriteByAll(int events, std::size_t bytes) {
    std::vector<std::vector<std::int64_t>> written(kWriters);
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        written[static_cast<std::size_t>(i)] =
            WriteMany(server_.port(), i, events / kWriters, bytes);
      });
    }
    for (std::thread& writer : writers) writer.join();
    std::set<std::int64_t> all;
    for (const auto& versions : written) all.insert(versions.begin(), versions.end());
    return all;
  }

  std::string folder_;
  std::unique_ptr<ObjectStore> store_;
  std::optional<StoreHandler> handler_;
  ServerThread server_;
};

TEST_F(Stress, TwoWritersTenWatchersAHundredThousandEvents) {
  UseMemory();
  CheckThatNothingIsLost(100'000, 10);
}

TEST_F(Stress, TwoWritersTenWatchersOverAFolder) {
  UseFolder();
  CheckThatNothingIsLost(1'000, 10);
}

TEST_F(Stress, AWatcherThatDoesNotReadCostsNoMemory) {
  constexpr std::size_t kHistory = std::size_t{4} << 20;
  UseMemory({.bytes = kHistory});
  RawClient stuck(server_.port());
  stuck.Send("GET /?1 HTTP/1.1\r\nHost: x\r\n\r\n");
  stuck.ReadTo("\r\n\r\n");
  const std::size_t before = mallinfo2().uordblks;
  WriteByAll(30'000, 2'000);  // 60 MB
  EXPECT_LT(mallinfo2().uordblks, before + 3 * kHistory);
  // What was on its way to it comes, and then the end of the stream.
  EXPECT_THAT(stuck.ReadTo("0\r\n\r\n"), ::testing::EndsWith("0\r\n\r\n"));
}

}  // namespace
}  // namespace strata::apiserver
