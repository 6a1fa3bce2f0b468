// Whatever a source answers becomes one error line, or HyperNodes that are a valid forest, can be
// read back, and stay as they are when the same answer comes again. The first byte chooses the
// source; as a capital letter it brings a cluster whose nodes are known.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "discovery/discover.h"
#include "discovery/render.h"
#include "objects/load.h"

namespace strata::discovery {
namespace {

// Every question has the same answer.
class OneAnswer : public Reader {
 public:
  explicit OneAnswer(const std::string& text) : text_(text) {}

  Result<std::string> ReadFile(const std::string& /*path*/) override { return text_; }
  Result<std::map<std::string, std::string>> ReadFolder(const std::string& /*path*/,
                                                        std::string_view /*suffix*/) override {
    // Two machines that see the same.
    return std::map<std::string, std::string>{{"leaf01", text_}, {"node-01", text_}};
  }
  Result<CommandOutput> Run(const std::vector<std::string>& /*command*/) override {
    return CommandOutput{.out = text_, .err = ""};
  }
  Result<HttpAnswer> Send(const HttpRequest& /*request*/) override {
    if (++sent_ > 3) return Fail(Code::kUnavailable, "enough");
    return HttpAnswer{.status = 200, .body = text_};
  }
  Status Wait(Duration /*duration*/) override { return {}; }

 private:
  const std::string& text_;
  int sent_ = 0;
};

std::string_view EntryOf(char source) {
  switch (source) {
    case 'l':
      return "{source: roce, enabled: true, config: {lldpDir: d}}";
    case 'r':
      return "{source: roce, enabled: true, config: {endpoint: r}}";
    case 'u':
      return "{source: ufm, enabled: true, config: {endpoint: u}, credentials: {secretRef: {name: "
             "s, namespace: ns}}}";
    case 't':
      return "{source: topograph, enabled: true, config: {file: t}}";
    case 'e':
      return "{source: exec, enabled: true, config: {command: [e]}}";
    case 'i':
      return "{source: infiniband, enabled: true, config: {file: i}}";
    default:
      return "";
  }
}

constexpr std::string_view kCluster = R"(
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, stringData: {token: x}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-01, labels: {kubernetes.io/hostname: a}}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-02}, status: {addresses: [{type: InternalIP, address: 10.0.0.2}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-03.example.com}}
)";

objects::ObjectSet Load(std::string text) {
  const objects::Source source{.name = "in", .text = std::move(text)};
  Result<objects::ObjectSet> set = objects::ParseObjects(std::span(&source, 1));
  CHECK(set.has_value());
  return std::move(*set);
}

DiscoverInput MakeInput(char choice) {
  DiscoverInput input;
  const char source = static_cast<char>(std::tolower(static_cast<unsigned char>(choice)));
  Result<DiscoveryConf> conf = ParseDiscoveryConf(
      {.name = "c", .text = "networkTopologyDiscovery: [" + std::string(EntryOf(source)) + "]"});
  CHECK(conf.has_value());
  input.sources = std::move(conf->sources);
  objects::ObjectSet cluster = Load(std::string(kCluster));
  input.secrets = std::move(cluster.secrets);
  if (source != choice) input.nodes = std::move(cluster.nodes);
  return input;
}

// Made once for each choice: reading manifests takes longer than all the rest.
const DiscoverInput& InputOf(char choice) {
  static std::map<char, DiscoverInput> made;
  const auto found = made.find(choice);
  return found != made.end() ? found->second
                             : made.emplace(choice, MakeInput(choice)).first->second;
}

void CheckForest(const std::vector<objects::HyperNode>& hypernodes) {
  std::map<std::string, std::int32_t> tiers;
  for (const objects::HyperNode& hypernode : hypernodes) {
    CHECK(tiers.emplace(hypernode.meta.name, hypernode.spec.tier).second);
    CHECK(!hypernode.spec.members.empty());
  }
  std::set<std::string> children;
  for (const objects::HyperNode& hypernode : hypernodes) {
    for (const HyperNodeMember& member : hypernode.spec.members) {
      const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
      if (member.kind != HyperNodeMember::Kind::kHyperNode || exact == nullptr) continue;
      CHECK(children.insert(exact->name).second);
      CHECK(tiers.contains(exact->name) && tiers.at(exact->name) < hypernode.spec.tier);
    }
  }
}

void CheckAnswer(char choice, const std::string& text) {
  DiscoverInput input = InputOf(choice);
  const MakeReader answer = [&](Duration /*timeout*/) { return std::make_unique<OneAnswer>(text); };
  const Discovery found = Discover(input, answer);
  if (!found.errors.empty()) {
    CHECK(found.errors.size() == 1 && found.hypernodes.empty());
    CHECK(!found.errors.front().empty());
    CHECK(found.errors.front().find('\n') == std::string::npos);
    return;
  }
  CHECK(!found.hypernodes.empty());
  CheckForest(found.hypernodes);
  for (const std::string& printed : {RenderYaml(found.hypernodes), RenderJson(found.hypernodes)}) {
    input.previous = Load(printed).hypernodes;
    CHECK(input.previous.size() == found.hypernodes.size());
    const Discovery again = Discover(input, answer);
    CHECK(again.errors.empty());
    CHECK(RenderYaml(again.hypernodes) == RenderYaml(found.hypernodes));
  }
}

}  // namespace
}  // namespace strata::discovery

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const char source = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  if (strata::discovery::EntryOf(source).empty()) return 0;
  strata::discovery::CheckAnswer(text.front(), std::string(text.substr(1)));
  return 0;
}
