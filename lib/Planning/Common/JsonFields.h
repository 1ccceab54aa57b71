//===- JsonFields.h - Reads objects in JSON files of users ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_COMMON_JSONFIELDS_H
#define HFTA_LIB_PLANNING_COMMON_JSONFIELDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Parses JSON as llvm::json::parse does, but refuses values that are nested
/// deeper than any of our formats: that function is recursive and would
/// overflow the stack.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The numbers that a field may have.
struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool includesLeast = true;
};

/// Reads the fields of one object. `error` keeps the first error of the file,
/// with the path of its field, such as "tasks[3].seconds". After an error,
/// functions return some value in their range, so that callers needn't check
/// each of them. Fields that haven't been read when `finish` is called are
/// errors.
class JsonFields {
public:
  using Read = llvm::function_ref<void(JsonFields &)>;

  JsonFields(const llvm::json::Object &object, std::string path,
             std::string &error)
      : object(object), path(std::move(path)), error(error) {}

  bool has(llvm::StringRef key) const { return object.get(key); }
  /// Returns whether the object has the field and it is null.
  bool isNull(llvm::StringRef key);
  /// Accepts these fields without reading them, so that `finish` doesn't refuse
  /// them.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);

  int64_t getWhole(llvm::StringRef key, int64_t least,
                   int64_t most = std::numeric_limits<int64_t>::max());
  double getNumber(llvm::StringRef key, NumberRange range);
  /// Returns a truth value. A missing field has the value `unless`; without
  /// `unless`, it is an error.
  bool getFlag(llvm::StringRef key, std::optional<bool> unless = std::nullopt);
  /// Returns a string, which must not be empty.
  std::string getText(llvm::StringRef key);
  /// Returns the index in `texts` of the field's string.
  size_t getChoice(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> texts);
  std::vector<int64_t> getWholes(llvm::StringRef key, int64_t least);
  std::vector<std::string> getTexts(llvm::StringRef key);
  /// Returns lists of strings. Neither a list nor a string may be empty; there
  /// may be no lists.
  std::vector<std::vector<std::string>> getLists(llvm::StringRef key);

  /// Calls `read` with the fields of an object.
  void readObject(llvm::StringRef key, Read read);
  /// Calls `read` with the fields of each object in an array, which may be
  /// empty.
  void forEach(llvm::StringRef key, Read read);
  /// Does the same as forEach, for an array of at least one and at most `most`
  /// objects.
  void forEachOfSome(llvm::StringRef key, Read read,
                     size_t most = std::numeric_limits<size_t>::max());

  /// Returns whether the file has no error so far.
  bool isGood() const { return error.empty(); }
  /// Records an error about a field, unless the file already has an error.
  void say(const llvm::Twine &key, const llvm::Twine &message);
  /// Reports every field that hasn't been read as an error.
  void finish();

private:
  const llvm::json::Value *get(llvm::StringRef key);
  const llvm::json::Array *getArray(llvm::StringRef key, bool mayBeEmpty);
  void fail(const llvm::Twine &key, const llvm::json::Value *found,
            const llvm::Twine &expected);
  int64_t readWhole(const llvm::Twine &key, const llvm::json::Value *found,
                    int64_t least, int64_t most);
  std::string readText(const llvm::Twine &key, const llvm::json::Value *found);
  void readInner(const llvm::Twine &key, const llvm::json::Value *found,
                 Read read);

  const llvm::json::Object &object;
  std::string path;
  std::string &error;
  llvm::StringSet<> known;
};

/// Parses a file that consists of one object and calls `read` with its fields.
/// Returns the first error; empty if there is none.
std::string readFields(llvm::StringRef text, JsonFields::Read read);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_COMMON_JSONFIELDS_H
