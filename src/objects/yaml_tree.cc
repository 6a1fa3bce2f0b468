#include "objects/yaml_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml.h>

#include "base/check.h"
#include "objects/text_check.h"

namespace strata::objects {
namespace {

// Far more than what is read (yaml_to_json.cc), and little enough for one stack.
constexpr std::size_t kMaxOpenNodes = 500;

// libyaml looks at every open bracket for every token, so a long list in many brackets takes it
// long: 2 s for 3 MiB in 480 of them. This is how many brackets it may look at for each byte of a
// text. Manifests need far fewer: the deeper a value, the longer its line.
constexpr std::size_t kLooksPerByte = 16;
constexpr std::size_t kFreeLooks = 1'000'000;

tl::unexpected<Error> FailAt(const yaml_mark_t& mark, std::string_view message) {
  return Fail(Code::kInvalidArgument,
              fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, message));
}

std::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

// One event of the parser, and its owner.
class YamlEvent {
 public:
  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

// libyaml's parser over one text.
class YamlEvents {
 public:
  // REQUIRES: `text` outlives it.
  explicit YamlEvents(std::string_view text) {
    CHECK(yaml_parser_initialize(&parser_) == 1);  // only without memory
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  ~YamlEvents() { yaml_parser_delete(&parser_); }

  Status Next(YamlEvent& event) {
    if (yaml_parser_parse(&parser_, event.get()) == 1) return {};
    return Trouble();
  }

 private:
  // "line 5, column 1: did not find expected ',' or ']' while parsing a flow sequence from line 3".
  [[nodiscard]] tl::unexpected<Error> Trouble() const {
    std::string message = parser_.problem == nullptr ? "not YAML" : parser_.problem;
    if (parser_.context != nullptr) {
      message += fmt::format(" {} from line {}", parser_.context, parser_.context_mark.line + 1);
    }
    return FailAt(parser_.problem_mark, message);
  }

  yaml_parser_t parser_{};
};

bool IsNullWord(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords = {"", "~", "null", "Null", "NULL"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

// Builds one document from the parser's events.
class TreeBuilder {
 public:
  // `looks_left` is what is left for the whole text, and must outlive the builder.
  explicit TreeBuilder(std::size_t& looks_left) : looks_left_(looks_left) {}

  Status Take(const YamlEvent& event) {
    if (looks_left_ < open_.size()) {
      return FailAt(event->start_mark,
                    fmt::format("too many values in {} levels of nesting", open_.size()));
    }
    looks_left_ -= open_.size();
    switch (event->type) {
      case YAML_ALIAS_EVENT:
        return TakeAlias(event);
      case YAML_SCALAR_EVENT:
        return TakeScalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return Open(YamlNode::Kind::kSequence, event, event->data.sequence_start);
      case YAML_MAPPING_START_EVENT:
        return Open(YamlNode::Kind::kMap, event, event->data.mapping_start);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return {};
      default:
        return {};
    }
  }

  [[nodiscard]] bool empty() const {
    return document_.root == nullptr || document_.root->kind == YamlNode::Kind::kNull;
  }
  [[nodiscard]] YamlDocument Finish() && { return std::move(document_); }

 private:
  Status TakeAlias(const YamlEvent& event) {
    const auto found = anchors_.find(TextOf(event->data.alias.anchor));
    if (found == anchors_.end()) return FailAt(event->start_mark, "an alias of an unknown anchor");
    Place(found->second);
    return {};
  }

  Status TakeScalar(const YamlEvent& event) {
    const auto& scalar = event->data.scalar;
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool is_null = plain && scalar.tag == nullptr && IsNullWord(text);
    YamlNode& node = Add(is_null ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar, event, scalar);
    if (scalar.tag == nullptr) node.tag = plain ? "?" : "!";
    node.scalar = text;
    return {};
  }

  template <typename Start>
  Status Open(YamlNode::Kind kind, const YamlEvent& event, const Start& start) {
    if (open_.size() == kMaxOpenNodes) return FailAt(event->start_mark, "nested too deeply");
    open_.push_back(&Add(kind, event, start));
    return {};
  }

  // `details`: of the event, with anchor and tag.
  template <typename Details>
  YamlNode& Add(YamlNode::Kind kind, const YamlEvent& event, const Details& details) {
    YamlNode& node = *document_.nodes.emplace_back(std::make_unique<YamlNode>());
    node.kind = kind;
    node.line = static_cast<int>(event->start_mark.line) + 1;
    node.column = static_cast<int>(event->start_mark.column) + 1;
    node.tag = TextOf(details.tag);
    if (details.anchor != nullptr) {
      anchors_.insert_or_assign(std::string(TextOf(details.anchor)), &node);
    }
    Place(&node);
    return node;
  }

  void Place(const YamlNode* node) {
    if (open_.empty()) {
      document_.root = node;
    } else {
      open_.back()->items.push_back(node);
    }
  }

  std::size_t& looks_left_;
  YamlDocument document_;
  std::vector<YamlNode*> open_;
  std::map<std::string, const YamlNode*, std::less<>> anchors_;
};

}  // namespace

Result<std::vector<YamlDocument>> ParseYaml(std::string_view text) {
  TRY(CheckText(text));
  YamlEvents events(text);
  std::vector<YamlDocument> documents;
  std::size_t looks_left = kFreeLooks + kLooksPerByte * text.size();
  std::optional<TreeBuilder> builder;
  while (true) {
    YamlEvent event;
    TRY(events.Next(event));
    switch (event->type) {
      case YAML_STREAM_END_EVENT:
        return documents;
      case YAML_DOCUMENT_START_EVENT:
        builder.emplace(looks_left);
        break;
      case YAML_DOCUMENT_END_EVENT:
        if (!builder->empty()) documents.push_back(std::move(*builder).Finish());
        break;
      default:
        if (builder) TRY(builder->Take(event));
    }
  }
}

}  // namespace strata::objects
