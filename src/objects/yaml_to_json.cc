#include "objects/yaml_to_json.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/yaml_scalar.h"
#include "objects/yaml_tree.h"

namespace strata::objects {
namespace {

constexpr int kMaxYamlDepth = 200;
constexpr std::size_t kFreeOutput = 64U << 20U;
constexpr std::size_t kFreeSteps = 1'000'000;

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

// `text` in quotes and on one line, for a message.
std::string QuotedKey(std::string_view text) {
  std::string quoted;
  AppendString(quoted, text);
  return quoted;
}

tl::unexpected<Error> FailAt(const YamlNode& node, std::string_view message) {
  return Fail(Code::kInvalidArgument,
              fmt::format("line {}, column {}: {}", node.line, node.column, message));
}

Result<YamlScalar> Resolve(const YamlNode& node) {
  if (node.tag == "!") return YamlScalar{};  // quoted
  if (node.tag == "?" || node.tag.empty()) return ResolvePlainScalar(node.scalar);
  if (auto scalar = ResolveTaggedScalar(node.tag, node.scalar)) return std::move(*scalar);
  // The value is not quoted: it may be a Secret's.
  return FailAt(node, fmt::format("tag {} does not fit the value", node.tag));
}

// The key as JSON has it: `on:` is "true", `1:` is "1".
Result<std::string> KeyOf(const YamlNode& key) {
  if (key.kind == YamlNode::Kind::kNull) return FailAt(key, "a key must not be null");
  if (key.kind != YamlNode::Kind::kScalar) return FailAt(key, "a key must be a plain word");
  TRY_ASSIGN(YamlScalar scalar, Resolve(key));
  if (scalar.type == YamlScalar::Type::kString) return key.scalar;
  return std::move(scalar.json);
}

bool IsMergeKey(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kScalar && key.scalar == "<<" && key.tag != "!";
}

// Writes one document. A recursive alias ends at the depth limit, an alias bomb at the size limit.
class JsonWriter {
 public:
  // Without aliases a text has fewer nodes than characters.
  explicit JsonWriter(std::size_t text_size)
      : max_output_(kFreeOutput + 8 * text_size), max_steps_(kFreeSteps + 4 * text_size) {}

  Status Write(const YamlNode& node, int depth) {
    TRY(CheckLimits(node, depth));
    switch (node.kind) {
      case YamlNode::Kind::kNull:
        out_ += "null";
        return {};
      case YamlNode::Kind::kScalar:
        return WriteScalar(node);
      case YamlNode::Kind::kSequence:
        return WriteSequence(node, depth);
      case YamlNode::Kind::kMap:
        return WriteMap(node, depth);
    }
    return {};
  }

  [[nodiscard]] std::string Take() && { return std::move(out_); }

 private:
  Status CheckLimits(const YamlNode& node, int depth) {
    if (depth > kMaxYamlDepth) {
      return FailAt(node, fmt::format("nested deeper than {} levels", kMaxYamlDepth));
    }
    if (out_.size() > max_output_ || ++steps_ > max_steps_) {
      return FailAt(node, "aliases expand too far");
    }
    return {};
  }

  Status WriteScalar(const YamlNode& node) {
    TRY_ASSIGN(const YamlScalar scalar, Resolve(node));
    if (scalar.type == YamlScalar::Type::kString) {
      AppendString(out_, node.scalar);
    } else {
      out_ += scalar.json;
    }
    return {};
  }

  Status WriteSequence(const YamlNode& node, int depth) {
    out_ += '[';
    bool first = true;
    for (const YamlNode* item : node.items) {
      if (!std::exchange(first, false)) out_ += ',';
      TRY(Write(*item, depth + 1));
    }
    out_ += ']';
    return {};
  }

  Status WriteMap(const YamlNode& node, int depth) {
    std::set<std::string> keys;
    out_ += '{';
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const YamlNode& key_node = *node.items[i];
      if (IsMergeKey(key_node)) continue;
      TRY_ASSIGN(std::string key, KeyOf(key_node));
      const auto [position, is_new] = keys.insert(std::move(key));
      if (!is_new) return FailAt(key_node, "duplicate key " + QuotedKey(*position));
      TRY(WriteMember(*position, *node.items[i + 1], depth, keys.size() == 1));
    }
    TRY(WriteMergeKeys(node, depth, keys));
    out_ += '}';
    return {};
  }

  Status WriteMergeKeys(const YamlNode& map, int depth, std::set<std::string>& keys) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
      if (IsMergeKey(*map.items[i])) TRY(WriteMerged(*map.items[i + 1], depth + 1, keys));
    }
    return {};
  }

  // What `<<: node` adds: members whose key is not there yet, of the first map that has them.
  Status WriteMerged(const YamlNode& node, int depth, std::set<std::string>& keys) {
    TRY(CheckLimits(node, depth));
    if (node.kind == YamlNode::Kind::kSequence) {
      for (const YamlNode* item : node.items) TRY(WriteMerged(*item, depth + 1, keys));
      return {};
    }
    if (node.kind != YamlNode::Kind::kMap) {
      return FailAt(node, "a merge key wants a map or a list of maps");
    }
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
      if (IsMergeKey(*node.items[i])) continue;
      TRY_ASSIGN(std::string key, KeyOf(*node.items[i]));
      const auto [position, is_new] = keys.insert(std::move(key));
      if (is_new) TRY(WriteMember(*position, *node.items[i + 1], depth, keys.size() == 1));
    }
    return WriteMergeKeys(node, depth, keys);
  }

  Status WriteMember(const std::string& key, const YamlNode& value, int depth, bool first) {
    if (!first) out_ += ',';
    AppendString(out_, key);
    out_ += ':';
    return Write(value, depth + 1);
  }

  std::string out_;
  std::size_t max_output_;
  std::size_t max_steps_;
  std::size_t steps_ = 0;  // merging the same maps again and again writes nothing
};

}  // namespace

Result<std::vector<std::string>> YamlToJson(std::string_view text) {
  TRY_ASSIGN(const std::vector<YamlDocument> documents, ParseYaml(text));
  std::vector<std::string> json;
  json.reserve(documents.size());
  for (const YamlDocument& document : documents) {
    JsonWriter writer(text.size());
    TRY(writer.Write(*document.root, 0));
    json.push_back(std::move(writer).Take());
  }
  return json;
}

}  // namespace strata::objects
