//===- ParameterList.cpp - The trained initializers of a file -------------===//
//
// An entry of the file's metadata may list the initializers that are trained.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Reading/Graph.h"

#include "llvm/Support/JSON.h"

namespace mlir::hfta::onnx_import {

static std::string quoteEntry(const Twine &message) {
  return ("metadata entry '" + kOnnxParametersKey + "' " + message).str();
}

/// Returns why the listed name can't be trained; empty if it is an initializer
/// that can be.
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

/// Returns whether a JSON array contains no other array and no object. The
/// parser recurses for each, so that a hostile file could exhaust the stack.
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

/// Reads names, one per line, or as a JSON array, in which most tools write a
/// list.
void Graph::readParameterList(StringRef text, Reporter &reporter) {
  Location file = reporter.getFileLocation();
  std::vector<std::string> names;
  bool isArray = text.starts_with("[");
  if (isArray) {
    std::optional<std::vector<std::string>> list = readJsonList(text);
    if (!list) {
      reporter.invalid(file,
                       quoteEntry("begins like a JSON array of names, but "
                                  "isn't one"));
      return;
    }
    names = std::move(*list);
  } else {
    names = readLines(text);
  }
  parameters.emplace();
  for (auto [index, name] : llvm::enumerate(names)) {
    StringRef wrong = checkParameter(name);
    if (name.empty() || !isPrintable(name))
      reporter.invalid(file,
                       quoteEntry("holds no name " +
                                  Twine(isArray ? "as element " : "in line ") +
                                  Twine(index + 1)));
    else if (!wrong.empty())
      reporter.invalid(file, quoteEntry("lists '" + name + "', " + wrong));
    parameters->insert(name);
  }
}

/// Reads the entry, if the file has one.
void Graph::readParameters(const ::onnx::ModelProto &model,
                           Reporter &reporter) {
  bool isFirst = true;
  for (const auto &entry : model.metadata_props()) {
    if (entry.key() != kOnnxParametersKey)
      continue;
    if (isFirst)
      readParameterList(entry.value(), reporter);
    else
      reporter.invalid(reporter.getFileLocation(),
                       quoteEntry("stands there twice"));
    isFirst = false;
  }
}

} // namespace mlir::hfta::onnx_import
