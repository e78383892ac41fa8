internal import Logging
public import PeripheralBlueZModel
internal import PeripheralCore
public import PeripheralKit
public import PeripheralTesting

/// An advertisement that tests whether a backend sends the bytes that an `AdvertisingPlan` predicts.
///
/// ```swift
/// for declaration in AdvertisingDeclaration.all {
///     try await declaration.check(on: .bluez, for: .extended("5.82")) { peripheral in
///         makeCentral(of: peripheral)
///     }
/// }
/// ```
public struct AdvertisingDeclaration: Sendable, CustomStringConvertible {
    /// A phrase that describes the advertisement.
    public let name: String
    /// The peripheral that declares the advertisement.
    public let peripheral: Peripheral

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - name: A phrase that describes the advertisement.
    ///   - advertisement: The advertisement.
    public init(_ name: String, _ advertisement: Advertisement) {
        self.name = name
        peripheral = Peripheral("Air") {
            GATTService(0x180D) { Characteristic<UInt8>(0x2A38, value: 1) }
            advertisement
        }
    }

    /// The name.
    public var description: String { name }

    /// Publishes the peripheral, and compares each byte of the received advertisement with the plan.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - capabilities: The advertising capabilities of the adapter and of the Bluetooth stack.
    ///   - makeCentral: Creates a central for the peripheral. The method calls `makeCentral` when the
    ///     peripheral is on the air.
    /// - Returns: The plan. If `isPossible` of the plan is `false`, the backend must refuse the peripheral.
    /// - Throws: ``ConformanceFailure`` if the received bytes differ from the plan. The method also throws
    ///   any other error that stops the comparison.
    @discardableResult
    public func check(
        on backend: some PeripheralBackend,
        for capabilities: AdvertisingCapabilities,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws -> AdvertisingPlan {
        guard let plan = peripheral.advertisingPlans(for: capabilities).first else {
            throw ConformanceFailure(description: "There is no plan.")
        }
        let run = { @Sendable () async throws in
            try await peripheral.run(
                on: backend,
                logger: .init(label: "advertising") { _ in SwiftLogNoOpLogHandler() }
            ) {
                _ in
                try await Self.compare(plan, with: makeCentral(peripheral).scan())
            }
        }
        guard plan.isPossible else {
            do {
                try await run()
            } catch is DeclarationError {
                return plan
            }
            throw ConformanceFailure(
                description: "The peripheral is on the air although its plan is not possible:\n\(plan)"
            )
        }
        try await run()
        return plan
    }

    private static func compare(_ plan: AdvertisingPlan, with heard: [ScanResult]) throws(ConformanceFailure)
    {
        let found = heard.map { Air($0) }
        let expected = Air(
            data: plan.advertisingData.bytes,
            response: plan.scanResponse.bytes,
            isConnectable: plan.isConnectable
        )
        guard found == [expected] else {
            throw ConformanceFailure(
                description: "expected \(expected), but received \(found); the plan:\n\(plan)"
            )
        }
    }
}

/// The part of an advertisement that a central receives.
private struct Air: Equatable, CustomStringConvertible {
    var data: [UInt8]
    var response: [UInt8]
    var isConnectable: Bool

    init(data: [UInt8], response: [UInt8], isConnectable: Bool) {
        self.data = data
        self.response = response
        self.isConnectable = isConnectable
    }

    init(_ result: ScanResult) {
        self.init(
            data: result.advertisingData,
            response: result.scanResponse,
            isConnectable: result.isConnectable
        )
    }

    var description: String {
        "\(Self.digits(data)) and \(Self.digits(response))\(isConnectable ? "" : ", not connectable")"
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "nothing" : bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
