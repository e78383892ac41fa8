public import PeripheralKit

/// The Body Composition service, 0x181B, which implements the Body Composition Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralBodyComposition
/// import PeripheralKit
///
/// let composition = BodyCompositionService(BodyCompositionFeature([.weight, .impedance]))
/// let peripheral = Peripheral("Scale", pairing: .justWorks) { composition }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await body in sensor.results {
///         let value = BodyCompositionMeasurement(
///             bodyFat: body.fat, impedance: body.ohms, weight: body.kilograms
///         )
///         try await composition.indicate(value, in: session)
///     }
/// }
/// ```
public struct BodyCompositionService: GATTServiceDeclaration {
    /// The Body Composition Measurement characteristic, 0x2A9C, which supports indications.
    ///
    /// Send a measurement with ``indicate(_:in:)``. If a measurement is too long for one indication, the
    /// method ``indicate(_:in:)`` sends the measurement in two indications.
    public let measurement: Characteristic<BodyCompositionMeasurement>

    /// The Body Composition Feature characteristic, 0x2A9B, which centrals read.
    public let feature: Characteristic<BodyCompositionFeature>

    private let content: BodyCompositionFeature.Content

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - feature: The values that the device reports about a body.
    ///   - security: The link security that is required for subscriptions. Because body composition is health
    ///     data, require at least encryption.
    public init(
        _ feature: BodyCompositionFeature = BodyCompositionFeature(),
        security: AttributeSecurity = .encrypted
    ) {
        content = feature.content
        measurement = Characteristic(.bodyCompositionMeasurement, .indicate, security: security)
        self.feature = Characteristic(.bodyCompositionFeature, value: feature)
    }

    /// Sends a measurement and waits until the subscribers have confirmed the measurement.
    ///
    /// The method sends only the values that the service declares in its features. If one subscriber needs
    /// two indications for the measurement, the method sends two indications to every subscriber. The
    /// specification requires the same number of indications for all subscribers. Do not call the method
    /// again until the previous call has returned. Overlapping calls mix the parts of two measurements.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that contains the service.
    /// - Throws: The errors that `session.indicate` throws. If a measurement consists of two parts, an error
    ///   can occur after the method has sent the first part.
    public func indicate(_ value: BodyCompositionMeasurement, in session: PeripheralSession) async throws {
        let subscribers = try session.subscribers(of: measurement)
        let length = subscribers.map { $0.central?.maximumUpdateValueLength ?? 20 }.min() ?? 20
        for part in value.limited(to: content).parts(upTo: length) {
            try await session.indicate(measurement, part)
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.bodyComposition) {
            feature
            measurement
        }
    }
}

extension BodyCompositionMeasurement {
    fileprivate func limited(to content: BodyCompositionFeature.Content) -> BodyCompositionMeasurement {
        var limited = self
        if !content.contains(.timestamp) { limited.timestamp = nil }
        if !content.contains(.userID) { limited.userID = nil }
        if !content.contains(.basalMetabolism) { limited.basalMetabolism = nil }
        if !content.contains(.muscle) { limited.muscle = nil }
        if !content.contains(.muscleMass) { limited.muscleMass = nil }
        if !content.contains(.fatFreeMass) { limited.fatFreeMass = nil }
        if !content.contains(.softLeanMass) { limited.softLeanMass = nil }
        if !content.contains(.bodyWaterMass) { limited.bodyWaterMass = nil }
        if !content.contains(.impedance) { limited.impedance = nil }
        if !content.contains(.weight) { limited.weight = nil }
        if !content.contains(.height) { limited.height = nil }
        return limited
    }
}
