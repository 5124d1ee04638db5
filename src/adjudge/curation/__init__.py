"""Building benchmarks: which sources, who translates them, which pairs, what people see and agree on."""
