#pragma once

#include <string>
#include <string_view>

#include "kube/kubeconfig.h"

// From what a command says about a job to the picture of it.
namespace strata {

// The view of a job on the page of `url`, which may end in "#token=...". Pure.
[[nodiscard]] std::string LinkToJob(std::string_view url, std::string_view job);

// The URL of the page of `strata up`, which is in a file beside the kubeconfig of the connection;
// "" when there is none.
[[nodiscard]] std::string FindPage(const kube::ConnectionFlags& connection,
                                   const kube::Surroundings& outside);

}  // namespace strata
