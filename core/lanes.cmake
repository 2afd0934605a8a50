# One translation unit per hash and instruction family; each is compiled for its family alone.
# -O2 also in Debug and sanitizer builds: unoptimised vector code would make the tests crawl.
target_sources(coppice_core PRIVATE
  hash/lanes/sha256_portable.cpp hash/lanes/keccak_portable.cpp)
