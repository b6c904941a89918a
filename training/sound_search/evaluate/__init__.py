"""How well the systems do, beside baselines."""
