#include "discovery/ufm.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "discovery/http_answer.h"
#include "discovery/infiniband_names.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::discovery {
namespace {

using objects::Cursor;
using objects::Value;

constexpr std::int64_t kMaxPages = 10'000;

// A text, with what UFM writes for "nothing" taken away.
std::string ReadText(const Cursor& at) {
  std::string text;
  at.Read(text);
  return text == "N/A" ? "" : text;
}

std::string ReadGuid(const Cursor& at) {
  std::string guid = LowerCase(ReadText(at));
  return guid.starts_with("0x") ? guid.substr(2) : guid;
}

void ReadUfmPort(const Cursor& at, UfmPort& out) {
  const std::string description = ReadText(at.At("description"));
  if (description.find("Computer") != std::string::npos) out.kind = UfmPort::Kind::kComputer;
  if (description.find("Switch") != std::string::npos) out.kind = UfmPort::Kind::kSwitch;
  if (out.kind == UfmPort::Kind::kOther) return;
  out.system = ReadText(at.At("system_name"));
  out.system_id = ReadGuid(at.At("systemID"));
  const bool is_switch = out.kind == UfmPort::Kind::kSwitch;
  const bool aggregates =
      IsAggregationNode(out.system) || IsAggregationNode(ReadText(at.At("node_description")));
  // Switches that do not say which would all be one.
  const bool anonymous = is_switch && out.system.empty() && out.system_id.empty();
  if (anonymous || (!is_switch && aggregates)) {
    out.kind = UfmPort::Kind::kOther;
    return;
  }
  if (!is_switch && NamesItsMaker(out.system)) out.system.clear();
  out.address = ReadText(at.At("system_ip"));
  out.peer = ReadText(at.At("peer_node_name"));
  out.peer_id = ReadGuid(at.At("peer_node_guid"));
  // An answer that does not tell states (brief) lists what is linked.
  const std::string state = LowerCase(ReadText(at.At("logical_state")));
  out.active = (state.empty() || state == "active") && !(out.peer.empty() && out.peer_id.empty());
}

// Gives each switch one id: its GUID, also where an entry knows only its name.
class Switches {
 public:
  void Learn(const std::string& id, const std::string& name) {
    if (!id.empty() && !name.empty()) ids_[name].insert(id);
  }

  [[nodiscard]] std::string IdOf(const std::string& id, const std::string& name) const {
    if (!id.empty()) return id;
    const auto found = ids_.find(name);
    const bool one = found != ids_.end() && found->second.size() == 1;
    return one ? *found->second.begin() : name;
  }

 private:
  std::map<std::string, std::set<std::string>> ids_;
};

class UfmWiring {
 public:
  explicit UfmWiring(const std::vector<UfmPort>& ports) : ports_(ports) {}

  Fabric Build() {
    for (const UfmPort& port : ports_) Learn(port);
    for (const UfmPort& port : ports_) AddSwitch(port);
    for (const UfmPort& port : ports_) {
      if (!port.active) continue;
      if (port.kind == UfmPort::Kind::kComputer) LinkComputer(port);
      if (port.kind == UfmPort::Kind::kSwitch) LinkSwitch(port);
    }
    return std::move(fabric_);
  }

 private:
  void Learn(const UfmPort& port) {
    if (port.kind == UfmPort::Kind::kSwitch) switches_.Learn(port.system_id, port.system);
    if (port.kind != UfmPort::Kind::kComputer) return;
    if (port.system.empty()) {
      ++fabric_.unnamed_hosts;
      return;
    }
    fabric_.AddHost(port.system, port.address);
    host_of_.emplace(port.system, port.system);
    if (!port.system_id.empty()) host_of_.emplace(port.system_id, port.system);
    if (port.active) switches_.Learn(port.peer_id, port.peer);
  }

