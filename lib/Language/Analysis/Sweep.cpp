//===- Sweep.cpp - Lists of values, crossed to copies ---------------------===//

#include "Hfta/Language/Sweep.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kMaxCopies = 65536;

const Sweep::Setting *Sweep::find(llvm::StringRef name) const {
  for (const Setting &setting : settings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}

void Sweep::addValue(llvm::StringRef name, Number value) {
  Setting setting;
  setting.name = name.str();
  setting.values.push_back(value);
  settings.push_back(std::move(setting));
}

void Sweep::addList(llvm::StringRef name, std::vector<Number> values,
                    llvm::SMRange range, SweepPosition position,
                    const void *group) {
  Setting setting;
  setting.name = name.str();
  setting.values = std::move(values);
  setting.isList = true;
  setting.range = range;
  setting.position = position;
  setting.group = group;
  settings.push_back(std::move(setting));
}

std::vector<llvm::StringRef> Sweep::getListNames() const {
  std::vector<llvm::StringRef> names;
  for (const Setting &setting : settings)
    if (setting.isList)
      names.emplace_back(setting.name);
  return names;
}

bool Sweep::pair(
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::SMRange>> names,
    JobDiagnostics &diagnostics) {
  const void *group =
      names.empty() ? nullptr : names.front().second.Start.getPointer();
  bool ok = true;
  for (const auto &[name, range] : names) {
    auto *setting = const_cast<Setting *>(find(name));
    if (!setting || !setting->isList) {
      ok = false;
      diagnostics.error(range, "no list called '" + name + "' to pair",
                        suggest(name, getListNames(), "lists are"));
      continue;
    }
    if (setting->group) {
      // All settings that were paired with the other setting join this group.
      const void *other = setting->group;
      for (Setting &member : settings)
        if (member.group == other)
          member.group = group;
    }
    setting->group = group;
  }
  return ok;
}

std::vector<const Sweep::Setting *> Sweep::getLists() const {
  std::vector<const Setting *> lists;
  for (const Setting &setting : settings)
    if (setting.isList)
      lists.push_back(&setting);
  // Settings at the same position keep the order that they have in the vector.
  llvm::stable_sort(lists, [](const Setting *a, const Setting *b) {
    return a->position < b->position;
  });
  return lists;
}

/// Returns the first list of the group of `list`, which stands for the group's
/// axis; `list` itself if it isn't paired. Other lists of the group change
/// together with the first one.
const Sweep::Setting *Sweep::findAxis(llvm::ArrayRef<const Setting *> lists,
                                      const Setting &list) {
  for (const Setting *first : lists)
    if (list.group && first->group == list.group)
      return first;
  return &list;
}

bool Sweep::checkPairs(JobDiagnostics &diagnostics) const {
  std::vector<const Setting *> lists = getLists();
  bool ok = true;
  for (const Setting *list : lists) {
    const Setting *axis = findAxis(lists, *list);
    if (axis->values.size() == list->values.size())
      continue;
    ok = false;
    diagnostics.error(list->range,
                      "'" + list->name + "' has " +
                          llvm::Twine(list->values.size()) + " values, but '" +
                          axis->name + "', paired with it, has " +
                          llvm::Twine(axis->values.size()),
                      "paired lists are equally long");
    diagnostics.note(axis->range, "the other list is here");
  }
  return ok;
}

void Sweep::assign(llvm::StringRef name, std::vector<Number> values) {
  auto *setting = const_cast<Setting *>(find(name));
  setting->values = std::move(values);
  setting->isList = true;
  setting->stride = 1;
}

bool Sweep::cross(JobDiagnostics &diagnostics) {
  if (!checkPairs(diagnostics))
    return false;
  std::vector<const Setting *> lists = getLists();
  copies = 1;
  for (const Setting *list : llvm::reverse(lists)) {
    if (findAxis(lists, *list) != list)
      continue;
    const_cast<Setting *>(list)->stride = copies;
    copies *= static_cast<int64_t>(list->values.size());
    if (copies > kMaxCopies) {
      diagnostics.error(list->range,
                        "the lists make more than " + llvm::Twine(kMaxCopies) +
                            " copies",
                        "lists are crossed; zip(...) pairs them instead");
      return false;
    }
  }
  for (const Setting *list : lists)
    const_cast<Setting *>(list)->stride = findAxis(lists, *list)->stride;
  return true;
}

std::vector<Number> Sweep::get(llvm::StringRef name) const {
  const Setting *setting = find(name);
  std::vector<Number> result;
  if (!setting)
    return result;
  size_t length = setting->values.size();
  for (int64_t copy = 0; copy < copies; ++copy)
    result.push_back(setting->isList
                         ? setting->values[copy / setting->stride % length]
                         : setting->values.front());
  return result;
}

std::vector<double> Sweep::getValues(llvm::StringRef name) const {
  std::vector<double> result;
  for (const Number &number : get(name))
    result.push_back(number.value);
  return result;
}
