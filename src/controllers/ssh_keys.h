#pragma once

#include "controllers/job_plugins.h"

namespace strata::controllers {

// A new RSA key of 2,048 bits, from the system's randomness. Takes a tenth of a second.
[[nodiscard]] SshKeys NewSshKeys();

}  // namespace strata::controllers
