"""Pictures of the pages that people look at, for the README, and what makes them."""
