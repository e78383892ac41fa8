public import PeripheralKit

/// The Body Composition service, 0x181B, of the Body Composition Service specification 1.0.
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
    /// The Body Composition Measurement, 0x2A9C, which is indicated.
    ///
    /// Send a measurement with ``indicate(_:in:)``. The method divides a measurement that does not fit one
    /// indication.
    public let measurement: Characteristic<BodyCompositionMeasurement>

    /// The Body Composition Feature, 0x2A9B, which centrals read.
    public let feature: Characteristic<BodyCompositionFeature>

    private let content: BodyCompositionFeature.Content

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - feature: The values that the device reports about a body.
    ///   - security: The security required to subscribe. Body composition is health data: require at least
    ///     encryption.
    public init(
        _ feature: BodyCompositionFeature = BodyCompositionFeature(),
        security: AttributeSecurity = .encrypted
    ) {
        content = feature.content
        measurement = Characteristic(.bodyCompositionMeasurement, .indicate, security: security)
        self.feature = Characteristic(.bodyCompositionFeature, value: feature)
    }

    /// Sends a measurement to the subscribers and waits until they have confirmed the measurement.
    ///
    /// Values that the features do not include are not sent. If a measurement does not fit one indication for
    /// every subscriber, the method sends two indications, as the specification demands. Do not make
    /// overlapping calls, because the parts of two measurements would mix.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.indicate`. If sending the second part fails, the first part has
    ///   already been sent.
    public func indicate(_ value: BodyCompositionMeasurement, in session: PeripheralSession) async throws {
        let subscribers = try session.subscribers(of: measurement)
        let length = subscribers.map { $0.central?.maximumUpdateValueLength ?? 20 }.min() ?? 20
        for part in value.limited(to: content).parts(upTo: length) {
            try await session.indicate(measurement, part)
        }
    }

    /// The service as it is published.
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
