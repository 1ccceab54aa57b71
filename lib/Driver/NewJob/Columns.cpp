//===- Columns.cpp - Which columns are inputs and which the label ---------===//

#include "NewJob/Columns.h"

#include "Hfta/Language/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <filesystem>
#include <optional>

using namespace mlir;
using namespace mlir::hfta;

using Columns = llvm::SmallVector<uint32_t>;

/// The most columns that a job lists one by one, and whose means it states.
static constexpr size_t kMostListed = 64;

bool hfta::isLabelName(llvm::StringRef name) {
  static constexpr llvm::StringLiteral names[] = {
      "label", "labels", "target", "targets", "class", "classes", "y"};
  return llvm::is_contained(names, name.lower());
}

std::string hfta::quotePath(llvm::StringRef path, llvm::StringRef folder) {
  if (path.starts_with("/"))
    return quoteText(path);
  std::error_code error;
  std::filesystem::path relative = std::filesystem::relative(
      path.str(), folder.empty() ? "." : folder.str(), error);
  return quoteText(error || relative.empty() ? path : relative.string());
}

//===----------------------------------------------------------------------===//
// Columns in jobs
//===----------------------------------------------------------------------===//

static const hfta_csv_column &getColumn(const DataTable &table,
                                        uint32_t index) {
  return table.outline->columns[index];
}

/// Returns how messages call a column.
static std::string describe(const DataTable &table, uint32_t index) {
  const char *name = getColumn(table, index).name;
  return name ? "column '" + std::string(name) + "'"
              : "column " + std::to_string(index);
}

/// Returns whether all columns of a table have names that differ.
static bool hasNames(const DataTable &table) {
  llvm::StringSet<> seen;
  for (uint32_t i = 0; i < table.outline->column_count; ++i)
    if (!getColumn(table, i).name || *getColumn(table, i).name == '\0' ||
        !seen.insert(getColumn(table, i).name).second)
      return false;
  return true;
}

/// Returns the argument `column` for these columns of a table.
static std::string printColumns(const DataTable &table,
                                llvm::ArrayRef<uint32_t> columns) {
  auto print = [&](uint32_t index) {
    return hasNames(table) ? quoteText(getColumn(table, index).name)
                           : std::to_string(index);
  };
  if (columns.size() == 1)
    return print(columns.front());
  bool areAdjacent = columns.back() - columns.front() + 1 == columns.size();
  if (areAdjacent)
    return std::to_string(columns.front());
  std::vector<std::string> texts;
  for (uint32_t index : columns)
    texts.push_back(print(index));
  return "[" + llvm::join(texts, ", ") + "]";
}

/// Returns what a field reads from these columns of a table.
static std::string printSource(const DataTable &table,
                               llvm::ArrayRef<uint32_t> columns,
                               llvm::StringRef folder) {
  std::string column = printColumns(table, columns);
  std::string text = "csv(" + quotePath(table.path, folder);
  if (column != "0")
    text += ", column = " + column;
  // A column's name says that there is a header.
  if (!llvm::StringRef(column).contains('"'))
    text += table.outline->has_header ? ", header = true" : ", header = false";
  if (table.outline->separator != HFTA_CSV_SEPARATOR_COMMA)
    text += std::string(", separator = ") +
            hfta_csv_separator_name(table.outline->separator);
  return text + ")";
}

