# One translation unit per hash and instruction family; each is compiled for its family alone.
