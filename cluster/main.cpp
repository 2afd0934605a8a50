// The program: one top frame per rank that turns every failure into one line and an exit code.
#include "cluster/cli/cli.hpp"

int main(int argc, char** argv) { return coppice::run_program(argc, argv); }
