public import PeripheralKit

/// The Current Time service, 0x1805, which publishes the clock of the device.
///
/// The service implements the Current Time Service specification 1.1.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralCurrentTime
/// import PeripheralKit
///
/// let time = CurrentTimeService { try await clock.currentTime }
/// let peripheral = Peripheral("Clock") { time }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await reason in clock.adjustments {
///         try await time.notify(reason, in: session)
///     }
/// }
/// ```
///
/// Do not send a notification each time the clock advances. Send a notification only in the following cases:
///
/// - A person adjusts the clock.
/// - The time zone changes, or daylight saving time begins or ends.
/// - An external time source adjusts the clock, and one of the conditions listed below is met.
///
/// An external time source can adjust the clock often. After an adjustment by an external time source, send a
/// notification only if at least one of the following conditions is met (Current Time Service 1.1, section
/// 3.1.2):
///
/// - The time has changed by more than one minute.
/// - At least 15 minutes have passed since the last notification.
public struct CurrentTimeService: GATTServiceDeclaration {
    /// The Current Time characteristic, 0x2A2B, which centrals can read and subscribe to.
    ///
    /// Centrals can write the Current Time characteristic if the service has a handler that sets the time.
    public let currentTime: Characteristic<CurrentTime>

    /// The Local Time Information characteristic, 0x2A0F, or `nil` if the service does not declare it.
    ///
    /// Centrals can read the Local Time Information characteristic. Centrals can write the Local Time
    /// Information characteristic if the service has a handler that sets the local time.
    public let localTime: Characteristic<LocalTimeInformation>?

    /// The Reference Time Information characteristic, 0x2A14, or `nil` if the service does not declare it.
    ///
    /// Centrals can read the Reference Time Information characteristic.
    public let referenceTime: Characteristic<ReferenceTimeInformation>?

    private let now: @Sendable () async throws -> CurrentTime

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - localTime: A closure that returns the time zone of the clock. Pass `nil` to omit the Local Time
    ///     Information characteristic.
    ///   - referenceTime: A closure that returns the time source of the clock. Pass `nil` to omit the
    ///     Reference Time Information characteristic.
    ///   - security: The link security that the service requires for reads, writes and subscriptions. A
    ///     central that sets the clock controls the time of the device. With
    ///     `AttributeSecurity(write: .encrypted)`, any central can read the clock, but only paired centrals
    ///     can set the clock.
    ///   - setTime: A handler that sets the clock to the time written by a central. The handler must throw
    ///     `ATTError.currentTimeDataFieldIgnored` if the handler ignores a field of the new time. Pass `nil`
    ///     to prevent centrals from setting the clock.
    ///   - setLocalTime: A handler that sets the time zone to the value written by a central. Pass `nil` to
    ///     prevent centrals from setting the time zone. If you pass `setLocalTime`, also pass `localTime`.
    ///   - now: A closure that returns the current time, with an empty ``CurrentTime/adjustReason``.
    public init(
        localTime: (@Sendable () async throws -> LocalTimeInformation)? = nil,
        referenceTime: (@Sendable () async throws -> ReferenceTimeInformation)? = nil,
        security: AttributeSecurity = .open,
        onSetTime setTime: (@Sendable (_ time: CurrentTime) async throws -> Void)? = nil,
        onSetLocalTime setLocalTime: (@Sendable (_ information: LocalTimeInformation) async throws -> Void)? =
            nil,
        now: @escaping @Sendable () async throws -> CurrentTime
    ) {
        self.now = now
        currentTime = Characteristic(
            .currentTimeValue,
            setTime == nil ? [.read, .notify] : [.read, .notify, .write],
            security: security
        ) {
            Read(now)
            if let setTime { Write(setTime) }
        }
        self.localTime = localTime.map { localTime in
            Characteristic(
                .localTimeInformation,
                setLocalTime == nil ? .read : [.read, .write],
                security: security
            ) {
                Read(localTime)
                if let setLocalTime { Write(setLocalTime) }
            }
        }
        self.referenceTime = referenceTime.map { referenceTime in
            Characteristic(.referenceTimeInformation, .read, security: security) {
                Read(referenceTime)
            }
        }
    }

    /// Notifies the subscribers that the clock has been adjusted.
    ///
    /// - Parameters:
    ///   - reason: The reasons for the adjustment, as a nonempty set.
    ///   - session: The session of the peripheral that contains the service.
    /// - Throws: The errors that `now` and `session.notify` throw.
    public func notify(_ reason: CurrentTime.AdjustReason, in session: PeripheralSession) async throws {
        var time = try await now()
        time.adjustReason = reason
        try await session.notify(currentTime, time)
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.currentTime) {
            currentTime
            if let localTime { localTime }
            if let referenceTime { referenceTime }
        }
    }
}

extension ATTError {
    /// The error for a written value with a field that the device ignores.
    ///
    /// The value is the application error 0x80 of the Current Time Service specification 1.1.
    public static let currentTimeDataFieldIgnored = ATTError(rawValue: 0x80)
}
