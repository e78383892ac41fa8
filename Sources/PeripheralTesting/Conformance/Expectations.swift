internal import PeripheralCore

/// Fails the scenario unless both are equal.
func expect<Value: Equatable>(
    _ subject: String,
    _ actual: Value,
    is expected: Value
) throws(ConformanceFailure) {
    guard actual != expected else { return }
    throw ConformanceFailure(description: "\(subject): expected \(expected), but got \(actual).")
}

/// Fails the scenario unless the peripheral refuses the operation by this error.
func expectRefusal<Output>(
    of subject: String,
    by expected: ATTError,
    _ operation: () async throws -> Output
) async throws {
    let output: Output
    do {
        output = try await operation()
    } catch let refusal as ATTError {
        return try expect("refusal of \(subject)", refusal, is: expected)
    }
    throw ConformanceFailure(description: "\(subject): expected the refusal \(expected), but got \(output).")
}
