//===- ParameterList.cpp - Lists of tensors in a file's metadata ----------===//
//
// Entries of the file's metadata may list the tensors that are trained, and the
// running statistics that training doesn't update.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Reading/Graph.h"

#include "llvm/Support/JSON.h"

namespace mlir::hfta::onnx_import {

namespace {
/// Reads one entry of the metadata and reports what is wrong with it.
class ListReader {
public:
  ListReader(StringRef key, Reporter &reporter)
      : key(key), reporter(reporter) {}

  /// Returns the names that the entry with the key lists; nothing if there is
  /// no such entry, or if it isn't a list. `check` returns the reason why a
  /// name may not be listed, or an empty text if it may. Reports errors.
  std::optional<llvm::StringSet<>>
  read(const ::onnx::ModelProto &model,
       llvm::function_ref<StringRef(StringRef)> check);

private:
  void invalid(const Twine &message) {
    reporter.invalid(reporter.getFileLocation(),
                     "metadata entry '" + key + "' " + message);
  }
  std::optional<std::vector<std::string>> split(StringRef text);

  StringRef key;
  Reporter &reporter;
};
} // namespace

/// Returns the reason why a listed name can't be trained; empty if it is an
/// initializer that can be.
StringRef Graph::checkParameter(StringRef name) const {
  auto tensor = initializers.find(name);
  auto use = initializerUses.find(name);
  if (tensor == initializers.end() || use == initializerUses.end())
    return "which is no initializer of the file";
  if (!isa<FloatType>(tensor->second.type.getElementType()))
    return "which holds no floats";
  if (use->second.kind == InitializerUse::Kind::statistics)
    return "a batch normalization's running mean or variance";
  return "";
}

/// Returns the reason why a listed name isn't a statistic; empty if it is one.
StringRef Graph::checkStatistics(StringRef name) const {
  auto use = initializerUses.find(name);
  if (use == initializerUses.end() ||
      use->second.kind != InitializerUse::Kind::statistics)
    return "which is no batch normalization's running mean or variance";
  return "";
}

/// Returns whether a JSON array contains no other array and no object. The JSON
/// parser recurses for each of these, so that a hostile file could exhaust the
/// stack.
static bool isFlatArray(StringRef text) {
  bool isInString = false;
  for (size_t i = 1; i < text.size(); ++i) {
    if (isInString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      isInString = !isInString;
    else if (!isInString && (text[i] == '[' || text[i] == '{'))
      return false;
  }
  return true;
}

/// Returns the strings of a JSON array; nothing if the text is none.
static std::optional<std::vector<std::string>> readJsonList(StringRef text) {
  if (!isFlatArray(text))
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  std::vector<std::string> names;
  llvm::json::Path::Root root;
  if (value && llvm::json::fromJSON(*value, names, root))
    return names;
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

/// Returns the lines of a text, which may end with CRLF. Empty lines at the end
/// don't count.
static std::vector<std::string> readLines(StringRef text) {
  std::vector<std::string> lines;
  text = text.rtrim("\r\n");
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    line.consume_back("\r");
    lines.push_back(line.str());
    text = rest;
  }
  return lines;
}

/// Returns the names in a list, which has one name per line or is a JSON array,
/// as most tools write it.
std::optional<std::vector<std::string>> ListReader::split(StringRef text) {
  if (text.starts_with("[")) {
    std::optional<std::vector<std::string>> names = readJsonList(text);
    if (!names)
      invalid("begins like a JSON array of names, but isn't one");
    return names;
  }
  return readLines(text);
}

std::optional<llvm::StringSet<>>
ListReader::read(const ::onnx::ModelProto &model,
                 llvm::function_ref<StringRef(StringRef)> check) {
  const std::string *text = nullptr;
  for (const auto &entry : model.metadata_props()) {
    if (entry.key() != key)
      continue;
    if (text)
      invalid("stands there twice");
    else
      text = &entry.value();
  }
  if (!text)
    return std::nullopt;
  std::optional<std::vector<std::string>> names = split(*text);
  if (!names)
    return std::nullopt;
  StringRef place =
      StringRef(*text).starts_with("[") ? "as element " : "in line ";
  llvm::StringSet<> listed;
  for (auto [index, name] : llvm::enumerate(*names)) {
    StringRef wrong = check(name);
    if (name.empty() || !isPrintable(name))
      invalid("holds no name " + place + Twine(index + 1));
    else if (!wrong.empty())
      invalid("lists '" + name + "', " + wrong);
    listed.insert(name);
  }
  return listed;
}

/// Reads both entries, if the file has them.
void Graph::readLists(const ::onnx::ModelProto &model, Reporter &reporter) {
  parameters =
      ListReader(kOnnxParametersKey, reporter).read(model, [&](StringRef name) {
        return checkParameter(name);
      });
  frozenStatistics =
      ListReader(kOnnxFrozenStatisticsKey, reporter)
          .read(model, [&](StringRef name) { return checkStatistics(name); });
}

} // namespace mlir::hfta::onnx_import
