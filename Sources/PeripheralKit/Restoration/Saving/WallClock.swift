#if canImport(Darwin)
    private import Darwin
#elseif canImport(Musl)
    private import Musl
#else
    private import Glibc
#endif

/// The system's clock for the time of day, which can be set.
enum WallClock {
    /// The seconds since 1970-01-01 00:00 UTC.
    @Sendable static func seconds() -> Int64 {
        Int64(time(nil))
    }
}
