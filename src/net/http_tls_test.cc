#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "net/certificate.h"
#include "net/http_client.h"

// The client against a server that speaks TLS: HTTP/2 as far as a client needs it, and client
// certificates.
namespace strata::net {
namespace {

using ::testing::HasSubstr;

// One certificate of an authority, for 127.0.0.1.
struct Identity {
  explicit Identity(const std::string& name)
      : authority(MakeAuthority(name, Time(std::chrono::hours(24 * 365 * 55))).value()) {
    const std::vector<std::string> hosts = {"127.0.0.1"};
    own = IssueCertificate(authority, hosts, Time(std::chrono::hours(24 * 365 * 55))).value();
  }
  CertificateAuthority authority;
  ServerCertificate own;
};

struct FreeSsl {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Ssl = std::unique_ptr<T, FreeSsl>;

Ssl<X509> ReadCertificate(const std::string& pem) {
  const Ssl<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Ssl<X509>(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

// Accepts one connection after the other, and answers as `serve` does.
class TlsServer {
 public:
  using Serve = std::function<void(SSL*)>;
  TlsServer(const Identity& identity, std::string protocol, Serve serve)
      : protocol_(std::move(protocol)),
        serve_(std::move(serve)),
        context_(SSL_CTX_new(TLS_server_method())),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to peers that have gone
    const std::string& key_pem = identity.own.key_pem;
    const Ssl<BIO> bio(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
    const Ssl<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
    const Ssl<X509> certificate = ReadCertificate(identity.own.certificate_pem);
    CHECK(SSL_CTX_use_certificate(context_.get(), certificate.get()) == 1);
    CHECK(SSL_CTX_use_PrivateKey(context_.get(), key.get()) == 1);
    SSL_CTX_set_alpn_select_cb(
        context_.get(),
        [](SSL*,
           const unsigned char** out,
           unsigned char* out_size,
           const unsigned char* offered,
           unsigned size,
           void* self) {
          const std::string& wanted = static_cast<TlsServer*>(self)->protocol_;
          for (unsigned at = 0; at < size; at += offered[at] + 1U) {
            const std::string name(reinterpret_cast<const char*>(&offered[at + 1]), offered[at]);
            if (name != wanted) continue;
            *out = &offered[at + 1];
            *out_size = offered[at];
            return SSL_TLSEXT_ERR_OK;
          }
          return SSL_TLSEXT_ERR_NOACK;
        },
        this);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(listen(listener_, 8) == 0);
    CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    shutdown(listener_, SHUT_RDWR);
    if (const int peer = peer_; peer >= 0) shutdown(peer, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }

  // Asks clients for a certificate of this authority, and refuses those without.
  void WantCertificateOf(const Identity& client) {
    const Ssl<X509> authority = ReadCertificate(client.authority.certificate_pem);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    // Ours are for servers.
    X509_VERIFY_PARAM_set_purpose(SSL_CTX_get0_param(context_.get()), X509_PURPOSE_ANY);
  }
  void Start() {
    thread_ = std::thread([this] { AcceptAll(); });
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] int accepted() const { return accepted_; }

 private:
  void AcceptAll() {
    while (true) {
      const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      peer_ = peer;
      ++accepted_;
      const Ssl<SSL> connection(SSL_new(context_.get()));
      SSL_set_fd(connection.get(), peer);
      if (SSL_accept(connection.get()) == 1) serve_(connection.get());
      SSL_shutdown(connection.get());
      peer_ = -1;
      close(peer);
    }
  }

  std::string protocol_;
  Serve serve_;
  Ssl<SSL_CTX> context_;
  int listener_;
  std::string url_;
  std::atomic<int> peer_ = -1;
  std::atomic<int> accepted_ = 0;
  std::thread thread_;
};

bool ReadAll(SSL* from, std::string& into, std::size_t size) {
  into.resize(size);
  std::size_t at = 0;
  while (at < size) {
    const int count = SSL_read(from, &into[at], static_cast<int>(size - at));
    if (count <= 0) return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

void WriteAll(SSL* to, const std::string& bytes) {
  (void)SSL_write(to, bytes.data(), static_cast<int>(bytes.size()));
}

// A frame of HTTP/2 (RFC 9113, section 4.1).
enum Frame : unsigned char { kData = 0, kHeaders = 1, kSettings = 4 };
constexpr unsigned char kEndStream = 1;
constexpr unsigned char kAck = 1;
constexpr unsigned char kEndHeaders = 4;

std::string FrameOf(Frame type,
                    unsigned char flags,
                    const std::string& stream,
                    const std::string& body) {
  std::string frame;
  for (const unsigned shift : {16U, 8U, 0U}) {
    frame += static_cast<char>((body.size() >> shift) & 0xFFU);
  }
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  return frame + stream + body;
}

// Answers every request with its number on the connection.
void ServeHttp2(SSL* connection) {
  std::string bytes;
  if (!ReadAll(connection, bytes, 24) || !bytes.starts_with("PRI * HTTP/2.0")) return;
  WriteAll(connection, FrameOf(kSettings, 0, std::string(4, '\0'), ""));
  for (int requests = 0;;) {
    std::string head;
    if (!ReadAll(connection, head, 9)) return;
    std::size_t size = 0;
    for (std::size_t i = 0; i < 3; ++i) size = size << 8U | static_cast<unsigned char>(head[i]);
    const auto type = static_cast<unsigned char>(head[3]);
    const auto flags = static_cast<unsigned char>(head[4]);
    const std::string stream = head.substr(5);
    if (size > 0 && !ReadAll(connection, bytes, size)) return;
    if (type == kSettings && (flags & kAck) == 0) {
      WriteAll(connection, FrameOf(kSettings, kAck, stream, ""));
    }
    if (type != kHeaders) continue;
    const std::string status_200 = "\x88";  // of the static table
    WriteAll(connection, FrameOf(kHeaders, kEndHeaders, stream, status_200));
    WriteAll(connection, FrameOf(kData, kEndStream, stream, std::to_string(++requests)));
  }
}

void ServeHttp1(SSL* connection) {
  std::string head;
  std::string byte;
  while (ReadAll(connection, byte, 1)) {
    head += byte;
    if (!head.ends_with("\r\n\r\n")) continue;
    const Ssl<X509> peer(SSL_get1_peer_certificate(connection));
    const std::string body = peer == nullptr ? "nobody" : "somebody";
    WriteAll(
        connection,
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    head.clear();
  }
}

// The body of an answer, or the error.
class OneAnswer final : public Receiver {
 public:
  void OnHead(HttpResponse head) override { status_ = head.status; }
  Wish OnBody(std::string_view piece) override {
    body_ += piece;
    return Wish::kMore;
  }
  void OnEnd(Outcome outcome) override {
    done.set_value(outcome ? std::to_string(status_) + " " + body_ : outcome.error().message);
  }
  std::promise<std::string> done;

 private:
  int status_ = 0;
  std::string body_;
};

std::future<std::string> Ask(HttpClient& client) {
  ClientRequest request;
  request.message.method = "GET";
  request.message.path = "/";
  request.limits.total = std::chrono::seconds(20);
  auto answer = std::make_shared<OneAnswer>();
  std::future<std::string> future = answer->done.get_future();
  client.Send(std::move(request), std::move(answer));
  return future;
}

std::unique_ptr<HttpClient> Trusting(const TlsServer& server, const Identity& identity) {
  HttpClientOptions options;
  options.server = server.url();
  options.tls.ca_pem = identity.authority.certificate_pem;
  return std::move(HttpClient::Start(std::move(options)).value());
}

TEST(HttpClientTls, ManyRequestsShareOneConnectionOfHttp2) {
  const Identity identity("server");
  TlsServer server(identity, "h2", &ServeHttp2);
  server.Start();
  const auto client = Trusting(server, identity);
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 32; ++i) answers.push_back(Ask(*client));
  std::vector<std::string> got;
  for (auto& answer : answers) got.push_back(answer.get());
  std::vector<std::string> wanted;
  for (int i = 1; i <= 32; ++i) wanted.push_back("200 " + std::to_string(i));
  EXPECT_THAT(got, ::testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(server.accepted(), 1);
}

TEST(HttpClientTls, AServerWithoutHttp2IsAskedInHttp1) {
  const Identity identity("server");
  TlsServer server(identity, "http/1.1", &ServeHttp1);
  server.Start();
  EXPECT_EQ(Ask(*Trusting(server, identity)).get(), "200 nobody");
}

TEST(HttpClientTls, AServerThatIsNotTrustedIsNotAsked) {
  const Identity identity("server");
  const Identity other("other");
  TlsServer server(identity, "http/1.1", &ServeHttp1);
  server.Start();
  EXPECT_THAT(Ask(*Trusting(server, other)).get(), HasSubstr("certificate"));
}

TEST(HttpClientTls, ShowsItsCertificateAndANewOneAfterSetTls) {
  const Identity identity("server");
  const Identity known("known");
  const Identity unknown("unknown");
  TlsServer server(identity, "http/1.1", &ServeHttp1);
  server.WantCertificateOf(known);
  server.Start();
  const auto client = Trusting(server, identity);
  EXPECT_THAT(Ask(*client).get(), ::testing::Not(HasSubstr("somebody"))) << "it has none";
  ClientTls tls;
  tls.ca_pem = identity.authority.certificate_pem;
  for (const Identity* who : {&unknown, &known}) {
    tls.certificate_pem = who->own.certificate_pem;
    tls.key_pem = who->own.key_pem;
    client->SetTls(tls);
    const std::string answer = Ask(*client).get();
    EXPECT_EQ(answer == "200 somebody", who == &known) << answer;
  }
}

}  // namespace
}  // namespace strata::net
