"""Reports: self-contained pages that open offline, and the words that explain them."""
