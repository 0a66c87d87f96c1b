"""What tests share: fake LMs and servers, builders of records and files, processes that are started and ended."""
