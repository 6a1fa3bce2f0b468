#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/client.h"
#include "kube/resource.h"
#include "kube/test_fake_transport.h"

namespace strata::live {

// A cluster behind a transport without a network, in the time of that transport. Watches show what
// Put and Remove say; what is written changes nothing by itself, and is answered by `answer`.
class FakeCluster {
 public:
  struct Answer {
    int status = 201;
    std::string body = "{}";
    std::vector<net::Header> headers = {};
  };

  FakeCluster() {
    transport.on_request = [this](net::RequestId id, const net::ClientRequest& request) {
      Serve(id, request.message);
    };
    kube::ClientOptions options;
    options.random = [] { return 0.5; };
    client = std::make_unique<kube::Client>(transport, transport, std::move(options));
  }

  // Asked for each write (status 0: it is not answered), and for each GET of one object that is not
  // there.
  std::function<Answer(const net::HttpRequest&)> answer = [](const auto&) { return Answer(); };
  std::map<std::string, int> refused;    // collections (by path), with the status of the answer
  std::set<std::string> unreachable;     // collections whose connections break
  std::set<std::string> silent;          // collections that are not answered
  std::set<std::string> stale;           // collections whose open watches show no change
  std::vector<net::HttpRequest> writes;  // in the order in which they came

  // `rest` is what follows the metadata in the JSON of the object; `meta` what follows the uid.
  void Put(const kube::Resource& resource,
           const std::string& ns,
           const std::string& name,
           const std::string& rest,
           const std::string& meta = "") {
    const std::string path = kube::ResourcePath{resource, ns, name, ""}.Text();
    const bool is_new = !objects_.contains(path);
    const std::string text = R"({"kind":")" + std::string(resource.kind) + R"(","apiVersion":")" +
                             kube::ApiVersion(resource) + R"(","metadata":{"name":")" + name +
                             R"(","namespace":")" + ns + R"(","uid":"uid-)" + name + '"' + meta +
                             R"(,"resourceVersion":")" + std::to_string(++version_) + "\"}" +
                             (rest.empty() ? "" : "," + rest) + "}";
    Stored& stored = objects_[path];
    stored = {kube::ResourcePath{resource, "", "", ""}.Text(),
              kube::ResourcePath{resource, ns, "", ""}.Text(),
              text};
    Send(is_new ? "ADDED" : "MODIFIED", stored);
  }

  void Remove(const kube::Resource& resource, const std::string& ns, const std::string& name) {
    const auto found = objects_.find(kube::ResourcePath{resource, ns, name, ""}.Text());
    ++version_;
    Send("DELETED", found->second);
    objects_.erase(found);
  }

  // Every watch ends with an error, after which all is listed again.
  void ExpireWatches() {
    for (const auto& [id, collection] : std::exchange(watches_, {})) {
      transport.Body(id,
                     R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                     "\n");
      transport.End(id);
    }
  }

  // The bodies of the writes whose paths end so.
  [[nodiscard]] std::vector<std::string> WritesTo(const std::string& path_end) const {
    std::vector<std::string> bodies;
    for (const net::HttpRequest& write : writes) {
      if (write.path.ends_with(path_end)) bodies.push_back(write.body);
    }
    return bodies;
  }

  // The version of what was put or removed last.
  [[nodiscard]] std::string version() const { return std::to_string(version_); }

  kube::FakeTransport transport;
  std::unique_ptr<kube::Client> client;

 private:
  struct Stored {
    std::string in_all;        // the collection, of all namespaces
    std::string in_namespace;  // and of its own
    std::string text;

    [[nodiscard]] bool IsIn(const std::string& collection) const {
      return collection == in_all || collection == in_namespace;
    }
  };

  void Serve(net::RequestId id, const net::HttpRequest& request) {
    if (request.method != "GET") {
      writes.push_back(request);
      const Answer given = answer(request);
      if (given.status != 0) transport.Respond(id, given.status, given.body, given.headers);
      return;
    }
    if (silent.contains(request.path)) return;
    if (unreachable.contains(request.path)) {
      return transport.Break(id, kube::FakeTransport::Cause::kConnection);
    }
    if (const auto status = refused.find(request.path); status != refused.end()) {
      return transport.Respond(id, status->second, R"({"kind":"Status","message":"no"})");
    }
    if (request.query.find("watch=") != std::string::npos) return Watch(id, request);
    if (watched_.contains(request.path)) return List(id, request.path);
    const auto found = objects_.find(request.path);
    if (found != objects_.end()) return transport.Respond(id, 200, found->second.text);
    const Answer given = answer(request);
    transport.Respond(id, given.status == 201 ? 404 : given.status, given.body);
  }

  void Watch(net::RequestId id, const net::HttpRequest& request) {
    watched_.insert(request.path);
    watches_.emplace_back(id, request.path);
    transport.Head(id, 200);
    if (request.query.find("sendInitialEvents=true") == std::string::npos) return;
    for (const auto& [path, stored] : objects_) {
      if (stored.IsIn(request.path)) transport.Body(id, Line("ADDED", stored.text));
    }
    transport.Body(id,
                   R"({"type":"BOOKMARK","object":{"kind":"X","apiVersion":"v1","metadata":)"
                   R"({"resourceVersion":")" +
                       std::to_string(version_) +
                       R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})"
                       "\n");
  }

  void List(net::RequestId id, const std::string& collection) {
    std::string items;
    for (const auto& [path, stored] : objects_) {
      if (stored.IsIn(collection)) items += (items.empty() ? "" : ",") + stored.text;
    }
    transport.Respond(id,
                      200,
                      R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":")" +
                          std::to_string(version_) + R"("},"items":[)" + items + "]}");
  }

  static std::string Line(const std::string& type, const std::string& text) {
    return R"({"type":")" + type + R"(","object":)" + text + "}\n";
  }
  void Send(const std::string& type, const Stored& stored) {
    for (const auto& [id, collection] : watches_) {
      if (stale.contains(collection) || !stored.IsIn(collection)) continue;
      transport.Body(id, Line(type, stored.text));
    }
  }

  std::map<std::string, Stored> objects_;  // by path
  std::set<std::string> watched_;          // collections that were ever watched
  std::vector<std::pair<net::RequestId, std::string>> watches_;
  std::uint64_t version_ = 100;
};

}  // namespace strata::live
