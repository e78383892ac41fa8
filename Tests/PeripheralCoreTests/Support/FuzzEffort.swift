#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How many random inputs a decoder gets: enough for each run to notice a plain mistake, more by `make fuzz`.
let fuzzInputCount = getenv("FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 5_000
