#include "discovery/infiniband.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "discovery/command_answer.h"
#include "discovery/infiniband_names.h"
#include "discovery/infiniband_ports.h"

namespace strata::discovery {
namespace {

enum class BlockKind : std::uint8_t { kSwitch, kAdapter, kOther };

struct Block {
  BlockKind kind = BlockKind::kOther;
  std::string id;
  std::string description;
  std::size_t line = 0;
  std::vector<std::pair<std::string, std::size_t>> peers;  // id, line
};

tl::unexpected<Error> FailAt(std::size_t line, std::string_view message) {
  return Fail(Code::kInvalidArgument, fmt::format("line {}: {}", line, message));
}

// Takes `"..."` from the front of `text`, blanks before it included.
std::optional<std::string_view> TakeQuoted(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos || text[begin] != '"') return std::nullopt;
  const std::size_t end = text.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  return inside;
}

// Takes `open`digits or hex`close` from the front.
bool TakeBracketed(std::string_view& text, char open, char close) {
  if (!text.starts_with(open)) return false;
  const std::size_t end = text.find(close);
  if (end == std::string_view::npos || end == 1) return false;
  const std::string_view inside = text.substr(1, end - 1);
  const bool plain = std::all_of(inside.begin(), inside.end(), [](unsigned char c) {
    return std::isxdigit(c) != 0 || c == 'x';
  });
  if (plain) text.remove_prefix(end + 1);
  return plain;
}

// `Switch  40 "S-..."  # "description" ...`; none when the line is something else.
std::optional<Block> ParseHead(std::string_view line) {
  constexpr std::string_view kBlank = " \t";
  Block block;
  const std::size_t word = std::min(line.find_first_of(kBlank), line.size());
  const std::string_view kind = line.substr(0, word);
  if (kind == "Switch") {
    block.kind = BlockKind::kSwitch;
  } else if (kind == "Ca") {
    block.kind = BlockKind::kAdapter;
  } else if (kind != "Rt") {
    return std::nullopt;
  }
  line.remove_prefix(word);
  line.remove_prefix(std::min(line.find_first_not_of(" \t0123456789"), line.size()));
  const std::optional<std::string_view> id = TakeQuoted(line);
  if (!id || id->empty()) return std::nullopt;
  block.id = *id;
  const std::size_t comment = line.find('#');
  if (comment == std::string_view::npos) return block;
  line.remove_prefix(comment + 1);
  const std::size_t begin = line.find('"');
  const std::size_t end = line.rfind('"');
  if (begin != std::string_view::npos && end > begin) {
    block.description = line.substr(begin + 1, end - begin - 1);
  }
  return block;
}

// `[1](guid) "S-..."[4] # ...`: the peer's id.
std::optional<std::string> ParsePort(std::string_view line) {
  if (!TakeBracketed(line, '[', ']')) return std::nullopt;
  if (line.starts_with('(') && !TakeBracketed(line, '(', ')')) return std::nullopt;
  const std::optional<std::string_view> peer = TakeQuoted(line);
  if (!peer || peer->empty() || !TakeBracketed(line, '[', ']')) return std::nullopt;
  return std::string(*peer);
}

Result<std::vector<Block>> ParseBlocks(std::string_view text) {
  std::vector<Block> blocks;
  bool inside = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = NextLine(text);
    if (line.empty()) inside = false;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      const std::optional<std::string> peer = ParsePort(line);
      if (!inside || !peer) {
        return FailAt(number, "want a port such as [1] \"S-...\"[4] in a block");
      }
      blocks.back().peers.emplace_back(*peer, number);
      continue;
    }
    if (std::optional<Block> head = ParseHead(line)) {
      head->line = number;
      blocks.push_back(std::move(*head));
      inside = true;
      continue;
    }
    // vendid=0x2c9 and its like.
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals > line.find_first_of(" \t\"")) {
      return FailAt(number, "want the text that ibnetdiscover prints (Switch, Ca and their ports)");
    }
  }
  return blocks;
}

class BlockWiring {
 public:
  explicit BlockWiring(const std::vector<Block>& blocks) : blocks_(blocks) {}

  Result<Fabric> Build() {
    TRY(NameBlocks());
    DropSharedNames();
    for (const auto& [id, host] : host_of_) fabric_.AddHost(host);
    for (const Block& block : blocks_) {
      for (const auto& [peer, line] : block.peers) TRY(Link(block, peer, line));
    }
    return std::move(fabric_);
  }

