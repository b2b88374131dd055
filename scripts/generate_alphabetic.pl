#!/usr/bin/perl
# Prints src/expr/alphabetic.c: the characters that are Alphabetic in Unicode without being letters
# (categories L) or letter numbers (Nl), which utf8proc tells.
use strict;
use warnings;
use Unicode::UCD;

my @ranges;
my $first = -1;
for my $c (0x80 .. 0x110000) {
  my $is = $c <= 0x10ffff && chr($c) =~ /\p{Alphabetic}/ && chr($c) !~ /[\p{L}\p{Nl}]/;
  $first = $c if $is && $first < 0;
  if (!$is && $first >= 0) {
    push @ranges, sprintf('{0x%04x, 0x%04x}', $first, $c - 1);
    $first = -1;
  }
}
my $version = Unicode::UCD::UnicodeVersion();
print <<"END";
/*
 * Which characters may stand in a word: those with the property Alphabetic. Letters and letter
 * numbers come from utf8proc; the others (vowel signs, circled letters and the like) are the table
 * below, of Unicode $version, made by scripts/generate_alphabetic.pl.
 */
#include "expr/alphabetic.h"

#include <utf8proc.h>

struct range {
  uint32_t first;
  uint32_t last;
};

static const struct range OTHER_ALPHABETIC[] = {
END
while (my @line = splice @ranges, 0, 4) {
  print '    ', join(', ', @line), ",\n";
}
print <<'END';
};

static bool in_table(uint32_t c) {
  size_t low = 0;
  size_t high = sizeof OTHER_ALPHABETIC / sizeof OTHER_ALPHABETIC[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (c > OTHER_ALPHABETIC[middle].last) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < sizeof OTHER_ALPHABETIC / sizeof OTHER_ALPHABETIC[0] &&
         c >= OTHER_ALPHABETIC[low].first;
}

bool unicode_is_alphabetic(uint32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         category == UTF8PROC_CATEGORY_NL || in_table(c);
}

bool unicode_is_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}
END
