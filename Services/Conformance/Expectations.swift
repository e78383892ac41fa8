internal import PeripheralConformance
internal import PeripheralTesting

/// Returns an optional part of a service, or throws if the service does not declare it.
func present<Value>(_ value: Value?) throws(ConformanceFailure) -> Value {
    guard let value else {
        throw ConformanceFailure(description: "The service does not declare a \(Value.self).")
    }
    return value
}
