//===- data_images.h - Samples from a folder of images ------------*- C -*-===//
//
// Private to the runtime. All images are decoded when the folder is opened, by
// several threads, which finds damaged ones. The first ones stay in memory, as
// many as the request allows; others are decoded again whenever they are
// gathered. Results don't depend on the number of threads or on the cache.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATA_IMAGES_H
#define HFTA_SRC_DATA_DATA_IMAGES_H

#include "data/image_folder.h"
#include "hfta/data.h"

typedef struct hfta_images hfta_images;

/// Copies the images to `out`, sample after sample, with the help of the
/// folder's threads.
hfta_status hfta_images_gather(const hfta_images *images,
                               const int64_t *indices, int64_t count,
                               unsigned char *out, hfta_error *error);

/// Returns the images that can be read; those that were left out are missing.
const hfta_image_folder *hfta_images_folder(const hfta_images *images);

/// Ends the threads and frees all memory. NULL is allowed.
void hfta_images_close(hfta_images *images);

#endif // HFTA_SRC_DATA_DATA_IMAGES_H
