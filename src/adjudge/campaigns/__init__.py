"""Human annotation without the web: protocols, tasks, assignment, checks, and the store of every change."""
