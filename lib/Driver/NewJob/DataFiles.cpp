//===- DataFiles.cpp - What data files hold -------------------------------===//

#include "NewJob/DataFiles.h"

#include "Hfta/Language/Files.h"
#include "Hfta/Language/Parser.h"
#include "hfta/tensor_view.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::hfta;

llvm::StringRef hfta::getDataPartName(DataPart part) {
  switch (part) {
  case DataPart::train:
    return "train";
  case DataPart::validation:
    return "validation";
  case DataPart::test:
    return "test";
  }
  llvm_unreachable("all parts are listed");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns the part that a word of a file's name stands for.
static std::optional<DataPart> findPart(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<DataPart>>(word.lower())
      .Cases({"train", "training"}, DataPart::train)
      .Cases({"val", "valid", "validation", "dev"}, DataPart::validation)
      .Cases({"test", "testing", "t10k"}, DataPart::test)
      .Default(std::nullopt);
}

/// Divides a name at other characters than letters and digits, and before and
/// after `train` and `test` in words such as "xtrain".
static std::vector<std::string> splitWords(llvm::StringRef name) {
  std::vector<std::string> words(1);
  for (char c : name)
    if (llvm::isAlnum(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  std::vector<std::string> all;
  for (llvm::StringRef word : words) {
    std::string lower = word.lower();
    llvm::StringRef text = lower;
    if (word.size() == 6 && text.ends_with("train"))
      all.insert(all.end(), {word.take_front(1).str(), "train"});
    else if (word.size() == 5 && text.ends_with("test"))
      all.insert(all.end(), {word.take_front(1).str(), "test"});
    else if (!word.empty())
      all.push_back(word.str());
  }
  return all;
}

/// Sets the part and the name that a text names, unless it doesn't name these.
static void readName(llvm::StringRef text, DataPart &part, std::string &name) {
  std::vector<std::string> rest;
  for (const std::string &word : splitWords(text)) {
    if (std::optional<DataPart> named = findPart(word))
      part = *named;
    else if (word != "ubyte" &&
             !(word.size() == 4 && llvm::StringRef(word).starts_with("idx")))
      rest.push_back(word);
  }
  if (!rest.empty())
    name = makeJobName(llvm::join(rest, "_"));
}

/// Returns a path's last part without the endings of data files.
static llvm::StringRef getStem(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  name.consume_back(".gz");
  return llvm::sys::path::stem(name);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static hfta_data_request getRequest(const DataArray &array) {
  hfta_data_request request = {};
  request.path = array.path.c_str();
  request.format = array.format;
  request.array = array.array.c_str();
  return request;
}

/// Reads the header of an array, and adds it.
static llvm::Error addArray(DataArray array, DataFiles &files) {
  hfta_data_request request = getRequest(array);
  hfta_error error;
  if (hfta_data_probe(&request, &array.info, &error) != HFTA_OK)
    return llvm::createStringError(error.message);
  files.arrays.push_back(std::move(array));
  return llvm::Error::success();
}

/// Adds all arrays of an archive.
static llvm::Error addArchive(const DataArray &file, DataFiles &files) {
  std::vector<std::string> names;
  hfta_error error;
  if (hfta_data_list_arrays(
          file.path.c_str(), file.format,
          [](const char *name, void *argument) {
            static_cast<std::vector<std::string> *>(argument)->push_back(name);
          },
          &names, &error) != HFTA_OK)
    return llvm::createStringError(error.message);
  for (const std::string &name : names) {
    DataArray array = file;
    array.array = name;
    readName(name, array.part, array.name);
    if (llvm::Error error = addArray(std::move(array), files))
      return error;
  }
  return llvm::Error::success();
}

static llvm::Error addTable(llvm::StringRef path, DataPart part,
                            DataFiles &files) {
  std::shared_ptr<hfta_csv_outline> outline(new hfta_csv_outline(),
                                            [](hfta_csv_outline *outline) {
                                              hfta_csv_outline_close(outline);
                                              delete outline;
                                            });
  hfta_error error;
  if (hfta_csv_outline_open(path.str().c_str(), outline.get(), &error) !=
      HFTA_OK)
    return llvm::createStringError(error.message);
  files.tables.push_back({path.str(), part, std::move(outline)});
  return llvm::Error::success();
}

static llvm::Error addFile(llvm::StringRef path, DataFiles &files) {
  DataArray array;
  array.path = path.str();
  array.name = "data";
  readName(getStem(path), array.part, array.name);
  llvm::StringRef format = path.ends_with(".npz")           ? "npz"
                           : path.ends_with(".safetensors") ? "safetensors"
                           : path.ends_with(".tsv") ? "csv"
                                                    : guessDataFormat(path);
  if (format == "csv")
    return addTable(path, array.part, files);
  array.format = llvm::StringSwitch<hfta_data_format>(format)
                     .Case("npy", HFTA_DATA_NPY)
                     .Case("idx", HFTA_DATA_IDX)
                     .Case("npz", HFTA_DATA_NPZ)
                     .Case("safetensors", HFTA_DATA_SAFETENSORS)
                     .Default(HFTA_DATA_NONE);
  if (array.format == HFTA_DATA_NONE)
    return llvm::createStringError(
        "'" + path + "' doesn't tell the type of its samples" +
        "\nhint: files that do are .npy, .npz, .safetensors, .csv, .tsv, .idx "
        "and folders of images; for others write the job by hand "
        "(docs/language.md, \"Data\")");
  return format == "npz" || format == "safetensors"
             ? addArchive(array, files)
             : addArray(std::move(array), files);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Returns the folders in a folder, in the order of their names, without those
/// that begin with a dot.
static std::vector<std::string> listFolders(llvm::StringRef path) {
  std::vector<std::string> folders;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(path, error), end;
       at != end && !error; at.increment(error))
    if (llvm::sys::fs::is_directory(at->path()) &&
        !llvm::sys::path::filename(at->path()).starts_with("."))
      folders.push_back(at->path());
  llvm::sort(folders);
  return folders;
}

/// Adds a folder that has a folder of images for each class.
static llvm::Error addImages(llvm::StringRef path, DataPart part,
                             DataFiles &files) {
  DataArray array;
  array.name = "image";
  array.part = part;
  array.format = HFTA_DATA_IMAGES;
  array.path = path.str();
  if (llvm::Error error = addArray(array, files))
    return error;
  array.name = "label";
  array.format = HFTA_DATA_CLASSES;
  return addArray(std::move(array), files);
}

static llvm::Error addFolder(llvm::StringRef path, DataFiles &files) {
  std::vector<std::string> folders = listFolders(path);
  if (folders.empty())
    return llvm::createStringError(
        "folder '" + path +
        "' has no folders: expected one of images for each class, or 'train' "
        "and 'test' with such folders");
  auto partOf = [](llvm::StringRef folder) {
    return findPart(llvm::sys::path::filename(folder));
  };
  if (!llvm::all_of(folders, partOf)) {
    DataPart part = DataPart::train;
    std::string name;
    readName(llvm::sys::path::filename(path), part, name);
    return addImages(path, part, files);
  }
  for (llvm::StringRef folder : folders)
    if (llvm::Error error = addImages(folder, *partOf(folder), files))
      return error;
  return llvm::Error::success();
}

llvm::Expected<DataFiles>
hfta::readDataFiles(llvm::ArrayRef<llvm::StringRef> paths) {
  DataFiles files;
  for (llvm::StringRef path : paths) {
    // A folder may be given with a slash at its end.
    if (path.size() > 1)
      path.consume_back("/");
    if (!llvm::sys::fs::exists(path))
      return llvm::createStringError("no such file: '" + path + "'");
    if (llvm::Error error = llvm::sys::fs::is_directory(path)
                                ? addFolder(path, files)
                                : addFile(path, files))
      return error;
  }
  return files;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string hfta::printShort(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

/// Returns element `index` of a type.
static double readElement(const unsigned char *bytes, hfta_element_type type,
                          size_t index) {
  const unsigned char *element = bytes + index * hfta_element_bytes(type);
  switch (type) {
  case HFTA_F32: {
    float value;
    memcpy(&value, element, sizeof(value));
    return value;
  }
  case HFTA_F64: {
    double value;
    memcpy(&value, element, sizeof(value));
    return value;
  }
  case HFTA_F16:
  case HFTA_BF16:
    return std::nan("");
  default:
    return static_cast<double>(hfta_data_read_integer(element, type));
  }
}

llvm::Expected<NumberFacts> hfta::readNumbers(const DataArray &array) {
  hfta_data_request request = getRequest(array);
  request.type = array.info.type;
  request.sample_shape = array.info.sample_shape;
  request.sample_rank = array.info.sample_rank;
  hfta_data *data;
  hfta_error error;
  if (hfta_data_open(&request, &data, &error) != HFTA_OK)
    return llvm::createStringError(error.message);
  NumberFacts range{INFINITY, -INFINITY, true, true};
  uint64_t bytes = hfta_data_sample_bytes(data);
  std::vector<unsigned char> sample(bytes);
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < hfta_data_count(data) && status == HFTA_OK; ++i) {
    status = hfta_data_gather(data, &i, 1, sample.data(), &error);
    size_t elements = bytes / hfta_element_bytes(request.type);
    double sum = 0;
    for (size_t at = 0; at < elements; ++at) {
      double value = readElement(sample.data(), request.type, at);
      range.least = std::fmin(range.least, value);
      range.most = std::fmax(range.most, value);
      range.areWhole &= value == std::floor(value);
      range.isOneHot &= value == 0 || value == 1;
      sum += value;
    }
    range.isOneHot &= elements > 1 && sum == 1;
  }
  hfta_data_close(data);
  if (status != HFTA_OK)
    return llvm::createStringError(error.message);
  return range;
}
