"""A run in parts: shards that machines judge apart, their merging, and the engine that has Ray judge them."""
