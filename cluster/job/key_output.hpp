// The files of a key around its generation: refused before any work, started, finished.
#pragma once

#include "cluster/job/spec.hpp"
#include "core/merkle/tree_cache.hpp"

namespace coppice {

struct StartedKey {
  HssKeyFile key;
  KeyPaths files;
  bool already_complete = false;  // with --resume: there is nothing to do
};

// Checks the folder and the names, then writes NAME.key marked as generating, so that a resumed run
// has its seed. With --resume an unfinished key of the same parameters is taken up, a finished one
// reported. Errc::exists when a file is in the way; --force replaces all but a ledger.
[[nodiscard]] StartedKey start_key(const KeygenRequest& request);

// Writes ledger, cache and public key, then NAME.key as complete: in this order, each durable, so that
// a complete key always has its companions. `started.key.root` and cache_depth are set.
void finish_key(const StartedKey& started, const TreeCache& cache, PublicForm form);

}  // namespace coppice
