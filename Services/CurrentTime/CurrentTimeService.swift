public import PeripheralKit

/// The Current Time service, 0x1805, of the Current Time Service specification 1.1: the device's clock.
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
/// Notifications tell of adjustments, not of passing time: of each that a person makes, of the time zone and of daylight
/// saving time. An external reference may adjust the clock all the time: leave out what is a minute or less, and comes
/// within 15 minutes of the last notification (section 3.1.2).
public struct CurrentTimeService: GATTServiceDeclaration {
    /// The Current Time, 0x2A2B, which centrals read and subscribe to, and write where that is supported.
    public let currentTime: Characteristic<CurrentTime>

    /// The Local Time Information, 0x2A0F, which centrals read, and write where that is supported; `nil` when it is not
    /// told.
    public let localTime: Characteristic<LocalTimeInformation>?

    /// The Reference Time Information, 0x2A14, which centrals read; `nil` when it is not told.
    public let referenceTime: Characteristic<ReferenceTimeInformation>?

    private let now: @Sendable () async throws -> CurrentTime

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - localTime: Tells the time zone, or `nil` to leave it open.
    ///   - referenceTime: Tells where the clock has its time from, or `nil` to leave it open.
    ///   - security: What it takes to read and set the clock, and to subscribe. Whoever may set it decides what the device
    ///     believes: `AttributeSecurity(write: .encrypted)` lets anybody read, and those who are paired set.
    ///   - setTime: Sets the clock as a central writes it; `nil` when centrals cannot. Throw
    ///     `ATTError.currentTimeDataFieldIgnored` when only a part of it was taken.
    ///   - setLocalTime: Sets the time zone as a central writes it; `nil` when centrals cannot. It needs `localTime`.
    ///   - now: Tells the time, with an empty ``CurrentTime/adjustReason``.
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

    /// Tells the centrals that have subscribed that the clock was adjusted.
    ///
    /// - Parameters:
    ///   - reason: Why; not empty.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: What `now` throws, and as `session.notify` does.
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
    /// The answer to a write of which the server ignores a part: the application error 0x80 of the Current Time Service
    /// specification 1.1.
    public static let currentTimeDataFieldIgnored = ATTError(rawValue: 0x80)
}
