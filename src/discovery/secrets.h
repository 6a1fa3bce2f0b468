#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "discovery/config.h"
#include "discovery/reader.h"
#include "objects/secret.h"

namespace strata::discovery {

// What the Secret of an entry holds: keys username, password and token; nothing when the entry
// names none. kNotFound when it is not among `secrets`, kInvalidArgument for what is not base64;
// messages name the key, never the value. `advice` is what to do where it is missing.
[[nodiscard]] Result<Credentials> CredentialsOf(const SourceConfig& entry,
                                                std::span<const objects::Secret> secrets,
                                                std::string_view advice);

}  // namespace strata::discovery
