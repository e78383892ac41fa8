public import PeripheralKit

/// The Current Time service, 0x1805: the clock of the device.
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
/// Do not notify the passing time. Notify these adjustments:
///
/// - each adjustment by a person
/// - changes of the time zone and of daylight saving time
/// - adjustments by an external reference
///
/// An external reference may adjust the clock often. Within 15 minutes of the last notification, do not
/// notify such adjustments of a minute or less (section 3.1.2).
public struct CurrentTimeService: GATTServiceDeclaration {
    /// The Current Time, 0x2A2B, which centrals read and subscribe to.
    ///
    /// Centrals can write the time if the service has a handler that sets the time.
    public let currentTime: Characteristic<CurrentTime>

    /// The Local Time Information, 0x2A0F, which centrals read; `nil` when it is not declared.
    ///
    /// Centrals can write the information if the service has a handler that sets the local time.
    public let localTime: Characteristic<LocalTimeInformation>?

    /// The Reference Time Information, 0x2A14, which centrals read; `nil` when it is not declared.
    public let referenceTime: Characteristic<ReferenceTimeInformation>?

    private let now: @Sendable () async throws -> CurrentTime

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - localTime: Returns the time zone; `nil` to omit the characteristic.
    ///   - referenceTime: Returns the source of the time; `nil` to omit the characteristic.
    ///   - security: The security required to read and set the clock, and to subscribe. A central that may
    ///     set the clock determines the time of the device. With `AttributeSecurity(write: .encrypted)`, any
    ///     central can read the clock, and paired centrals can set the clock.
    ///   - setTime: Sets the clock to the time that a central writes; `nil` when centrals cannot set the
    ///     clock. Throw `ATTError.currentTimeDataFieldIgnored` if the handler used only a part of the time.
    ///   - setLocalTime: Sets the time zone that a central writes; `nil` when centrals cannot set the time
    ///     zone. The handler requires `localTime`.
    ///   - now: Returns the time, with an empty ``CurrentTime/adjustReason``.
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

    /// Notifies the subscribers that the clock was adjusted.
    ///
    /// - Parameters:
    ///   - reason: The reasons for the adjustment; not empty.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `now` and of `session.notify`.
    public func notify(_ reason: CurrentTime.AdjustReason, in session: PeripheralSession) async throws {
        var time = try await now()
        time.adjustReason = reason
        try await session.notify(currentTime, time)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.currentTime) {
            currentTime
            if let localTime { localTime }
            if let referenceTime { referenceTime }
        }
    }
}

extension ATTError {
    /// The error for a write that the device uses only partly.
    ///
    /// The value is the application error 0x80 of the Current Time Service specification 1.1.
    public static let currentTimeDataFieldIgnored = ATTError(rawValue: 0x80)
}
