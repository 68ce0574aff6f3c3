"""Which user has which extension."""
