"""How good a checkpoint is: one file per test set, and the table that puts every reading beside the baseline."""
