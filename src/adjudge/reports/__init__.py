"""Tables, figures and pages made of numbers and records. Cannot know who annotated."""
