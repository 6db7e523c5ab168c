"""The averaged perceptron of NLTK."""
