#include "discovery/discover.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "discovery/command_answer.h"
#include "discovery/hypernodes.h"
#include "discovery/infiniband.h"
#include "discovery/label.h"
#include "discovery/lldp.h"
#include "discovery/node_report.h"
#include "discovery/nvlink.h"
#include "discovery/secrets.h"
#include "discovery/topograph.h"
#include "discovery/ufm.h"
#include "objects/value.h"

namespace strata::discovery {
namespace {

constexpr std::size_t kNamesShown = 5;

// What one source found.
struct Found {
  std::vector<objects::HyperNode> hypernodes;
  std::optional<Cliques> cliques;  // nvlink only: they are put into the trees of the others
  std::vector<std::string> notes;
};

std::string Several(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamesShown);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

void NoteLeftOut(std::size_t count, std::vector<std::string>& notes) {
  if (count > 0) {
    notes.push_back(fmt::format("left out {} members that are not nodes of the cluster", count));
  }
}

void NoteDisputes(const Fabric& fabric, std::vector<std::string>& notes) {
  if (fabric.disputed.empty()) return;
  const auto& [chassis, machines] = *fabric.disputed.begin();
  const std::size_t others = fabric.disputed.size() - 1;
  notes.push_back(
      fmt::format("left out {} machines that claim one LLDP chassis, {}: {}{}",
                  machines.size(),
                  chassis,
                  Several(machines),
                  others == 0 ? "" : fmt::format(" (and those of {} more chassis)", others)));
}

// One pass of one source.
class SourcePass {
 public:
  SourcePass(const SourceConfig& entry,
             const DiscoverInput& input,
             const Previous& previous,
             Reader& reader)
      : owner_{entry.source, entry.name},
        entry_(entry),
        input_(input),
        previous_(previous),
        reader_(reader),
        names_(input.nodes ? HostNames(*input.nodes) : HostNames()) {}

  Status FindCredentials() {
    TRY_ASSIGN(credentials_, CredentialsOf(entry_, input_.secrets, input_.advice.secret));
    return {};
  }

  // REQUIRES: FindCredentials succeeded.
  Result<Found> Run() {
    Result<Found> found =
        std::visit([&](const auto& config) { return Read(config); }, entry_.config);
    if (found && SendsSecretsInPlainText()) {
      found->notes.push_back("credentials went over plain HTTP (want an https endpoint)");
    }
    return found;
  }

 private:
  [[nodiscard]] bool SendsSecretsInPlainText() const {
    std::string endpoint;
    bool token = false;
    if (const auto* ufm = std::get_if<UfmConfig>(&entry_.config)) endpoint = ufm->server.endpoint;
    if (const auto* roce = std::get_if<RoceConfig>(&entry_.config)) {
      endpoint = roce->server.endpoint;
      token = !roce->token.empty();
    }
    const bool here = endpoint.starts_with("http://localhost") ||
                      endpoint.starts_with("http://127.") || endpoint.starts_with("http://[::1]");
    return endpoint.starts_with("http://") && !here && (token || !credentials_.empty());
  }

  [[nodiscard]] Result<std::span<const objects::Node>> Nodes(std::string_view what) const {
    if (!input_.nodes) {
      return Fail(Code::kInvalidArgument, fmt::format("reads {} of nodes (give --nodes)", what));
    }
    return std::span<const objects::Node>(*input_.nodes);
  }

  Result<Found> Read(const LabelConfig& config) {
    TRY_ASSIGN(const auto nodes, Nodes("labels"));
    Found found;
    const std::string infix = owner_.name.empty() ? "" : owner_.name + "-";
    for (const LabelConfig::Type& type : config.types) {
      AddTree(TreeOfLabels(type, nodes, infix), found);
    }
    return found;
  }

  Result<Found> Read(const UfmConfig& config) {
    TRY_ASSIGN(const Fabric fabric, ReadUfm(config, credentials_, reader_));
    return FromFabric(fabric);
  }

  Result<Found> Read(const InfinibandConfig& config) {
    if (config.from_nodes) {
      TRY_ASSIGN(const NodeReports told, ToldByNodes());
      return WithNotes(FromFabric(FabricOfPorts(told.reports)), told);
    }
    TRY_ASSIGN(const Fabric fabric, ReadInfiniband(config, reader_));
    return FromFabric(fabric);
  }

