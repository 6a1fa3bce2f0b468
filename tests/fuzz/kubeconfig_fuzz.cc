// Any text read as a kubeconfig, or as what a login program prints, gives a value or one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::kube;  // NOLINT(google-build-using-namespace)
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Twice: of what both name, the first counts.
  const std::vector<ConfigText> texts = {{"/k/one", text}, {"/k/two", text}};
  const auto config = ParseKubeconfigs(texts);
  CHECK(config || config.error().message.find('\n') == std::string::npos);
  if (config) {
    for (const auto& [name, context] : config->contexts) {
      const auto chosen = ChooseContext(*config, name);
      CHECK(!chosen || !chosen->cluster.server.empty());
    }
  }
  const auto answer = ParseExecAnswer(text, "client.authentication.k8s.io/v1");
  CHECK(!answer || !answer->token.empty() || !answer->key_pem.empty());
  return 0;
}
