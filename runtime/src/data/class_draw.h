//===- class_draw.h - Samples that are drawn by their classes -----*- C -*-===//
//
// With `draw = balanced`, each position of an epoch gets a sample of its own:
// first a class is drawn, each of those that have samples alike likely, then
// one of its samples. What is drawn depends on nothing but the seed, the epoch,
// the position, and the samples' classes, so a resumed training goes on as an
// uninterrupted one.
//
// Threads: any number of threads may draw.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_CLASS_DRAW_H
#define HFTA_SRC_DATA_CLASS_DRAW_H

#include "data/dataset.h"

/// The samples of a data set by their classes.
typedef struct hfta_class_draw {
  uint32_t *positions; ///< positions in the data set, class after class
  int64_t *starts;     ///< where those of each class begin, and their end;
                       ///< classes without samples are left out
  int64_t classes;
} hfta_class_draw;

/// Sorts the samples of a data set by the classes of the field by which the
/// program draws. `*out` stays empty if the program doesn't draw by classes. It
/// must be released by hfta_class_draw_free, also after a failure.
hfta_status hfta_class_draw_make(const hfta_dataset *dataset,
                                 hfta_class_draw *out, hfta_error *error);

void hfta_class_draw_free(hfta_class_draw *draw);

/// Returns the position in the data set of the sample that is drawn for a
/// position of an epoch.
int64_t hfta_class_draw_sample(const hfta_class_draw *draw, uint64_t seed,
                               uint64_t epoch, uint64_t position);

#endif // HFTA_SRC_DATA_CLASS_DRAW_H