  Result<Found> Read(const RoceConfig& config) {
    TRY_ASSIGN(LldpReports reports, ReadRoce(config, credentials_, reader_));
    if (!config.from_nodes) return FromFabric(FabricOfLldp(reports, names_, config.interfaces));
    TRY_ASSIGN(const NodeReports told, ToldByNodes());
    reports.merge(NeighboursOf(told.reports));  // a report that was read wins
    return WithNotes(FromFabric(FabricOfLldp(reports, names_, config.interfaces)), told);
  }

  [[nodiscard]] Result<NodeReports> ToldByNodes() const {
    TRY_ASSIGN(const auto nodes, Nodes("annotations"));
    return ReportsOf(nodes);
  }

  static Found WithNotes(Found found, const NodeReports& told) {
    if (!told.silent.empty()) {
      found.notes.push_back(
          fmt::format("{} nodes have no annotation {} (is strata-agent there?): {}",
                      told.silent.size(),
                      kFabricAnnotation,
                      Several(told.silent)));
    }
    if (!told.problems.empty()) {
      found.notes.push_back(
          fmt::format("left out {} nodes whose report cannot be read; the first: {}",
                      told.problems.size(),
                      told.problems.front()));
    }
    return found;
  }

  Result<Found> Read(const ExecConfig& config) {
    const std::string& program = config.command.front();
    TRY_ASSIGN(const CommandOutput run, reader_.Run(config.command));
    TRY(CheckExit(program, run));
    Result<Found> found = IsGraph(run.out) ? FromGraph(run.out) : FromManifests(run.out);
    if (!found) return tl::unexpected(Error(found.error()).Context(program));
    return found;
  }

  Result<Found> Read(const TopographConfig& config) {
    TRY_ASSIGN(const std::string text, ReadTopograph(config, credentials_, reader_));
    Result<Found> found = FromGraph(text);
    const std::string& from = config.file.empty() ? config.server.endpoint : config.file;
    if (!found) return tl::unexpected(Error(found.error()).Context(from));
    return found;
  }

  Result<Found> Read(const NvlinkConfig& config) {
    TRY_ASSIGN(const auto nodes, Nodes("labels"));
    Found found;
    found.cliques = CliquesOfNodes(config.label, nodes);
    return found;
  }

  // topograph's graph is one JSON object with instances; HyperNodes have kinds.
  static bool IsGraph(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || text[begin] != '{') return false;
    const Result<objects::Document> document = objects::Document::ParseJson(text);
    if (!document || document->root().type() != objects::Value::Type::kObject) return false;
    return document->root().Find("instances").has_value();
  }

  Result<Found> FromManifests(const std::string& text) {
    Found found;
    std::size_t left_out = 0;
    TRY_ASSIGN(found.hypernodes, AdoptManifests(text, owner_, names_, left_out));
    for (const objects::HyperNode& hypernode : found.hypernodes) {
      if (previous_.TakenByOthers(hypernode.meta.name, owner_)) {
        return Fail(Code::kConflict,
                    fmt::format("HyperNode {}: another owner has a HyperNode of this name",
                                hypernode.meta.name));
      }
    }
    NoteLeftOut(left_out, found.notes);
    return found;
  }

  Result<Found> FromGraph(const std::string& text) {
    Found found;
    std::size_t left_out = 0;
    TRY_ASSIGN(const Tree tree, ParseTopograph(text, names_, left_out));
    AddTree(tree, found);
    NoteLeftOut(left_out, found.notes);
    return found;
  }

  Found FromFabric(const Fabric& fabric) {
    Found found;
    const KnownFabric known = KeepNodes(fabric, names_);
    const Tree tree = FormTree(known.fabric, previous_.LeavesOf(owner_));
    AddTree(tree, found);
    if (!known.left_out.empty()) {
      found.notes.push_back(fmt::format("left out {} hosts that are not nodes of the cluster: {}",
                                        known.left_out.size(),
                                        Several(known.left_out)));
    }
    std::vector<std::string> unlinked;
    for (const auto& [host, address] : known.fabric.hosts) {
      const auto link = known.fabric.host_links.lower_bound({host, ""});
      if (link == known.fabric.host_links.end() || link->first.first != host) {
        unlinked.push_back(host);
      }
    }
    if (!unlinked.empty()) {
      found.notes.push_back(
          fmt::format("{} hosts have no link that is up: {}", unlinked.size(), Several(unlinked)));
    }
    NoteDisputes(fabric, found.notes);
    if (known.fabric.unnamed_hosts > 0) {
      found.notes.push_back(
          fmt::format("left out {} adapters whose description does not name their host",
                      known.fabric.unnamed_hosts));
    }
    return found;
  }

