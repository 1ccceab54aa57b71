//===- image_folder.h - Images in a folder for each class ---------*- C -*-===//
//
// Private to the runtime. A folder has a folder for each class, and these have
// the class' images. Classes are numbered from 0 in the order of their names,
// images in the order of classes and then names, all compared bytewise. Names
// that begin with a dot are ignored, and so are files that aren't named as
// images (formats/image.h).
//
// Threads: any number of threads may read an open folder.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_IMAGE_FOLDER_H
#define HFTA_SRC_DATA_IMAGE_FOLDER_H

#include "formats/image.h"
#include "hfta/status.h"

/// An image of a folder.
typedef struct hfta_folder_image {
  char *name;    ///< its path below the folder: "cats/1.png"
  int32_t label; ///< the number of its class
} hfta_folder_image;

typedef struct hfta_image_folder {
  char *path;
  char **classes; ///< their names
  int32_t class_count;
  hfta_folder_image *images;
  int64_t count;
  uint64_t bytes; ///< the memory of all this
} hfta_image_folder;

/// Lists the images of a folder. `*out` must be released by
/// hfta_image_folder_close, also after a failure. HFTA_INVALID_INPUT if it
/// can't be read, or if a class has no image.
hfta_status hfta_image_folder_open(const char *path, hfta_image_folder *out,
                                   hfta_error *error);

void hfta_image_folder_close(hfta_image_folder *folder);

/// Reads the whole file of image `index` into memory from malloc. Sets `*out`
/// and `*bytes`. `text` receives the file's path, for messages.
hfta_status hfta_image_folder_read(const hfta_image_folder *folder,
                                   int64_t index, char text[4096],
                                   unsigned char **out, size_t *bytes,
                                   hfta_error *error);

#endif // HFTA_SRC_DATA_IMAGE_FOLDER_H
