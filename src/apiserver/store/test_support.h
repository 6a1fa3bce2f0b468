#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/store/commit.h"
#include "apiserver/store/object_store_impl.h"

namespace strata::apiserver {

// A disk that commits when the test says so, and as it says.
class FakeDisk {
 public:
  using Rows = std::map<std::tuple<std::string, std::string, std::string>,
                        std::pair<std::int64_t, std::string>>;

  [[nodiscard]] bool busy() const { return done_ != nullptr; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::int64_t version() const { return version_; }

  // Ends the commit that is under way. REQUIRES: busy().
  void Succeed() {
    for (const store::Write& write : writes_) {
      const auto key = std::tuple<std::string, std::string, std::string>(
          write.row.resource, write.row.ns, write.row.name);
      if (write.kind == store::Write::Kind::kDelete) {
        rows_.erase(key);
      } else {
        rows_[key] = {write.row.version, std::string(write.row.body)};
      }
    }
    version_ = next_version_;
    Finish({});
  }
  // The process dies with a commit under way.
  void Forget() {
    writes_.clear();
    done_ = nullptr;
  }
  void Fill() { Finish(tl::unexpected(store::DiskFull("strata.db"))); }
  void Break() { Finish(Fail(Code::kUnavailable, "strata.db: disk I/O error")); }

  [[nodiscard]] std::unique_ptr<CommitLog> MakeLog() { return std::make_unique<Log>(*this); }
  // What a new process would find.
  [[nodiscard]] std::unique_ptr<ObjectStoreImpl> OpenStore(HistoryLimits limits) {
    auto store = std::make_unique<ObjectStoreImpl>(limits, version_);
    for (const auto& [key, value] : rows_) {
      const Status restored = store->Restore({.resource = std::get<0>(key),
                                              .ns = std::get<1>(key),
                                              .name = std::get<2>(key),
                                              .version = value.first,
                                              .body = value.second});
      EXPECT_TRUE(restored);
    }
    store->CommitBy(MakeLog());
    return store;
  }

 private:
  class Log final : public CommitLog {
   public:
    explicit Log(FakeDisk& disk) : disk_(disk) {}
    void Commit(std::vector<store::Write> writes,
                std::int64_t last_version,
                std::function<void(Status)> done) override {
      EXPECT_FALSE(disk_.busy());
      disk_.writes_ = std::move(writes);
      disk_.next_version_ = last_version;
      disk_.done_ = std::move(done);
    }

   private:
    FakeDisk& disk_;
  };

  void Finish(Status status) {
    writes_.clear();
    std::exchange(done_, nullptr)(std::move(status));
  }

  Rows rows_;
  std::int64_t version_ = 0;
  std::int64_t next_version_ = 0;
  std::vector<store::Write> writes_;
  std::function<void(Status)> done_;
};

inline ObjectKey PodKey(const std::string& name, const std::string& ns = "default") {
  return {.resource = "pods", .ns = ns, .name = name};
}

inline nlohmann::json PodNamed(const std::string& name, const std::string& text = "") {
  return {{"metadata", {{"name", name}, {"uid", "uid-" + name}}}, {"spec", {{"text", text}}}};
}

// What a write was told, when it was told.
struct Outcome {
  std::optional<Result<ObjectRef>> result;
  [[nodiscard]] ObjectStore::Done Done() {
    return [this](Result<ObjectRef> told) {
      EXPECT_FALSE(result.has_value()) << "told twice";
      result = std::move(told);
    };
  }
};

}  // namespace strata::apiserver
