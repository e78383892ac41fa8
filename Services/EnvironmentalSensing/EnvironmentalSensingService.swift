public import PeripheralKit

/// The Environmental Sensing service, 0x181A, with any number of sensors.
///
/// The service implements the Environmental Sensing Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralEnvironmentalSensing
/// import PeripheralKit
///
/// let temperature = EnvironmentalSensor(.temperature)
/// let humidity = EnvironmentalSensor(.humidity)
/// let weather = EnvironmentalSensingService([temperature, humidity])
///
/// try await Peripheral("Weather") { weather }.run(on: .bluez) { session in
///     for await sample in station.samples {
///         try await weather.update(temperature, to: sample.celsius, in: session)
///         try await weather.update(humidity, to: sample.percent, in: session)
///     }
/// }
/// ```
///
/// The triggers of a sensor determine when the service sends the value of the sensor. The service checks the
/// triggers only when the program updates the value. The service sends the value at the first update after
/// the interval of a trigger has ended. Update the value after each measurement, even if the measured value
/// has not changed. The triggers of a sensor are the same for all centrals.
public struct EnvironmentalSensingService: GATTServiceDeclaration {
    /// The sensors.
    public let sensors: [EnvironmentalSensor]

    /// The Descriptor Value Changed characteristic, 0x2A7D, which centrals subscribe to.
    ///
    /// The service sends descriptor changes as indications. The property is `nil` if centrals cannot write
    /// any descriptor.
    public let descriptorValueChanged: Characteristic<DescriptorValueChange>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - sensors: The sensors. A sensor can belong to only one service.
    ///   - clock: The clock that measures the trigger intervals.
    ///   - security: The security required to subscribe to the Descriptor Value Changed characteristic. Each
    ///     sensor has a separate `security` parameter.
    public init<C: Clock>(
        _ sensors: [EnvironmentalSensor],
        clock: C = ContinuousClock(),
        security: AttributeSecurity = .open
    ) where C.Duration == Duration {
        self.sensors = sensors
        let start = clock.now
        now = { start.duration(to: clock.now) }
        descriptorValueChanged =
            sensors.contains(where: \.isConfigurable)
            ? Characteristic(.descriptorValueChanged, .indicate, security: security) : nil
    }

    /// Updates the value of a sensor.
    ///
    /// The method sends the value to the subscribers if the triggers of the sensor require a notification.
    ///
    /// - Parameters:
    ///   - sensor: The sensor to update. The sensor must belong to the service.
    ///   - number: The value in the unit of the quantity, or `nil` if the value is unknown. The encodings of
    ///     some quantities cannot represent an unknown value.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func update(
        _ sensor: EnvironmentalSensor,
        to number: Double?,
        in session: PeripheralSession
    ) async throws {
        let value = sensor.quantity.bytes(of: number)
        guard sensor.state.update(to: value, at: now()) else { return }
        try await session.notify(sensor.value, EnvironmentalValue(bytes: value))
    }

    /// Sends each descriptor change to all subscribers except the central that made the change.
    ///
    /// A running peripheral calls the `run(in:)` method of each service.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: `PeripheralError` with the code `stopped`, or `CancellationError`. If a central does not
    ///   confirm an indication, the method continues without an error.
    public func run(in session: PeripheralSession) async throws {
        guard let descriptorValueChanged else { return }
        // The buffer may drop changes, because a central reads the descriptors again after any change.
        let (written, continuation) = AsyncStream.makeStream(
            of: WrittenDescriptor.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        for sensor in sensors {
            sensor.state.reportChanges { continuation.yield(WrittenDescriptor(change: $0, central: $1)) }
        }
        defer {
            for sensor in sensors { sensor.state.keepChanges() }
        }
        for await written in written {
            for subscription in try session.subscribers(of: descriptorValueChanged) {
                guard let central = subscription.central, central != written.central else { continue }
                do {
                    try await session.indicate(descriptorValueChanged, written.change, to: central)
                } catch let error as PeripheralError
                    where error.code != .notDeclared && error.code != .stopped
                {
                    continue
                }
            }
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.environmentalSensing) {
            if let descriptorValueChanged { descriptorValueChanged }
            sensors.map(\.value)
        }
    }
}

/// A change of a descriptor, and the central that has written it.
private struct WrittenDescriptor: Sendable {
    var change: DescriptorValueChange
    var central: Central
}
