"""What gets compiled: label sets, records, typed signatures and modules."""
