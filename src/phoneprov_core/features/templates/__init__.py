"""Templates of configurations: their variants, their language, and what they are rendered with."""