  void AddTree(const Tree& tree, Found& found) const {
    std::vector<objects::HyperNode> named = NameTree(tree, owner_, previous_);
    std::move(named.begin(), named.end(), std::back_inserter(found.hypernodes));
    if (tree.notes.size() > kNamesShown) {
      found.notes.push_back(fmt::format(
          "{} cables leave their group; the first: {}", tree.notes.size(), tree.notes.front()));
    } else {
      found.notes.insert(found.notes.end(), tree.notes.begin(), tree.notes.end());
    }
  }

  Owner owner_;
  const SourceConfig& entry_;
  const DiscoverInput& input_;
  const Previous& previous_;
  Reader& reader_;
  HostNames names_;
  Credentials credentials_;
};

std::set<std::string> NodesOf(const Found& found) {
  std::set<std::string> nodes;
  for (const objects::HyperNode& hypernode : found.hypernodes) {
    for (std::string& node : ExactNames(hypernode.spec, HyperNodeMember::Kind::kNode)) {
      nodes.insert(std::move(node));
    }
  }
  if (found.cliques) {
    for (const auto& [clique, members] : found.cliques->nodes) {
      nodes.insert(members.begin(), members.end());
    }
  }
  return nodes;
}

Status Believe(const Found& found,
               const std::vector<std::string>& before,
               const DiscoverInput& input) {
  if (input.shrink == Shrink::kAccept) return {};
  constexpr std::size_t kPercentMayGo = 30;
  const std::set<std::string> now = NodesOf(found);
  const bool has_members = !found.hypernodes.empty() && now.empty();
  std::vector<std::string> gone;
  for (const std::string& node : before) {
    if (!now.contains(node)) gone.push_back(node);
  }
  // A program's HyperNodes may choose their nodes by patterns, which are not resolved here.
  if (now.empty() && (!has_members || !before.empty())) {
    return Fail(Code::kUnavailable,
                fmt::format("the answer has no node of the cluster and is rejected ({})",
                            input.advice.none));
  }
  if (input.shrink == Shrink::kAcceptFewer) return {};
  if (gone.size() * 100 > before.size() * kPercentMayGo) {
    return Fail(
        Code::kUnavailable,
        fmt::format("{} of the {} previous nodes are missing ({}), the answer is rejected ({})",
                    gone.size(),
                    before.size(),
                    Several(gone),
                    input.advice.fewer));
  }
  return {};
}

// Several passes, put together.
class Assembly {
 public:
  explicit Assembly(const DiscoverInput& input) : input_(input), previous_(input.previous) {}

