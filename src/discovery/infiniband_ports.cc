#include "discovery/infiniband_ports.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "discovery/infiniband_names.h"

namespace strata::discovery {
namespace {

struct End {
  std::string_view type;  // CA, SW, RT
  std::string_view port;
  std::string_view guid;
  std::string_view description;
};

struct PortLine {
  std::size_t number = 0;
  End near;
  std::optional<End> far;  // none: not linked
};

std::string_view TakeWord(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  const std::size_t length = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// `SW  4  1 0x<guid>`: type, lid, port, guid.
std::optional<End> TakeEnd(std::string_view& text) {
  End end;
  end.type = TakeWord(text);
  TakeWord(text);
  end.port = TakeWord(text);
  end.guid = TakeWord(text);
  const bool known = end.type == "CA" || end.type == "SW" || end.type == "RT";
  if (!known || end.guid.size() < 3 || !end.guid.starts_with("0x")) return std::nullopt;
  return end;
}

// What is between the first and the last quote.
std::string_view Unquoted(std::string_view text) {
  const std::size_t begin = text.find('\'');
  const std::size_t end = text.rfind('\'');
  if (begin == std::string_view::npos || end == begin) return {};
  return text.substr(begin + 1, end - begin - 1);
}

std::optional<PortLine> ParseLine(std::string_view line, std::size_t number) {
  PortLine port;
  port.number = number;
  const std::optional<End> near = TakeEnd(line);
  if (!near) return std::nullopt;
  port.near = *near;
  TakeWord(line);  // width
  TakeWord(line);  // speed
  const std::string_view rest = line;
  if (TakeWord(line) != "-") {
    port.near.description = Unquoted(rest);
    return port;
  }
  port.far = TakeEnd(line);
  const std::string_view names = Unquoted(line);
  constexpr std::string_view kBetween = "' - '";
  const std::size_t middle = names.find(kBetween);
  if (!port.far || middle == std::string_view::npos) return std::nullopt;
  port.near.description = names.substr(0, middle);
  port.far->description = names.substr(middle + kBetween.size());
  return port;
}

class PortWiring {
 public:
  explicit PortWiring(const std::vector<PortLine>& ports) : ports_(ports) {
    std::map<std::tuple<std::string, std::string, std::string>, int> adapters;
    for (const PortLine& port : ports_) {
      const std::string guid(port.near.guid);
      if (port.near.type == "SW") fabric_.AddSwitch(guid, SwitchName(port.near.description, guid));
      if (port.near.type != "CA" || IsAggregationNode(port.near.description)) continue;
      const std::optional<Adapter> adapter = AdapterOf(port.near.description);
      if (!adapter) {
        ++fabric_.unnamed_hosts;
        continue;
      }
      // The same port of the same device twice is in two machines.
      const std::string host = LowerCase(adapter->host);
      const bool twice = ++adapters[{host, adapter->device, std::string(port.near.port)}] > 1;
      if (twice && !adapter->device.empty()) shared_.insert(host);
    }
  }

  Result<Fabric> Build() {
    for (const PortLine& port : ports_) {
      const std::optional<std::string> host = HostOf(port.near);
      if (host) fabric_.AddHost(*host);
    }
    for (const PortLine& port : ports_) {
      if (port.far) TRY(Link(port));
    }
    return std::move(fabric_);
  }

 private:
  [[nodiscard]] std::optional<std::string> HostOf(const End& end) const {
    if (end.type != "CA" || IsAggregationNode(end.description)) return std::nullopt;
    const std::optional<Adapter> adapter = AdapterOf(end.description);
    if (!adapter || shared_.contains(LowerCase(adapter->host))) return std::nullopt;
    return adapter->host;
  }

  Status Link(const PortLine& port) {
    const std::string from(port.near.guid);
    const std::string peer(port.far->guid);
    if (port.far->type == "SW" && !fabric_.switches.contains(peer)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("line {}: {} links to {}, which is not in the text: the answer is "
                              "partial (run ibnetdiscover again)",
                              port.number,
                              from,
                              peer));
    }
    if (port.near.type == "SW" && port.far->type == "SW") {
      fabric_.LinkSwitches(from, peer);
    } else if (port.near.type == "SW") {
      const std::optional<std::string> host = HostOf(*port.far);
      if (!host) return {};
      fabric_.AddHost(*host);
      fabric_.LinkHost(*host, from, Fabric::Seen::kBySwitch);
    } else if (port.far->type == "SW") {
      const std::optional<std::string> host = HostOf(port.near);
      if (host) fabric_.LinkHost(*host, peer, Fabric::Seen::kByHost);
    }
    return {};
  }

  const std::vector<PortLine>& ports_;
  std::set<std::string> shared_;  // hosts' names that several machines have
  Fabric fabric_;
};

}  // namespace

bool LooksLikePortLines(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = NextLine(text);
    if (line.empty() || line.starts_with('#')) continue;
    return TakeEnd(line).has_value();
  }
  return false;
}

Result<Fabric> ParsePortLines(std::string_view text) {
  std::vector<PortLine> ports;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = NextLine(text);
    if (line.empty() || line.starts_with('#')) continue;
    const std::optional<PortLine> port = ParseLine(line, number);
    if (!port) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("line {}: want a port as ibnetdiscover -p prints it", number));
    }
    ports.push_back(*port);
  }
  return PortWiring(ports).Build();
}

}  // namespace strata::discovery