/// Sets what each part reads for a field.
static void setSources(llvm::ArrayRef<DataTable> tables,
                       llvm::ArrayRef<uint32_t> columns, llvm::StringRef folder,
                       NewField &field) {
  for (const DataTable &table : tables)
    field.sources[static_cast<size_t>(table.part)] =
        printSource(table, columns, folder);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Reports a column that has no number in a line, in any part.
static llvm::Error checkNumbers(llvm::ArrayRef<DataTable> tables,
                                llvm::ArrayRef<uint32_t> columns) {
  for (const DataTable &table : tables)
    for (uint32_t index : columns) {
      const hfta_csv_column &column = getColumn(table, index);
      uint64_t line = column.text_line ? column.text_line : column.empty_line;
      if (line != 0)
        return llvm::createStringError(
            "'" + table.path + "', line " + llvm::Twine(line) + ", " +
            describe(table, index) + ": expected a number" +
            (column.text_line ? "" : ", but the value is missing") +
            "\nhint: replace text by numbers and missing values by a number "
            "first");
    }
  return llvm::Error::success();
}

/// Checks that there is a table for training, at most one for each part, and
/// that all have the same columns.
static llvm::Error checkTables(llvm::ArrayRef<DataTable> tables) {
  const DataTable *train = nullptr;
  std::array<const DataTable *, kDataParts> parts = {};
  for (const DataTable &table : tables) {
    const DataTable *&known = parts[static_cast<size_t>(table.part)];
    if (known)
      return llvm::createStringError(
          "'" + known->path + "' and '" + table.path + "' are both for " +
          (table.part == DataPart::train ? "training"
                                         : getDataPartName(table.part)) +
          "\nhint: a file whose name has the word 'test' or 'validation' is "
          "for that part");
    known = &table;
    if (table.part == DataPart::train)
      train = &table;
  }
  if (!train)
    return llvm::createStringError("'" + tables.front().path + "' is for " +
                                   getDataPartName(tables.front().part) +
                                   ", but no file is for training");
  for (const DataTable &table : tables)
    if (table.outline->column_count != train->outline->column_count)
      return llvm::createStringError(
          llvm::formatv("'{0}' has {1} columns, but '{2}' has {3}", table.path,
                        table.outline->column_count, train->path,
                        train->outline->column_count));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The label
//===----------------------------------------------------------------------===//

/// Returns whether a column can hold numbers of classes, which are as many as
/// an output has elements.
static bool canBeClasses(const DataTable &table, uint32_t index,
                         int64_t outputs) {
  const hfta_csv_column &column = getColumn(table, index);
  return outputs > 1 && column.is_whole && column.least >= 0 &&
         column.most <= static_cast<double>(outputs);
}

/// Returns the label's columns among `rest`, and removes them there.
static Columns takeLabel(const DataTable &table, int64_t outputs, Columns &rest,
                         NewFields &fields) {
  Columns label;
  for (uint32_t index : rest)
    if (const char *name = getColumn(table, index).name)
      if (isLabelName(name))
        label.push_back(index);
  if (label.size() != 1 && !rest.empty()) {
    size_t count = outputs > 1 && !canBeClasses(table, rest.back(), outputs)
                       ? static_cast<size_t>(outputs)
                       : 1;
    bool isFirst = count > 1 && canBeClasses(table, rest.front(), outputs);
    if (isFirst || count >= rest.size())
      count = 1;
    label.assign(isFirst ? rest.begin() : rest.end() - count,
                 isFirst ? rest.begin() + 1 : rest.end());
    fields.notes.push_back(describe(table, label.front()) +
                           (label.size() > 1
                                ? " and those after it are the label"
                                : " is the label") +
                           (isFirst ? ", as the first one with class numbers"
                                    : ", as the last of the table"));
  }
  llvm::erase_if(
      rest, [&](uint32_t index) { return llvm::is_contained(label, index); });
  return label;
}

static void fillLabel(llvm::ArrayRef<DataTable> tables, const DataTable &train,
                      llvm::ArrayRef<uint32_t> columns, llvm::StringRef folder,
                      NewField &label) {
  const char *name = getColumn(train, columns.front()).name;
  label.name =
      columns.size() == 1 && name && *name ? makeJobName(name) : "label";
  label.range = {INFINITY, -INFINITY, true, false};
  for (uint32_t index : columns) {
    const hfta_csv_column &column = getColumn(train, index);
    label.range.least = std::fmin(label.range.least, column.least);
    label.range.most = std::fmax(label.range.most, column.most);
    label.range.areWhole &= column.is_whole;
  }
  label.type = label.range.areWhole && std::abs(label.range.least) < 0x1p31 &&
                       std::abs(label.range.most) < 0x1p31
                   ? "i32"
                   : "f32";
  if (columns.size() > 1) {
    label.shape = {static_cast<int64_t>(columns.size())};
    label.type += "[" + std::to_string(columns.size()) + "]";
  }
  setSources(tables, columns, folder, label);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Returns the number of elements of an input's sample; -1 if the file leaves
/// an axis open.
static int64_t countElements(const OnnxPort &port) {
  int64_t elements = 1;
  for (const OnnxAxis &axis : llvm::drop_begin(port.shape)) {
    if (ShapedType::isDynamic(axis.size))
      return -1;
    elements *= axis.size;
  }
  return port.hasShape ? elements : -1;
}

/// Removes a column that only numbers the samples if there is one too many.
static void dropIndex(const DataTable &table, int64_t needed, Columns &rest,
                      NewFields &fields) {
  if (needed < 0 || rest.size() != static_cast<size_t>(needed) + 1)
    return;
  const hfta_csv_column &first = getColumn(table, rest.front());
  bool counts = first.is_whole && (first.least == 0 || first.least == 1) &&
                first.most - first.least + 1 ==
                    static_cast<double>(table.outline->samples);
  if (!counts)
    return;
  fields.notes.push_back(describe(table, rest.front()) +
                         " is left out, as it numbers the samples");
  rest.erase(rest.begin());
}

/// Makes the numbers of each column have the mean 0 and the deviation 1, unless
/// they are near that.
static void normalize(const DataTable &train, llvm::ArrayRef<uint32_t> columns,
                      NewField &field) {
  bool isNeeded = false;
  std::vector<std::string> means, deviations;
  for (uint32_t index : columns) {
    const hfta_csv_column &column = getColumn(train, index);
    double deviation = column.deviation > 0 ? column.deviation : 1;
    isNeeded |= std::abs(column.mean) > 2 || deviation > 4 || deviation < 0.25;
    means.push_back(printShort(column.mean));
    deviations.push_back(printShort(deviation));
  }
  if (!isNeeded || columns.size() > kMostListed)
    return;
  field.before = "normalize(";
  field.after = columns.size() == 1
                    ? ", " + means.front() + ", " + deviations.front() + ")"
                    : ", [" + llvm::join(means, ", ") + "], [" +
                          llvm::join(deviations, ", ") + "])";
}

/// Lists the columns of text, for a message.
static std::string listText(const DataTable &table) {
  std::string text;
  for (uint32_t i = 0; i < table.outline->column_count; ++i)
    if (uint64_t line = getColumn(table, i).text_line; line != 0)
      text += (text.empty() ? "; these aren't numbers: " : ", ") +
              describe(table, i) + " (line " + std::to_string(line) + ")";
  return text;
}

static llvm::Error addInput(llvm::ArrayRef<DataTable> tables,
                            const DataTable &train, const OnnxPort &port,
                            const Columns &columns, llvm::StringRef folder,
                            NewFields &fields) {
  if (llvm::Error error = checkNumbers(tables, columns))
    return error;
  bool isFloat = isa_and_present<FloatType>(port.elementType);
  NewField field;
  field.name = makeJobName(port.name);
  // The field has the input's shape, unless the file leaves an axis open.
  if (countElements(port) >= 0)
    for (const OnnxAxis &axis : llvm::drop_begin(port.shape))
      field.shape.push_back(axis.size);
  else
    field.shape = {static_cast<int64_t>(columns.size())};
  field.type = isFloat ? "f32" : "i64";
  std::vector<std::string> sizes;
  for (int64_t size : field.shape)
    sizes.push_back(std::to_string(size));
  if (!sizes.empty())
    field.type += "[" + llvm::join(sizes, ", ") + "]";
  setSources(tables, columns, folder, field);
  if (isFloat && field.shape.size() == 1)
    normalize(train, columns, field);
  fields.inputs.push_back(std::move(field));
  return llvm::Error::success();
}

/// Adds a field for each of several inputs that are called like columns.
static llvm::Error addNamedInputs(llvm::ArrayRef<DataTable> tables,
                                  const DataTable &train,
                                  llvm::ArrayRef<const OnnxPort *> ports,
                                  llvm::StringRef folder, NewFields &fields) {
  for (const OnnxPort *port : ports) {
    std::optional<uint32_t> found;
    for (uint32_t i = 0; i < train.outline->column_count; ++i)
      if (const char *name = getColumn(train, i).name)
        if (makeJobName(name) == makeJobName(port->name))
          found = i;
    if (!found)
      return llvm::createStringError("'" + train.path +
                                     "' has no column for input '" +
                                     port->name + "' of the model");
    if (llvm::Error error =
            addInput(tables, train, *port, {*found}, folder, fields))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error hfta::addColumns(llvm::ArrayRef<DataTable> tables,
                             llvm::ArrayRef<const OnnxPort *> ports,
                             bool needsLabel, int64_t outputs,
                             llvm::StringRef folder, NewFields &fields) {
  if (llvm::Error error = checkTables(tables))
    return error;
  const DataTable &train = *llvm::find_if(tables, [](const DataTable &table) {
    return table.part == DataPart::train;
  });
  fields.samples = train.outline->samples;
  Columns rest;
  for (uint32_t i = 0; i < train.outline->column_count; ++i)
    if (getColumn(train, i).text_line == 0)
      rest.push_back(i);
  if (needsLabel) {
    Columns label = takeLabel(train, outputs, rest, fields);
    if (label.empty())
      return llvm::createStringError(
          "'" + train.path + "' has no column of numbers" + listText(train));
    if (llvm::Error error = checkNumbers(tables, label))
      return error;
    fillLabel(tables, train, label, folder, fields.label);
  }
  if (ports.empty())
    return llvm::Error::success();
  if (ports.size() > 1)
    return addNamedInputs(tables, train, ports, folder, fields);
  int64_t needed = countElements(*ports.front());
  dropIndex(train, needed, rest, fields);
  if (rest.empty() ||
      (needed >= 0 && rest.size() != static_cast<size_t>(needed)))
    return llvm::createStringError(
        "'" + train.path + "' has " + llvm::Twine(rest.size()) +
        " columns of numbers" + (needsLabel ? " beside the label" : "") +
        ", but input '" + ports.front()->name + "' takes " +
        llvm::Twine(needed) + listText(train));
  return addInput(tables, train, *ports.front(), rest, folder, fields);
}
