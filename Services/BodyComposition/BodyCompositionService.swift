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
///         let value = BodyCompositionMeasurement(bodyFat: body.fat, impedance: body.ohms, weight: body.kilograms)
///         try await composition.indicate(value, in: session)
///     }
/// }
/// ```
public struct BodyCompositionService: GATTServiceDeclaration {
    /// The Body Composition Measurement, 0x2A9C, which is indicated; sent by ``indicate(_:in:)``, which divides what does not
    /// fit.
    public let measurement: Characteristic<BodyCompositionMeasurement>

    /// The Body Composition Feature, 0x2A9B, which centrals read.
    public let feature: Characteristic<BodyCompositionFeature>

    private let content: BodyCompositionFeature.Content

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - feature: What the device tells of a body.
    ///   - security: What it takes to subscribe. What a body is made of is a matter of health: leave it encrypted at least.
    public init(
        _ feature: BodyCompositionFeature = BodyCompositionFeature(),
        security: AttributeSecurity = .encrypted
    ) {
        content = feature.content
        measurement = Characteristic(.bodyCompositionMeasurement, .indicate, security: security)
        self.feature = Characteristic(.bodyCompositionFeature, value: feature)
    }

    /// Sends a measurement to the centrals that have subscribed, without what the features do not tell of.
    ///
    /// What does not fit into one indication to each of them is sent in two, as the specification demands. Calls must not
    /// overlap, or the parts of two measurements mix.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.indicate` does; after the first part of two, when that fails.
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
