//===- NaiveMoment.cpp - Second moments computed by loops -----------------===//

#include "NaiveMoment.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace mlir::hfta;

static int64_t getProduct(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Calls `callback` with each index into a tensor of these sizes, in row-major
/// order.
static void forEach(const Sizes &sizes,
                    const std::function<void(const Sizes &)> &callback) {
  Sizes index(sizes.size(), 0);
  for (int64_t count = getProduct(sizes); count > 0; --count) {
    callback(index);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      if (++index[axis] < sizes[axis])
        break;
      index[axis] = 0;
    }
  }
}

static int64_t getPlace(const Sizes &shape, const Sizes &index) {
  int64_t place = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    place = place * shape[axis] + index[axis];
  return place;
}

static std::vector<MomentRows> getListedRows(const MomentCase &moment,
                                             const std::vector<double> &input) {
  const Sizes &shape = moment.input;
  auto isListed = [](const Sizes &axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Sizes rows;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!isListed(moment.blocks, axis) && !isListed(moment.columns, axis))
      rows.push_back(axis);
  auto getSizes = [&](const Sizes &axes) {
    Sizes sizes;
    for (int64_t axis : axes)
      sizes.push_back(shape[axis]);
    return sizes;
  };
  std::vector<MomentRows> result;
  Sizes index(shape.size());
  auto place = [&](const Sizes &axes, const Sizes &at) {
    for (size_t i = 0; i < axes.size(); ++i)
      index[axes[i]] = at[i];
  };
  forEach(getSizes(moment.blocks), [&](const Sizes &block) {
    place(moment.blocks, block);
    MomentRows &ofBlock = result.emplace_back();
    ofBlock.columns = getProduct(getSizes(moment.columns)) + moment.ones;
    forEach(getSizes(rows), [&](const Sizes &row) {
      place(rows, row);
      forEach(getSizes(moment.columns), [&](const Sizes &column) {
        place(moment.columns, column);
        ofBlock.elements.push_back(input[getPlace(shape, index)]);
      });
      if (moment.ones)
        ofBlock.elements.push_back(1);
    });
  });
  return result;
}

static std::vector<MomentRows> getPatches(const MomentCase &moment,
                                          const std::vector<double> &input) {
  const Sizes &shape = moment.input;
  size_t rank = moment.kernel.size();
  int64_t channels = shape[1] / moment.groups;
  Sizes rows = {shape[0]}, columns = {channels};
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t extent = (moment.kernel[axis] - 1) * moment.dilations[axis] + 1;
    int64_t room = shape[2 + axis] + moment.padding[axis] +
                   moment.padding[rank + axis] - extent;
    rows.push_back(room / moment.strides[axis] + 1);
    columns.push_back(moment.kernel[axis]);
  }
  std::vector<MomentRows> result;
  for (int64_t group = 0; group < moment.groups; ++group) {
    MomentRows &ofGroup = result.emplace_back();
    ofGroup.columns = getProduct(columns) + moment.ones;
    forEach(rows, [&](const Sizes &row) {
      forEach(columns, [&](const Sizes &column) {
        Sizes index = {row[0], group * channels + column[0]};
        bool isInside = true;
        for (size_t axis = 0; axis < rank; ++axis) {
          int64_t at = row[1 + axis] * moment.strides[axis] +
                       column[1 + axis] * moment.dilations[axis] -
                       moment.padding[axis];
          isInside &= at >= 0 && at < shape[2 + axis];
          index.push_back(at);
        }
        ofGroup.elements.push_back(isInside ? input[getPlace(shape, index)]
                                            : 0);
      });
      if (moment.ones)
        ofGroup.elements.push_back(1);
    });
  }
  return result;
}

std::vector<MomentRows> mlir::hfta::getRows(const MomentCase &moment,
                                            const std::vector<double> &input) {
  return moment.isPatch() ? getPatches(moment, input)
                          : getListedRows(moment, input);
}

std::vector<double>
mlir::hfta::computeMoment(const MomentCase &moment,
                          const std::vector<double> &input) {
  std::vector<double> result;
  for (const MomentRows &block : getRows(moment, input)) {
    int64_t columns = block.columns;
    int64_t size = moment.blockColumns ? moment.blockColumns : columns;
    for (int64_t first = 0; first < columns; first += size)
      for (int64_t row = first; row < first + size; ++row)
        for (int64_t column = first; column <= row; ++column) {
          double sum = 0;
          for (size_t at = 0; row < columns && at < block.elements.size();
               at += columns)
            sum += block.elements[at + row] * block.elements[at + column];
          result.push_back(moment.scale * sum);
        }
  }
  return result;
}
