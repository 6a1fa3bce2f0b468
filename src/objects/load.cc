#include "objects/load.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "objects/accepted.h"
#include "objects/cursor.h"
#include "objects/document.h"
#include "objects/duplicate_key.h"
#include "objects/kinds.h"
#include "objects/readers.h"
#include "objects/sort_by_name.h"
#include "objects/text_check.h"

namespace strata::objects {
namespace {

constexpr int kMaxListDepth = 8;

// Whether objects of the kind are written with this apiVersion.
bool HasApiVersion(const Kind& row, std::string_view api_version) {
  if (row.group.empty()) return api_version == row.version;
  return api_version.size() == row.group.size() + 1 + row.version.size() &&
         api_version.starts_with(row.group) && api_version[row.group.size()] == '/' &&
         api_version.ends_with(row.version);
}

const Kind* FindKind(std::string_view api_version, std::string_view kind) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& row) {
    return row.kind == kind && HasApiVersion(row, api_version);
  });
  return found == kKinds.end() ? nullptr : &*found;
}

// Reads `object` into the list of its kind.
const Metadata& AddObject(const Kind& kind, const Cursor& object, Metadata meta, ObjectSet& set) {
  const Metadata* added = nullptr;
  ForEachList(set, [&](std::string_view name, auto& list) {
    if (added != nullptr || name != kind.kind) return;
    auto& out = list.emplace_back();
    out.meta = std::move(meta);
    ReadObject(object, out);
    added = &out.meta;
  });
  CHECK(added != nullptr);  // a row of kinds.h without a line in ForEachList
  return *added;
}

// Takes the object back that AddObject has put into the list of its kind last.
void RemoveLast(const Kind& kind, ObjectSet& set) {
  bool removed = false;
  ForEachList(set, [&](std::string_view name, auto& list) {
    if (removed || name != kind.kind) return;
    list.pop_back();
    removed = true;
  });
}

// What an item of a typed list (PodList) is when it does not say.
struct TypeMeta {
  std::string api_version;
  std::string kind;
};

// A pod that already has its node is never refused for what it asks of one.
bool HasNode(const Value& object) {
  if (object.type() != Value::Type::kObject) return false;
  const std::optional<Value> spec = object.Find("spec");
  if (!spec || spec->type() != Value::Type::kObject) return false;
  const std::optional<Value> node = spec->Find("nodeName");
  return node && node->type() == Value::Type::kString && !node->AsString().empty();
}

// What a judge found in objects that are read nevertheless. A newer server has the same field in
// thousands of objects: the first is named, the others are counted.
class FaultNotes {
 public:
  void Add(std::string_view kind, const std::string& fault, const std::string& who) {
    const auto [at, is_new] = notes_.try_emplace({kind, fault}, Note{who});
    if (!is_new) ++at->second.more;
  }

  void MoveTo(std::vector<std::string>& lines) const {
    for (const auto& [key, note] : notes_) {
      const auto& [kind, fault] = key;
      std::string line = fmt::format("{}: {}", note.who, fault);
      if (note.more > 0) {
        line += fmt::format(" (and {} more {}{})", note.more, kind, note.more == 1 ? "" : "s");
      }
      lines.push_back(OneLine(std::move(line)));
    }
  }

 private:
  struct Note {
    std::string who;
    std::size_t more = 0;
  };
  std::map<std::pair<std::string_view, std::string>, Note> notes_;
};

// How the objects of manifests are judged; nullptr for objects of another origin.
struct Judging {
  const Judge& judge;
  OnFault on_fault;
  FaultNotes notes;
};

// Reads the objects of one source into a set.
class SourceReader {
 public:
  SourceReader(std::string_view source, ObjectSet& set, Judging* judging)
      : source_(source), set_(set), judging_(judging) {}

  Status ReadDocument(const Value& value) {
    ++document_;
    if (const std::optional<std::string> twice = FindDuplicateKey(value)) {
      return FailAt(Place(), *twice + ": duplicate key");
    }
    return Read(value, TypeMeta{}, 0);
  }

 private:
  Status Read(const Value& value, const TypeMeta& defaults, int depth) {
    ReadLog log;
    const Cursor object(value, log);
    TypeMeta type = defaults;
    const Cursor kind = object.At("kind");
    const Cursor api_version = object.At("apiVersion");
    kind.Read(type.kind);
    api_version.Read(type.api_version);
    if (type.kind.empty()) kind.Fail("is required");
    if (type.api_version.empty()) api_version.Fail("is required");
    if (!log.error.empty()) return FailAt(Place(), log.error);
    if (type.kind.ends_with("List") && (type.kind == "List" || object.At("items").present())) {
      return ReadItems(object, type, depth);
    }
    const Kind* known = FindKind(type.api_version, type.kind);
    if (known == nullptr) return Warn(object, type);
    if (judging_ == nullptr || !IsAccepted(value)) return ReadKnown(*known, value);
    if (const Status read = ReadKnown(*known, value); !read) {
      set_.faults.push_back("skipped: " + read.error().message);
    }
    return {};
  }

  Status ReadItems(const Cursor& list, const TypeMeta& type, int depth) {
    const auto who = [&] { return fmt::format("{}: {}", Place(), type.kind); };
    if (depth >= kMaxListDepth) return FailAt(who(), "lists are nested too deeply");
    TypeMeta item_type;
    if (type.kind != "List") {
      item_type = {type.api_version, type.kind.substr(0, type.kind.size() - 4)};
    }
    Status result;
    ReadLog log;
    const Cursor object(list.value(), log);
    items_.push_back(0);
    object.At("items").ForEach([&](const Cursor& item) {
      if (!result) return;
      result = Read(item.value(), item_type, depth + 1);
      ++items_.back();
    });
    items_.pop_back();
    if (!result) return result;
    if (!log.error.empty()) return FailAt(who(), log.error);
    return {};
  }

