#include "controllers/discovery_answers.h"

#include <utility>

namespace strata::controllers {
namespace {

using discovery::CommandOutput;
using discovery::HttpAnswer;
using discovery::HttpRequest;
using discovery::Reader;
using Folder = std::map<std::string, std::string>;

class RecordingReader final : public Reader {
 public:
  RecordingReader(std::unique_ptr<Reader> real, ReaderAnswers& into)
      : real_(std::move(real)), into_(into) {}

  Result<std::string> ReadFile(const std::string& path) override {
    return Keep(real_->ReadFile(path));
  }
  Result<Folder> ReadFolder(const std::string& path, std::string_view suffix) override {
    return Keep(real_->ReadFolder(path, suffix));
  }
  Result<CommandOutput> Run(const std::vector<std::string>& command) override {
    return Keep(real_->Run(command));
  }
  Result<HttpAnswer> Send(const HttpRequest& request) override {
    return Keep(real_->Send(request));
  }
  Status Wait(Duration duration) override { return Keep(real_->Wait(duration)); }

 private:
  template <typename T>
  Result<T> Keep(Result<T> answer) {
    into_.answers.emplace_back(answer);
    return answer;
  }

  std::unique_ptr<Reader> real_;
  ReaderAnswers& into_;
};

class ReplayingReader final : public Reader {
 public:
  explicit ReplayingReader(ReaderAnswers answers) : answers_(std::move(answers)) {}

  Result<std::string> ReadFile(const std::string& /*path*/) override { return Next<std::string>(); }
  Result<Folder> ReadFolder(const std::string& /*path*/, std::string_view /*suffix*/) override {
    return Next<Folder>();
  }
  Result<CommandOutput> Run(const std::vector<std::string>& /*command*/) override {
    return Next<CommandOutput>();
  }
  Result<HttpAnswer> Send(const HttpRequest& /*request*/) override { return Next<HttpAnswer>(); }
  Status Wait(Duration /*duration*/) override { return Next<void>(); }

 private:
  template <typename T>
  Result<T> Next() {
    if (answers_.answers.empty()) {
      return Fail(Code::kUnavailable, "the cluster changed while the source was asked");
    }
    ReaderAnswers::Answer answer = std::move(answers_.answers.front());
    answers_.answers.pop_front();
    if (auto* same = std::get_if<Result<T>>(&answer)) return std::move(*same);
    return Fail(Code::kUnavailable, "the cluster changed while the source was asked");
  }

  ReaderAnswers answers_;
};

}  // namespace

std::unique_ptr<Reader> Recording(std::unique_ptr<Reader> real, ReaderAnswers& into) {
  return std::make_unique<RecordingReader>(std::move(real), into);
}

std::unique_ptr<Reader> Replaying(ReaderAnswers answers) {
  return std::make_unique<ReplayingReader>(std::move(answers));
}

}  // namespace strata::controllers
