#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/cache.h"
#include "controllers/controller.h"
#include "controllers/discovery_plan.h"
#include "discovery/config.h"
#include "discovery/permissions.h"
#include "kube/client.h"
#include "obs/log.h"
#include "obs/metric_families.h"

namespace strata::controllers {

// Asks the sources of HyperNodes on their intervals. Each is asked on a thread of its own, so that
// one that hangs delays nobody; answers are put together one after the other, with the cluster as
// it is then. A source that fails, or whose answer could not be written, is asked again soon, at
// first after a second; an answer that lacks many nodes is believed when the source says so for the
// third time, an interval apart. Sources that read the nodes' own labels are asked when nodes
// change, too, and always believed.
class Discoverers {
 public:
  struct Outside {
    kube::Client& client;
    const Cache& cache;
    const obs::Log& log;
    const Clock& clock;
    discovery::MakeReader make_reader;
    discovery::Permissions permissions;  // an entry that asks for more cannot start
    std::function<void()> wake;          // Work is to be called; any thread
  };
  // What is outside must outlive it.
  explicit Discoverers(Outside outside);
  Discoverers(const Discoverers&) = delete;
  Discoverers& operator=(const Discoverers&) = delete;
  // Does not wait for sources that are being asked; nothing is woken afterwards.
  ~Discoverers();

  // Takes a new configuration; one that cannot be read leaves the old one in force. The same text
  // again changes nothing. Events about sources go to `about`, where there is an object; they quote
  // nothing that a source answered. From any thread.
  [[nodiscard]] Status Configure(const std::string& text,
                                 const std::string& name,
                                 std::optional<kube::ObjectReference> about);

  // Nodes came, went or changed their labels; or HyperNodes went. From any thread.
  void NoteNodesChanged();

  // Starts what is due, and plans what the next answer changes. On one thread at a time.
  [[nodiscard]] Controller::Work Work();

  // Gauges by source: does it answer, when did it last.
  [[nodiscard]] obs::Families Metrics() const;

 private:
  struct Source {
    discovery::SourceConfig config;
    net::SteadyTime due{};
    bool asked = false;  // an answer is under way
    bool stale = false;  // nodes have changed since it was asked
    int failures = 0;    // in a row: no answer, or one that was not written yet
    int shrunken = 0;    // in a row
    bool good = false;
    Time last_good{};
  };
  struct Arrived {
    std::string title;
    int generation = 0;
    ReaderAnswers answers;
  };
  // Outlives a source that is still being asked when this is destroyed.
  struct Inbox {
    Mutex mutex;
    std::vector<Arrived> arrived GUARDED_BY(mutex);
    std::function<void()> wake GUARDED_BY(mutex);
  };

  // One source to be asked, or one that has answered.
  struct Step {
    discovery::SourceConfig source;
    std::vector<discovery::SourceConfig> all;
    int generation = 0;
    std::optional<ReaderAnswers> answers;
    discovery::Shrink shrink = discovery::Shrink::kRefuse;
  };

  // What intervals and delays are measured by: nobody can set it.
  [[nodiscard]] net::SteadyTime SteadyNow() const;
  [[nodiscard]] std::string RefusalOf(const discovery::SourceConfig& entry,
                                      const std::string& name) const;
  [[nodiscard]] std::optional<Step> NextStep(std::optional<Duration>& wait);
  [[nodiscard]] std::optional<Arrived> NextAnswer() REQUIRES(mutex_);
  [[nodiscard]] Step StepFor(const Source& source) const REQUIRES(mutex_);
  [[nodiscard]] DiscoveryView ViewFor(const Step& step) const;
  void Ask(const Step& step);
  // False when the configuration is another by now.
  [[nodiscard]] bool TakeOutcome(const Step& step, DiscoveryOutcome& outcome);
  void TellFailure(const std::string& error, std::vector<kube::EventNote>& events) REQUIRES(mutex_);
  // Reports sources that cannot be started, once.
  void TellUnable(std::vector<kube::EventNote>& events);
  // What the source said is in the cluster.
  void NoteWritten(const std::string& title, int generation);

  Outside outside_;
  std::shared_ptr<Inbox> inbox_;
  mutable Mutex mutex_;
  std::optional<std::string> text_ GUARDED_BY(mutex_);
  std::optional<kube::ObjectReference> about_ GUARDED_BY(mutex_);
  std::vector<discovery::SourceConfig> all_ GUARDED_BY(mutex_);
  // By title: those that can be asked.
  std::map<std::string, Source> sources_ GUARDED_BY(mutex_);
  std::vector<std::string> unable_ GUARDED_BY(mutex_);  // why sources cannot be started, to be told
  int generation_ GUARDED_BY(mutex_) = 0;
};

}  // namespace strata::controllers