  Status ReadKnown(const Kind& kind, const Value& value) {
    ReadLog log;
    const Cursor object(value, log);
    Metadata meta;
    meta.kind = kind.kind;
    meta.source = source_;
    ReadName(object, kind.scope, meta);  // of every pod: without it nobody knows which one it is
    log.lenient = kind.kind == "Pod" && HasNode(value);
    ReadMetadata(object, meta);
    if (!log.error.empty()) {
      const std::string who =
          meta.name.empty() ? fmt::format("{}: {}", Place(), kind.kind) : ObjectName(meta);
      return FailAt(who, log.error);
    }
    const Metadata& added = AddObject(kind, object, std::move(meta), set_);
    const std::string who = ObjectName(added);
    std::string error = log.error;
    error = error.empty() ? JudgeKnown(kind, value, who) : Misspelt(kind, value) + error;
    if (!error.empty()) {
      RemoveLast(kind, set_);
      return FailAt(who, error);
    }
    for (const std::string& note : log.notes) {
      set_.warnings.push_back(fmt::format("{}: {}: {}{}", source_, who, note, kNotRefused));
    }
    return {};
  }

  // Unknown fields, which are often the cause of what the reader finds: a field that is missing.
  std::string Misspelt(const Kind& kind, const Value& value) const {
    std::string found;
    if (judging_ == nullptr) return found;
    for (const std::string& fault : judging_->judge(kind, value)) {
      if (fault.starts_with("unknown field ")) found += fault + "; ";
    }
    return found;
  }

  // Why the object is rejected, "" when it is not.
  std::string JudgeKnown(const Kind& kind, const Value& value, const std::string& who) {
    if (judging_ == nullptr) return "";
    const std::vector<std::string> faults = judging_->judge(kind, value);
    if (faults.empty()) return "";
    const bool only_warn = judging_->on_fault == OnFault::kWarn || IsAccepted(value) ||
                           (kind.kind == "Pod" && HasNode(value));
    if (!only_warn) return fmt::format("{}", fmt::join(faults, "; "));
    for (const std::string& fault : faults) {
      judging_->notes.Add(kind.kind, fault, fmt::format("{}: {}", source_, who));
    }
    return "";
  }

  Status Warn(const Cursor& object, const TypeMeta& type) {
    std::string name;
    std::string ns;
    ReadLog ignored;
    const Cursor again(object.value(), ignored);
    const Cursor meta = again.At("metadata");
    meta.At("name").Read(name);
    meta.At("namespace").Read(ns);
    const std::string full = ns.empty() ? name : ns + "/" + name;
    set_.warnings.push_back(OneLine(fmt::format("{}: {} {}: ignored, {} is not a supported kind",
                                                source_,
                                                type.kind,
                                                full,
                                                type.api_version + " " + type.kind)));
    return {};
  }

  // "document 1: items[1]": where an object without a name stands.
  [[nodiscard]] std::string Place() const {
    std::string place = fmt::format("document {}", document_);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      place += fmt::format("{}items[{}]", i == 0 ? ": " : ".", items_[i]);
    }
    return place;
  }

  [[nodiscard]] tl::unexpected<Error> FailAt(std::string_view what, std::string_view error) const {
    return Fail(Code::kInvalidArgument, OneLine(fmt::format("{}: {}: {}", source_, what, error)));
  }

  std::string source_;
  ObjectSet& set_;
  Judging* judging_;
  std::size_t document_ = 0;
  std::vector<std::size_t> items_;  // the way through lists to what is being read
};

// Puts `list` in order. The error names both files.
template <typename T>
Status SortAndCheckUnique(std::vector<T>& list) {
  SortByName(list);
  const auto twice = std::adjacent_find(list.begin(), list.end(), [](const T& a, const T& b) {
    return a.meta.name == b.meta.name && a.meta.ns == b.meta.ns;
  });
  if (twice == list.end()) return {};
  const Metadata& second = (twice + 1)->meta;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {}: is already defined in {}",
                          second.source,
                          ObjectName(second),
                          twice->meta.source));
}

Status SortAll(ObjectSet& set) {
  Status result;
  ForEachList(set, [&](std::string_view /*kind*/, auto& list) {
    if (result) result = SortAndCheckUnique(list);
  });
  std::sort(set.warnings.begin(), set.warnings.end());
  std::sort(set.faults.begin(), set.faults.end());
  return result;
}

Result<ObjectSet> ParseSources(std::span<const Source> sources, Judging* judging) {
  ObjectSet set;
  for (const Source& source : sources) {
    SourceReader reader(source.name, set, judging);
    bool visited = false;
    const Result<std::size_t> count =
        ForEachDocument(source.name, source.text, [&](const Value& value) {
          Status read = reader.ReadDocument(value);
          visited = !read;
          return read;
        });
    // What the reader says is complete; what is wrong with the text lacks the name.
    if (!count && visited) return tl::unexpected<Error>(count.error());
    if (!count) return tl::unexpected<Error>(Error(count.error()).Context(source.name));
    if (*count == 0) {
      return Fail(Code::kInvalidArgument, source.name + ": is empty (want Kubernetes manifests)");
    }
  }
  if (judging != nullptr) judging->notes.MoveTo(set.faults);
  TRY(SortAll(set));
  return set;
}

}  // namespace

Result<ObjectSet> ParseObjects(std::span<const Source> sources) {
  return ParseSources(sources, nullptr);
}

Result<ObjectSet> ParseManifests(std::span<const Source> sources,
                                 const Judge& judge,
                                 OnFault on_fault) {
  Judging judging{judge, on_fault, {}};
  return ParseSources(sources, &judging);
}

}  // namespace strata::objects
