"""The only room that talks to a model."""
