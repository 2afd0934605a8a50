#!/usr/bin/env python3
"""Key generation beside another program, interleaved in one run; minimum of the rounds, as a Markdown table.

usage: tests/bench/keygen_table.py [--program build/release/cluster/coppice] [--rounds N] [--params SET,...]
         [--peer NAME='COMMAND with {params} and {name}']...

Every round starts each case once, one after the other, in a scratch folder. A peer's command gets {params} in the form
H/W and {name}, a file name to write to; its wall-clock time is taken. For Coppice both times are shown: wall clock
(process start, files on disk and self-check included) and the tree alone.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import time


def wall(command, folder):
    start = time.monotonic()
    run = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if run.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}: exit code {run.returncode}\n{run.stderr or run.stdout}")
    return seconds, run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/cluster/coppice")
    parser.add_argument("--mpirun", default="mpirun --bind-to core --map-by core",
                        help="launcher with its options; '' leaves the ranks out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--params", default="10/8,15/4,15/8,20/4")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())

    with tempfile.TemporaryDirectory(prefix="coppice-bench-") as scratch:
        count = 0

        def keygen(params, prefix, threads):
            nonlocal count
            count += 1
            command = [*prefix, program, "keygen", "--params", params, "--threads", threads, "--out", f"k{count}",
                       "--format", "json"]
            seconds, out = wall(command, scratch)
            result = json.loads(out)
            return seconds, result["compute_seconds"]

        def peer(params, command):
            nonlocal count
            count += 1
            filled = shlex.split(command.format(params=params, name=f"p{count}"))
            return wall(filled, scratch)[0], None

        cases = []
        for threads in options.threads.split(","):
            cases.append((f"coppice, {threads} thread(s)", lambda p, t=threads: keygen(p, [], t)))
        for ranks in options.ranks.split(",") if options.mpirun else []:
            prefix = [*shlex.split(options.mpirun), "-n", ranks]
            cases.append((f"coppice, {ranks} rank(s)", lambda p, x=prefix: keygen(p, x, "1")))
        for text in options.peer:
            name, command = text.split("=", 1)
            cases.append((name, lambda p, c=command: peer(p, c)))

        print("| parameters | program | wall clock, s | tree alone, s |\n|---|---|---:|---:|")
        for params in options.params.split(","):
            best = {name: (float("inf"), float("inf")) for name, _ in cases}
            for _ in range(options.rounds):
                for name, run in cases:
                    seconds, tree = run(params)
                    old = best[name]
                    best[name] = (min(old[0], seconds), None if tree is None else min(old[1], tree))
            for name, _ in cases:
                seconds, tree = best[name]
                print(f"| {params} | {name} | {seconds:.3f} | {'' if tree is None else f'{tree:.3f}'} |", flush=True)


if __name__ == "__main__":
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    main()
