//===- image_resize.h - Images of another size --------------------*- C -*-===//
//
// Private to the runtime. Results depend on nothing but the pixels and sizes:
// weights are computed in doubles and rounded to integers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_IMAGE_RESIZE_H
#define HFTA_SRC_DATA_IMAGE_RESIZE_H

#include "formats/image.h"

/// Scales the part of an image between the columns `left` and `right` and the
/// rows `top` and `bottom`, which need not be whole numbers, to `width` x
/// `height` pixels, first along rows. Each result is a mean of the pixels near
/// it, with weights that decrease linearly with the distance and, where the
/// image becomes smaller, cover all pixels that are mapped to it. Along each
/// axis this is Pillow's bilinear filter with antialiasing. `pixels` has
/// size->channels bytes per pixel, as `out` has. Returns false if memory runs
/// out.
bool hfta_image_resize_part(const unsigned char *pixels,
                            const hfta_image_size *size, double left,
                            double top, double right, double bottom,
                            uint32_t width, uint32_t height,
                            unsigned char *out);

#endif // HFTA_SRC_DATA_IMAGE_RESIZE_H