  void AddSwitch(const UfmPort& port) {
    if (port.kind == UfmPort::Kind::kSwitch) fabric_.AddSwitch(IdOf(port), port.system);
    if (port.kind != UfmPort::Kind::kComputer || !port.active) return;
    // Two hosts back to back have no leaf between them.
    const std::string id = PeerOf(port);
    if (!host_of_.contains(id)) fabric_.AddSwitch(id, port.peer);
  }

  void LinkComputer(const UfmPort& port) {
    const std::string peer = PeerOf(port);
    if (port.system.empty() || !fabric_.switches.contains(peer)) return;
    fabric_.LinkHost(port.system, peer, Fabric::Seen::kByHost);
  }

  void LinkSwitch(const UfmPort& port) {
    const std::string peer = PeerOf(port);
    if (fabric_.switches.contains(peer)) return fabric_.LinkSwitches(IdOf(port), peer);
    auto host = host_of_.find(port.peer_id);
    if (host == host_of_.end()) host = host_of_.find(port.peer);
    if (host == host_of_.end()) return;
    fabric_.LinkHost(host->second, IdOf(port), Fabric::Seen::kBySwitch);
  }

  [[nodiscard]] std::string IdOf(const UfmPort& port) const {
    return switches_.IdOf(port.system_id, port.system);
  }
  [[nodiscard]] std::string PeerOf(const UfmPort& port) const {
    return switches_.IdOf(port.peer_id, port.peer);
  }

  const std::vector<UfmPort>& ports_;
  Switches switches_;
  std::map<std::string, std::string> host_of_;  // GUID or name -> host
  Fabric fabric_;
};

Result<UfmPage> FetchPage(const HttpRequest& request, Reader& reader) {
  TRY_ASSIGN(const HttpAnswer answer, reader.Send(request));
  TRY(CheckStatus(request.url, answer));
  Result<UfmPage> page = ParseUfmPorts(answer.body);
  if (!page) return tl::unexpected(Error(page.error()).Context(request.url));
  return page;
}

}  // namespace

Result<UfmPage> ParseUfmPorts(const std::string& text) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  UfmPage page;
  const auto read = [&](const Cursor& list) { list.ReadList(page.ports, ReadUfmPort); };
  if (document.root().type() == Value::Type::kObject) {
    root.At("num_of_pages").Read(page.pages, {0, kMaxPages});
    const Cursor total = root.At("filtered_resources");
    if (total.present()) total.Read(page.total, {0, INT64_MAX});
    read(root.At("data").Required());
  } else {
    read(root);
  }
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return page;
}

Fabric FabricOfUfm(const std::vector<UfmPort>& ports) {
  return UfmWiring(ports).Build();
}

Result<Fabric> ReadUfm(const UfmConfig& config, const Credentials& credentials, Reader& reader) {
  if (credentials.empty()) {
    return Fail(Code::kInvalidArgument,
                "no credentials (want credentials.secretRef, and with --nodes its Secret with "
                "username and password, or token)");
  }
  // UFM tells the ways to authenticate apart by the path; its tokens go as Basic, too.
  const bool by_token = !credentials.token.empty();
  const std::string url =
      config.server.endpoint + (by_token ? "/ufmRestV3" : "/ufmRest") + "/resources/ports";
  HttpRequest request{.url = url,
                      .server = &config.server,
                      .credentials = &credentials,
                      .token_scheme = "Basic",
                      .body = ""};
  TRY_ASSIGN(UfmPage all, FetchPage(request, reader));
  const std::size_t page_size = all.ports.size();
  for (std::int64_t number = 2; number <= all.pages; ++number) {
    request.url = fmt::format("{}?page_number={}&rpp={}", url, number, page_size);
    TRY_ASSIGN(UfmPage page, FetchPage(request, reader));
    all.ports.insert(all.ports.end(), page.ports.begin(), page.ports.end());
  }
  if (all.total >= 0 && static_cast<std::int64_t>(all.ports.size()) != all.total) {
    return Fail(
        Code::kUnavailable,
        fmt::format("{}: the answer is partial: {} of {} ports", url, all.ports.size(), all.total));
  }
  return FabricOfUfm(all.ports);
}

}  // namespace strata::discovery
