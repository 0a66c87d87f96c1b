"""The measurements that the documents quote, and the demo."""
