# glaive_embed(SYMBOL FILE OUTPUT): a source file OUTPUT that defines the bytes of FILE as `const unsigned char SYMBOL[]` and their number
# as `const size_t SYMBOL_size`; `const char SYMBOL_digest[]` is a text that changes with them. Called by cmake -P with INPUT, SYMBOL and
# OUTPUT it writes that file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} bytes HEX)
  file(SHA256 ${INPUT} digest)
  string(SUBSTRING ${digest} 0 16 digest)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include <stddef.h>
extern const unsigned char ${SYMBOL}[];
extern const size_t ${SYMBOL}_size;
extern const char ${SYMBOL}_digest[];
const unsigned char ${SYMBOL}[] = {${bytes}};
const size_t ${SYMBOL}_size = sizeof ${SYMBOL};
const char ${SYMBOL}_digest[] = \"${digest}\";
")
else()
  set(GLAIVE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(glaive_embed symbol input output)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D INPUT=${input} -D SYMBOL=${symbol} -D OUTPUT=${output} -P ${GLAIVE_EMBED_SCRIPT}
      DEPENDS ${input} ${GLAIVE_EMBED_SCRIPT} VERBATIM)
  endfunction()
endif()
