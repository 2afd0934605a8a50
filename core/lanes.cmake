# One translation unit per hash and instruction family; each is compiled for its family alone.
# -O2 also in Debug and sanitizer builds: unoptimised vector code would make the tests crawl.
target_sources(coppice_core PRIVATE
  hash/lanes/sha256_portable.cpp hash/lanes/sha512_portable.cpp hash/lanes/keccak_portable.cpp)

function(coppice_lane_unit source)
  target_sources(coppice_core PRIVATE hash/lanes/${source})
  set_source_files_properties(hash/lanes/${source} PROPERTIES COMPILE_OPTIONS "-O2;${ARGN}")
endfunction()

set(avx512 -mavx2 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  coppice_lane_unit(sha256_avx512.cpp ${avx512})
  coppice_lane_unit(sha256_sha_ni.cpp -mssse3 -msse4.1 -msha)
  coppice_lane_unit(sha256_avx2.cpp -mavx2)
  coppice_lane_unit(sha512_avx512.cpp ${avx512})
  coppice_lane_unit(sha512_avx2.cpp -mavx2)
  coppice_lane_unit(keccak_avx512.cpp -O3 ${avx512})  # GCC 12: 3-6 % over -O2
  coppice_lane_unit(keccak_avx2.cpp -mavx2)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  coppice_lane_unit(sha256_armv8.cpp -march=armv8-a+crypto)
  coppice_lane_unit(keccak_armv8.cpp -march=armv8.2-a+sha3)
endif()
unset(avx512)
