public import PeripheralKit

/// The User Data service, 0x181C, of the User Data Service specification 1.0.
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
/// The program chooses the fields. The service requires at least one field.
public struct UserDataService: GATTServiceDeclaration {
    /// The Database Change Increment, 0x2A99, which counts the changes of the user's data.
    ///
    /// When a user changes data at the device, increase the number. Then use ``notify(increment:of:in:)`` to
    /// send the new number.
    public let databaseChangeIncrement: Characteristic<UInt32>

    /// The User Index, 0x2A9A: the user whose data the central can access.
    public let userIndex: Characteristic<UInt8>

    /// The User Control Point, 0x2A9F.
    public let controlPoint: Characteristic<UserControlResponse>

    private let users: UserData
    private let fields: [ServiceElement]

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - fields: The fields of the users. Use ``UserData/characteristic(_:read:write:)`` to create these
    ///     characteristics.
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

    /// Notifies centrals of a change to a user's data at the device.
    ///
    /// The service sends the new increment to the subscribers that have the consent of the user. The service
    /// does not notify a central that the Bluetooth stack cannot address separately. Such a central reads the
    /// increment after the central has reconnected.
    ///
    /// - Parameters:
    ///   - increment: The number of changes, including the new change.
    ///   - user: The user whose data has changed.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
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
