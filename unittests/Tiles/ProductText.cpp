//===- ProductText.cpp - Kernels that are one product, as text ------------===//

#include "ProductText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::hfta;
using llvm::formatv;

/// Prints numbers as "2, 3".
static std::string print(const Numbers &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// Prints affine dimensions as "d0, d1", in the order of `numbers`.
static std::string printDims(const Numbers &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "d" : ", d") + std::to_string(number);
  return text;
}

static Numbers countUp(size_t count) {
  Numbers numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<int64_t>(i);
  return numbers;
}

std::string TextTensor::printType() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

TextTensor ProductText::make(Numbers shape, const std::string &type) {
  return {"%v" + std::to_string(count++), std::move(shape), type};
}

TextTensor ProductText::addArgument(Numbers shape, const std::string &type) {
  TextTensor argument = make(std::move(shape), type);
  arguments += (arguments.empty() ? "" : ", ") + argument.name + ": " +
               argument.printType();
  return argument;
}

TextTensor ProductText::apply(const TextTensor &from, Numbers shape,
                              const std::string &type, const std::string &map,
                              const std::string &made) {
  std::string dims = printDims(countUp(shape.size()));
  std::string kinds;
  for (size_t i = 0; i < shape.size(); ++i)
    kinds += i == 0 ? "\"parallel\"" : ", \"parallel\"";
  TextTensor to = make(std::move(shape), type);
  body +=
      formatv("  {0}_empty = tensor.empty() : {1}\n", to.name, to.printType());
  body += formatv(R"(  {0} = linalg.generic {{
      indexing_maps = [affine_map<({1}) -> ({2})>, affine_map<({1}) -> ({1})>],
      iterator_types = [{3}]}
      ins({4} : {5}) outs({0}_empty : {6}) {{
  ^bb0(%x: {7}, %y: {8}):
    {9}
)",
                  to.name, dims, map, kinds, from.name, from.printType(),
                  to.printType(), from.type, type, made);
  body += formatv("    linalg.yield {0} : {1}\n  } -> {2}\n",
                  made.empty() ? "%x" : "%z", type, to.printType());
  return to;
}

TextTensor ProductText::widen(const TextTensor &from) {
  if (from.type == "f32")
    return from;
  return apply(from, from.shape, "f32", printDims(countUp(from.shape.size())),
               "%z = arith.extf %x : " + from.type + " to f32");
}

TextTensor ProductText::makePositive(const TextTensor &from) {
  std::string made = formatv("%least = arith.constant 0.0 : {0}\n"
                             "    %z = arith.maximumf %x, %least : {0}",
                             from.type);
  return apply(from, from.shape, from.type,
               printDims(countUp(from.shape.size())), made);
}

TextTensor
ProductText::pad(const TextTensor &from,
                 const std::vector<std::pair<int64_t, int64_t>> &around,
                 const std::string &by) {
  Numbers low, high, shape;
  std::string indices;
  for (auto [axis, own] : llvm::enumerate(around)) {
    low.push_back(own.first);
    high.push_back(own.second);
    shape.push_back(own.first + from.shape[axis] + own.second);
    indices += formatv("{0}%i{1}: index", axis == 0 ? "" : ", ", axis);
  }
  TextTensor to = make(shape, from.type);
  body += formatv(R"(  {0}_by = arith.constant {1} : {2}
  {0} = tensor.pad {3} low[{4}] high[{5}] {{
  ^bb0({6}):
    tensor.yield {0}_by : {2}
  } : {7} to {8}
)",
                  to.name, by, from.type, from.name, print(low), print(high),
                  indices, from.printType(), to.printType());
  return to;
}

TextTensor ProductText::slice(const TextTensor &from, const Numbers &offsets,
                              const Numbers &sizes, Numbers shape) {
  TextTensor to = make(shape.empty() ? sizes : std::move(shape), from.type);
  body += formatv(
      "  {0} = tensor.extract_slice {1}[{2}] [{3}] [{4}] : {5} to {6}\n",
      to.name, from.name, print(offsets), print(sizes),
      print(Numbers(sizes.size(), 1)), from.printType(), to.printType());
  return to;
}

static Numbers permute(const Numbers &shape, const Numbers &permutation) {
  Numbers to;
  for (int64_t axis : permutation)
    to.push_back(shape[axis]);
  return to;
}

