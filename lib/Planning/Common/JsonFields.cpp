//===- JsonFields.cpp - Reads objects in JSON files of users --------------===//

#include "Common/JsonFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>

using namespace mlir::hfta::planning;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Returns whether brackets outside of strings are nested at most `most` levels
/// deep.
static bool isNestedAtMost(StringRef text, int64_t most) {
  int64_t depth = 0;
  bool isString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (isString && c == '\\')
      ++at;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > most)
      return false;
    else if (!isString && (c == ']' || c == '}'))
      --depth;
  }
  return true;
}

llvm::Expected<json::Value> mlir::hfta::planning::parseJson(StringRef text) {
  constexpr int64_t kMostNested = 64;
  if (!isNestedAtMost(text, kMostNested))
    return llvm::createStringError("values are nested too deep");
  return json::parse(text);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void JsonFields::say(const Twine &key, const Twine &message) {
  if (error.empty())
    error = (path + key + ": " + message).str();
}

void JsonFields::fail(const Twine &key, const json::Value *found,
                      const Twine &expected) {
  std::string message;
  llvm::raw_string_ostream os(message);
  os << "expected " << expected;
  if (!found)
    os << ", but the field is missing";
  else if (!found->getAsArray() && !found->getAsObject())
    os << ", got " << *found;
  say(key, message);
}

void JsonFields::finish() {
  std::set<StringRef> unknown;
  for (const auto &entry : object)
    if (!known.contains(entry.first))
      unknown.insert(entry.first);
  if (!unknown.empty())
    say(*unknown.begin(), "unknown field");
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

const json::Value *JsonFields::get(StringRef key) {
  known.insert(key);
  return object.get(key);
}

bool JsonFields::isNull(StringRef key) {
  const json::Value *found = get(key);
  return found && found->getAsNull();
}

void JsonFields::ignore(llvm::ArrayRef<StringRef> keys) {
  known.insert(keys.begin(), keys.end());
}

/// Describes the expected numbers for a message. `isBounded` says whether
/// `most` is a limit.
static std::string describe(StringRef kind, const Twine &least,
                            const Twine &most, bool isBounded) {
  return isBounded ? (kind + " from " + least + " to " + most).str()
                   : (kind + " of at least " + least).str();
}

static std::string print(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

int64_t JsonFields::readWhole(const Twine &key, const json::Value *found,
                              int64_t least, int64_t most) {
  std::optional<int64_t> value = found ? found->getAsInteger() : std::nullopt;
  if (value && *value >= least && *value <= most)
    return *value;
  bool isBounded = most < std::numeric_limits<int64_t>::max();
  fail(key, found,
       describe("a whole number", Twine(least), Twine(most), isBounded));
  return least;
}

int64_t JsonFields::getWhole(StringRef key, int64_t least, int64_t most) {
  return readWhole(key, get(key), least, most);
}

double JsonFields::getNumber(StringRef key, NumberRange range) {
  const json::Value *found = get(key);
  std::optional<double> value = found ? found->getAsNumber() : std::nullopt;
  if (value && std::isfinite(*value) && *value <= range.most &&
      (range.includesLeast ? *value >= range.least : *value > range.least))
    return *value;
  std::string least = print(range.least);
  bool isBounded = std::isfinite(range.most);
  fail(key, found,
       range.includesLeast
           ? describe("a number", least, print(range.most), isBounded)
           : "a number above " + least);
  return isBounded ? range.most : range.least + 1;
}

bool JsonFields::getFlag(StringRef key, std::optional<bool> unless) {
  const json::Value *found = get(key);
  std::optional<bool> value = found ? found->getAsBoolean() : unless;
  if (!value)
    fail(key, found, "true or false");
  return value.value_or(false);
}

std::string JsonFields::readText(const Twine &key, const json::Value *found) {
  std::optional<StringRef> text = found ? found->getAsString() : std::nullopt;
  if (text && !text->empty())
    return text->str();
  fail(key, found, "a text");
  return "";
}

std::string JsonFields::getText(StringRef key) {
  return readText(key, get(key));
}

size_t JsonFields::getChoice(StringRef key, llvm::ArrayRef<StringRef> texts) {
  const json::Value *found = get(key);
  std::optional<StringRef> text = found ? found->getAsString() : std::nullopt;
  for (auto [place, candidate] : llvm::enumerate(texts))
    if (text == candidate)
      return place;
  std::string list;
  for (auto [place, candidate] : llvm::enumerate(texts)) {
    if (place > 0)
      list += place + 1 == texts.size() ? " or " : ", ";
    list += ("\"" + candidate + "\"").str();
  }
  fail(key, found, list);
  return 0;
}

//===----------------------------------------------------------------------===//
// Arrays and objects
//===----------------------------------------------------------------------===//

static std::string getPlace(StringRef key, size_t index) {
  return (key + "[" + Twine(index) + "]").str();
}

const json::Array *JsonFields::getArray(StringRef key, bool mayBeEmpty) {
  const json::Value *found = get(key);
  const json::Array *array = found ? found->getAsArray() : nullptr;
  if (array && (mayBeEmpty || !array->empty()))
    return array;
  fail(key, found, mayBeEmpty ? "an array" : "an array that isn't empty");
  return nullptr;
}

std::vector<int64_t> JsonFields::getWholes(StringRef key, int64_t least) {
  std::vector<int64_t> numbers;
  if (const json::Array *array = getArray(key, /*mayBeEmpty=*/false))
    for (auto [index, value] : llvm::enumerate(*array))
      numbers.push_back(readWhole(getPlace(key, index), &value, least,
                                  std::numeric_limits<int64_t>::max()));
  return numbers;
}

std::vector<std::string> JsonFields::getTexts(StringRef key) {
  std::vector<std::string> texts;
  if (const json::Array *array = getArray(key, /*mayBeEmpty=*/false))
    for (auto [index, value] : llvm::enumerate(*array))
      texts.push_back(readText(getPlace(key, index), &value));
  return texts;
}

std::vector<std::vector<std::string>> JsonFields::getLists(StringRef key) {
  std::vector<std::vector<std::string>> lists;
  const json::Array *array = getArray(key, /*mayBeEmpty=*/true);
  if (!array)
    return lists;
  for (auto [index, value] : llvm::enumerate(*array)) {
    std::vector<std::string> &list = lists.emplace_back();
    if (const json::Array *names = value.getAsArray())
      for (const json::Value &name : *names)
        list.push_back(name.getAsString().value_or("").str());
    if (list.empty() || llvm::is_contained(list, ""))
      fail(getPlace(key, index), &value, "an array of names");
  }
  return lists;
}

void JsonFields::readInner(const Twine &key, const json::Value *found,
                           Read read) {
  const json::Object *inner = found ? found->getAsObject() : nullptr;
  if (!inner)
    return fail(key, found, "an object");
  JsonFields fields(*inner, (path + key + ".").str(), error);
  read(fields);
  fields.finish();
}

void JsonFields::readObject(StringRef key, Read read) {
  readInner(key, get(key), read);
}

void JsonFields::forEach(StringRef key, Read read) {
  const json::Array *array = getArray(key, /*mayBeEmpty=*/true);
  if (!array)
    return;
  for (auto [index, value] : llvm::enumerate(*array)) {
    readInner(getPlace(key, index), &value, read);
    if (!isGood())
      return;
  }
}

void JsonFields::forEachOfSome(StringRef key, Read read, size_t most) {
  const json::Array *array = getArray(key, /*mayBeEmpty=*/false);
  if (array && array->size() > most)
    say(key,
        "expected at most " + Twine(most) + ", got " + Twine(array->size()));
  else if (array)
    forEach(key, read);
}

std::string mlir::hfta::planning::readFields(StringRef text,
                                             JsonFields::Read read) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return llvm::toString(value.takeError());
  const json::Object *object = value->getAsObject();
  if (!object)
    return "expected an object";
  std::string error;
  JsonFields fields(*object, "", error);
  read(fields);
  fields.finish();
  return error;
}
