public import PeripheralKit

/// The Environmental Sensing service, 0x181A, of the Environmental Sensing Service specification 1.0: any number of sensors.
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
/// Triggers that centrals have set are looked at by each update, so that an interval ends with the first update after it: tell
/// a value as often as it is measured, changed or not. All centrals have the same triggers.
public struct EnvironmentalSensingService: GATTServiceDeclaration {
    /// The sensors.
    public let sensors: [EnvironmentalSensor]

    /// The Descriptor Value Changed, 0x2A7D, which is indicated; `nil` when centrals can write no descriptor.
    public let descriptorValueChanged: Characteristic<DescriptorValueChange>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - sensors: The sensors, each in this service only.
    ///   - clock: What tells the time for triggers.
    ///   - security: What it takes to subscribe to the Descriptor Value Changed. Sensors have their own.
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

    /// Takes the value of a sensor, and sends it when the triggers say so.
    ///
    /// - Parameters:
    ///   - sensor: The sensor, which the service has.
    ///   - number: The value in the quantity's unit; `nil` when it is not known, which some quantities cannot tell.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func update(
        _ sensor: EnvironmentalSensor,
        to number: Double?,
        in session: PeripheralSession
    ) async throws {
        let value = sensor.quantity.bytes(of: number)
        guard sensor.state.update(to: value, at: now()) else { return }
        try await session.notify(sensor.value, EnvironmentalValue(bytes: value))
    }

    /// Tells the other centrals what one has written to descriptors; the peripheral runs this.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Throws: `PeripheralError` with the code `stopped`; `CancellationError`. That a central does not confirm is no error.
    public func run(in session: PeripheralSession) async throws {
        guard let descriptorValueChanged else { return }
        // A central that misses some reads the descriptors again after any of them.
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

/// What a central has written to a descriptor.
private struct WrittenDescriptor: Sendable {
    var change: DescriptorValueChange
    var central: Central
}
