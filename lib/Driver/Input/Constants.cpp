//===- Constants.cpp - Reads the arrays of --constant ---------------------===//

#include "Input/Input.h"

#include "hfta/npy.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static Type getElementType(hfta_element_type type, Builder &builder) {
  switch (type) {
  case HFTA_BOOL:
    return builder.getI1Type();
  case HFTA_U8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case HFTA_I8:
    return builder.getI8Type();
  case HFTA_U16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case HFTA_I16:
    return builder.getI16Type();
  case HFTA_I32:
    return builder.getI32Type();
  case HFTA_I64:
    return builder.getI64Type();
  case HFTA_F16:
    return builder.getF16Type();
  case HFTA_BF16:
    return builder.getBF16Type();
  case HFTA_F32:
    return builder.getF32Type();
  case HFTA_F64:
    return builder.getF64Type();
  }
  return nullptr;
}

static DenseElementsAttr makeElements(const hfta_npy &file, Builder &builder) {
  auto type =
      RankedTensorType::get(llvm::ArrayRef(file.header.shape, file.header.rank),
                            getElementType(file.header.type, builder));
  const char *bytes = static_cast<const char *>(file.data);
  if (file.header.type != HFTA_BOOL)
    return DenseElementsAttr::getFromRawBuffer(
        type, llvm::ArrayRef(bytes, file.header.data_bytes));
  llvm::SmallVector<bool> values;
  for (uint64_t i = 0; i < file.header.data_bytes; ++i)
    values.push_back(bytes[i] != 0);
  return DenseElementsAttr::get(type, values);
}

ExitCode hfta::readConstants(llvm::ArrayRef<ConstantBinding> bindings,
                             MLIRContext *context, llvm::raw_ostream &errors,
                             llvm::StringMap<DenseElementsAttr> &constants) {
  Builder builder(context);
  ExitCode code = ExitCode::done;
  for (const ConstantBinding &binding : bindings) {
    hfta_npy file;
    hfta_error error;
    if (hfta_npy_open(binding.path.c_str(), &file, &error) != HFTA_OK) {
      errors << "hftac: error: constant '" << binding.name
             << "': " << error.message << '\n';
      if (code == ExitCode::done)
        code = error.code == HFTA_UNSUPPORTED ? ExitCode::unsupported
                                              : ExitCode::input;
      else if (error.code != HFTA_UNSUPPORTED)
        code = ExitCode::input;
      continue;
    }
    llvm::scope_exit close([&] { hfta_npy_close(&file); });
    constants[binding.name] = makeElements(file, builder);
  }
  return code;
}
