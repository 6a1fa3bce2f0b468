#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "objects/meta.h"

// The GPUs that a node registers in Volcano's dialect.
namespace strata {

// Reads `uuid,shares,MiB,model,health,mode` of each GPU, each followed by a colon. Their order is
// their index. What is wrong with the text, else "". Never fails, whatever the text.
[[nodiscard]] std::string ReadVgpuRegister(std::string_view text, std::vector<Gpu>& gpus);

// Why the kubelet has nothing to hand out, although the GPUs are registered; "" if it has.
[[nodiscard]] std::string WhyNotHandedOut(const objects::ResourceList& allocatable);

// Adds what is registered in Volcano's dialect to what is in HAMi's: a UUID of both is one GPU,
// with the smaller amounts. Adds a sentence to `warnings` where these differ.
void AddVgpus(std::vector<Gpu> vgpus, std::vector<Gpu>& gpus, std::vector<std::string>& warnings);

}  // namespace strata
