#include "explain/render_explain.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "explain/eviction_text.h"
#include "model/amount_format.h"
#include "model/hypernode_spec.h"
#include "report/names.h"

namespace strata {
namespace {

constexpr std::string_view kOfNodes = "node(s) ";  // how kube-scheduler begins such reasons
constexpr std::size_t kShownHolders = 3;
constexpr std::size_t kShownLinks = 6;  // all of 4 GPUs
constexpr std::size_t kShownPods = 8;
constexpr std::size_t kShownScores = 5;

// As tables call it: the virtual top is the cluster.
std::string Shown(const std::string& hypernode) {
  return hypernode == kTopHyperNodeName ? "(cluster)" : hypernode;
}

std::string ShownSome(const std::vector<std::string>& hypernodes) {
  std::vector<std::string> names;
  names.reserve(hypernodes.size());
  for (const std::string& name : hypernodes) names.push_back(Shown(name));
  return NameSome(names);
}

std::string AmountsText(const std::map<std::string, Amount>& amounts) {
  std::vector<std::string> parts;
  parts.reserve(amounts.size());
  for (const auto& [name, amount] : amounts) {
    parts.push_back(fmt::format("{} {}", FormatNumber(name, amount), name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Scores(const std::vector<Explanation::NamedScore>& scores, std::string_view skip) {
  std::vector<std::string> parts;
  std::size_t more = 0;
  for (const auto& [name, score] : scores) {
    if (name == skip) continue;
    if (parts.size() == kShownScores) {
      ++more;
      continue;
    }
    parts.push_back(fmt::format("{} {:.3f}", Shown(name), ToDouble(score)));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return text;
}

const std::string& Called(const Explanation& story, const std::string& group) {
  const auto known = story.own_names.find(group);
  return known == story.own_names.end() ? group : known->second;
}

// "s4 (tier 2)"; "" without topology.
std::string DomainOf(const RunResult::Job& job) {
  return job.allocated_hypernode.empty()
             ? std::string()
             : fmt::format("{} (tier {})", job.allocated_hypernode, job.tier);
}

// "its pod", "its 4 pods", "1 of its 4 pods".
std::string SomeOf(std::size_t wanted, std::size_t count) {
  const std::string all = wanted == 1 ? "its pod" : fmt::format("its {} pods", wanted);
  return count == wanted ? all : fmt::format("{} of {}", count, all);
}

// The run has placed pods of manifests: what it expects is not so yet.
std::string WouldSentence(const Explanation& story) {
  const std::string domain = DomainOf(story.outcome);
  const std::string& phase = story.outcome.phase;
  return fmt::format("{} would {} {}.",
                     Called(story, story.job),
                     phase == "Running" ? "run" : "be " + phase,
                     domain.empty() ? "on the nodes below" : "in " + domain);
}

// What is, and apart from that what the run expects.
std::string ForecastSentence(const Explanation& story) {
  const Reality& reality = *story.reality;
  const std::string& name = Called(story, story.job);
  const std::string domain = DomainOf(story.outcome);
  const std::string where = domain.empty() ? "on the nodes below" : "in " + domain;
  const std::size_t without_node = reality.exist - reality.placed;
  const std::size_t missing = reality.wanted - reality.exist;
  const std::string absent =
      SomeOf(reality.wanted, missing) + (missing == 1 ? " does not exist" : " do not exist");
  if (reality.exist == 0) {
    return fmt::format(
        "{} is {}: {} yet; there is room for it {}.", name, reality.phase, absent, where);
  }
  if (without_node == 0) {
    return fmt::format("{} runs{}, but {}.", name, domain.empty() ? "" : " in " + domain, absent);
  }
  return fmt::format("{} is {}: {} {} no node yet; the scheduler would place {} {}.{}",
                     name,
                     reality.phase,
                     SomeOf(reality.wanted, without_node),
                     without_node == 1 ? "has" : "have",
                     without_node == 1 ? "it" : "them",
                     where,
                     missing == 0 ? "" : fmt::format(" Beside that, {}.", absent));
}

// The job runs, and not all of it.
std::string PartSentence(const Explanation& story) {
  const Explanation::Part& part = *story.part;
  const std::string domain = DomainOf(story.outcome);
  const std::size_t waiting = part.wanted - part.placed;
  return fmt::format("{} {}{} with {} of its {} pods (at least {} needed){}; {} {} ({}): {}",
                     Called(story, story.job),
                     part.expected ? "would run" : "runs",
                     domain.empty() ? "" : " in " + domain,
                     part.placed - part.ended,
                     part.wanted,
                     part.needed,
                     part.ended == 0 ? "" : fmt::format(", {} ended", part.ended),
                     waiting,
                     part.expected  ? "would wait"
                     : waiting == 1 ? "waits"
                                    : "wait",
                     story.outcome.reason,
                     story.outcome.message);
}

std::string Holding(const Explanation& story, const std::vector<Holder>& holders) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(holders.size(), kShownHolders); ++i) {
    const Holder& holder = holders[i];
    const bool pod = holder.kind == Holder::Kind::kPod;
    parts.push_back(fmt::format("{} {} ({}{})",
                                pod ? "pod" : "job",
                                pod ? holder.name : Called(story, holder.name),
                                AmountsText(holder.amounts),
                                pod ? "" : ", " + Plural(holder.pods, "pod")));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (holders.size() > kShownHolders) {
    text += fmt::format(" and {} more", holders.size() - kShownHolders);
  }
  return text;
}

// Every pair where there are few, else how many there are of each kind: "24 pairs NV18+SYS".
std::string DescribeLinks(const std::vector<std::string>& links) {
  if (links.size() <= kShownLinks) return fmt::format("{}", fmt::join(links, ", "));
  std::map<std::string_view, std::size_t> kinds;
  for (const std::string_view link : links) ++kinds[link.substr(link.find(' ') + 1)];
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [kind, pairs] : kinds) {
    parts.push_back(fmt::format("{} {}", Plural(pairs, "pair"), kind));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "main: GPU-a, GPU-b: 0-3 NV2+PHB; pair score 230, the best possible 250".
std::string DescribeGpus(const DeviceRecord::Container& container) {
  std::string line = fmt::format("{}: {}", container.name, NameSome(container.uuids));
  if (container.links.empty()) return line;
  line += fmt::format(": {}; pair score {}, the best {} {}",
                      DescribeLinks(container.links),
                      container.score,
                      container.proven ? "possible" : "found",
                      container.best);
  if (!container.proven) line += "; not proven best: the search for better sets was cut off";
  return line;
}

class Lines {
 public:
  explicit Lines(const Explanation& story) : story_(story) {}

  std::vector<std::string> All() {
    if (!story_.heading.empty()) Add(0, story_.heading);
    Add(0, FirstSentence(story_));
    for (const std::string& note : story_.notes) Add(2, note);
    AddObstacles();
    if (!story_.ended.empty()) return std::move(lines_);
    const bool outside = story_.outcome.phase == "Pending" && !story_.outcome.reason.empty();
    if (outside && story_.cycle == 0 && story_.obstacles.empty()) {
      Add(2, "not admitted to its queue yet, so no placement was tried");
    }
    AddEvictions();
    if (!story_.evicted_for.empty()) return std::move(lines_);
    for (const Explanation::Search& search : story_.searches) AddSearch(search);
    for (const Explanation::Miss& miss : story_.misses) AddMiss(miss);
    if (!story_.queue_holders.empty()) {
      Add(2,
          fmt::format(
              "queue {} is held by {}", story_.queue, Holding(story_, story_.queue_holders)));
    }
    AddLine();
    AddPods();
    AddRelaxations();
    return std::move(lines_);
  }

 private:
  // As people call the job.
  template <typename Part>
  [[nodiscard]] Part Named(Part part) const {
    part.job = Called(story_, part.job);
    return part;
  }

  void Add(std::size_t indent, const std::string& text) {
    lines_.push_back(std::string(indent, ' ') + text);
  }

  void AddObstacles() {
    for (const Obstacle& obstacle : story_.obstacles) {
      Add(2, obstacle.advice + (obstacle.command.line.empty() ? "" : ":"));
      if (!obstacle.command.line.empty()) Add(4, obstacle.command.line);
    }
  }

  void AddEvictions() {
    for (const auto& [plan, choice] : story_.evictions) {
      Add(2, fmt::format("{} would evict {}:", plan.action, CountVictims(plan)));
      for (const auto& victim : plan.victims) Add(4, DescribeVictim(Named(victim)));
      for (const auto& other : choice.others) Add(4, "next best: " + DescribeOther(other));
      std::vector<std::string> kept;
      for (const auto& one : choice.kept) kept.push_back(DescribeProtected(Named(one)));
      if (!kept.empty()) Add(4, "protected: " + NameSome(kept));
    }
    for (const RunResult::Evictions& plan : story_.evicted_for) {
      Add(2, DescribeVictim(Named(plan.victims.front())));
    }
  }

  void AddSearch(const Explanation::Search& search) {
    const std::string who = search.sub_job.empty() ? "" : "sub-group " + search.sub_job + ": ";
    Add(2, fmt::format("{}the search began at {}", who, Shown(search.root)));
    for (const Explanation::Tier& tier : search.tiers) {
      const std::string where = fmt::format("tier {}", tier.tier);
      for (const auto& [reason, names] : tier.ruled_out) {
        Add(4, fmt::format("{}: ruled out: {}: {}", where, ShownSome(names), reason));
      }
      if (!tier.open.empty()) Add(4, fmt::format("{}: open: {}", where, ShownSome(tier.open)));
      if (!tier.failed.empty()) {
        Add(4,
            fmt::format("{}: tried, but the gang did not fit: {}", where, ShownSome(tier.failed)));
      }
      if (tier.chosen.empty()) continue;
      const auto score =
          std::find_if(tier.scores.begin(), tier.scores.end(), [&](const auto& entry) {
            return entry.first == tier.chosen;
          });
      const std::string others = Scores(tier.scores, tier.chosen);
      Add(4,
          fmt::format("{}: chosen: {} with score {:.3f}{}",
                      where,
                      Shown(tier.chosen),
                      score == tier.scores.end() ? 0.0 : ToDouble(score->second),
                      others.empty() ? ", the only one" : "; the others: " + others));
    }
  }

  void AddMiss(const Explanation::Miss& miss) {
    const NearestMissRecord& record = miss.record;
    const std::string who = record.sub_job.empty() ? "" : "sub-group " + record.sub_job + ": ";
    const bool whole = record.hypernode == kTopHyperNodeName;
    Add(2,
        fmt::format("{}{}: {} takes {} of {}",
                    who,
                    whole ? "nearest" : fmt::format("nearest at tier {}", record.tier),
                    whole ? "the whole cluster" : record.hypernode,
                    record.fits,
                    Plural(record.wanted, "pod")));
    if (!record.short_of.empty()) Add(4, "short of " + AmountsText(record.short_of));
    for (const auto& [reason, nodes] : record.nodes) {
      if (nodes == 1 && reason == "node(s) were unschedulable") {
        Add(4, "1 node was unschedulable");
        continue;
      }
      const bool of_nodes = reason.starts_with(kOfNodes);
      Add(4,
          Plural(nodes, "node") + (of_nodes ? reason.substr(kOfNodes.size() - 1) : ": " + reason));
    }
    if (!miss.holders.empty()) Add(4, "held by " + Holding(story_, miss.holders));
  }

  [[nodiscard]] std::string NameJobs(const std::vector<std::string>& groups) const {
    std::vector<std::string> names;
    names.reserve(groups.size());
    for (const std::string& group : groups) names.push_back(Called(story_, group));
    return NameSome(names);
  }

  void AddLine() {
    if (!story_.line || story_.line->jobs.size() < 2) return;
    const Line& line = *story_.line;
    const auto own = line.jobs.begin() + static_cast<std::ptrdiff_t>(line.position) - 1;
    std::string text = fmt::format("number {} of the {} jobs that wait in queue {}",
                                   line.position,
                                   line.jobs.size(),
                                   line.queue);
    if (line.position > 1) text += "; before it: " + NameJobs({line.jobs.begin(), own});
    Add(2, text);
    if (line.starts.empty()) return;
    Add(2, "if all that runs ended now, these would start: " + NameJobs(line.starts));
  }

  void AddPods() {
    for (std::size_t i = 0; i < std::min(story_.pods.size(), kShownPods); ++i) {
      const Explanation::Pod& pod = story_.pods[i];
      std::string line =
          fmt::format("{} {} {}", pod.name, pod.waits ? "waits for room on" : "on", pod.node);
      if (pod.score) line += fmt::format(" with score {:.3f}", ToDouble(*pod.score));
      if (!pod.others.empty()) line += "; next best: " + Scores(pod.others, "");
      Add(2, line);
      if (!pod.devices) continue;
      for (const auto& container : pod.devices->containers) Add(4, DescribeGpus(container));
    }
    if (story_.pods.size() > kShownPods) {
      Add(2, fmt::format("and {} more", Plural(story_.pods.size() - kShownPods, "pod")));
    }
  }

  void AddRelaxations() {
    if (!story_.relaxations) return;
    const RelaxationReport& report = *story_.relaxations;
    // Not one was tried where something else comes first.
    if (!story_.obstacles.empty() && report.solved == 0) return;
    const std::string_view what = story_.part ? "the rest" : "it";
    std::string tried = Plural(report.solved, "change") + " tried";
    if (report.holders_tried < story_.holders) {
      tried += fmt::format("; of {} running jobs the {} that hold most of what is short",
                           story_.holders,
                           report.holders_tried);
    }
    if (report.found.empty()) {
      Add(2, fmt::format("no single change would let {} start ({})", what, tried));
      return;
    }
    Add(2, fmt::format("each of these alone would let {} start ({}):", what, tried));
    for (const Relaxation& relaxation : report.found) {
      Add(4, relaxation.text + (relaxation.command.restarts ? " (restarts the job)" : ""));
      if (!relaxation.command.line.empty()) Add(6, relaxation.command.line);
    }
  }

  const Explanation& story_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string FirstSentence(const Explanation& explanation) {
  if (!explanation.ended.empty()) return explanation.ended;
  const RunResult::Job& job = explanation.outcome;
  const std::string& name = Called(explanation, explanation.job);
  if (!explanation.evicted_for.empty()) {
    const RunResult::Evictions& plan = explanation.evicted_for.back();
    const RunResult::Evictions::Victim& own = plan.victims.front();
    const std::string pods = Plural(own.pods.size(), "pod");
    if (plan.TakesBack()) {
      return fmt::format(
          "{} has only {} of its gang on nodes, and there is no room for the rest: {} would take "
          "them back.",
          name,
          pods,
          plan.action);
    }
    return fmt::format("{} runs, but {} would evict {} for {}{}.",
                       name,
                       plan.action,
                       own.whole_gang ? "all of it, " + pods + "," : pods + " of it",
                       Called(explanation, plan.claimant),
                       WhereOf(plan));
  }
  if (explanation.part) return PartSentence(explanation);
  if (!job.reason.empty()) {
    return fmt::format("{} waits ({}): {}", name, job.reason, job.message);
  }
  const std::string domain = DomainOf(job);
  const std::string where = domain.empty() ? "" : " in " + domain;
  if (!explanation.evictions.empty()) {
    const RunResult::Evictions& plan = explanation.evictions.back().evictions;
    return fmt::format(
        "{} would start{} once {} has evicted {}.", name, where, plan.action, CountVictims(plan));
  }
  if (IsForecast(explanation)) return ForecastSentence(explanation);
  if (!explanation.reality && !explanation.pods.empty()) return WouldSentence(explanation);
  std::string note;
  if (explanation.cycle == 0 && job.phase != "Completed") {
    note = WasPlacedEarlier(explanation) ? " It was placed earlier."
                                         : " This run placed none of its pods.";
  }
  return fmt::format("{} is {}{}.{}", name, job.phase, where, note);
}

std::vector<std::string> PlacedAgainLines(const Explanation& again) {
  const RunResult::Job& job = again.outcome;
  std::string sentence = "If it were placed again now, ";
  if (!job.reason.empty()) {
    sentence += fmt::format("it would wait ({}): {}", job.reason, job.message);
  } else if (!job.allocated_hypernode.empty()) {
    sentence += fmt::format("it would go to {} (tier {}):", job.allocated_hypernode, job.tier);
  } else {
    sentence += "its pods would go to these nodes:";
  }
  Explanation story = again;
  story.heading.clear();
  story.notes.clear();
  std::vector<std::string> lines = ExplainLines(story);
  lines.front() = std::move(sentence);
  return lines;
}

std::vector<std::string> ExplainLines(const Explanation& explanation) {
  return Lines(explanation).All();
}

}  // namespace strata
