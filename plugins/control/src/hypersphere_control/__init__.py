"""Control from pixels: tasks of the DeepMind Control Suite, and soft actor-critic with a contrastive loss (CURL)."""
