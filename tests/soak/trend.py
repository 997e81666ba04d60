# SPDX-License-Identifier: Apache-2.0
"""Is a series of numbers flat? The growth over the run is that of the line through the numbers
that outliers do not turn: the median of the slopes of all pairs (Theil and Sen)."""

import statistics

WARM_UP = 0.25  # of the run: caches fill, pools grow to what the threads need


class Series:
    """limit: how much it may grow over the whole run, however long that is; None: it is only
    told."""

    def __init__(self, limit=None, unit=""):
        self.limit, self.unit = limit, unit
        self.points = []

    def add(self, at, value):
        """at: how many boxes there have been."""
        self.points.append((at, value))

    def last(self):
        return self.points[-1][1] if self.points else None

    def growth(self):
        """Between the warm-up and the end; 0 where there is too little to tell."""
        points = self.points[int(len(self.points) * WARM_UP):]
        slopes = [(later[1] - earlier[1]) / (later[0] - earlier[0])
                  for i, earlier in enumerate(points) for later in points[i + 1:]
                  if later[0] > earlier[0]]
        if len(points) < 3 or not slopes:
            return 0.0
        return statistics.median(slopes) * (points[-1][0] - points[0][0])

    def complaint(self, name):
        growth = self.growth()
        if self.limit is None or growth <= self.limit:
            return None
        return (f"{name} grows: by {growth:.1f} {self.unit} over {self.points[-1][0]} boxes, "
                f"more than {self.limit}")
