"""Records in, answers out: one module for each verb."""
