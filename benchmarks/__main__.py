"""`python -m benchmarks [NAME ...] [--quick] [--save]`: time ours against the plain loop, print one table."""

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import app, contrastive, encoding, living_together, memory, projection, store, tokenizing, training
from benchmarks.report import Row, load_rows, machine, markdown_table
from benchmarks.sizes import FULL, QUICK

BENCHMARKS = {
    "tokenizing": tokenizing.run,
    "encoding": encoding.run,
    "memory": memory.run,
    "app": app.run,
    "living_together": living_together.run,
    "training": training.run,
    "contrastive": contrastive.run,
    "store": store.run,
    "projection": projection.run,
}
RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Run the named benchmarks, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; all by default")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: shows that it works, its numbers mean nothing"
    )
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} beside the code")
    parser.add_argument("--saved", action="store_true", help=f"measure nothing, print the table of {RESULTS.name}")
    arguments = parser.parse_args()
    if arguments.saved:
        print(markdown_table(load_rows(RESULTS)))
        return
    if arguments.quick and arguments.save:
        parser.error("--save is for the full sizes: the numbers of --quick mean nothing")
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    # a partial run replaces its own part only, and every part says where and when it was measured
    saved = json.loads(RESULTS.read_text(encoding="utf-8")) if arguments.names and RESULTS.exists() else {}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="ctxemb-bench-") as folder:
        for name in arguments.names or BENCHMARKS:
            started = time.perf_counter()
            conditions = machine()
            found = list(BENCHMARKS[name](QUICK if arguments.quick else FULL, Path(folder)))
            rows += found
            saved[name] = {
                "date": datetime.now(UTC).isoformat(timespec="minutes"),
                "machine": conditions,
                "rows": [dataclasses.asdict(row) for row in found],
            }
            print(f"{name}: {time.perf_counter() - started:.0f} s; {conditions}", file=sys.stderr, flush=True)
    print(f"{machine()}\n\n{markdown_table(rows)}")
    if arguments.save:
        RESULTS.write_text(json.dumps(saved, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


main()
