"""What turns a program into a better one: splits, leakage, the target, optimizers, the champion, a whole compile."""
