#include "discovery/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "discovery/http_answer.h"

namespace strata::discovery {
namespace {

struct CloseEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// Once per process, before any thread uses it.
bool InitCurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  return code == CURLE_OK;
}

struct Sink {
  std::string* body;
  ReadBudget* budget;
  bool overflow = false;
};

std::size_t Receive(char* data, std::size_t size, std::size_t count, void* user) {
  auto* sink = static_cast<Sink*>(user);
  if (!sink->budget->Take(size * count)) {
    sink->overflow = true;
    return 0;
  }
  sink->body->append(data, size * count);
  return size * count;
}

class Request {
 public:
  Request(const HttpRequest& request, ReadBudget& budget)
      : request_(request), budget_(budget), handle_(curl_easy_init()) {}

  Result<HttpAnswer> Send() {
    if (handle_ == nullptr) return Fail(Code::kInternal, "libcurl cannot be used");
    HttpAnswer answer;
    Sink sink{.body = &answer.body, .budget = &budget_};
    Prepare(sink);
    const CURLcode code = curl_easy_perform(handle_.get());
    if (sink.overflow) return budget_.TooMuch(ShownUrl(request_.url));
    if (code == CURLE_OPERATION_TIMEDOUT) return budget_.TooLong(ShownUrl(request_.url));
    if (code != CURLE_OK) {
      return Fail(Code::kUnavailable, ShownUrl(request_.url) + ": " + Cause(code));
    }
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    curl_easy_setopt(handle_.get(), option, value);
  }

  void AddHeader(const std::string& header) {
    headers_.reset(curl_slist_append(headers_.release(), header.c_str()));
  }

  void Prepare(Sink& sink) {
    Set(CURLOPT_URL, request_.url.c_str());
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_FOLLOWLOCATION, 1L);
    Set(CURLOPT_MAXREDIRS, 3L);
    const bool tls = request_.url.starts_with("https://");
    Set(CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
    // Zero would mean no limit.
    Set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(budget_.time_left().count())));
    Set(CURLOPT_WRITEFUNCTION, &Receive);
    Set(CURLOPT_WRITEDATA, &sink);
    Set(CURLOPT_ERRORBUFFER, error_.data());
    Set(CURLOPT_USERAGENT, "strata");
    AddHeader("Accept: application/json");
    if (request_.server != nullptr) PrepareTls(*request_.server);
    if (request_.credentials != nullptr) PrepareCredentials(*request_.credentials);
    if (!request_.body.empty()) {
      AddHeader("Content-Type: application/json");
      Set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request_.body.size()));
      Set(CURLOPT_POSTFIELDS, request_.body.c_str());
    }
    Set(CURLOPT_HTTPHEADER, headers_.get());
  }

  void PrepareTls(const ServerConfig& server) {
    Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    Set(CURLOPT_SSL_VERIFYPEER, server.skip_verify ? 0L : 1L);
    Set(CURLOPT_SSL_VERIFYHOST, server.skip_verify ? 0L : 2L);
    if (!server.ca_file.empty()) Set(CURLOPT_CAINFO, server.ca_file.c_str());
  }

  void PrepareCredentials(const Credentials& credentials) {
    if (!credentials.token.empty()) {
      AddHeader(fmt::format("Authorization: {} {}", request_.token_scheme, credentials.token));
    } else if (!credentials.username.empty()) {
      Set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      Set(CURLOPT_USERNAME, credentials.username.c_str());
      Set(CURLOPT_PASSWORD, credentials.password.c_str());
    }
  }

  [[nodiscard]] std::string Cause(CURLcode code) const {
    std::string detail = error_[0] == '\0' ? curl_easy_strerror(code) : error_.data();
    switch (code) {
      case CURLE_PEER_FAILED_VERIFICATION:
        return "the certificate is not trusted: " + detail + " (give its CA as caFile)";
      case CURLE_SSL_CONNECT_ERROR:
        return "TLS handshake failed: " + detail + " (does endpoint speak TLS 1.2 or later?)";
      case CURLE_SSL_CACERT_BADFILE:
        return "invalid caFile: " + detail;
      case CURLE_PARTIAL_FILE:
        return "the answer is incomplete: " + detail;
      default:
        return detail;
    }
  }

  const HttpRequest& request_;
  ReadBudget& budget_;
  std::unique_ptr<CURL, CloseEasy> handle_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace

Result<HttpAnswer> SendHttp(const HttpRequest& request, ReadBudget& budget) {
  if (!InitCurl()) return Fail(Code::kInternal, "libcurl cannot be used");
  if (budget.time_left().count() == 0) return budget.TooLong(ShownUrl(request.url));
  return Request(request, budget).Send();
}

}  // namespace strata::discovery
