"""Widths of intervals beside those of an earlier version, by stratum.

    python compare_widths.py BEFORE AFTER SAMPLING

BEFORE and AFTER are what `go test -tags slow,measure ./evaluate -run WidthsByStratum -v` prints, the first in a work tree of the
earlier version with evaluate/strata_measure_test.go and ward_test.go copied to it; SAMPLING is AFTER with `-args -strata-epsilon 100`, which leaves hardly
more than sampling. Ratios to BEFORE are of mean widths on the same problem: medians, least and largest, and the median of SAMPLING.
"""

import statistics
import sys


def widths(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path) if line.count("\t") == 3]
    return {tuple(row[:3]): float(row[3]) for row in rows}


def main():
    before, after, sampling = map(widths, sys.argv[1:4])
    forecasts = dict(line.rstrip("\n").split("\t")[1:] for line in open(sys.argv[2]) if line.startswith("forecast"))
    print("stratum\t600 persons; sampling\t2,000\t20,000\tforecasts of plan, as a share of the width")
    for stratum in dict.fromkeys(key[0] for key in after):
        cells = []
        for n in ("600", "2000", "20000"):
            keys = [key for key in after if key[:2] == (stratum, n)]
            ratios = [after[key] / before[key] for key in keys]
            least = statistics.median(sampling[key] / before[key] for key in keys)
            cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); {least:.2f}")
        print(stratum, *cells, forecasts[stratum], sep="\t")


if __name__ == "__main__":
    main()
