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
/// Each update checks the triggers that centrals have set. A time interval therefore ends at the first update
/// after the interval. Update a value after each measurement, even if the value has not changed. All centrals
/// share the same triggers.
public struct EnvironmentalSensingService: GATTServiceDeclaration {
    /// The sensors.
    public let sensors: [EnvironmentalSensor]

    /// The Descriptor Value Changed, 0x2A7D, which is indicated.
    ///
    /// The characteristic is `nil` when centrals cannot write any descriptor.
    public let descriptorValueChanged: Characteristic<DescriptorValueChange>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - sensors: The sensors. A sensor can belong to only one service.
    ///   - clock: The clock for triggers.
    ///   - security: The security required to subscribe to the Descriptor Value Changed. Each sensor has a
    ///     separate `security` parameter.
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

    /// Updates the value of a sensor, and sends the value if a trigger requires it.
    ///
    /// - Parameters:
    ///   - sensor: The sensor, which must belong to the service.
    ///   - number: The value in the quantity's unit; `nil` when unknown. Some quantities cannot represent
    ///     unknown values.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func update(
        _ sensor: EnvironmentalSensor,
        to number: Double?,
        in session: PeripheralSession
    ) async throws {
        let value = sensor.quantity.bytes(of: number)
        guard sensor.state.update(to: value, at: now()) else { return }
        try await session.notify(sensor.value, EnvironmentalValue(bytes: value))
    }

    /// Indicates descriptor changes by one central to the other centrals.
    ///
    /// The peripheral calls this method during a run.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Throws: `PeripheralError` with the code `stopped`, or `CancellationError`. The method does not throw
    ///   if a central does not confirm.
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

    /// The service as it is published.
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
