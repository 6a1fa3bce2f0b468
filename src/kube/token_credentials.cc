#include "kube/token_credentials.h"

#include <utility>

#include "base/ascii.h"
#include "base/base64.h"

namespace strata::kube {
namespace {

constexpr Duration kReadAgain = std::chrono::minutes(1);
constexpr Duration kReadPause = std::chrono::seconds(1);

}  // namespace

std::string BasicAuthorization(const std::string& username, const std::string& password) {
  return "Basic " + EncodeBase64(username + ':' + password);
}

Result<std::shared_ptr<TokenFile>> TokenFile::Open(std::string path,
                                                   Surroundings outside,
                                                   Now now) {
  std::shared_ptr<TokenFile> file(
      new TokenFile(std::move(path), std::move(outside), std::move(now)));
  const MutexLock lock(file->mutex_);
  TRY(file->Read());
  return file;
}

Status TokenFile::Read() {
  read_at_ = now_();
  TRY_ASSIGN(const std::string text, outside_.read(path_));
  const std::string_view token = Trim(text);
  if (token.empty() || !FitsHeader(token)) {
    return Fail(Code::kInvalidArgument, path_ + ": want a token, in one line of text");
  }
  token_ = token;
  return {};
}

std::string TokenFile::Authorization() {
  const MutexLock lock(mutex_);
  if (now_() - read_at_ >= kReadAgain) (void)Read();
  return "Bearer " + token_;
}

void TokenFile::Renew() {
  const MutexLock lock(mutex_);
  if (now_() - read_at_ >= kReadPause) (void)Read();
}

}  // namespace strata::kube
