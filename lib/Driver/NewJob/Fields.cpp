//===- Fields.cpp - Which files are inputs and which the label ------------===//

#include "NewJob/Columns.h"

#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/FitSample.h"
#include "Hfta/Language/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The arrays of one name in all parts; null: the part has none.
struct Group {
  std::string name;
  std::array<const DataArray *, kDataParts> parts = {};
  bool isTaken = false;

  const DataArray &getTrain() const { return *parts[0]; }
  llvm::ArrayRef<int64_t> getShape() const {
    const hfta_data_info &info = getTrain().info;
    return {info.sample_shape, info.sample_rank};
  }
};
} // namespace

static bool isFloatType(hfta_element_type type) {
  return type == HFTA_F16 || type == HFTA_BF16 || type == HFTA_F32 ||
         type == HFTA_F64;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static llvm::Error refuseTwice(const DataArray &one, const DataArray &other) {
  auto describe = [](const DataArray &array) {
    return array.array.empty()
               ? "'" + array.path + "'"
               : "'" + array.array + "' of '" + array.path + "'";
  };
  return llvm::createStringError(
      describe(one) + " and " + describe(other) + " are both field '" +
      other.name + "' for " +
      (other.part == DataPart::train ? "training"
                                     : getDataPartName(other.part)) +
      "\nhint: a name with the word 'test' or 'validation' is for that part, "
      "as in 'x_test.npy'");
}

/// Groups arrays by name, without regard to upper and lower case. The groups
/// are in the order of the training data.
static llvm::Expected<std::vector<Group>>
groupArrays(llvm::ArrayRef<DataArray> arrays) {
  std::vector<Group> groups;
  for (const DataArray &array : arrays) {
    auto group = llvm::find_if(groups, [&](const Group &group) {
      return llvm::StringRef(group.name).equals_insensitive(array.name);
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), Group{array.name});
    const DataArray *&part = group->parts[static_cast<size_t>(array.part)];
    if (part)
      return refuseTwice(*part, array);
    part = &array;
  }
  return groups;
}

/// Checks that all groups have the same parts, and training data.
static llvm::Error checkParts(llvm::ArrayRef<Group> groups) {
  for (const Group &group : groups)
    for (size_t part = 0; part < kDataParts; ++part) {
      const auto *other = llvm::find_if(groups, [&](const Group &other) {
        return other.parts[part] != nullptr;
      });
      if (group.parts[part] || (part > 0 && other == groups.end()))
        continue;
      const DataArray *known =
          *llvm::find_if(group.parts, [](auto *array) { return array; });
      llvm::StringRef name = getDataPartName(static_cast<DataPart>(part));
      return llvm::createStringError(
          "field '" + group.name + "' has no file for part '" + name +
          "', only '" + known->path + "' for '" + getDataPartName(known->part) +
          "'" +
          (other == groups.end() ? ""
                                 : ", but field '" + other->name + "' has '" +
                                       other->parts[part]->path + "'") +
          "\nhint: files of one field are called alike, but for words such as "
          "'train' and 'test': 'x_train.npy', 'x_test.npy'");
    }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Fields of arrays
//===----------------------------------------------------------------------===//

static std::string printSource(const DataArray &array, llvm::StringRef folder) {
  std::string text = hfta_data_format_name(array.format);
  text += "(" + quotePath(array.path, folder);
  if (!array.array.empty())
    text += ", " + quoteText(array.array);
  return text + ")";
}

static NewField makeField(const Group &group, llvm::StringRef folder) {
  NewField field;
  field.name = group.name;
  field.shape.assign(group.getShape().begin(), group.getShape().end());
  for (auto [array, source] : llvm::zip_equal(group.parts, field.sources))
    if (array)
      source = printSource(*array, folder);
  return field;
}

/// Declares the type of images, which get the size that the input takes, and
/// scales bytes to numbers from 0 to 1.
static void prepareImages(const Group &group, const OnnxPort &port,
                          NewField &field) {
  bool isImages = group.getTrain().format == HFTA_DATA_IMAGES;
  if (isImages) {
    for (std::string &source : field.sources)
      if (!source.empty())
        source.insert(source.size() - 1, ", resize = crop");
    std::vector<std::string> sizes;
    for (int64_t size : field.shape)
      sizes.push_back(std::to_string(size));
    field.type = "u8[" + llvm::join(sizes, ", ") + "]";
  }
  if (isa_and_present<FloatType>(port.elementType) &&
      group.getTrain().info.type == HFTA_U8 && field.shape.size() > 1)
    field.after = " / 255";
}

/// Returns the shape that a group's samples have for an input; nothing if they
/// don't fit. Images are scaled to what an input of the same rank takes.
static std::optional<llvm::SmallVector<int64_t>> fit(const Group &group,
                                                     const OnnxPort &port) {
  if (!isa_and_present<FloatType>(port.elementType) &&
      isFloatType(group.getTrain().info.type))
    return std::nullopt;
  llvm::SmallVector<int64_t> shape(group.getShape());
  if (!port.hasShape || port.shape.empty())
    return port.hasShape ? std::nullopt : std::optional(shape);
  auto axes = llvm::ArrayRef(port.shape).drop_front();
  if (group.getTrain().format == HFTA_DATA_IMAGES) {
    if (axes.size() != 3 || (axes[0].size != 1 && axes[0].size != 3))
      return std::nullopt;
    for (size_t axis = 0; axis < 3; ++axis)
      if (!ShapedType::isDynamic(axes[axis].size))
        shape[axis] = axes[axis].size;
    return shape;
  }
  llvm::StringMap<int64_t> sizes;
  return fitSample(axes, shape, sizes) ? std::optional(shape) : std::nullopt;
}

static std::string printPort(const OnnxPort &port) {
  std::string text = "[";
  llvm::interleave(
      port.shape,
      [&](const OnnxAxis &axis) {
        text += ShapedType::isDynamic(axis.size) ? axis.symbol
                                                 : std::to_string(axis.size);
      },
      [&] { text += ", "; });
  return text + "]";
}

static std::string listGroups(llvm::ArrayRef<Group> groups) {
  std::string text;
  for (const Group &group : groups) {
    text += (text.empty() ? "'" : ", '") + group.name + "' " +
            getElementTypeNames()[group.getTrain().info.type].str() + "[";
    llvm::interleave(
        group.getShape(), [&](int64_t size) { text += std::to_string(size); },
        [&] { text += ", "; });
    text += "]";
  }
  return text;
}

/// Returns the groups that may be the one for an input: the one of its name, or
/// all that fit, but those that are called like a label only if no other does.
static std::vector<Group *> findGroups(llvm::MutableArrayRef<Group> groups,
                                       const OnnxPort &port) {
  std::vector<Group *> others, labels;
  for (Group &group : groups) {
    if (group.isTaken || !fit(group, port))
      continue;
    if (llvm::StringRef(group.name).equals_insensitive(makeJobName(port.name)))
      return {&group};
    (isLabelName(group.name) ? labels : others).push_back(&group);
  }
  return others.empty() ? labels : others;
}

/// Binds groups to inputs. `open` receives the inputs that none fits.
static llvm::Error bindGroups(std::vector<Group> &groups,
                              llvm::ArrayRef<OnnxPort> ports,
                              llvm::StringRef folder, NewFields &fields,
                              std::vector<const OnnxPort *> &open) {
  for (const OnnxPort &port : ports) {
    std::vector<Group *> found = findGroups(groups, port);
    if (found.size() > 1)
      return llvm::createStringError(
          "several files fit input '" + port.name + "' " + printPort(port) +
          ": " + listGroups(groups) +
          "\nhint: call the right one like the input");
    if (found.empty()) {
      open.push_back(&port);
      continue;
    }
    Group *group = found.front();
    group->isTaken = true;
    NewField field = makeField(*group, folder);
    field.shape = *fit(*group, port);
    prepareImages(*group, port, field);
    fields.inputs.push_back(std::move(field));
    fields.samples = group->getTrain().info.count;
  }
  return llvm::Error::success();
}

/// Makes the label of the group that no input has taken. Returns false if there
/// is none.
static llvm::Expected<bool> bindLabel(llvm::ArrayRef<Group> groups,
                                      llvm::StringRef folder,
                                      NewFields &fields) {
  std::vector<Group> rest;
  for (const Group &group : groups)
    if (!group.isTaken)
      rest.push_back(group);
  if (rest.size() > 1)
    llvm::erase_if(rest,
                   [](const Group &group) { return !isLabelName(group.name); });
  bool isLeft =
      llvm::any_of(groups, [](auto &group) { return !group.isTaken; });
  if (rest.size() != 1) {
    if (!isLeft)
      return false;
    return llvm::createStringError(
        "which field is the label isn't clear: " + listGroups(groups) +
        "\nhint: leave the others out, or call it 'label'");
  }
  llvm::Expected<NumberFacts> range = readNumbers(rest.front().getTrain());
  if (!range)
    return range.takeError();
  fields.label = makeField(rest.front(), folder);
  fields.label.range = *range;
  return true;
}

/// Returns an error about inputs, or a label, that no file is for.
static llvm::Error reportMissing(llvm::ArrayRef<Group> groups,
                                 const OnnxPort *port) {
  std::string got = groups.empty() ? "" : "; got " + listGroups(groups);
  if (!port)
    return llvm::createStringError(
        "no file is left for the label" + got +
        "\nhint: a csv file has it in a column; else give a second file, or an "
        "archive with two arrays");
  bool channelsLast = port->shape.size() == 4 &&
                      (port->shape[3].size == 1 || port->shape[3].size == 3);
  return llvm::createStringError(
      "no file fits input '" + port->name + "' " + printPort(*port) + got +
      (channelsLast && llvm::any_of(groups,
                                    [](const Group &group) {
                                      return group.getTrain().format ==
                                             HFTA_DATA_IMAGES;
                                    })
           ? "\nhint: images have their channels first, but the input may have "
             "them last: export the model with channels first"
           : ""));
}

llvm::Expected<NewFields> hfta::findFields(const DataFiles &files,
                                           llvm::ArrayRef<OnnxPort> ports,
                                           int64_t outputs,
                                           llvm::StringRef folder) {
  NewFields fields;
  llvm::Expected<std::vector<Group>> groups = groupArrays(files.arrays);
  if (!groups)
    return groups.takeError();
  if (llvm::Error error = checkParts(*groups))
    return error;
  std::vector<const OnnxPort *> open;
  if (llvm::Error error = bindGroups(*groups, ports, folder, fields, open))
    return error;
  llvm::Expected<bool> hasLabel = bindLabel(*groups, folder, fields);
  if (!hasLabel)
    return hasLabel.takeError();
  if (files.tables.empty() && (!open.empty() || !*hasLabel))
    return reportMissing(*groups, open.empty() ? nullptr : open.front());
  if (!files.tables.empty() && !open.empty() && open.size() != ports.size())
    return llvm::createStringError(
        "input '" + open.front()->name +
        "' can't come from a table while others come from arrays");
  if (!files.tables.empty())
    if (llvm::Error error =
            addColumns(files.tables, open, !*hasLabel, outputs, folder, fields))
      return error;
  // The fields of a data block have different names.
  while (llvm::any_of(fields.inputs, [&](const NewField &input) {
    return input.name == fields.label.name;
  }))
    fields.label.name += "_label";
  return fields;
}
