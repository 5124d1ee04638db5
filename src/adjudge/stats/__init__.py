"""Statistics over arrays: measures of metrics, tests, intervals, agreement, strengths of systems. No files.

A table of p-values is metrics by metrics: [i, j] is the one-sided p-value of "i agrees better with gold than
j", the diagonal is 1, and NaN stands where one of the two has no value. Metrics are compared on what gold and
both of them judged. No table is corrected for its number of tests; `paired.holm` does it.
"""
