"""A judge or a metric over a test set: resumable and recorded; here alone errors become failures."""
