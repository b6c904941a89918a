"""How well the systems do, compared with baselines."""
