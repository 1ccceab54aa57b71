//===- ConstantTables.cpp - C structs as LLVM globals ---------------------===//

#include "ConstantTables.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::hfta;

/// Builds an aggregate of type `type` from its elements.
static Value buildAggregate(OpBuilder &builder, Location loc, Type type,
                            ArrayRef<Value> elements) {
  Value whole = LLVM::UndefOp::create(builder, loc, type);
  for (auto [index, element] : llvm::enumerate(elements))
    whole = LLVM::InsertValueOp::create(builder, loc, whole, element,
                                        static_cast<int64_t>(index));
  return whole;
}

Type Field::getType(MLIRContext *context) const {
  if (width == 0)
    return LLVM::LLVMPointerType::get(context);
  if (width > 0)
    return IntegerType::get(context, width);
  SmallVector<Type> types;
  for (const Field &field : fields)
    types.push_back(field.getType(context));
  return LLVM::LLVMStructType::getLiteral(context, types);
}

Value Field::build(OpBuilder &builder, Location loc) const {
  Type type = getType(builder.getContext());
  if (width > 0)
    return LLVM::ConstantOp::create(
        builder, loc, type,
        builder.getIntegerAttr(type, static_cast<int64_t>(value)));
  if (width == 0) {
    if (!symbol)
      return LLVM::ZeroOp::create(builder, loc, type);
    return LLVM::AddressOfOp::create(builder, loc, type, symbol);
  }
  SmallVector<Value> values;
  for (const Field &field : fields)
    values.push_back(field.build(builder, loc));
  return buildAggregate(builder, loc, type, values);
}

ConstantTables::ConstantTables(ModuleOp module)
    : module(module), builder(module.getContext()), symbols(module) {}

LLVM::GlobalOp ConstantTables::create(StringRef name, Type type,
                                      Attribute value, bool isExported) {
  OpBuilder detached(module.getContext());
  auto global = LLVM::GlobalOp::create(
      detached, module.getLoc(), type, /*isConstant=*/true,
      isExported ? LLVM::Linkage::External : LLVM::Linkage::Internal, name,
      value, /*alignment=*/64);
  symbols.insert(global);
  return global;
}

static FlatSymbolRefAttr getReference(LLVM::GlobalOp global) {
  return FlatSymbolRefAttr::get(global.getSymNameAttr());
}

/// The number of rows of an inner array. Each insertion of an element into a
/// constant creates a constant of the whole aggregate. To keep these small, a
/// long table is a struct of arrays of this many rows, which has the memory
/// layout of one array.
static constexpr size_t kRowsAtOnce = 64;

FlatSymbolRefAttr ConstantTables::table(StringRef name, ArrayRef<Record> rows) {
  if (rows.empty())
    return {};
  MLIRContext *context = module.getContext();
  Location loc = module.getLoc();
  Type rowType = Field::record(rows.front()).getType(context);
  SmallVector<Type> types;
  for (size_t first = 0; first < rows.size(); first += kRowsAtOnce)
    types.push_back(LLVM::LLVMArrayType::get(
        rowType, std::min(kRowsAtOnce, rows.size() - first)));
  Type type = types.size() == 1
                  ? types.front()
                  : LLVM::LLVMStructType::getLiteral(context, types);
  LLVM::GlobalOp global = create(name, type, Attribute());
  builder.createBlock(&global.getInitializerRegion());
  SmallVector<Value> arrays;
  for (Type arrayType : types) {
    SmallVector<Value> values;
    for (const Record &row : rows.take_front(kRowsAtOnce))
      values.push_back(Field::record(row).build(builder, loc));
    rows = rows.drop_front(values.size());
    arrays.push_back(buildAggregate(builder, loc, arrayType, values));
  }
  Value table = arrays.size() == 1 ? arrays.front()
                                   : buildAggregate(builder, loc, type, arrays);
  LLVM::ReturnOp::create(builder, loc, table);
  return getReference(global);
}

FlatSymbolRefAttr ConstantTables::external(StringRef name) {
  builder.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(
      builder, module.getLoc(), builder.getI8Type(), /*isConstant=*/true,
      LLVM::Linkage::External, name, Attribute());
  return getReference(global);
}

void ConstantTables::exported(StringRef name, const Record &record) {
  Field field = Field::record(record);
  LLVM::GlobalOp global =
      create(name, field.getType(module.getContext()), Attribute(), true);
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, module.getLoc(),
                         field.build(builder, module.getLoc()));
}

FlatSymbolRefAttr ConstantTables::string(StringRef text) {
  FlatSymbolRefAttr &known = strings[text];
  if (known)
    return known;
  std::string terminated = text.str();
  terminated.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  known =
      getReference(create("string", type, builder.getStringAttr(terminated)));
  return known;
}

FlatSymbolRefAttr ConstantTables::elements(StringRef name,
                                           ElementsAttr values) {
  auto shaped = cast<ShapedType>(values.getType());
  if (shaped.getNumElements() == 0)
    return {};
  auto type = LLVM::LLVMArrayType::get(shaped.getElementType(),
                                       shaped.getNumElements());
  return getReference(create(name, type, values));
}

FlatSymbolRefAttr ConstantTables::bytes(StringRef name, ArrayRef<char> data) {
  if (data.empty())
    return {};
  auto type = RankedTensorType::get({static_cast<int64_t>(data.size())},
                                    builder.getI8Type());
  // Bytecode readers guarantee no larger alignment of resources.
  return elements(name, DenseResourceElementsAttr::get(
                            type, name,
                            HeapAsmResourceBlob::allocateAndCopyWithAlign(
                                data, alignof(std::max_align_t))));
}

FlatSymbolRefAttr ConstantTables::doubles(StringRef name,
                                          ArrayRef<double> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getF64Type());
  return elements(name, DenseElementsAttr::get(type, values));
}

FlatSymbolRefAttr ConstantTables::integers(StringRef name,
                                           ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI64Type());
  return elements(name, DenseElementsAttr::get(type, values));
}

FlatSymbolRefAttr ConstantTables::indices(StringRef name,
                                          ArrayRef<uint32_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    builder.getI32Type());
  return elements(name, DenseElementsAttr::get(type, values));
}

FlatSymbolRefAttr ConstantTables::places(int64_t copies,
                                         ArrayRef<int64_t> only) {
  if (only.empty())
    return {};
  FlatSymbolRefAttr &known = placesOf[only.vec()];
  if (known)
    return known;
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> all(copies, kNone);
  for (auto [position, copy] : llvm::enumerate(only))
    all[copy] = position;
  return known = indices("places", all);
}
