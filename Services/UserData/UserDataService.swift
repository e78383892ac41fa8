public import PeripheralKit

/// The User Data service, 0x181C, as defined by the User Data Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralUserData
///
/// let users = UserData(
///     register: add, isConsentCode: check, delete: remove, increment: count, setIncrement: set
/// )
/// let weight = users.characteristic(.weight, read: weightOf, write: setWeight)
/// let userData = UserDataService(users) { weight }
/// let peripheral = Peripheral("Scale", pairing: .justWorks) { userData }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// The program chooses the fields of the user data. The service requires at least one field.
public struct UserDataService: GATTServiceDeclaration {
    /// The Database Change Increment characteristic, 0x2A99, which counts the changes to user data.
    ///
    /// The program stores a counter of the changes for each user. When a user changes data on the device,
    /// increment the counter of that user. Use ``notify(increment:of:in:)`` to send the new counter value.
    public let databaseChangeIncrement: Characteristic<UInt32>

    /// The User Index characteristic, 0x2A9A, which identifies a user.
    ///
    /// The value is the index of the user who has given consent to the central.
    public let userIndex: Characteristic<UInt8>

    /// The User Control Point characteristic, 0x2A9F.
    public let controlPoint: Characteristic<UserControlResponse>

    private let users: UserData
    private let fields: [ServiceElement]

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - fields: The characteristics for the fields of the user data. Use
    ///     ``UserData/characteristic(_:read:write:)`` to create each characteristic.
    public init(_ users: UserData, @ServiceBuilder _ fields: () -> [ServiceElement]) {
        self.users = users
        self.fields = fields()
        databaseChangeIncrement = users.databaseChangeIncrement
        userIndex = users.userIndex
        controlPoint = Characteristic(.userControlPoint, [.write, .indicate], security: users.security) {
            ControlPoint(perform: { (request: UserControlRequest, central, session) in
                try await users.carryOut(request, of: central, in: session)
            })
        }
    }

    /// Notifies centrals that a user has changed data on the device.
    ///
    /// A subscriber receives the new number of changes only if the subscriber has the user's consent. If the
    /// Bluetooth stack cannot send a notification exclusively to one central, the service does not notify
    /// that central. A central that does not receive the notification reads the number of changes after
    /// reconnecting.
    ///
    /// - Parameters:
    ///   - increment: The number of changes to the user data, including the new change.
    ///   - user: The index of the user whose data has changed.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(increment: UInt32, of user: UInt8, in session: PeripheralSession) async throws {
        for subscription in try session.subscribers(of: databaseChangeIncrement) {
            guard let central = subscription.central, users.user(of: central) == user else { continue }
            do {
                try await session.notify(databaseChangeIncrement, increment, to: central)
            } catch let error as PeripheralError where error.code != .stopped {
                // The central has disconnected, or it must not get the value.
                continue
            }
        }
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.userData) {
            fields
            databaseChangeIncrement
            userIndex
            controlPoint
        }
    }
}
