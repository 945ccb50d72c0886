"""The elastic constant B of each system, published and sharp."""
