// Uses of Secret<N> that must not compile: copy, assignment, comparison, output. Case 0 must.
#include <iostream>

#include "core/base/secret.hpp"

// case 1 expects: deleted
// case 2 expects: deleted
// case 3 expects: deleted
// case 4 expects: (no match for|invalid operands)
int main() {
  coppice::Secret<32> a;
  coppice::Secret<32> b;
  coppice::Secret<32> moved(std::move(a));
#if COPPICE_CASE == 1
  coppice::Secret<32> copy(b);
#elif COPPICE_CASE == 2
  b = moved;
#elif COPPICE_CASE == 3
  return moved == b ? 1 : 0;
#elif COPPICE_CASE == 4
  std::cout << b;
#endif
  return 0;
}
