#include "kube/exec_plugin.h"

#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/mutex.h"
#include "base/timestamp.h"
#include "json/dump.h"
#include "objects/value.h"

namespace strata::kube {
namespace {

using objects::Value;

constexpr os::ProcessLimits kPluginLimits{std::chrono::seconds(60), std::size_t{1} << 20U};
constexpr Duration kRenewBefore = std::chrono::seconds(30);
constexpr Duration kRenewPause = std::chrono::seconds(10);

tl::unexpected<Error> BadAnswer(std::string_view why) {
  return Fail(Code::kInvalidArgument, "the ExecCredential it printed: " + std::string(why));
}

std::string Member(const Value& object, std::string_view key) {
  const auto found = object.Find(key);
  return found && found->type() == Value::Type::kString ? std::string(found->AsString()) : "";
}

}  // namespace

std::string ExecInfo(const ExecConfig& exec,
                     const ClusterConfig& cluster,
                     const std::string& ca_pem) {
  nlohmann::ordered_json info = {{"apiVersion", exec.api_version}, {"kind", "ExecCredential"}};
  info["spec"]["interactive"] = false;
  if (exec.needs_cluster_info) {
    auto& about = info["spec"]["cluster"];
    about["server"] = cluster.server;
    if (!ca_pem.empty()) about["certificate-authority-data"] = EncodeBase64(ca_pem);
    if (!cluster.tls_server_name.empty()) about["tls-server-name"] = cluster.tls_server_name;
    if (!cluster.proxy.empty()) about["proxy-url"] = cluster.proxy;
    if (cluster.skip_tls_verify) about["insecure-skip-tls-verify"] = true;
  }
  return DumpJson(info);
}

Result<ExecAnswer> ParseExecAnswer(const std::string& output, const std::string& api_version) {
  const auto document = objects::Document::ParseJson(output);
  if (!document || document->root().type() != Value::Type::kObject) return BadAnswer("want JSON");
  const Value root = document->root();
  if (Member(root, "apiVersion") != api_version) {
    return BadAnswer("apiVersion: want " + api_version);
  }
  const auto status = root.Find("status");
  if (!status || status->type() != Value::Type::kObject) {
    return BadAnswer("status: want an object");
  }
  ExecAnswer answer;
  answer.token = Trim(Member(*status, "token"));
  if (!FitsHeader(answer.token)) return BadAnswer("status.token: want one line of text");
  answer.certificate_pem = Member(*status, "clientCertificateData");
  answer.key_pem = Member(*status, "clientKeyData");
  if (answer.certificate_pem.empty() != answer.key_pem.empty()) {
    return BadAnswer("status: want clientCertificateData and clientKeyData together");
  }
  if (answer.token.empty() && answer.key_pem.empty()) {
    return BadAnswer("status: want a token or a client certificate");
  }
  const std::string expires = Member(*status, "expirationTimestamp");
  if (!expires.empty()) {
    const auto time = ParseTimestamp(expires);
    if (!time) return BadAnswer("status.expirationTimestamp: want a time");
    answer.expires = *time;
  }
  return answer;
}

Result<ExecAnswer> RunExecPlugin(const ExecConfig& exec,
                                 const std::string& info,
                                 const os::Interrupt& interrupt) {
  os::ProcessCommand command;
  command.words = {exec.command};
  command.words.insert(command.words.end(), exec.arguments.begin(), exec.arguments.end());
  command.environment = exec.environment;
  command.environment.emplace_back("KUBERNETES_EXEC_INFO", info);
  const auto run = os::RunProcess(command, kPluginLimits, &interrupt);
  if (!run) {
    std::string message = run.error().message;
    const std::string hint(Split(Trim(exec.install_hint), '\n').front());
    if (!hint.empty()) message += " (" + hint + ")";
    return Fail(run.error().code, std::move(message));
  }
  const auto failed = [&exec](const std::string& how) {
    return Fail(Code::kUnavailable, fmt::format("{}: {}", exec.command, how));
  };
  if (run->end == os::ProcessOutput::End::kInterrupted) return failed("interrupted");
  if (run->end == os::ProcessOutput::End::kOutputLimit) return failed("printed too much");
  if (run->end != os::ProcessOutput::End::kExited) return failed("no answer in a minute");
  if (run->signal != 0) return failed(fmt::format("ended by signal {}", run->signal));
  if (run->exit_code != 0) {
    const std::string said(Split(Trim(run->err), '\n').back());
    return failed(fmt::format("exit code {}{}{}", run->exit_code, said.empty() ? "" : ": ", said));
  }
  Result<ExecAnswer> answer = ParseExecAnswer(run->out, exec.api_version);
  if (!answer) return tl::unexpected(std::move(answer).error().Context(exec.command));
  return answer;
}

class ExecCredentials::Impl {
 public:
  Impl(Run run, OnAnswer on_answer, const Clock& clock, ExecAnswer first)
      : run_(std::move(run)),
        on_answer_(std::move(on_answer)),
        clock_(clock),
        answer_(std::move(first)),
        last_run_(clock.Now()),
        thread_([this] { Loop(); }) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    interrupt_.Fire();
    wanted_changed_.NotifyAll();
    thread_.join();
  }

  std::string Authorization() {
    const MutexLock lock(mutex_);
    if (answer_.expires && clock_.Now() + kRenewBefore >= *answer_.expires) WantNew();
    return answer_.token.empty() ? "" : "Bearer " + answer_.token;
  }

  void Renew() {
    const MutexLock lock(mutex_);
    WantNew();
  }

  bool Renewing() {
    const MutexLock lock(mutex_);
    return wanted_ || running_;
  }

 private:
  void WantNew() REQUIRES(mutex_) {
    const Duration since = clock_.Now() - last_run_;
    const bool too_soon = since >= Duration(0) && since < kRenewPause;  // a clock may go back
    if (running_ || too_soon) return;
    wanted_ = true;
    wanted_changed_.NotifyAll();
  }

  void Loop() {
    MutexLock lock(mutex_);
    while (true) {
      while (!wanted_ && !stopping_) wanted_changed_.Wait(mutex_);
      if (stopping_) return;
      last_run_ = clock_.Now();
      wanted_ = false;
      running_ = true;
      lock.Unlock();
      Result<ExecAnswer> answer = run_(interrupt_);
      if (answer && on_answer_) on_answer_(*answer);
      lock.Lock();
      running_ = false;
      if (answer) answer_ = std::move(*answer);
    }
  }

  const Run run_;
  const OnAnswer on_answer_;
  const Clock& clock_;
  os::Interrupt interrupt_;

  Mutex mutex_;
  CondVar wanted_changed_;
  ExecAnswer answer_ GUARDED_BY(mutex_);
  Time last_run_ GUARDED_BY(mutex_);
  bool wanted_ GUARDED_BY(mutex_) = false;
  bool running_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

Result<std::shared_ptr<ExecCredentials>> ExecCredentials::Start(Run run,
                                                                OnAnswer on_answer,
                                                                const Clock& clock) {
  TRY_ASSIGN(ExecAnswer first, run(os::Interrupt()));
  if (on_answer) on_answer(first);
  return std::shared_ptr<ExecCredentials>(new ExecCredentials(
      std::make_unique<Impl>(std::move(run), std::move(on_answer), clock, std::move(first))));
}

ExecCredentials::ExecCredentials(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExecCredentials::~ExecCredentials() = default;
std::string ExecCredentials::Authorization() {
  return impl_->Authorization();
}
void ExecCredentials::Renew() {
  impl_->Renew();
}
bool ExecCredentials::Renewing() {
  return impl_->Renewing();
}

}  // namespace strata::kube
