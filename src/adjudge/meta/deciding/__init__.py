"""From scores to decisions: which translations may go out unseen, and what few labels say of many scores."""
