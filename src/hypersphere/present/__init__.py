"""Tables, figures, scorecard and paper: they read tidy tables, compute no statistics and import no torch."""
