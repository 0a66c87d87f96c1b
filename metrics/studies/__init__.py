"""How well the objective and the race do, by simulation."""
