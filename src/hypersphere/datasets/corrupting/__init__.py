"""The corruptions of Hendrycks and Dietterich 2019, written from their definitions: not its bytes."""
