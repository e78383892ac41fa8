import PeripheralBattery
import PeripheralDeviceInformation
import PeripheralHeartRate
import PeripheralKit
import Synchronization

/// The sensor: its declaration, and the measurements that it sends once a second.
struct PulseSensor: Sendable {
    let heartRate: HeartRateService
    let battery: BatteryService
    let deviceInformation: DeviceInformationService
    let peripheral: Peripheral

    private let body: SimulatedBody

    init(name: String) {
        let body = SimulatedBody()
        let heartRate = HeartRateService(
            location: .chest,
            onResetEnergyExpended: { body.resetEnergyExpended() }
        )
        let battery = BatteryService(level: body.batteryLevel)
        let deviceInformation = DeviceInformationService(
            manufacturerName: "swift-peripheral",
            modelNumber: "Simulated heart",
            firmwareRevision: "1.0"
        )
        self.body = body
        self.heartRate = heartRate
        self.battery = battery
        self.deviceInformation = deviceInformation
        peripheral = Peripheral(name) {
            heartRate
            battery
            deviceInformation
            Advertisement(appearance: 0x0341)  // heart rate belt
        }
    }

    /// Measures and notifies while there are subscribers, until cancelled.
    ///
    /// - Parameters:
    ///   - session: The session of this sensor's peripheral.
    ///   - interval: The time between measurements. The simulated heart advances by one second each time.
    ///   - didSend: Called with each measurement that has been sent.
    /// - Throws: `CancellationError`, or a `PeripheralError` when the peripheral is no longer served.
    func sendMeasurements(
        over session: PeripheralSession,
        every interval: Duration = .seconds(1),
        didSend: @Sendable (HeartRateMeasurement) -> Void = { _ in }
    ) async throws {
        while true {
            try await session.waitForSubscriber(of: heartRate.measurement)
            try await sendMeasurementsToSubscribers(over: session, every: interval, didSend: didSend)
        }
    }

    /// Sends measurements until there are no subscribers.
    ///
    /// Without subscribers, nothing is measured, and the device can sleep.
    private func sendMeasurementsToSubscribers(
        over session: PeripheralSession,
        every interval: Duration,
        didSend: @Sendable (HeartRateMeasurement) -> Void
    ) async throws {
        // This clock stops while the machine sleeps, so there are no missed measurements to make up for.
        let clock = SuspendingClock()
        var nextMeasurement = clock.now
        while try !session.subscribers(of: heartRate.measurement).isEmpty {
            nextMeasurement += interval
            try await clock.sleep(until: nextMeasurement)
            let measurement = body.measureLastSecond()
            try await heartRate.notify(measurement, in: session)
            try await battery.update(to: body.batteryLevel, in: session)
            didSend(measurement)
        }
    }
}

/// The heart and the battery, shared by measurements and request handlers.
private final class SimulatedBody: Sendable {
    private struct State {
        var heart = SimulatedHeart(seed: .random(in: .min ... .max))
        var seconds = 0
    }

    private let state = Mutex(State())

    func measureLastSecond() -> HeartRateMeasurement {
        state.withLock { state in
            state.seconds += 1
            let intervals = state.heart.beatForOneSecond()
            return HeartRateMeasurement(
                bpm: UInt16(state.heart.rate.rounded()),
                sensorContact: .detected,
                energyExpended: UInt16(clamping: Int(state.heart.energyExpended)),
                rrIntervals: intervals.map { RRInterval(.seconds($0)) }
            )
        }
    }

    func resetEnergyExpended() {
        state.withLock { $0.heart.energyExpended = 0 }
    }

    /// The level, which drops by one percent every 15 seconds; an empty battery is replaced.
    var batteryLevel: BatteryLevel {
        state.withLock { BatteryLevel(100 - $0.seconds / 15 % 100) }
    }
}

extension HeartRateMeasurement {
    /// The measurement as a line of text.
    var summary: String {
        var parts = ["\(bpm) bpm"]
        if !rrIntervals.isEmpty {
            parts.append("RR \(rrIntervals.map { "\($0.milliseconds)" }.joined(separator: " ")) ms")
        }
        if let energyExpended {
            parts.append("energy \(energyExpended) kJ")
        }
        return parts.joined(separator: ", ")
    }
}

extension RRInterval {
    /// The interval in milliseconds, rounded.
    var milliseconds: Int { (Int(rawValue) * 1000 + 512) / 1024 }
}
