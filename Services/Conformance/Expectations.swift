internal import PeripheralConformance
internal import PeripheralTesting

/// What a service declares in this scenario; fails it when there is none.
func present<Value>(_ value: Value?) throws(ConformanceFailure) -> Value {
    guard let value else {
        throw ConformanceFailure(description: "A \(Value.self) is not declared.")
    }
    return value
}
