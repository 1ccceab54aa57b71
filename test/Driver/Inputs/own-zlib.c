/* A program that defines functions with the names of zlib's, and reads a file
 * compressed by gzip. The exit code is 1 if the runtime has called one of these
 * functions instead of zlib's. */
#include "hfta/data.h"
#include "one.h"

#include <stdio.h>

static int calls;

int inflate(void) { return ++calls; }
int inflateInit2_(void) { return ++calls; }
int inflateEnd(void) { return ++calls; }
unsigned long crc32(void) { return ++calls; }

int main(void) {
  one *instance = NULL;
  if (one_create(NULL, &instance) != HFTA_OK)
    return 1;
  one_destroy(instance);
  const int64_t shape[] = {2};
  hfta_data_request request = {.path = "data.gz",
                               .format = HFTA_DATA_IDX,
                               .type = HFTA_U8,
                               .sample_shape = shape,
                               .sample_rank = 1};
  hfta_error error;
  hfta_data *data = NULL;
  if (hfta_data_open(&request, &data, &error) != HFTA_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const int64_t last = 2;
  unsigned char sample[2];
  hfta_data_gather(data, &last, 1, sample, NULL);
  hfta_data_close(data);
  printf("%c%c, %d calls\n", sample[0], sample[1], calls);
  return inflate() != 1 || crc32() != 2;
}
