//===- JsonFields.h - Objects in JSON files of users ------------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_JSONFIELDS_H
#define HFTA_LIB_PLANNING_JSONFIELDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// Parses JSON as llvm::json::parse does. Since the stack of that function
/// grows with each bracket, values that are nested deeper than any of ours are
/// an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The numbers that a field may have.
struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool includesLeast = true;
};

/// Reads the fields of one object. The first error of the file is kept in
/// `error`, with the path of its field, such as "tasks[3].seconds"; later calls
/// then return some value in their range. Fields that aren't read by the time
/// of `finish` are errors.
class JsonFields {
public:
  using Read = llvm::function_ref<void(JsonFields &)>;

  JsonFields(const llvm::json::Object &object, std::string path,
             std::string &error)
      : object(object), path(std::move(path)), error(error) {}

  bool has(llvm::StringRef key) const { return object.get(key); }
  /// Returns whether the field is there and null.
  bool isNull(llvm::StringRef key);
  /// Accepts these fields without reading them.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);

  int64_t getWhole(llvm::StringRef key, int64_t least,
                   int64_t most = std::numeric_limits<int64_t>::max());
  double getNumber(llvm::StringRef key, NumberRange range);
  /// `unless` is the value of a field that isn't there; without it, the object
  /// must have the field.
  bool getFlag(llvm::StringRef key, std::optional<bool> unless = std::nullopt);
  /// Returns a text that isn't empty.
  std::string getText(llvm::StringRef key);
  /// Returns the place of the field's text in a list of texts.
  size_t getChoice(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> texts);
  std::vector<int64_t> getWholes(llvm::StringRef key, int64_t least);
  std::vector<std::string> getTexts(llvm::StringRef key);
  /// Returns lists of texts, none of which is empty.
  std::vector<std::vector<std::string>> getLists(llvm::StringRef key);

  /// Calls `read` with the fields of an object.
  void readObject(llvm::StringRef key, Read read);
  /// Calls `read` with the fields of each object in an array.
  void forEach(llvm::StringRef key, Read read);
  /// The array must have an object, and at most `most`.
  void forEachOfSome(llvm::StringRef key, Read read,
                     size_t most = std::numeric_limits<size_t>::max());

  /// Returns whether the file has no error so far.
  bool isGood() const { return error.empty(); }
  /// Reports an error of a field.
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

/// Reads a file that holds one object. Returns the first error; empty if there
/// is none.
std::string readFields(llvm::StringRef text, JsonFields::Read read);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_JSONFIELDS_H
