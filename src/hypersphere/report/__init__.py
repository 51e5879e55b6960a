"""Tables, figures, scorecard and paper. They read tidy tables, compute no statistics and import no torch."""
