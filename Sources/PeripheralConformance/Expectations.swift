package import PeripheralCore
package import PeripheralKit

/// Fails the scenario unless both values are equal.
package func expect<Value: Equatable>(
    _ subject: String,
    _ actual: Value,
    is expected: Value
) throws(ConformanceFailure) {
    guard actual != expected else { return }
    throw ConformanceFailure(description: "\(subject): expected '\(expected)', but got '\(actual)'.")
}

/// Fails the scenario unless both values are equal; for long values, reports the first difference.
package func expect(_ subject: String, _ actual: [UInt8], is expected: [UInt8]) throws(ConformanceFailure) {
    guard actual != expected else { return }
    let readableCount = 24
    guard max(actual.count, expected.count) > readableCount else {
        throw ConformanceFailure(description: "\(subject): expected \(expected), but got \(actual).")
    }
    let common = zip(actual, expected).prefix { $0 == $1 }.count
    throw ConformanceFailure(
        description: "\(subject): expected \(expected.count) bytes, but got \(actual.count), "
            + "which differ from byte \(common) on."
    )
}

/// Fails the scenario unless the peripheral refuses the operation with this error.
package func expectRefusal<Output>(
    of subject: String,
    by expected: ATTError,
    _ operation: () async throws -> Output
) async throws {
    let output: Output
    do {
        output = try await operation()
    } catch let refusal as ATTError {
        return try expect("ATT error for the refused \(subject)", refusal, is: expected)
    }
    throw ConformanceFailure(
        description: "\(subject): expected the ATT error '\(expected)', but got '\(output)'."
    )
}

/// Fails the scenario with the error's code if the session refuses the operation.
package func expectSuccess<Output>(of subject: String, _ operation: () async throws -> Output) async throws
    -> Output
{
    do {
        return try await operation()
    } catch let error as PeripheralError {
        throw ConformanceFailure(description: "\(subject): failed with the error code \(error.code).")
    }
}

/// Fails the scenario unless the session refuses the operation with an error of this code.
package func expectError(
    of subject: String,
    _ code: PeripheralError.Code,
    _ operation: () async throws -> Void
) async throws {
    do {
        try await operation()
    } catch let error as PeripheralError {
        return try expect(subject, error.code, is: code)
    }
    throw ConformanceFailure(description: "\(subject): expected \(code), but there was no error.")
}
