"""Medians and bootstrap intervals."""

import random
import statistics


def median_interval(values, resamples=2000, seed=1):
    """The median of `values` and a 95 % bootstrap interval around it."""
    generator = random.Random(seed)
    medians = sorted(
        statistics.median(generator.choices(values, k=len(values))) for _ in range(resamples)
    )
    low = medians[int(0.025 * resamples)]
    high = medians[min(resamples - 1, int(0.975 * resamples))]
    return statistics.median(values), low, high
