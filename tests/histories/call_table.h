#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/histories/process.h"

namespace strata::histories {

enum class Trouble : std::uint8_t { kCut, kLostAnswer, k409, k410, k429, k500, k503, kLate };
enum class Leader : std::uint8_t { kStays, kChanges };

// The first call of that kind meets that trouble.
struct CallCase {
  std::string call;  // "scheduler POST pods/binding", "controllers GET jobs watch"
  Trouble trouble = Trouble::kCut;
  Leader leader = Leader::kStays;

  [[nodiscard]] std::string Text() const;
};

// A cluster with two schedulers and two processes of controllers that does the same every time, but
// for the cases that its calls meet, one after the other.
class CalledCluster {
 public:
  explicit CalledCluster(std::vector<CallCase> cases);
  CalledCluster(const CalledCluster&) = delete;
  CalledCluster& operator=(const CalledCluster&) = delete;
  virtual ~CalledCluster();

  // Runs until all cases were met and the cluster is as `wanted` says; the state in which it ends
  // up. Without `wanted` it runs for as long as a quiet one needs.
  std::string Run(const std::optional<std::string>& wanted);
  void RunFor(Duration time) { timeline_.RunUntil(timeline_.now() + time); }

  [[nodiscard]] Server& server() { return server_; }
  [[nodiscard]] Process& process(const std::string& name) { return *processes_.at(name); }
  [[nodiscard]] const std::set<std::string>& calls() const { return calls_; }
  [[nodiscard]] bool MetAll() const { return met_ == cases_.size(); }
  [[nodiscard]] const std::string& trace() const { return trace_.text(); }

 protected:
  // How long it takes until nothing happens any more where no call meets trouble.
  [[nodiscard]] virtual Duration QuietTime() const = 0;
  // What there is, by name and without uids. Plays the kubelets, too: it is looked at every second.
  virtual std::string State() = 0;

  void After(Duration wait, std::function<void()> what) { timeline_.After(wait, std::move(what)); }
  void Create(const std::string& path, const nlohmann::json& object);
  void AddNode(const std::string& name,
               const nlohmann::json& allocatable,
               const nlohmann::json& annotations = nlohmann::json::object());
  void CreateJob(const std::string& name, int pods, int cpus, const std::string& priority = "");
  void CreateGang(const std::string& name,
                  int pods,
                  nlohmann::json pod,
                  const std::string& priority = "");
  [[nodiscard]] static nlohmann::json PodOf(int cpus);
  void SetRunning(const std::string& pod);
  // Lines of all PodGroups and Jobs.
  [[nodiscard]] std::string StateOfGroups();
  [[nodiscard]] std::string StateOfJobs();

 private:
  Fate Meet(std::string_view process, const net::HttpRequest& request);
  void AddLease(const std::string& name);

  const std::vector<CallCase> cases_;
  std::size_t met_ = 0;
  std::set<std::string> calls_;
  Random random_{1};
  Timeline timeline_;
  Trace trace_{timeline_};
  Server server_{timeline_, Random(2), 100'000};
  Faults faults_{Random(3)};
  const World world_{timeline_,
                     server_,
                     faults_,
                     trace_,
                     [] {},
                     [](int) {},
                     [](const std::string&) {},
                     [](const auto&, const auto&, const auto&) {}};
  std::map<std::string, std::unique_ptr<Process>> processes_;
};

// All calls that a cluster makes, each with every trouble, with a leader that stays and with one
// that is killed.
class CallTable {
 public:
  using Make = std::function<std::unique_ptr<CalledCluster>(std::vector<CallCase>)>;
  using Choice = std::function<bool(const std::string& call)>;
  // `chooses` says which calls are in the table.
  explicit CallTable(
      Make make, Choice chooses = [](const std::string&) { return true; });

  // Each case in a cluster of its own that must end up as `wanted()`; one in so many of them, as
  // STRATA_EVERY says. A call that only a trouble makes joins the table, behind the trouble that
  // made it. Prints the table.
  void RunAll();

  [[nodiscard]] const std::map<std::string, std::vector<CallCase>>& table() const { return table_; }
  [[nodiscard]] const std::string& wanted() const { return wanted_; }

 private:
  void RunOne(std::vector<CallCase> cases, CallCase last);
  void Add(const CalledCluster& cluster, const std::vector<CallCase>& before);

  const Make make_;
  const Choice chooses_;
  std::string wanted_;
  std::map<std::string, std::vector<CallCase>> table_;  // what must happen before the call is made
};

}  // namespace strata::histories
