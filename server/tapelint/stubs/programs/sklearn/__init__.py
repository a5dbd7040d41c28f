"""scikit-learn: of the package only what fits an estimator that it is given is modelled."""
