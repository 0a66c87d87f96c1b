"""Papers, their parts and answers about them, for the tests."""
