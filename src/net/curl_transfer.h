#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_client.h"
#include "net/transport.h"

namespace strata::net {

// Where the requests of a client go.
struct CurlServer {
  HttpClientOptions options;
  std::string address;     // options.server, by the name that its certificate must have
  std::string connect_to;  // libcurl's words for another host behind that name; "" for the same
};

// One request in libcurl's hands, for the sources of this folder. On the client's thread only;
// stays where it is while libcurl has its handle.
class CurlTransfer {
 public:
  CurlTransfer(RequestId id, ClientRequest request, std::shared_ptr<Receiver> receiver);

  // Sets every option; false when libcurl has no handle to give.
  [[nodiscard]] bool Prepare(const CurlServer& server);
  [[nodiscard]] RequestId id() const { return id_; }
  [[nodiscard]] CURL* handle() const { return handle_.get(); }
  [[nodiscard]] Duration silence_limit() const { return request_.limits.silence; }
  // Whether a byte of the answer came since this was last asked.
  [[nodiscard]] bool HasStirred() { return std::exchange(stirred_, false); }

  // Tell the receiver how it ended. One of them, once.
  void Finish(CURLcode code);
  void Abandon(TransportError::Cause cause, std::string_view why);

 private:
  struct CloseEasy {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  template <typename Value>
  void Set(CURLoption option, Value value) {
    curl_easy_setopt(handle_.get(), option, value);
  }
  void PrepareMessage();
  void PrepareTls(const ClientTls& tls);
  void PrepareConnection(const CurlServer& server);
  void TakeHeaderLine(std::string_view line);
  void GiveHead();
  [[nodiscard]] TransportError ErrorOf(CURLcode code) const;

  static std::size_t OnHeaderLine(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnData(char* data, std::size_t size, std::size_t count, void* self);

  RequestId id_;
  ClientRequest request_;
  std::shared_ptr<Receiver> receiver_;
  HttpResponse head_;
  bool head_given_ = false;
  bool cancelled_ = false;
  bool stirred_ = false;
  std::unique_ptr<CURL, CloseEasy> handle_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::unique_ptr<curl_slist, FreeList> connect_to_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace strata::net
