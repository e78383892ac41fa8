/// How many random inputs a decoder gets: enough for each run to notice a plain mistake; `make fuzz` looks
/// for the others.
let fuzzInputCount = 5_000
