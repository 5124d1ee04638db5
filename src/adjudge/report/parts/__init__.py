"""Parts of a page, each in a file: agreement, calibration, cost, strata, criteria, errors."""
