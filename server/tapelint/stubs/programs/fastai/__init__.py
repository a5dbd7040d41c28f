"""fastai: of the package only the loop of `Learner` is modelled, by the names of its modules that gather all."""
