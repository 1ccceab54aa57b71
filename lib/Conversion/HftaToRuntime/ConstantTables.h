//===- ConstantTables.h - C structs as LLVM globals -------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_CONSTANTTABLES_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_CONSTANTTABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <deque>
#include <map>

namespace mlir::hfta {

/// A field of a constant C struct: an integer, a pointer or a nested struct.
class Field {
public:
  static Field u32(uint32_t value) { return Field(32, value); }
  static Field i32(int32_t value) { return Field(32, value); }
  static Field u64(uint64_t value) { return Field(64, value); }
  static Field i64(int64_t value) { return Field(64, value); }
  /// Makes an integer field that holds the bits of a double.
  static Field f64(double value) {
    return u64(llvm::bit_cast<uint64_t>(value));
  }
  static Field null() { return pointer({}); }
  /// Makes the address of a symbol, or a null pointer if `symbol` is null.
  static Field pointer(FlatSymbolRefAttr symbol) {
    Field field(0, 0);
    field.symbol = symbol;
    return field;
  }
  static Field record(std::vector<Field> fields) {
    Field field(-1, 0);
    field.fields = std::move(fields);
    return field;
  }

  Type getType(MLIRContext *context) const;
  Value build(OpBuilder &builder, Location loc) const;

private:
  Field(int width, uint64_t value) : width(width), value(value) {}
  int width; ///< bits of an integer; 0: pointer, -1: struct
  uint64_t value;
  FlatSymbolRefAttr symbol;
  std::vector<Field> fields;
};

using Record = std::vector<Field>;

/// A constant of the C struct `Struct`, set member by member. The struct's
/// layout determines the order and widths of the fields.
template <typename Struct>
class StructRecord {
public:
  template <typename Member, typename Value>
  StructRecord &set(Member Struct::*member, const Value &value) {
    size_t offset = reinterpret_cast<const char *>(&(layout.*member)) -
                    reinterpret_cast<const char *>(&layout);
    assert(!fields.count(offset) && "a member is set twice");
    fields.emplace(offset,
                   std::pair(sizeof(Member),
                             makeField(std::add_pointer_t<Member>(), value)));
    return *this;
  }

  /// Returns all fields in the order of their offsets. Fails fatally if a
  /// member hasn't been set.
  operator Record() const {
    Record record;
    size_t end = 0;
    for (const auto &[offset, field] : fields) {
      if (offset != end)
        break;
      record.push_back(field.second);
      end += field.first;
    }
    if (end != sizeof(Struct))
      llvm::report_fatal_error("a member of a struct of program.h isn't set");
    return record;
  }

private:
  static Field makeField(uint32_t *, uint64_t value) {
    return Field::u32(value);
  }
  static Field makeField(int32_t *, int64_t value) { return Field::i32(value); }
  static Field makeField(uint64_t *, uint64_t value) {
    return Field::u64(value);
  }
  static Field makeField(int64_t *, int64_t value) { return Field::i64(value); }
  static Field makeField(double *, double value) { return Field::f64(value); }
  static Field makeField(double (*)[2], const double (&values)[2]) {
    return Field::record({Field::f64(values[0]), Field::f64(values[1])});
  }
  template <typename Pointee>
  static Field makeField(Pointee **, FlatSymbolRefAttr symbol) {
    return Field::pointer(symbol);
  }
  template <typename Nested>
  static Field makeField(Nested *, const StructRecord<Nested> &record) {
    return Field::record(record);
  }

  static const Struct layout;
  std::map<size_t, std::pair<size_t, Field>> fields;
};

template <typename Struct>
const Struct StructRecord<Struct>::layout = {};

/// Creates constant globals at the end of a module, internal ones unless said
/// otherwise. Names are made unique.
class ConstantTables {
public:
  explicit ConstantTables(ModuleOp module);

  /// Creates an array of structs, whose field types must be equal. Returns null
  /// if `rows` is empty.
  FlatSymbolRefAttr table(StringRef name, ArrayRef<Record> rows);
  /// Creates a zero-terminated string; equal strings share a global.
  FlatSymbolRefAttr string(StringRef text);
  /// Creates an array of bytes, aligned to 64 bytes. Returns null if `data` is
  /// empty.
  FlatSymbolRefAttr bytes(StringRef name, ArrayRef<char> data);
  FlatSymbolRefAttr doubles(StringRef name, ArrayRef<double> values);
  FlatSymbolRefAttr integers(StringRef name, ArrayRef<int64_t> values);
  FlatSymbolRefAttr indices(StringRef name, ArrayRef<uint32_t> values);
  /// Creates a table with the position of each copy among those `only`, -1 for
  /// the others; equal tables share a global. Null if `only` is empty, which
  /// means all copies.
  FlatSymbolRefAttr places(int64_t copies, ArrayRef<int64_t> only);
  /// Declares a symbol that another object or module defines.
  FlatSymbolRefAttr external(StringRef name);
  /// Creates a struct under exactly this name, visible to the linker.
  void exported(StringRef name, const Record &record);

private:
  LLVM::GlobalOp create(StringRef name, Type type, Attribute value,
                        bool isExported = false);
  FlatSymbolRefAttr elements(StringRef name, ElementsAttr values);

  ModuleOp module;
  OpBuilder builder;
  SymbolTable symbols;
  llvm::StringMap<FlatSymbolRefAttr> strings;
  std::map<std::vector<int64_t>, FlatSymbolRefAttr> placesOf;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_CONSTANTTABLES_H