  Discovery Run(const MakeReader& make_reader) {
    for (const SourceConfig& entry : input_.sources) {
      if (entry.enabled && Wanted(entry)) RunEntry(entry, make_reader);
    }
    // At the end, when every tree is there.
    for (const auto& [owner, cliques] : cliques_) {
      std::vector<std::string> notes;
      JoinCliques(cliques, owner, result_.hypernodes, notes);
      for (const std::string& note : notes) result_.warnings.push_back(owner.source + ": " + note);
    }
    std::sort(
        result_.hypernodes.begin(), result_.hypernodes.end(), [](const auto& a, const auto& b) {
          return std::tie(a.spec.tier, a.meta.name) < std::tie(b.spec.tier, b.meta.name);
        });
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool Wanted(const SourceConfig& entry) const {
    return input_.wanted.empty() ||
           std::any_of(input_.wanted.begin(), input_.wanted.end(), [&](const std::string& wanted) {
             return entry.Answers(wanted);
           });
  }

  void RunEntry(const SourceConfig& entry, const MakeReader& make_reader) {
    const Owner owner{entry.source, entry.name};
    const bool twin =
        std::find(result_.owners.begin(), result_.owners.end(), owner) != result_.owners.end();
    if (!entry.error.empty()) {
      AddError(entry.error, Told::kByUs);
      if (!twin) Hold(entry, owner);
      return;
    }
    const auto* label = std::get_if<LabelConfig>(&entry.config);
    if (label != nullptr && label->types.empty()) {
      result_.warnings.push_back(entry.where +
                                 ": label has an empty config, nothing is discovered "
                                 "(want networkTopologyTypes or preset)");
      return Hold(entry, owner);
    }
    const std::unique_ptr<Reader> reader = make_reader(entry.timeout);
    SourcePass pass(entry, input_, previous_, *reader);
    const auto reject = [&](const Error& error, Told told) {
      AddError(fmt::format("{}: {}", entry.Title(), error.message), told, entry.Title());
      Hold(entry, owner);
    };
    if (const Status known = pass.FindCredentials(); !known) {
      return reject(known.error(), Told::kByUs);
    }
    Result<Found> found = pass.Run();
    if (!found) return reject(found.error(), Told::kBySource);
    Status believed = Believe(*found, previous_.NodesOf(owner), input_);
    if (!believed) return reject(believed.error(), Told::kByUs);
    believed = CheckNames(*found);
    if (!believed) return reject(believed.error(), Told::kBySource);
    for (const std::string& note : found->notes) {
      result_.warnings.push_back(fmt::format("{}: {}", entry.Title(), note));
    }
    result_.owners.push_back(owner);
    if (found->cliques) cliques_.emplace(owner, std::move(*found->cliques));
    Add(std::move(found->hypernodes));
  }

  // Whether an error may quote what a source answered.
  enum class Told : std::uint8_t { kByUs, kBySource };

  void AddError(const std::string& error, Told told, const std::string& title = "") {
    result_.errors.push_back(error);
    result_.public_errors.push_back(
        told == Told::kByUs ? error : title + ": the source failed (the log has the reason)");
  }

  [[nodiscard]] Status CheckNames(const Found& found) const {
    for (const objects::HyperNode& hypernode : found.hypernodes) {
      if (!names_.contains(hypernode.meta.name)) continue;
      return Fail(Code::kConflict,
                  fmt::format("HyperNode {}: another source has a HyperNode of this name",
                              hypernode.meta.name));
    }
    return {};
  }

  void Add(std::vector<objects::HyperNode> hypernodes) {
    for (objects::HyperNode& hypernode : hypernodes) {
      names_.insert(hypernode.meta.name);
      result_.hypernodes.push_back(std::move(hypernode));
    }
  }

  // What was there stays, so that nobody prunes it.
  void Hold(const SourceConfig& entry, const Owner& owner) {
    result_.owners.push_back(owner);
    if (entry.source != "nvlink") return Add(previous_.Of(owner));
    const auto* config = std::get_if<NvlinkConfig>(&entry.config);
    const std::string label = config == nullptr ? NvlinkConfig{}.label : config->label;
    cliques_.emplace(owner, CliquesOfPrevious(label, owner, previous_));
  }

  const DiscoverInput& input_;
  Previous previous_;
  std::map<Owner, Cliques> cliques_;
  std::set<std::string> names_;
  Discovery result_;
};

}  // namespace

Discovery Discover(const DiscoverInput& input, const MakeReader& make_reader) {
  return Assembly(input).Run(make_reader);
}

Discovery KeepPrevious(const Error& error, const std::vector<objects::HyperNode>& previous) {
  Discovery kept;
  kept.errors.push_back(error.message);
  kept.public_errors.push_back(error.message);
  for (const objects::HyperNode& hypernode : previous) {
    if (!OwnerOf(hypernode).source.empty()) kept.hypernodes.push_back(hypernode);
  }
  std::sort(kept.hypernodes.begin(), kept.hypernodes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.spec.tier, a.meta.name) < std::tie(b.spec.tier, b.meta.name);
  });
  for (const objects::HyperNode& hypernode : kept.hypernodes) {
    kept.owners.push_back(OwnerOf(hypernode));
  }
  return kept;
}

}  // namespace strata::discovery
