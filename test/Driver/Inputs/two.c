// Trains three instances of two libraries that were compiled from one job. Two
// of them run three steps, and the third runs one.
#include "two.h"
#include "one.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 16, WIDTH = 4, COPIES = 2 };

int main(void) {
  one *first = NULL, *other = NULL;
  two *second = NULL;
  if (one_create(NULL, &first) || one_create(NULL, &other) ||
      two_create(NULL, &second))
    return 1;
  float image[BATCH][WIDTH];
  int64_t label[BATCH];
  for (int i = 0; i < BATCH; ++i) {
    for (int k = 0; k < WIDTH; ++k)
      image[i][k] = (float)((i * 7 + k * 3) % 11) / 11;
    label[i] = i % 3;
  }
  const void *inputs[] = {image, label};
  double mine[COPIES] = {0}, theirs[COPIES] = {1};
  for (int step = 0; step < 3; ++step)
    if (one_step(first, inputs, mine) || two_step(second, inputs, theirs))
      return 1;
  if (one_accumulate(other, inputs, NULL) || one_update(other))
    return 1;
  printf("copies %d %d, batch %d, steps %d %d %d\n", (int)one_copies(first),
         (int)two_copies(second), (int)one_batch(first), (int)one_steps(first),
         (int)two_steps(second), (int)one_steps(other));
  printf("losses are %s\n",
         memcmp(mine, theirs, sizeof(mine)) == 0 ? "equal" : "different");
  one_destroy(first);
  one_destroy(other);
  two_destroy(second);
  return 0;
}
