//===- AnalyzeSources.cpp - The files of data blocks ----------------------===//

#include "Analysis/JobAnalyzer.h"
#include "Hfta/Language/Files.h"

#include "hfta/data.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// The most files of a field: each is open during a training.
static constexpr size_t kMostFiles = 256;
static constexpr int64_t kMostColumns = 1 << 20;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static constexpr ParameterSpec kFile[] = {{"file", true}};
static constexpr ParameterSpec kCsv[] = {
    {"file", true}, {"column"}, {"header"}, {"separator"}};
static constexpr ParameterSpec kNpz[] = {{"file", true}, {"array", true}};
static constexpr ParameterSpec kSafetensors[] = {{"file", true},
                                                 {"tensor", true}};
static constexpr ParameterSpec kImages[] = {
    {"folder", true}, {"resize"}, {"skip_damaged"}, {"cache"}};
static constexpr ParameterSpec kClasses[] = {{"folder", true}};
static constexpr ParameterSpec kTokens[] = {
    {"file", true}, {"shift"}, {"stride"}};

/// The default of `cache`.
static constexpr int64_t kImageCache = int64_t(1) << 30;

namespace {
/// A format of files, as jobs name it.
struct FormatInfo {
  llvm::StringLiteral name;
  llvm::ArrayRef<ParameterSpec> parameters;
  bool hasHeader; ///< whether files state the type of their samples
  /// A type of a field for messages; empty: that of labels or of images, by
  /// whether the field is computed from its file's numbers.
  llvm::StringLiteral example = "";
};
} // namespace

static constexpr llvm::StringLiteral kImageFormat = "images",
                                     kClassFormat = "classes";

static const FormatInfo kFormats[] = {
    {"idx", kFile, true},
    {"npy", kFile, true},
    {"csv", kCsv, false, "f32[4]"},
    {"raw", kFile, false},
    {"npz", kNpz, true},
    {"safetensors", kSafetensors, true},
    {kImageFormat, kImages, true, "u8[3, 224, 224]"},
    {kClassFormat, kClasses, true},
    {"tokens", kTokens, false, "u16[128]"},
};

