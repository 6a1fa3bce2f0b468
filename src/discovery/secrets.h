#pragma once

#include <span>

#include "base/result.h"
#include "discovery/config.h"
#include "discovery/reader.h"
#include "objects/secret.h"

namespace strata::discovery {

// What the Secret of an entry holds: keys username, password and token; nothing when the entry
// names none. kNotFound when it is not among `secrets`, kInvalidArgument for what is no base64;
// messages name the key, never the value.
[[nodiscard]] Result<Credentials> CredentialsOf(const SourceConfig& entry,
                                                std::span<const objects::Secret> secrets);

}  // namespace strata::discovery
