"""Small programs run by numpy where the arrays are: there is nothing to compile, and calling XLA would cost more."""
