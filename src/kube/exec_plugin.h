#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/credentials.h"
#include "kube/kubeconfig.h"
#include "os/process.h"

// Programs that log in for us, as kubectl runs them: cloud clusters have nothing else.
namespace strata::kube {

struct ExecAnswer {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<Time> expires;
};

// What the program finds in KUBERNETES_EXEC_INFO.
[[nodiscard]] std::string ExecInfo(const ExecConfig& exec,
                                   const ClusterConfig& cluster,
                                   const std::string& ca_pem);

// What it printed. Errors never hold any of it.
[[nodiscard]] Result<ExecAnswer> ParseExecAnswer(const std::string& output,
                                                 const std::string& api_version);

// Runs a program: what it printed, or how it failed, in one line with the install hint.
[[nodiscard]] Result<ExecAnswer> RunExecPlugin(const ExecConfig& exec,
                                               const std::string& info,
                                               const os::Interrupt& interrupt);

// Asks `run` for credentials now, and again on a thread of its own when they are about to end or
// the server refuses them (every ten seconds at most). Until there are new ones, the old ones are
// used.
class ExecCredentials final : public Credentials {
 public:
  using Run = std::function<Result<ExecAnswer>(const os::Interrupt&)>;
  // Called with each new answer, the first one included, by the thread that ran it.
  using OnAnswer = std::function<void(const ExecAnswer&)>;

  // Blocks until the first answer.
  [[nodiscard]] static Result<std::shared_ptr<ExecCredentials>> Start(Run run,
                                                                      OnAnswer on_answer,
                                                                      const Clock& clock);
  // Interrupts a run under way.
  ~ExecCredentials() override;

  [[nodiscard]] std::string Authorization() override;
  void Renew() override;
  [[nodiscard]] bool Renewing() override;

 private:
  class Impl;
  explicit ExecCredentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::kube
