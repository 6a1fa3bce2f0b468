#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "discovery/config.h"
#include "discovery/previous.h"
#include "discovery/reader.h"
#include "objects/hypernode.h"
#include "objects/node.h"
#include "objects/secret.h"

namespace strata::discovery {

// Whether to believe an answer that lacks many of the nodes that its source had: kAcceptFewer does
// unless it holds none at all.
enum class Shrink : std::uint8_t { kRefuse, kAcceptFewer, kAccept };

// What a message tells to do, which depends on who reads it.
struct Advice {
  std::string fewer = "--accept-shrink accepts it";
  std::string none = "--accept-shrink accepts it";
  std::string secret = "give its manifest with --nodes";
};

struct DiscoverInput {
  std::vector<SourceConfig> sources;
  std::vector<std::string> wanted;                  // sources or names; none: all that are enabled
  std::optional<std::vector<objects::Node>> nodes;  // none: every host is taken for a node
  std::vector<objects::Secret> secrets;
  std::vector<objects::HyperNode> previous;
  Shrink shrink = Shrink::kRefuse;
  Advice advice = {};
};

struct Discovery {
  std::vector<objects::HyperNode> hypernodes;  // by tier, then name: children before parents
  std::vector<std::string> warnings;
  std::vector<std::string> errors;  // one line for each source that failed
  // The same without a word of what files, programs and servers said: fit to be shown to everybody.
  std::vector<std::string> public_errors;
  std::vector<Owner> owners;  // whose HyperNodes these are: the entries that were asked
};

// A new reader for each pass of a source, which may take so long.
using MakeReader = std::function<std::unique_ptr<Reader>(Duration)>;

// One pass over the enabled sources. Sources do not touch each other: one that fails, or whose
// answer is not believed, is one error, and what `previous` holds of it stands in its place. Not
// believed is an answer without any node, and one that lacks more than 30% of the nodes that the
// source had, as `shrink` says.
[[nodiscard]] Discovery Discover(const DiscoverInput& input, const MakeReader& make_reader);

// The result when the configuration itself cannot be read: `error`, and every HyperNode of
// `previous` that a source made, so that none is deleted.
[[nodiscard]] Discovery KeepPrevious(const Error& error,
                                     const std::vector<objects::HyperNode>& previous);

}  // namespace strata::discovery