 private:
  Status NameBlocks() {
    for (const Block& block : blocks_) {
      if (!kinds_.emplace(block.id, block.kind).second) {
        return FailAt(block.line, fmt::format("duplicate block {}", block.id));
      }
      if (block.kind == BlockKind::kSwitch) {
        fabric_.AddSwitch(block.id, SwitchName(block.description, block.id));
      }
      if (block.kind != BlockKind::kAdapter || IsAggregationNode(block.description)) continue;
      if (const std::optional<Adapter> adapter = AdapterOf(block.description)) {
        host_of_.emplace(block.id, adapter->host);
        if (!adapter->device.empty()) ++adapters_[{LowerCase(adapter->host), adapter->device}];
      } else {
        ++fabric_.unnamed_hosts;
      }
    }
    return {};
  }

  // Two adapters "ubuntu mlx5_0" are in two machines, and nobody can tell which is which.
  void DropSharedNames() {
    std::set<std::string> shared;
    for (const auto& [adapter, count] : adapters_) {
      if (count > 1) shared.insert(adapter.first);
    }
    for (auto at = host_of_.begin(); at != host_of_.end();) {
      const bool drop = shared.contains(LowerCase(at->second));
      if (drop) ++fabric_.unnamed_hosts;
      at = drop ? host_of_.erase(at) : std::next(at);
    }
  }

  Status Link(const Block& block, const std::string& peer, std::size_t line) {
    const auto kind = kinds_.find(peer);
    if (kind == kinds_.end()) {
      return FailAt(line,
                    fmt::format("{} links to {}, which is not in the text: the answer is partial "
                                "(run ibnetdiscover again)",
                                block.id,
                                peer));
    }
    if (block.kind == BlockKind::kSwitch && kind->second == BlockKind::kSwitch) {
      fabric_.LinkSwitches(block.id, peer);
    } else if (block.kind == BlockKind::kSwitch) {
      const auto host = host_of_.find(peer);
      if (host != host_of_.end()) fabric_.LinkHost(host->second, block.id, Fabric::Seen::kBySwitch);
    } else if (kind->second == BlockKind::kSwitch) {
      const auto host = host_of_.find(block.id);
      if (host != host_of_.end()) fabric_.LinkHost(host->second, peer, Fabric::Seen::kByHost);
    }
    return {};
  }

  const std::vector<Block>& blocks_;
  std::map<std::string, BlockKind> kinds_;
  std::map<std::string, std::string> host_of_;                   // adapter id -> host
  std::map<std::pair<std::string, std::string>, int> adapters_;  // (host, device)
  Fabric fabric_;
};

// The first line of `text` that speaks of trouble in the fabric.
std::optional<std::string> Complaint(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    const std::string lower = LowerCase(line);
    for (const std::string_view word : {"bad status", "error", "fail", "timed out", "timeout"}) {
      if (lower.find(word) != std::string::npos) return std::string(line.substr(0, 200));
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Fabric> ParseIbnetdiscover(std::string_view text) {
  if (LooksLikePortLines(text)) return ParsePortLines(text);
  TRY_ASSIGN(const std::vector<Block> blocks, ParseBlocks(text));
  if (blocks.empty()) {
    return Fail(Code::kInvalidArgument,
                "no Switch and no Ca in it (want what ibnetdiscover prints)");
  }
  return BlockWiring(blocks).Build();
}

Result<Fabric> ReadInfiniband(const InfinibandConfig& config, Reader& reader) {
  if (!config.file.empty()) {
    TRY_ASSIGN(const std::string text, reader.ReadFile(config.file));
    Result<Fabric> fabric = ParseIbnetdiscover(text);
    if (!fabric) return tl::unexpected(Error(fabric.error()).Context(config.file));
    return fabric;
  }
  const std::string& program = config.command.front();
  TRY_ASSIGN(const CommandOutput run, reader.Run(config.command));
  TRY(CheckExit(program, run));
  const std::optional<std::string> complaint = Complaint(run.err);
  if (complaint) {
    return Fail(Code::kUnavailable,
                fmt::format("{}: the answer may be partial: {}", program, *complaint));
  }
  Result<Fabric> fabric = ParseIbnetdiscover(run.out);
  if (!fabric) return tl::unexpected(Error(fabric.error()).Context(program));
  return fabric;
}

}  // namespace strata::discovery
