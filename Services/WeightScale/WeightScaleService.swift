public import PeripheralKit

/// The Weight Scale service, 0x181D, as defined by the Weight Scale Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralWeightScale
///
/// let scale = WeightScaleService(WeightScaleFeature(weightResolution: .kilograms0_1))
/// let peripheral = Peripheral("Scale", pairing: .justWorks) { scale }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await kilograms in sensor.weights {
///         try await scale.indicate(WeightMeasurement(kilograms: kilograms), in: session)
///     }
/// }
/// ```
public struct WeightScaleService: GATTServiceDeclaration {
    /// The Weight Measurement characteristic, 0x2A9D, which centrals subscribe to.
    ///
    /// Use ``indicate(_:in:)`` to send a measurement.
    public let measurement: Characteristic<WeightMeasurement>

    /// The Weight Scale Feature characteristic, 0x2A9E, which centrals read.
    public let feature: Characteristic<WeightScaleFeature>

    private let supported: WeightScaleFeature
    private let included: [any GATTServiceDeclaration]

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - feature: The features of the scale.
    ///   - bodyComposition: The Body Composition service of the scale, or `nil` for a scale without this
    ///     service. The Weight Scale service declares and includes the Body Composition service.
    ///   - security: The security required to subscribe to the measurements. Require at least encryption,
    ///     because a person's weight is health data. The Weight Scale Profile requires encryption.
    public init(
        _ feature: WeightScaleFeature = WeightScaleFeature(),
        including bodyComposition: (any GATTServiceDeclaration)? = nil,
        security: AttributeSecurity = .encrypted
    ) {
        supported = feature
        included = bodyComposition.map { [$0] } ?? []
        measurement = Characteristic(.weightMeasurement, .indicate, security: security)
        self.feature = Characteristic(.weightScaleFeature, value: feature)
    }

    /// Sends a measurement to all subscribers.
    ///
    /// The service omits each optional value that the features of the scale do not include.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The function throws the same errors as `session.indicate`.
    public func indicate(_ value: WeightMeasurement, in session: PeripheralSession) async throws {
        var value = value
        if !supported.hasTimestamps { value.timestamp = nil }
        if !supported.hasUsers { value.userID = nil }
        if !supported.hasBuild { value.build = nil }
        try await session.indicate(measurement, value)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.weightScale, includes: included) {
            measurement
            feature
        }
    }
}
