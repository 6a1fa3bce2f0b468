#pragma once

#include <string_view>

#include "base/result.h"
#include "discovery/fabric.h"
#include "discovery/reader.h"

namespace strata::discovery {

// The fabric that a text of `ibnetdiscover` describes, also of `ibnetdiscover -p`. Hosts are named
// by the first word of their adapter's description ("node-01 mlx5_0"); adapters without a host's
// name are counted, SHARP aggregation nodes are not hosts, and a name that stands for several
// machines ("ubuntu mlx5_0" twice) names none of them.
//
// kInvalidArgument with the line for any other text, and for a link to a block that is
// missing: the text is then a part of the fabric only, and must not be believed.
[[nodiscard]] Result<Fabric> ParseIbnetdiscover(std::string_view text);

// The same from the saved file or the program that `config` names. A program that fails, or
// complains on standard error about the fabric, is an error.
[[nodiscard]] Result<Fabric> ReadInfiniband(const InfinibandConfig& config, Reader& reader);

}  // namespace strata::discovery
