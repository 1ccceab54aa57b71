//===- DataFiles.h - What data files hold -----------------------*- C++ -*-===//
//
// hftac new looks at files to find out which fields they can be.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_NEWJOB_DATAFILES_H
#define HFTA_LIB_DRIVER_NEWJOB_DATAFILES_H

#include "hfta/csv_outline.h"
#include "hfta/data.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::hfta {

/// A part of a data block.
enum class DataPart { train, validation, test };
inline constexpr size_t kDataParts = 3;
llvm::StringRef getDataPartName(DataPart part);

/// An array that can be a field's file in a part: that of a file, one of an
/// archive's, or the images of a folder.
struct DataArray {
  /// The name of its file or of the array, without words that name a part:
  /// "images" for "train-images-idx3-ubyte.gz". A name of the language.
  std::string name;
  DataPart part = DataPart::train;
  hfta_data_format format = HFTA_DATA_NONE;
  std::string path;
  std::string array;   ///< its name in the archive; empty if the file is no one
  hfta_data_info info; ///< images: the first one's
};

/// A csv file.
struct DataTable {
  std::string path;
  DataPart part = DataPart::train;
  std::shared_ptr<const hfta_csv_outline> outline;
};

struct DataFiles {
  std::vector<DataArray> arrays;
  std::vector<DataTable> tables;
};

/// Looks at files and folders. A folder has a folder of images for each class,
/// or such folders for parts, which are called `train`, `val` or `test`, say.
/// What doesn't name a part is for training. The error names the path, what was
/// expected and what was got.
llvm::Expected<DataFiles> readDataFiles(llvm::ArrayRef<llvm::StringRef> paths);

/// The numbers of an array.
struct NumberFacts {
  double least = 0, most = 0;
  bool areWhole = false;
  /// Whether each sample has several elements, one of which is 1 while the
  /// others are 0.
  bool isOneHot = false;
};

/// Prints a number in a short form, with four digits at most.
std::string printShort(double value);

/// Reads an array's numbers.
llvm::Expected<NumberFacts> readNumbers(const DataArray &array);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_NEWJOB_DATAFILES_H