TextTensor ProductText::transpose(const TextTensor &from,
                                  const Numbers &permutation) {
  TextTensor to = make(permute(from.shape, permutation), from.type);
  body += formatv(R"(  {0}_empty = tensor.empty() : {1}
  {0} = linalg.transpose ins({2} : {3}) outs({0}_empty : {1})
      permutation = [{4}]
)",
                  to.name, to.printType(), from.name, from.printType(),
                  print(permutation));
  return to;
}

TextTensor ProductText::rearrange(const TextTensor &from,
                                  const Numbers &permutation) {
  Numbers inverse(permutation.size());
  for (auto [to, axis] : llvm::enumerate(permutation))
    inverse[axis] = static_cast<int64_t>(to);
  return apply(from, permute(from.shape, permutation), from.type,
               printDims(inverse), /*made=*/"");
}

TextTensor ProductText::reshape(const std::string &op, const TextTensor &from,
                                const std::string &groups, Numbers shape,
                                const std::string &rest) {
  TextTensor to = make(std::move(shape), from.type);
  body +=
      formatv("  {0} = tensor.{1}_shape {2} [{3}]{4} : {5} into {6}\n", to.name,
              op, from.name, groups, rest, from.printType(), to.printType());
  return to;
}

TextTensor ProductText::collapse(const TextTensor &from,
                                 const std::string &groups, Numbers shape) {
  return reshape("collapse", from, groups, std::move(shape), "");
}

TextTensor ProductText::expand(const TextTensor &from,
                               const std::string &groups, Numbers shape) {
  std::string rest = " output_shape [" + print(shape) + "]";
  return reshape("expand", from, groups, std::move(shape), rest);
}

/// Prints the iterator types of loops: those in the result's indices are
/// parallel, the others are reductions.
static std::string printKinds(const ProductLoops &loops) {
  llvm::SmallVector<llvm::StringRef> all, kept;
  llvm::StringRef(loops.all).split(all, ", ");
  llvm::StringRef(loops.result).split(kept, ", ");
  std::string kinds;
  for (llvm::StringRef loop : all)
    kinds += formatv("{0}\"{1}\"", kinds.empty() ? "" : ", ",
                     llvm::is_contained(kept, loop) ? "parallel" : "reduction");
  return kinds;
}

/// Prints the op that widens the operand's element `name` to f32, or nothing if
/// it is f32 already.
static std::string printFactor(const std::string &type,
                               const std::string &name) {
  if (type == "f32")
    return "";
  return formatv("    {0}_wide = arith.extf {0} : {1} to f32\n", name, type);
}

std::string ProductText::multiply(const TextTensor &lhs, const TextTensor &rhs,
                                  const ProductLoops &loops, Numbers shape,
                                  const ProductFactors &factors) {
  std::string type = TextTensor{"", std::move(shape), "f32"}.printType();
  std::string text =
      formatv("func.func private @product({0}) -> {1} attributes "
              "{{hfta.kernel, hfta.ties = array<i64: -1>} {{\n{2}",
              arguments, type, body);
  text += formatv(R"(  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {0}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {0}) -> {0}
  %product = linalg.generic {{hfta.multiply = {1}, hfta.tile = array<i64: {2}>,
      indexing_maps = [)",
                  type, factors.type,
                  print(Numbers(factors.tile.begin(), factors.tile.end())));
  for (const std::string *map : {&loops.lhs, &loops.rhs, &loops.result})
    text += formatv("{0}affine_map<({1}) -> ({2})>",
                    map == &loops.lhs ? "" : ", ", loops.all, *map);
  text += formatv(R"(],
      iterator_types = [{0}]}
      ins({1}, {2} : {3}, {4}) outs(%zeros : {5}) {{
  ^bb0(%x: {6}, %y: {7}, %sum: f32):
)",
                  printKinds(loops), lhs.name, rhs.name, lhs.printType(),
                  rhs.printType(), type, lhs.type, rhs.type);
  text += printFactor(lhs.type, "%x") + printFactor(rhs.type, "%y");
  text += formatv(R"(    %next = math.fma %x{0}, %y{1}, %sum : f32
    linalg.yield %next : f32
  } -> {2}
  return %product : {2}
}
)",
                  lhs.type == "f32" ? "" : "_wide",
                  rhs.type == "f32" ? "" : "_wide", type);
  return text;
}
