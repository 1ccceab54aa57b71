//===- prefetch.h - Batches in the host's memory ------------------*- C -*-===//

#ifndef HFTA_PREFETCH_H
#define HFTA_PREFETCH_H

/// The number of batches that a training has in the host's memory at a time:
/// the one in use, the next one, which is on its way to the device, and the one
/// that is being read. A program for a GPU has one more, because the GPU may
/// work on two steps.
enum { HFTA_BATCHES_OF_DATA = 3 };

#endif // HFTA_PREFETCH_H
