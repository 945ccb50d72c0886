"""Certificates: premises, steps, what checks them and what breaks them."""
