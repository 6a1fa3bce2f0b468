#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/verbs/list.h"
#include "apiserver/views/list_views.h"
#include "json/dump.h"
#include "json/parse.h"
#include "net/gzip.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kPiece = 64UL * 1024;
// Up to here an answer is made whole: it gets a length, and small lists are most of them.
constexpr std::size_t kWhole = kLongAnswer;

json ListMeta(const ListAnswer& answer) {
  json meta = {{"resourceVersion", fmt::format("{}", answer.page.version)}};
  if (!answer.continue_token.empty()) meta["continue"] = answer.continue_token;
  if (answer.remaining > 0) meta["remainingItemCount"] = answer.remaining;
  return meta;
}

// The list without its items.
json ListHead(const Call& call, const ListAnswer& answer) {
  json head;
  if (call.out.view == View::kTable) {
    head = EmptyTable(call, Columns::kDefined);
    head.erase("rows");
  } else if (call.out.view == View::kPartial) {
    head = {{"kind", "PartialObjectMetadataList"},
            {"apiVersion", "meta.k8s.io/" + call.out.view_version}};
  } else {
    head = {{"kind", call.resource->kind + "List"}, {"apiVersion", call.resource->ApiVersion()}};
  }
  head["metadata"] = ListMeta(answer);
  return head;
}

// What `text` has after a line end moves to the right.
std::string Indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

// A list as text, piece by piece: stored bodies go out as they are.
class ListSource : public net::BodySource {
 public:
  ListSource(const Call& call, ListAnswer answer) : call_(call), answer_(std::move(answer)) {
    call_.exchange = nullptr;  // it owns this source
    const std::string key = call.out.view == View::kTable ? "rows" : "items";
    std::string head =
        pretty() ? DumpPrettyJson(ListHead(call_, answer_)) : DumpJson(ListHead(call_, answer_));
    head.resize(head.size() - (pretty() ? 2 : 1));  // the closing brace
    head_ = head + (pretty() ? ",\n  \"" + key + "\": [" : ",\"" + key + "\":[");
  }

  More Pull(std::string& out) override {
    out += std::exchange(head_, {});
    while (next_ < answer_.page.objects.size() && out.size() < kPiece) {
      if (next_ > 0) out += ',';
      Append(*answer_.page.objects[next_], out);
      answer_.page.objects[next_].reset();
      ++next_;
    }
    if (next_ < answer_.page.objects.size()) return More::kReady;
    out += pretty() ? (next_ > 0 ? "\n  ]\n}\n" : "]\n}\n") : "]}\n";
    return More::kEnd;
  }

 private:
  [[nodiscard]] bool pretty() const { return call_.out.pretty; }

  void Append(const StoredObject& object, std::string& out) const {
    if (call_.out.view == View::kObject || call_.out.view == View::kGroupDiscovery) {
      if (!pretty()) {
        out += call_.resource->custom ? WithKind(*call_.resource, object.body) : object.body;
        return;
      }
      AppendValue(
          call_.resource->custom ? ParseWithKind(*call_.resource, object) : ParseStored(object),
          out);
      return;
    }
    const json value = ParseStored(object);
    AppendValue(call_.out.view == View::kTable ? TableRow(call_, value) : PartialOf(call_, value),
                out);
  }

  void AppendValue(const json& value, std::string& out) const {
    if (!pretty()) {
      out += DumpJson(value);
      return;
    }
    out += "\n    " + Indented(DumpPrettyJson(value));
  }

  Call call_;
  ListAnswer answer_;
  std::string head_;
  std::size_t next_ = 0;
};

}  // namespace

void AnswerList(const Call& call, ListAnswer answer) {
  std::size_t size = 0;
  for (const ObjectRef& object : answer.page.objects) size += object->body.size();
  net::HttpResponse response = ResponseHead(call, 200);
  const bool yaml = call.out.encoding == Encoding::kYaml;
  auto source = std::make_unique<ListSource>(call, std::move(answer));
  if (size > kWhole && !yaml) {
    if (net::AcceptsGzip(call.exchange->request())) {
      response.headers.push_back({"Content-Encoding", "gzip"});
      response.headers.push_back({"Vary", "Accept-Encoding"});
      return call.exchange->RespondStream(std::move(response), net::GzipSource(std::move(source)));
    }
    return call.exchange->RespondStream(std::move(response), std::move(source));
  }
  std::string piece;
  while (source->Pull(piece) == net::BodySource::More::kReady) {
    response.body += piece;
    piece.clear();
  }
  response.body += piece;
  if (yaml) {
    response = DocumentResponse(200, ParseJsonOrNull(response.body), call.out);
  }
  Send(*call.exchange, std::move(response));
}

}  // namespace strata::apiserver
