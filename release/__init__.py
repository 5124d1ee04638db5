"""What stands between a commit and a release: `make release`; docs/releasing.md says what each step holds."""
