#include "live/node_lock_book.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/bind_book.h"

namespace strata::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::IsEmpty;
using StepKind = LockStep::Kind;
using Progress = AgentProgress::Phase;
using BindEnd = Binder::Outcome::Kind;

const Time kWall{seconds(1'800'000'000)};
const net::SteadyTime kSteady{seconds(1000)};

BindOrder OrderFor(const std::string& name) {
  return {.pod = {"ns", name, "u-" + name}, .node = "n", .annotations = {}};
}
std::optional<NodeLock> LockOf(Time since, const std::string& pod) {
  return ReadNodeLock({{"hami.io/mutex.lock", NodeLockText(GpuDialect::kHami, since, "ns", pod)}},
                      GpuDialect::kHami);
}

// A book, and a node n that is not locked at first.
struct LockCase {
  std::map<std::string, LockedPod> pods;  // as they are seen
  Duration passed{};
  NodeLockBook book;

  explicit LockCase(GpuDialect dialect = GpuDialect::kHami)
      : book(
            dialect,
            [this](const std::string& name) {
              const auto found = pods.find(name);
              return found == pods.end() ? std::nullopt : std::optional(found->second);
            },
            [] { return 1.0; }) {
    SeeNode("1", std::nullopt);
  }

  [[nodiscard]] NodeLockBook::Moment Now() const { return {kWall + passed, kSteady + passed}; }
  void SeeNode(const std::string& version, std::optional<NodeLock> lock) {
    book.SeeNode("n", version, std::move(lock), Now().steady);
  }
  void SeePod(const std::string& name,
              const std::string& node,
              Progress phase,
              std::optional<Time> bound = std::nullopt) {
    pods["ns/" + name] = {"u-" + name, node, true, {phase, bound}};
    book.SeePod("ns/" + name, Now());
  }
  void Add(const std::string& name) {
    SeePod(name, "", Progress::kNone);
    book.Add(OrderFor(name));
  }
  // What is to be done: "lock p0 at 1", "unlock at 3", "bind p0", "fail p0: why".
  std::vector<std::string> Next() {
    std::vector<std::string> texts;
    for (LockStep& step : book.Next(Now())) {
      const std::string& pod = step.order.pod.name;
      switch (step.kind) {
        case StepKind::kLock:
          texts.push_back(fmt::format("lock {} at {}", pod, step.version));
          break;
        case StepKind::kUnlock:
          texts.push_back(fmt::format("unlock at {}", step.version));
          break;
        case StepKind::kBind:
          texts.push_back("bind " + pod);
          break;
        case StepKind::kFail:
          texts.push_back(fmt::format("fail {}: {}", pod, step.error));
          break;
        case StepKind::kTell:
          texts.push_back("wait for " + step.old_lock);
          break;
      }
      last = std::move(step);
    }
    return texts;
  }
  // The answer to the last write.
  void Answer(LockAnswer answer, const std::string& version = "") {
    book.Take(
        LockStep(last), answer, version, answer == LockAnswer::kDone ? "" : "no", Now().steady);
  }
  void Bound(const std::string& name, bool worked = true) {
    book.TakeBind({worked ? BindEnd::kBound : BindEnd::kFailed, OrderFor(name), ""}, Now().steady);
  }
  // p0 is in flight, p1 waits in line.
  void Launch() {
    Add("p0");
    Add("p1");
    Next();
    Answer(LockAnswer::kDone, "2");
    Next();
    Bound("p0");
    SeeNode("2", LockOf(kWall, "p0"));
    SeePod("p0", "n", Progress::kAllocating);
  }
  LockStep last;
};

using StepTexts = std::vector<std::string>;

TEST(NodeLockBook, LocksBindsAndWaitsForTheAgentBeforeTheNext) {
  LockCase one;
  one.Add("p0");
  one.Add("p1");
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 1"});
  EXPECT_EQ(one.last.lock, "2027-01-15T08:00:00Z,ns,p0");
  EXPECT_THAT(one.Next(), IsEmpty());
  one.Answer(LockAnswer::kDone, "2");
  EXPECT_EQ(one.Next(), StepTexts{"bind p0"});
  one.Bound("p0");
  EXPECT_THAT(one.Next(), IsEmpty()) << "it was not seen on the node yet";
  one.SeePod("p0", "", Progress::kNone);
  EXPECT_THAT(one.Next(), IsEmpty()) << "an older version of it came late";
  one.SeePod("p0", "n", Progress::kAllocating);
  EXPECT_THAT(one.Next(), IsEmpty());
  one.SeePod("p0", "n", Progress::kServed);
  EXPECT_THAT(one.Next(), IsEmpty()) << "the agent is about to release the lock";
  EXPECT_EQ(one.book.waiting(), 1U);
  one.SeeNode("3", std::nullopt);
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 3"});
}

TEST(NodeLockBook, APodThatWasServedBeforeItsBindIsAnsweredIsNotWaitedFor) {
  LockCase one;
  one.Add("p0");
  one.Add("p1");
  one.Next();
  one.Answer(LockAnswer::kDone, "2");
  one.Next();
  one.SeePod("p0", "n", Progress::kServed);
  one.SeeNode("3", std::nullopt);
  one.Bound("p0");
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 3"});
}

TEST(NodeLockBook, APodThatFailedOrIsGoneIsNotWaitedFor) {
  for (const bool gone : {false, true}) {
    LockCase one;
    one.Launch();
    if (gone) {
      one.pods.erase("ns/p0");
      one.book.SeePod("ns/p0", one.Now());
      EXPECT_THAT(one.Next(), IsEmpty()) << "the agent may be about to release the lock";
      one.passed = seconds(10);
    } else {
      one.SeePod("p0", "n", Progress::kNone);
    }
    EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 2"}) << gone;
  }
}

TEST(NodeLockBook, AnAgentHasFiveMinutes) {
  LockCase one;
  one.Launch();
  EXPECT_THAT(one.Next(), IsEmpty());
  EXPECT_EQ(one.book.NextDue(), kSteady + minutes(5));
  one.passed = minutes(5) - milliseconds(1);
  EXPECT_THAT(one.Next(), IsEmpty());
  one.passed = minutes(5);
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 2"});
}

TEST(NodeLockBook, TheLockOfAPodThatTheAgentMayStillServeStaysWhenNobodyWaits) {
  LockCase one;
  one.Launch();
  one.pods.erase("ns/p1");
  one.book.SeePod("ns/p1", one.Now());
  one.passed = minutes(10);
  EXPECT_THAT(one.Next(), IsEmpty());
  EXPECT_EQ(one.book.waiting(), 0U);
}

TEST(NodeLockBook, APodThatAnotherProcessBoundHasHadSomeOfItsTime) {
  LockCase one;
  one.SeePod("p0", "n", Progress::kAllocating, kWall - minutes(4));
  one.Add("p1");
  EXPECT_THAT(one.Next(), IsEmpty());
  EXPECT_EQ(one.book.NextDue(), kSteady + minutes(1));
  // The clock of the other process was ahead.
  LockCase two;
  two.SeePod("p0", "n", Progress::kAllocating, kWall + minutes(40));
  two.Add("p1");
  EXPECT_THAT(two.Next(), IsEmpty());
  EXPECT_EQ(two.book.NextDue(), kSteady + minutes(5));
}

TEST(NodeLockBook, AWriteThatFailedIsTriedAgainLaterOrOnTheNextVersion) {
  LockCase one;
  one.Add("p0");
  one.Next();
  one.Answer(LockAnswer::kNone);
  EXPECT_THAT(one.Next(), IsEmpty());
  ASSERT_TRUE(one.book.NextDue().has_value());
  EXPECT_GT(*one.book.NextDue(), kSteady);
  EXPECT_EQ(one.book.waiting(), 1U);
  one.passed = seconds(1);
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 1"});
  one.Answer(LockAnswer::kNone);
  one.SeeNode("2", std::nullopt);
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 2"}) << "at once";
}

TEST(NodeLockBook, ALockThatWasSetWithoutAnAnswerIsItsOwn) {
  LockCase one;
  one.Add("p0");
  one.Add("p1");
  one.Next();
  one.Answer(LockAnswer::kNone);
  one.SeeNode("2", LockOf(kWall, "p0"));
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 2"});
}

TEST(NodeLockBook, TheOwnerOfTheLockComesFirst) {
  LockCase one;
  one.SeeNode("1", LockOf(kWall, "p1"));
  one.Add("p0");
  one.Add("p1");
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 1"});
}

TEST(NodeLockBook, ABindThatFailedGivesTheLockToTheNextOrReleasesIt) {
  LockCase one;
  one.Add("p0");
  one.Add("p1");
  one.Next();
  one.Answer(LockAnswer::kDone, "2");
  one.Next();
  one.Bound("p0", false);
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 2"});
  one.Answer(LockAnswer::kDone, "3");
  EXPECT_EQ(one.Next(), StepTexts{"bind p1"});
  one.Bound("p1", false);
  EXPECT_EQ(one.Next(), StepTexts{"unlock at 3"});
  one.Answer(LockAnswer::kDone, "4");
  EXPECT_THAT(one.Next(), IsEmpty());
  EXPECT_EQ(one.book.NextDue(), std::nullopt);
}

TEST(NodeLockBook, AReleaseThatFailedIsTriedAgain) {
  LockCase one;
  one.SeePod("p0", "", Progress::kNone);
  one.SeeNode("1", LockOf(kWall, "p0"));
  EXPECT_EQ(one.Next(), StepTexts{"unlock at 1"});
  one.Answer(LockAnswer::kNone);
  EXPECT_THAT(one.Next(), IsEmpty());
  one.passed = seconds(1);
  EXPECT_EQ(one.Next(), StepTexts{"unlock at 1"});
}

TEST(NodeLockBook, AStrangersLockIsLeftAloneWhenNobodyWaits) {
  LockCase one;
  one.pods["ns/x"] = {"u", "", false, {}};
  one.SeeNode("1", LockOf(kWall - minutes(9), "x"));
  EXPECT_THAT(one.Next(), IsEmpty());
  EXPECT_EQ(one.book.NextDue(), std::nullopt);
  one.Add("p0");
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 1"});
  EXPECT_TRUE(one.last.breaks);
}

TEST(NodeLockBook, TellsOnceThatItWaitsForAStranger) {
  LockCase one;
  one.pods["ns/x"] = {"u", "", false, {}};
  one.Add("p0");
  one.SeeNode("2", LockOf(kWall, "x"));
  EXPECT_EQ(one.Next(), StepTexts{"wait for 2027-01-15T08:00:00Z,ns,x"});
  EXPECT_EQ(one.book.NextDue(), kSteady + minutes(5));
  one.SeeNode("3", LockOf(kWall, "x"));
  EXPECT_THAT(one.Next(), IsEmpty());
  one.SeeNode("4", std::nullopt);
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 4"});
}

TEST(NodeLockBook, AWriteThatIsRefusedIsAFailedBind) {
  LockCase one;
  one.Add("p0");
  one.Next();
  one.Answer(LockAnswer::kRefused);
  EXPECT_EQ(one.Next(), StepTexts{"fail p0: cannot lock node n: no"});
}

TEST(NodeLockBook, BindsToANodeThatIsGoneFail) {
  LockCase one;
  one.Launch();
  one.book.DropNode("n", NodeLockBook::Why::kGone);
  EXPECT_FALSE(one.book.Has("n"));
  EXPECT_EQ(one.Next(), StepTexts{"fail p1: node not found"});
  EXPECT_EQ(one.book.waiting(), 0U);
}

TEST(NodeLockBook, ABindWhoseNodeWentWhileItWasLockedFails) {
  LockCase one;
  one.Add("p0");
  one.Next();
  one.book.DropNode("n", NodeLockBook::Why::kGone);
  one.Answer(LockAnswer::kRefused);
  EXPECT_EQ(one.Next(), StepTexts{"fail p0: no"});
}

// A lock as Volcano writes it.
std::optional<NodeLock> TimeLock(Time since) {
  const std::string text = NodeLockText(GpuDialect::kVolcano, since, "", "");
  return ReadNodeLock({{"volcano.sh/mutex.lock", text}}, GpuDialect::kVolcano);
}

TEST(NodeLockBook, KnowsWhomItsOwnLockWithoutANameIsFor) {
  LockCase one(GpuDialect::kVolcano);
  one.Add("p0");
  one.Add("p1");
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 1"});
  EXPECT_EQ(one.last.lock, "2027-01-15T08:00:00Z");
  one.Answer(LockAnswer::kDone, "2");
  EXPECT_EQ(one.Next(), StepTexts{"bind p0"});
  one.SeeNode("2", TimeLock(kWall));
  one.Bound("p0", false);
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 2"}) << "a bind that failed gives the lock away";
  one.Answer(LockAnswer::kNone);
  one.SeeNode("3", TimeLock(kWall));
  EXPECT_EQ(one.Next(), StepTexts{"lock p1 at 3"}) << "the answer was lost: it has the lock";
  one.Answer(LockAnswer::kDone, "4");
  EXPECT_EQ(one.Next(), StepTexts{"bind p1"});
  one.Bound("p1", false);
  EXPECT_EQ(one.Next(), StepTexts{"unlock at 4"});
}

TEST(NodeLockBook, ALockWithoutANameThatAnotherProcessSetIsWaitedFor) {
  LockCase one(GpuDialect::kVolcano);
  one.SeeNode("2", TimeLock(kWall - minutes(4)));
  one.Add("p0");
  EXPECT_EQ(one.Next(), StepTexts{"wait for 2027-01-15T07:56:00Z"});
  one.passed = minutes(1);
  EXPECT_EQ(one.Next(), StepTexts{"lock p0 at 2"});
  EXPECT_TRUE(one.last.breaks);
}

TEST(NodeLockBook, BindsToANodeThatNeedsNoLockAnyMoreGoOn) {
  LockCase one;
  one.Launch();
  one.book.DropNode("n", NodeLockBook::Why::kNeedsNoLock);
  EXPECT_EQ(one.Next(), StepTexts{"bind p1"});
}

// ---- random sequences

// One node with its pods, an agent, another scheduler, and watches that are late. Whatever happens,
// the agent finds the lock of the pod that it is to serve.
class LockWorld {
 public:
  explicit LockWorld(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 8; ++i) pods_[fmt::format("ns/p{}", i)] = {};
    StartBook();
  }

  // Returns what went wrong.
  std::vector<std::string> Run() {
    for (int tick = 0; tick < 600; ++tick) {
      if (OneIn(40)) Restart();
      if (OneIn(60)) ForeignerLocks();
      if (OneIn(90)) DeleteSomebody();
      Tick();
    }
    calm_ = true;
    for (int tick = 0; tick < 40'000 && !IsDone(); ++tick) Tick();
    if (!IsDone()) Complain("not everything was served");
    for (int tick = 0; tick < 200; ++tick) Tick();
    // That of a pod that is gone may stay until somebody needs the node.
    if (const auto lock = ReadLock(); lock && pods_.contains(lock->owner)) {
      Complain("a lock is left: " + lock_);
    }
    if (book_->waiting() != 0 || book_->NextDue()) Complain("the book is not at rest");
    return problems_;
  }

 private:
  struct Pod {
    bool bound = false;
    Progress phase = Progress::kNone;
    std::optional<Time> bind_time = {};
  };

  bool OneIn(int n) { return !calm_ && random_() % static_cast<unsigned>(n) == 0; }
  Duration Soon(int max_ms) { return milliseconds(random_() % static_cast<unsigned>(max_ms)); }
  void Complain(std::string text) {
    problems_.push_back(fmt::format("{} ms: {}", passed_.count(), std::move(text)));
  }
  [[nodiscard]] NodeLockBook::Moment Now() const { return {kWall + passed_, kSteady + passed_}; }
  static std::string NameIn(const std::string& pod) { return pod.substr(3); }

  enum class Place : std::uint8_t { kServer, kScheduler, kNode };
  void After(Duration delay, Place place, std::function<void()> task) {
    events_.emplace(passed_ + delay, std::pair(place, std::move(task)));
  }

  void StartBook() {
    seen_.clear();
    added_.clear();
    book_ = std::make_unique<NodeLockBook>(
        GpuDialect::kHami,
        [this](const std::string& pod) {
          const auto found = seen_.find(pod);
          return found == seen_.end() ? std::nullopt : std::optional(found->second);
        },
        [] { return 1.0; });
    if (!foreigner_.empty()) seen_[foreigner_] = {"u", "n", false, {}};
    for (const auto& [name, pod] : pods_) See(name, pod);
    book_->SeeNode("n", std::to_string(version_), ReadLock(), Now().steady);
    last_sight_ = passed_;
  }
  // What the old one sent is carried out now or never; it hears nothing more.
  void Restart() {
    const auto events = std::exchange(events_, {});
    for (const auto& [due, event] : events) {
      if (event.first == Place::kNode) events_.emplace(due, event);
      if (event.first == Place::kServer && OneIn(2)) event.second();
    }
    std::erase_if(events_, [](const auto& event) { return event.second.first != Place::kNode; });
    StartBook();
  }

  [[nodiscard]] std::optional<NodeLock> ReadLock() const {
    if (lock_.empty()) return std::nullopt;
    return ReadNodeLock({{"hami.io/mutex.lock", lock_}}, GpuDialect::kHami);
  }
  void See(const std::string& name, const Pod& pod) {
    seen_[name] = {"u-" + NameIn(name), pod.bound ? "n" : "", true, {pod.phase, pod.bind_time}};
    book_->SeePod(name, Now());
  }
  // Watches are late, and keep the order.
  void Show(std::function<void()> sight) {
    last_sight_ = std::max(last_sight_, passed_ + Soon(400));
    After(last_sight_ - passed_, Place::kScheduler, std::move(sight));
  }
  void ShowNode() {
    Show([this, version = std::to_string(++version_), lock = ReadLock()] {
      book_->SeeNode("n", version, lock, Now().steady);
    });
  }
  void ShowPod(const std::string& name) {
    const auto found = pods_.find(name);
    if (found == pods_.end()) {
      return Show([this, name] {
        seen_.erase(name);
        book_->SeePod(name, Now());
      });
    }
    Show([this, name, pod = found->second] { See(name, pod); });
  }

  void ForeignerLocks() {
    if (!lock_.empty() || !foreigner_.empty()) return;
    foreigner_ = fmt::format("ns/x{}", version_);
    seen_[foreigner_] = {"u", "n", false, {}};
    lock_ = NodeLockText(GpuDialect::kHami, Now().wall, "ns", NameIn(foreigner_));
    ShowNode();
    const bool releases = !OneIn(3);
    After(Soon(20'000), Place::kNode, [this, releases, mine = lock_] {
      if (releases && lock_ == mine) {
        lock_.clear();
        ShowNode();
      }
      const std::string gone = std::exchange(foreigner_, "");
      Show([this, gone] {
        seen_.erase(gone);
        book_->SeePod(gone, Now());
      });
    });
  }
  void DeleteSomebody() {
    const auto pod =
        std::next(pods_.begin(), static_cast<std::ptrdiff_t>(random_() % pods_.size()));
    const std::string name = pod->first;
    if (pods_.size() == 1) return;
    pods_.erase(pod);
    ShowPod(name);
  }

  void Tick() {
    while (!events_.empty() && events_.begin()->first <= passed_) {
      auto event = events_.extract(events_.begin());
      event.mapped().second();
    }
    for (const auto& [name, pod] : seen_) {
      const bool waits = pod.ours && pod.node.empty() && !added_.contains(name);
      if (!waits || (!calm_ && !OneIn(5))) continue;
      added_.insert(name);
      book_->Add(OrderFor(NameIn(name)));
    }
    for (const LockStep& step : book_->Next(Now())) Do(step);
    passed_ += milliseconds(100);
  }

  void Do(const LockStep& step) {
    const std::string pod = NameOf(step.order.pod);
    if (step.kind == StepKind::kTell) return;
    if (step.kind == StepKind::kFail) {
      added_.erase(pod);
    } else if (step.kind == StepKind::kBind) {
      After(Soon(300), Place::kServer, [this, step, pod] { Bind(step.order, pod); });
    } else {
      After(Soon(300), Place::kServer, [this, step] { Patch(step); });
    }
  }
  void Patch(const LockStep& step) {
    const bool carried_out = step.version == std::to_string(version_) && !OneIn(20);
    if (carried_out) {
      lock_ = step.lock;
      ShowNode();
    }
    const bool answered = carried_out && !OneIn(20);
    const std::string version = std::to_string(version_);
    After(Soon(300), Place::kScheduler, [this, step, answered, version] {
      const LockAnswer answer = answered ? LockAnswer::kDone : LockAnswer::kNone;
      book_->Take(step, answer, version, "", Now().steady);
    });
  }
  void Bind(const BindOrder& order, const std::string& name) {
    const auto found = pods_.find(name);
    const bool works = found != pods_.end() && !found->second.bound && !OneIn(10);
    if (works) {
      for (const auto& [other, pod] : pods_) {
        if (pod.phase == Progress::kAllocating) Complain(name + " is bound beside " + other);
      }
      found->second = {true, Progress::kAllocating, Now().wall};
      ShowPod(name);
      After(Soon(3000), Place::kNode, [this, name] { Serve(name); });
    }
    After(Soon(300), Place::kScheduler, [this, order, name, works] {
      book_->TakeBind({works ? BindEnd::kBound : BindEnd::kFailed, order, ""}, Now().steady);
      if (!works) added_.erase(name);
    });
  }
  void Serve(const std::string& name) {
    const auto found = pods_.find(name);
    if (found == pods_.end()) return;
    const auto lock = ReadLock();
    if (!lock || lock->owner != name) Complain("the agent serves " + name + " under " + lock_);
    found->second.phase = Progress::kServed;
    ShowPod(name);
    if (OneIn(10)) return;  // the agent dies
    After(Soon(2000), Place::kNode, [this, mine = lock_] {
      if (lock_ != mine) return;
      lock_.clear();
      ShowNode();
    });
  }
  [[nodiscard]] bool IsDone() const {
    return std::all_of(pods_.begin(), pods_.end(), [](const auto& entry) {
      return entry.second.phase == Progress::kServed;
    });
  }

  std::mt19937 random_;
  bool calm_ = false;
  Duration passed_{};
  Duration last_sight_{};
  std::multimap<Duration, std::pair<Place, std::function<void()>>> events_;
  std::map<std::string, Pod> pods_;
  std::string lock_;
  int version_ = 1;
  std::string foreigner_;
  std::map<std::string, LockedPod> seen_;
  std::set<std::string> added_;
  std::unique_ptr<NodeLockBook> book_;
  std::vector<std::string> problems_;
};

TEST(NodeLockBook, WhateverHappensTheAgentFindsTheLockOfThePodThatItServes) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    LockWorld world(seed);
    EXPECT_THAT(world.Run(), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace strata::live
