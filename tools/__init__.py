"""What makes the pictures of the documents."""
