/* A split-block Bloom filter as Parquet has it: 1024 blocks of eight 32-bit words; a key sets one
 * bit in each word of one block. The upper half of its XXH64 picks the block, the lower half times
 * an odd constant per word picks the bit. Size and parameters are fixed, because two filters can
 * only be compared when they agree in them (lance-table-format 13.3).
 */
#include "table/bloom.h"

#include "base/checked.h"
#include "base/hash.h"

enum { BLOCKS = 1024, WORDS = 8 };

static const uint32_t salts[WORDS] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* Byte offset of word i of the block of a hash, and the bit in it. */
static size_t word_of(uint64_t hash, size_t i, uint32_t *ret_bit) {
  const size_t block = (size_t)(((hash >> 32) * BLOCKS) >> 32);
  *ret_bit = UINT32_C(1) << (((uint32_t)hash * salts[i]) >> 27);
  return (block * WORDS + i) * sizeof(uint32_t);
}

void bloom_add(bloom *b, str key) {
  const uint64_t hash = hash_xx64(key.data, key.size, 0);
  for (size_t i = 0; i < WORDS; i++) {
    uint32_t bit;
    uint8_t *word = b->bytes + word_of(hash, i, &bit);
    store_le32(word, load_le32(word) | bit);
  }
}

void bloom_add_u64(bloom *b, uint64_t key) {
  uint8_t bytes[8];
  store_le64(bytes, key);
  bloom_add(b, str_slice((const char *)bytes, sizeof bytes));
}

bool bloom_may_contain_hash(const uint8_t *bytes, uint64_t hash) {
  for (size_t i = 0; i < WORDS; i++) {
    uint32_t bit;
    if ((load_le32(bytes + word_of(hash, i, &bit)) & bit) == 0) {
      return false;
    }
  }
  return true;
}

bool bloom_may_contain_u64(const bloom *b, uint64_t key) {
  uint8_t bytes[8];
  store_le64(bytes, key);
  return bloom_may_contain_hash(b->bytes, hash_xx64(bytes, sizeof bytes, 0));
}
