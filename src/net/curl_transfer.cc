#include "net/curl_transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

#include "base/ascii.h"

namespace strata::net {
namespace {

// A peer that does not acknowledge for so long is gone.
constexpr int kDeadPeerMs = 30'000;
constexpr long kBufferBytes = 256L << 10U;

int PrepareSocket(void* /*user*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const int limit = kDeadPeerMs;
  // Not on a Unix socket, and not everywhere: keepalive alone has to do there.
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
  return CURL_SOCKOPT_OK;
}

curl_blob BlobOf(const std::string& text) {
  return curl_blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
}

std::string UrlOf(const CurlServer& server, const HttpRequest& message) {
  std::string url = server.address;
  while (url.ends_with('/')) url.pop_back();
  url += message.path;
  if (!message.query.empty()) url += '?' + message.query;
  return url;
}

bool IsTrustProblem(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return true;
    default:
      return false;
  }
}

}  // namespace

CurlTransfer::CurlTransfer(RequestId id, ClientRequest request, std::shared_ptr<Receiver> receiver)
    : id_(id),
      request_(std::move(request)),
      receiver_(std::move(receiver)),
      handle_(curl_easy_init()) {}

bool CurlTransfer::Prepare(const CurlServer& server) {
  if (handle_ == nullptr) return false;
  Set(CURLOPT_URL, UrlOf(server, request_.message).c_str());
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_PRIVATE, static_cast<void*>(this));
  Set(CURLOPT_HEADERFUNCTION, &OnHeaderLine);
  Set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  Set(CURLOPT_WRITEFUNCTION, &OnData);
  Set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  Set(CURLOPT_ERRORBUFFER, error_.data());
  Set(CURLOPT_USERAGENT, server.options.user_agent.c_str());
  PrepareConnection(server);
  PrepareTls(server.options.tls);
  PrepareMessage();
  return true;
}

void CurlTransfer::PrepareConnection(const CurlServer& server) {
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Over TLS, wait for a connection that is being made and may carry this request, too; else each
  // early request opens its own. Without TLS there is no HTTP/2, and libcurl would wait for an
  // answer.
  Set(CURLOPT_PIPEWAIT, server.address.starts_with("https://") ? 1L : 0L);
  Set(CURLOPT_ACCEPT_ENCODING, "");
  Set(CURLOPT_BUFFERSIZE, kBufferBytes);
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_TCP_KEEPIDLE, 30L);
  Set(CURLOPT_TCP_KEEPINTVL, 15L);
  Set(CURLOPT_SOCKOPTFUNCTION, &PrepareSocket);
  Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!server.options.proxy.empty()) Set(CURLOPT_PROXY, server.options.proxy.c_str());
  if (!server.connect_to.empty()) {
    connect_to_.reset(curl_slist_append(nullptr, server.connect_to.c_str()));
    Set(CURLOPT_CONNECT_TO, connect_to_.get());
  }
  const RequestLimits& limits = request_.limits;
  // Zero would be libcurl's own limit of five minutes.
  constexpr long kForever = 1L << 30U;
  Set(CURLOPT_CONNECTTIMEOUT_MS,
      limits.connect.count() > 0 ? static_cast<long>(limits.connect.count()) : kForever);
  Set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.total.count()));
}

void CurlTransfer::PrepareTls(const ClientTls& tls) {
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  const bool verify = tls.verify == ClientTls::Verify::kYes;
  Set(CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
  Set(CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
  if (!tls.ca_pem.empty()) {
    Set(CURLOPT_CAPATH, static_cast<char*>(nullptr));  // the given one alone
    curl_blob blob = BlobOf(tls.ca_pem);
    Set(CURLOPT_CAINFO_BLOB, &blob);
  }
  if (tls.certificate_pem.empty()) return;
  curl_blob certificate = BlobOf(tls.certificate_pem);
  Set(CURLOPT_SSLCERT_BLOB, &certificate);
  Set(CURLOPT_SSLCERTTYPE, "PEM");
  curl_blob key = BlobOf(tls.key_pem);
  Set(CURLOPT_SSLKEY_BLOB, &key);
  Set(CURLOPT_SSLKEYTYPE, "PEM");
}

void CurlTransfer::PrepareMessage() {
  const HttpRequest& message = request_.message;
  const auto add = [this](const std::string& line) {
    headers_.reset(curl_slist_append(headers_.release(), line.c_str()));
  };
  for (const Header& header : message.headers) add(header.name + ": " + header.value);
  // libcurl would wait for the body that the headers promise.
  if (message.method == "HEAD") Set(CURLOPT_NOBODY, 1L);
  Set(CURLOPT_CUSTOMREQUEST, message.method.c_str());
  if (!message.body.empty() || (message.method != "GET" && message.method != "HEAD")) {
    add("Expect:");  // no round trip before a large body
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_CUSTOMREQUEST, message.method.c_str());
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.body.size()));
    Set(CURLOPT_POSTFIELDS, message.body.c_str());
  }
  Set(CURLOPT_HTTPHEADER, headers_.get());
}

std::size_t CurlTransfer::OnHeaderLine(char* data,
                                       std::size_t size,
                                       std::size_t count,
                                       void* self) {
  static_cast<CurlTransfer*>(self)->TakeHeaderLine({data, size * count});
  return size * count;
}

void CurlTransfer::TakeHeaderLine(std::string_view line) {
  line = Trim(line);
  stirred_ = true;
  if (line.starts_with("HTTP/")) {  // also after a "100 Continue"
    head_ = HttpResponse{};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  head_.headers.push_back(
      {std::string(Trim(line.substr(0, colon))), std::string(Trim(line.substr(colon + 1)))});
}

void CurlTransfer::GiveHead() {
  if (std::exchange(head_given_, true)) return;
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  head_.status = static_cast<int>(status);
  receiver_->OnHead(std::move(head_));
}

std::size_t CurlTransfer::OnData(char* data, std::size_t size, std::size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  transfer->GiveHead();
  transfer->stirred_ = true;
  const std::size_t bytes = size * count;
  if (transfer->receiver_->OnBody({data, bytes}) == Receiver::Wish::kMore) return bytes;
  transfer->cancelled_ = true;
  return bytes == 0 ? 1 : 0;  // anything but `bytes` ends the transfer
}

TransportError CurlTransfer::ErrorOf(CURLcode code) const {
  TransportError error;
  long sent_bytes = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
  error.sent = sent_bytes == 0 ? TransportError::Sent::kNo : TransportError::Sent::kMaybe;
  // What libcurl says of a proxy from the environment quotes it, with its password.
  const bool plain = error_[0] == '\0' || code == CURLE_COULDNT_RESOLVE_PROXY;
  error.message = plain ? curl_easy_strerror(code) : error_.data();
  if (cancelled_) {
    error.cause = TransportError::Cause::kCancelled;
    error.message = "cancelled";
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    error.cause = TransportError::Cause::kTimeout;
  } else if (IsTrustProblem(code)) {
    error.cause = TransportError::Cause::kTrust;
  }
  return error;
}

void CurlTransfer::Finish(CURLcode code) {
  if (code == CURLE_OK) {
    GiveHead();
    receiver_->OnEnd({});
  } else {
    receiver_->OnEnd(tl::unexpected(ErrorOf(code)));
  }
}

void CurlTransfer::Abandon(TransportError::Cause cause, std::string_view why) {
  TransportError error = ErrorOf(CURLE_OK);
  error.cause = cause;
  error.message = why;
  receiver_->OnEnd(tl::unexpected(std::move(error)));
}

}  // namespace strata::net
