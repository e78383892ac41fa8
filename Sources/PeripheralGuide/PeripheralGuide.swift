// This target contains the documentation that spans all products: see Documentation.docc.
