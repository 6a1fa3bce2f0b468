#include "objects/yaml_to_json.h"

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include "objects/text_check.h"
#include "objects/yaml_scalar.h"

namespace strata::objects {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::size_t kFreeOutput = 64U << 20U;
constexpr std::size_t kFreeSteps = 1'000'000;

tl::unexpected<Error> FailAt(const YAML::Mark& mark, std::string_view message) {
  if (mark.is_null()) return Fail(Code::kInvalidArgument, std::string(message));
  return Fail(Code::kInvalidArgument,
              fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, message));
}

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

Result<YamlScalar> Resolve(const YAML::Node& node) {
  const std::string& tag = node.Tag();
  if (tag == "!") return YamlScalar{};  // quoted
  if (tag == "?" || tag.empty()) return ResolvePlainScalar(node.Scalar());
  if (auto scalar = ResolveTaggedScalar(tag, node.Scalar())) return std::move(*scalar);
  return FailAt(node.Mark(), fmt::format("tag {} does not fit \"{}\"", tag, node.Scalar()));
}

// The key as JSON has it: `on:` is "true", `1:` is "1".
Result<std::string> KeyOf(const YAML::Node& key) {
  if (!key.IsScalar()) return FailAt(key.Mark(), "a key must be a plain word");
  TRY_ASSIGN(YamlScalar scalar, Resolve(key));
  if (scalar.type == YamlScalar::Type::kNull) return FailAt(key.Mark(), "a key must not be null");
  if (scalar.type == YamlScalar::Type::kString) return key.Scalar();
  return std::move(scalar.json);
}

bool IsMergeKey(const YAML::Node& key) {
  return key.IsScalar() && key.Scalar() == "<<" && key.Tag() != "!";
}

// Writes one document. A recursive alias ends at the depth limit, an alias bomb at the size limit.
class JsonWriter {
 public:
  // Without aliases a text has fewer nodes than characters.
  explicit JsonWriter(std::size_t text_size)
      : max_output_(kFreeOutput + 8 * text_size), max_steps_(kFreeSteps + 4 * text_size) {}

  Status Write(const YAML::Node& node, int depth) {
    TRY(CheckLimits(node, depth));
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        out_ += "null";
        return {};
      case YAML::NodeType::Scalar:
        return WriteScalar(node);
      case YAML::NodeType::Sequence:
        return WriteSequence(node, depth);
      case YAML::NodeType::Map:
        return WriteMap(node, depth);
    }
    return {};
  }

  [[nodiscard]] std::string Take() && { return std::move(out_); }

 private:
  Status CheckLimits(const YAML::Node& node, int depth) {
    if (depth > kMaxDepth) {
      return FailAt(node.Mark(), fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    if (out_.size() > max_output_ || ++steps_ > max_steps_) {
      return FailAt(node.Mark(), "aliases expand too far");
    }
    return {};
  }

  Status WriteScalar(const YAML::Node& node) {
    TRY_ASSIGN(const YamlScalar scalar, Resolve(node));
    if (scalar.type == YamlScalar::Type::kString) {
      AppendString(out_, node.Scalar());
    } else {
      out_ += scalar.json;
    }
    return {};
  }

  Status WriteSequence(const YAML::Node& node, int depth) {
    out_ += '[';
    bool first = true;
    for (const YAML::Node& item : node) {
      if (!std::exchange(first, false)) out_ += ',';
      TRY(Write(item, depth + 1));
    }
    out_ += ']';
    return {};
  }

  Status WriteMap(const YAML::Node& node, int depth) {
    std::set<std::string> keys;
    out_ += '{';
    for (const auto& pair : node) {
      if (IsMergeKey(pair.first)) continue;
      TRY_ASSIGN(std::string key, KeyOf(pair.first));
      const auto [position, is_new] = keys.insert(std::move(key));
      if (!is_new) {
        return FailAt(pair.first.Mark(), fmt::format("duplicate key \"{}\"", *position));
      }
      TRY(WriteMember(*position, pair.second, depth, keys.size() == 1));
    }
    for (const auto& pair : node) {
      if (IsMergeKey(pair.first)) TRY(WriteMerged(pair.second, depth + 1, keys));
    }
    out_ += '}';
    return {};
  }

  // What `<<: node` adds: members whose key is not there yet, of the first map that has them.
  Status WriteMerged(const YAML::Node& node, int depth, std::set<std::string>& keys) {
    TRY(CheckLimits(node, depth));
    if (node.IsSequence()) {
      for (const YAML::Node& item : node) TRY(WriteMerged(item, depth + 1, keys));
      return {};
    }
    if (!node.IsMap()) return FailAt(node.Mark(), "a merge key wants a map or a list of maps");
    for (const auto& pair : node) {
      if (IsMergeKey(pair.first)) continue;
      TRY_ASSIGN(std::string key, KeyOf(pair.first));
      const auto [position, is_new] = keys.insert(std::move(key));
      if (is_new) TRY(WriteMember(*position, pair.second, depth, keys.size() == 1));
    }
    for (const auto& pair : node) {
      if (IsMergeKey(pair.first)) TRY(WriteMerged(pair.second, depth + 1, keys));
    }
    return {};
  }

  Status WriteMember(const std::string& key, const YAML::Node& value, int depth, bool first) {
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

Result<std::vector<std::string>> Convert(const std::string& text) {
  std::vector<std::string> documents;
  for (const YAML::Node& node : YAML::LoadAll(text)) {
    if (!node.IsDefined() || node.IsNull()) continue;
    JsonWriter writer(text.size());
    TRY(writer.Write(node, 0));
    documents.push_back(std::move(writer).Take());
  }
  return documents;
}

}  // namespace

Result<std::vector<std::string>> YamlToJson(std::string_view text) {
  TRY(CheckText(text));  // control characters make yaml-cpp stop early or never
  try {
    // yaml-cpp takes a quote that is still open at the end of the text for closed, but not one that
    // is open where the next document starts.
    std::string closed(text);
    if (!closed.ends_with('\n')) closed += '\n';
    return Convert(closed + "---\n");
  } catch (const YAML::DeepRecursion&) {
    return Fail(Code::kInvalidArgument, fmt::format("nested deeper than {} levels", kMaxDepth));
  } catch (const YAML::Exception& error) {
    return FailAt(error.mark, error.msg);
  } catch (const std::exception& error) {
    return Fail(Code::kInvalidArgument, error.what());
  }
}

}  // namespace strata::objects