static const FormatInfo *findFormat(llvm::StringRef name) {
  const FormatInfo *found = llvm::find_if(
      kFormats, [&](const FormatInfo &format) { return format.name == name; });
  return found == std::end(kFormats) ? nullptr : found;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Reads the path of a file, or a list of them.
bool JobAnalyzer::analyzePaths(const ast::Expression &expression,
                               DataSource &source) {
  llvm::SmallVector<const ast::Expression *> elements = getElements(expression);
  if (elements.empty() || elements.size() > kMostFiles) {
    diagnostics.error(expression.getRange(),
                      "'file' lists " + llvm::Twine(elements.size()) + " files",
                      "it is one file, or a list of 1 to " +
                          llvm::Twine(kMostFiles));
    return false;
  }
  for (const ast::Expression *element : elements) {
    std::optional<std::string> path = constants.readString(*element, "file");
    if (!path)
      return false;
    if (element == elements.front())
      source.path = *path;
    else
      source.morePaths.push_back(*path);
  }
  return true;
}

/// Reads the columns of a csv file: the number of the first one, a name, or a
/// list of names or of numbers.
bool JobAnalyzer::analyzeColumns(const ast::Expression &expression,
                                 DataSource &source) {
  constexpr llvm::StringLiteral name = "column";
  bool isList = llvm::isa<ast::ListExpression>(expression);
  llvm::SmallVector<const ast::Expression *> elements = getElements(expression);
  if (elements.empty()) {
    diagnostics.error(expression.getRange(), "'column' lists no column",
                      "for example [\"height\", \"width\"]");
    return false;
  }
  if (!isList && !llvm::isa<ast::StringExpression>(expression)) {
    std::optional<int64_t> column =
        constants.readInteger(expression, name, 0, kMostColumns);
    source.column = static_cast<int32_t>(column.value_or(0));
    return column.has_value();
  }
  bool areNames = llvm::isa<ast::StringExpression>(elements.front());
  llvm::StringSet<> names;
  llvm::SmallSet<int64_t, 8> numbers;
  for (const ast::Expression *element : elements) {
    bool isNew;
    if (areNames) {
      std::optional<std::string> text = constants.readString(*element, name);
      if (!text)
        return false;
      isNew = names.insert(*text).second;
      source.columnNames.push_back(*text);
    } else {
      std::optional<int64_t> number =
          constants.readInteger(*element, name, 0, kMostColumns);
      if (!number)
        return false;
      isNew = numbers.insert(*number).second;
      source.columnNumbers.push_back(*number);
    }
    if (isNew)
      continue;
    diagnostics.error(element->getRange(), "'column' lists a column twice",
                      "list each column once");
    return false;
  }
  return true;
}

/// Reads a word, if the argument is given, and sets `index` to its index in
/// `words`.
bool JobAnalyzer::analyzeWord(const BoundArguments &arguments,
                              llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> words,
                              uint32_t &index) {
  const ast::Expression *value = arguments.get(name);
  if (!value)
    return true;
  std::optional<llvm::StringRef> word = constants.readWord(*value, name, words);
  if (word)
    index = static_cast<uint32_t>(llvm::find(words, *word) - words.begin());
  return word.has_value();
}

/// Reads the arguments that only folders of images and files of tokens have.
bool JobAnalyzer::analyzeFolder(const BoundArguments &arguments,
                                DataSource &source) {
  if (source.format == kImageFormat)
    source.cache = kImageCache;
  if (const ast::Expression *value = arguments.get("skip_damaged")) {
    std::optional<bool> flag = constants.readBool(*value, "skip_damaged");
    if (!flag)
      return false;
    source.skipDamaged = *flag;
  }
  if (const ast::Expression *value = arguments.get("cache")) {
    std::optional<int64_t> size =
        constants.readSize(*value, "cache", 0, int64_t(1) << 50);
    if (!size)
      return false;
    source.cache = *size;
  }
  for (auto [name, member, least] : {std::tuple("shift", &source.shift, 0),
                                     std::tuple("stride", &source.stride, 1)})
    if (const ast::Expression *value = arguments.get(name)) {
      std::optional<int64_t> number =
          constants.readInteger(*value, name, least, int64_t(1) << 40);
      if (!number)
        return false;
      *member = *number;
    }
  return analyzeWord(arguments, "resize", getImageResizeNames(), source.resize);
}

/// Reads the arguments that only csv files have.
bool JobAnalyzer::analyzeCsv(const BoundArguments &arguments,
                             DataSource &source) {
  if (const ast::Expression *column = arguments.get("column"))
    if (!analyzeColumns(*column, source))
      return false;
  if (!analyzeWord(arguments, "header", getCsvHeaderNames(), source.header) ||
      !analyzeWord(arguments, "separator", getCsvSeparatorNames(),
                   source.separator))
    return false;
  if (source.columnNames.empty())
    return true;
  if (source.header == HFTA_CSV_HEADER_ABSENT) {
    diagnostics.error(arguments.get("column")->getRange(),
                      "columns have no names with header = false",
                      "give their numbers, from 0");
    return false;
  }
  source.header = HFTA_CSV_HEADER_PRESENT;
  return true;
}

/// Reads paths without the name of a format, which the first one's ending
/// tells.
bool JobAnalyzer::analyzeBarePaths(const ast::Expression &expression,
                                   DataSource &source) {
  if (!analyzePaths(expression, source))
    return false;
  source.format = guessDataFormat(source.path).str();
  if (!source.format.empty())
    return true;
  bool isArchive = llvm::StringRef(source.path).ends_with(".npz") ||
                   llvm::StringRef(source.path).ends_with(".safetensors");
  diagnostics.error(expression.getRange(),
                    isArchive
                        ? "which array of '" + source.path + "' isn't said"
                        : "the format of '" + source.path + "' is unknown",
                    isArchive ? "for example npz(\"f.npz\", \"images\") or "
                                "safetensors(\"f.safetensors\", \"images\")"
                              : "name it: idx(\"...\"), npy(\"...\"), "
                                "csv(\"...\") or raw(\"...\")");
  return false;
}

bool JobAnalyzer::analyzeSource(const ast::Expression &expression,
                                DataSource &source, llvm::SMRange &range) {
  if (!source.format.empty()) {
    diagnostics.error(
        expression.getRange(), "second file in one field",
        "a field's value is one file and arithmetic with numbers");
    return false;
  }
  range = expression.getRange();
  auto *call = llvm::dyn_cast<ast::CallExpression>(&expression);
  if (!call)
    return analyzeBarePaths(expression, source);
  llvm::StringRef name = call->callee.name;
  const FormatInfo *format = findFormat(name);
  if (!format) {
    llvm::SmallVector<llvm::StringRef> known(getDataFormatNames());
    known.push_back("normalize");
    llvm::append_range(known, getFieldFunctionNames());
    diagnostics.error(call->callee.range,
                      "unknown data function '" + name + "'",
                      suggest(name, known, "data functions are"));
    return false;
  }
  std::optional<BoundArguments> arguments =
      bindArguments({name, format->parameters}, call->arguments,
                    call->getRange(), diagnostics);
  if (!arguments)
    return false;
  source.format = name.str();
  if (const ast::Expression *folder = arguments->get("folder")) {
    std::optional<std::string> path = constants.readString(*folder, "folder");
    if (!path)
      return false;
    source.path = *path;
  } else if (!analyzePaths(*arguments->get("file"), source)) {
    return false;
  }
  for (llvm::StringRef parameter : {"array", "tensor"})
    if (const ast::Expression *array = arguments->get(parameter)) {
      std::optional<std::string> text = constants.readString(*array, parameter);
      if (!text)
        return false;
      source.array = *text;
    }
  return analyzeFolder(*arguments, source) && analyzeCsv(*arguments, source);
}

//===----------------------------------------------------------------------===//
// What files say
//===----------------------------------------------------------------------===//

/// Checks that a field's type is declared. This is needed if no header of its
/// file contains the type.
bool JobAnalyzer::requireType(const DataSource &source, llvm::StringRef path,
                              llvm::SMRange range, const FieldInfo &field) {
  if (!field.element.empty())
    return true;
  llvm::StringRef type = findFormat(source.format)->example;
  if (type.empty())
    type = field.steps.empty() ? "u8" : "u8[28, 28]";
  std::string example = ("declare the type of one sample, for example '" +
                         field.name + ": " + type + "'")
                            .str();
  if (findFormat(source.format)->hasHeader)
    diagnostics.error(range, "no such file: '" + path + "'",
                      example + ", or pass --data DIR");
  else
    diagnostics.error(
        range, source.format + " files don't say the type of their samples",
        example);
  return false;
}

bool JobAnalyzer::refuseFile(llvm::SMRange range, const hfta_error &error) {
  diagnostics.error(range, error.message,
                    "hftac reads the type of a field's samples from its file, "
                    "if that exists");
  info.unsupportedFiles += error.code == HFTA_UNSUPPORTED;
  return false;
}

/// Returns a request for a file's header.
static hfta_data_request getRequest(const DataSource &source,
                                    const std::string &path) {
  hfta_data_request request = {};
  request.path = path.c_str();
  request.format =
      static_cast<hfta_data_format>(*getDataFormatCode(source.format));
  request.array = source.array.c_str();
  request.column = static_cast<uint32_t>(source.column);
  request.header = static_cast<hfta_csv_header>(source.header);
  request.separator = static_cast<hfta_csv_separator>(source.separator);
  return request;
}

/// Checks the first line of a csv file as the compiled program will, and notes
/// whether it had to guess that the line isn't a header.
bool JobAnalyzer::probeCsv(const DataSource &source, const std::string &path,
                           llvm::SMRange range) {
  hfta_data_request request = getRequest(source, path);
  llvm::SmallVector<const char *> names;
  for (const std::string &name : source.columnNames)
    names.push_back(name.c_str());
  if (!names.empty())
    request.column_names = names.data();
  if (!source.columnNumbers.empty())
    request.column_numbers = source.columnNumbers.data();
  request.column_count =
      static_cast<uint32_t>(names.size() + source.columnNumbers.size());
  bool guesses;
  hfta_error error;
  if (hfta_data_probe_csv(&request, &guesses, &error) != HFTA_OK)
    return refuseFile(range, error);
  if (guesses)
    info.guessedHeaders.push_back({path, range});
  return true;
}

/// Checks that the type of a field of images, if it is declared, is one of
/// images, and that it is where images are scaled.
bool JobAnalyzer::checkImageType(const DataSource &source, llvm::SMRange range,
                                 const FieldInfo &field) {
  size_t rank = field.shape.size();
  if (field.element.empty()) {
    if (source.resize == HFTA_IMAGE_RESIZE_NONE)
      return true;
    diagnostics.error(
        range, "images are scaled, but the size that they get isn't said",
        "declare the type of one sample, for example '" + field.name +
            ": u8[3, 224, 224]'");
    return false;
  }
  if (field.element == "u8" &&
      (rank == 2 ||
       (rank == 3 && (field.shape[0] == 1 || field.shape[0] == 3))))
    return true;
  diagnostics.error(range,
                    "field '" + field.name + "' is " + printFieldType(field) +
                        ", which is no type of images",
                    "it is u8[3, height, width], or u8[1, height, width] for "
                    "gray images");
  return false;
}

/// Reads what the header of a field's file says, or checks that the field's
/// type is declared.
bool JobAnalyzer::probeFile(const DataSource &source, llvm::StringRef name,
                            llvm::SMRange range, FieldInfo &field) {
  std::string path = getPathFrom(
      options.dataDirectory.empty() ? file.directory : options.dataDirectory,
      name);
  bool exists = llvm::sys::fs::exists(path);
  FieldInfo found;
  if (source.format == kClassFormat && !exists) {
    found.element = "i32";
    return applyHeader(found, path, range, field);
  }
  if (source.format == kImageFormat && !checkImageType(source, range, field))
    return false;
  if (!findFormat(source.format)->hasHeader || !exists)
    return requireType(source, path, range, field) &&
           (source.format != "csv" || !exists || probeCsv(source, path, range));
  hfta_data_request request = getRequest(source, path);
  hfta_data_info header;
  hfta_error error;
  if (hfta_data_probe(&request, &header, &error) != HFTA_OK)
    return refuseFile(range, error);
  // Images become gray or colored as the field wants them.
  if (source.format == kImageFormat && !field.element.empty())
    return true;
  found.element = getElementTypeNames()[header.type].str();
  found.shape.assign(header.sample_shape,
                     header.sample_shape + header.sample_rank);
  return applyHeader(found, path, range, field);
}

bool JobAnalyzer::probe(const DataSource &source, llvm::SMRange range,
                        FieldInfo &field) {
  return llvm::all_of(source.getPaths(), [&](const std::string &path) {
    return probeFile(source, path, range, field);
  });
}

/// Checks that a list of columns has one for each element of a sample.
bool JobAnalyzer::checkColumns(const DataSource &source, llvm::SMRange range,
                               const FieldInfo &field) {
  if (!source.listsColumns())
    return true;
  int64_t elements = 1;
  for (int64_t size : field.shape)
    elements *= size;
  auto columns = static_cast<int64_t>(source.columnNames.size() +
                                      source.columnNumbers.size());
  if (columns == elements)
    return true;
  diagnostics.error(range,
                    "'column' lists " + llvm::Twine(columns) +
                        (columns == 1 ? " column" : " columns") +
                        " for samples of " + llvm::Twine(elements) +
                        (elements == 1 ? " element" : " elements"),
                    "list a column for each element, or give the number of "
                    "the first of adjacent columns");
  return false;
}

//===----------------------------------------------------------------------===//
// Files that several fields read
//===----------------------------------------------------------------------===//

namespace {
/// The csv files of a field in a part of the data block.
struct CsvFiles {
  FieldInfo *field;
  llvm::StringRef part;
  DataSource *source;

  /// Describes these for a message about `other`.
  std::string describe(const CsvFiles &other) const {
    return "field '" + field->name + "'" +
           (part == other.part ? "" : (" in '" + part + "'").str());
  }
};
} // namespace

/// Returns a path that two sources have in common, apart from steps `./`.
static std::optional<std::string> findCommonPath(const DataSource &left,
                                                 const DataSource &right) {
  auto simplify = [](llvm::StringRef path) {
    llvm::SmallString<128> simple = path;
    llvm::sys::path::remove_dots(simple);
    return simple;
  };
  for (const std::string &path : left.getPaths())
    for (const std::string &other : right.getPaths())
      if (simplify(path) == simplify(other))
        return path;
  return std::nullopt;
}

/// Checks that all fields that are read from the same csv file, in any part,
/// agree on how it is read. If one names columns of it, the file has a header.
void JobAnalyzer::compareCsvFiles() {
  std::vector<CsvFiles> all;
  for (FieldInfo &field : info.fields)
    for (auto [part, source] :
         {std::pair("train", &field.train), std::pair("test", &field.test),
          std::pair("validation", &field.validation)})
      if (source->format == "csv")
        all.push_back({&field, part, source});
  for (const CsvFiles &naming : all)
    for (const CsvFiles &other : all)
      if (!naming.source->columnNames.empty() &&
          other.source->header == HFTA_CSV_HEADER_AUTO &&
          findCommonPath(*naming.source, *other.source))
        other.source->header = HFTA_CSV_HEADER_PRESENT;
  auto report = [&](const CsvFiles &file, const CsvFiles &known,
                    const llvm::Twine &path, llvm::StringRef argument,
                    llvm::StringRef word, llvm::StringRef otherWord,
                    llvm::StringRef hint) {
    diagnostics.error(file.field->range,
                      file.describe(known) + " has " + argument + " = " + word +
                          " for '" + path + "', but " + known.describe(file) +
                          " has " + argument + " = " + otherWord,
                      hint);
  };
  for (const auto &[index, file] : llvm::enumerate(all))
    for (const CsvFiles &known : llvm::ArrayRef(all).take_front(index)) {
      std::optional<std::string> path =
          findCommonPath(*file.source, *known.source);
      if (!path)
        continue;
      llvm::ArrayRef<llvm::StringRef> headers = getCsvHeaderNames(),
                                      separators = getCsvSeparatorNames();
      if (file.source->header != known.source->header)
        return report(file, known, *path, "header",
                      headers[file.source->header],
                      headers[known.source->header],
                      "line 1 is a header for all fields of a file or for "
                      "none: give both the same 'header'");
      if (file.source->separator != known.source->separator)
        return report(file, known, *path, "separator",
                      separators[file.source->separator],
                      separators[known.source->separator],
                      "a file has one separator: give both the same");
    }
}
