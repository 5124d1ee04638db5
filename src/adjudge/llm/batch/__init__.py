"""Questions put to providers in batches: cheaper, within a day, and fetched whenever we come back."""
