"""The words that every room shares. Imports nothing of ours but `errors`."""
