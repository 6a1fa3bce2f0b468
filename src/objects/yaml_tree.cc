#include "objects/yaml_tree.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "objects/text_check.h"

namespace strata::objects {
namespace {

tl::unexpected<Error> FailAt(const YAML::Mark& mark, std::string_view message) {
  if (mark.is_null()) return Fail(Code::kInvalidArgument, std::string(message));
  return Fail(Code::kInvalidArgument,
              fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, message));
}

// yaml-cpp writes the escapes \N and \_ (U+0085, U+00A0) as that one byte, which is not UTF-8. The
// text it read was, so no other byte can stand where a character begins and not begin one.
std::string WithWholeCharacters(std::string_view value) {
  std::string whole;
  whole.reserve(value.size());
  while (!value.empty()) {
    const std::size_t size = CharacterSize(value);
    if (size == 0) whole += '\xC2';
    const std::string_view character = value.substr(0, std::max<std::size_t>(size, 1));
    whole += character;
    value.remove_prefix(character.size());
  }
  return whole;
}

// Builds one document from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(YamlNode::Kind::kNull, mark, "", anchor);
  }
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t anchor) override {
    Place(anchors_[anchor]);
  }
  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& value) override {
    Add(YamlNode::Kind::kScalar, mark, tag, anchor).scalar = WithWholeCharacters(value);
  }
  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open_.push_back(&Add(YamlNode::Kind::kSequence, mark, tag, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open_.push_back(&Add(YamlNode::Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

  [[nodiscard]] const YAML::Mark& start() const { return start_; }
  [[nodiscard]] bool empty() const {
    return document_.root == nullptr || document_.root->kind == YamlNode::Kind::kNull;
  }
  [[nodiscard]] YamlDocument Take() && { return std::move(document_); }

 private:
  YamlNode& Add(YamlNode::Kind kind,
                const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor) {
    YamlNode& node = *document_.nodes.emplace_back(std::make_unique<YamlNode>());
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    node.tag = tag;
    if (anchor != 0) anchors_[anchor] = &node;
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

  YamlDocument document_;
  YAML::Mark start_;
  std::vector<YamlNode*> open_;
  std::map<YAML::anchor_t, const YamlNode*> anchors_;
};

Result<std::vector<YamlDocument>> Parse(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  std::vector<YamlDocument> documents;
  int last_start = -1;
  while (true) {
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) return documents;
    // yaml-cpp does not get past some tokens that cannot start a document, such as a comma.
    if (builder.start().pos == last_start) return FailAt(builder.start(), "unexpected character");
    last_start = builder.start().pos;
    if (!builder.empty()) documents.push_back(std::move(builder).Take());
  }
}

}  // namespace

Result<std::vector<YamlDocument>> ParseYaml(std::string_view text) {
  TRY(CheckText(text));  // control characters make yaml-cpp stop early or never
  try {
    // yaml-cpp takes a quote that is still open at the end of the text for closed, but not one that
    // is open where the next document starts.
    std::string closed(text);
    if (!closed.ends_with('\n')) closed += '\n';
    return Parse(closed + "---\n");
  } catch (const YAML::DeepRecursion&) {
    return Fail(Code::kInvalidArgument, "nested too deeply");
  } catch (const YAML::Exception& error) {
    return FailAt(error.mark, error.msg);
  } catch (const std::exception& error) {
    return Fail(Code::kInvalidArgument, error.what());
  }
}

}  // namespace strata::objects
