public import PeripheralKit

/// The User Data service, 0x181C, of the User Data Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralUserData
///
/// let users = UserData(register: add, isConsentCode: check, delete: remove, increment: count, setIncrement: set)
/// let weight = users.characteristic(.weight, read: weightOf, write: setWeight)
/// let userData = UserDataService(users) { weight }
/// let peripheral = Peripheral("Scale", pairing: .justWorks) { userData }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// Which fields there are is up to the device; one is needed at least.
public struct UserDataService: GATTServiceDeclaration {
    /// The Database Change Increment, 0x2A99: counts the changes of the user's data.
    ///
    /// A device whose user changes something at the device itself counts on, and tells by ``notify(increment:of:in:)``.
    public let databaseChangeIncrement: Characteristic<UInt32>

    /// The User Index, 0x2A9A: the user whose data the central sees.
    public let userIndex: Characteristic<UInt8>

    /// The User Control Point, 0x2A9F.
    public let controlPoint: Characteristic<UserControlResponse>

    private let users: UserData
    private let fields: [ServiceElement]

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - fields: What is known of them: characteristics that were made by ``UserData/characteristic(_:read:write:)``.
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

    /// Tells that the data of a user was changed at the device to the centrals that have subscribed and that user's consent.
    ///
    /// A central that the Bluetooth stack cannot reach without others is not told; it reads the increment when it comes back.
    ///
    /// - Parameters:
    ///   - increment: The number of changes, the new one included.
    ///   - user: Whose data it is.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func notify(increment: UInt32, of user: UInt8, in session: PeripheralSession) async throws {
        for subscription in try session.subscribers(of: databaseChangeIncrement) {
            guard let central = subscription.central, users.user(of: central) == user else { continue }
            do {
                try await session.notify(databaseChangeIncrement, increment, to: central)
            } catch let error as PeripheralError where error.code != .stopped {
                // It has left, or it is not to have it.
                continue
            }
        }
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.userData) {
            fields
            databaseChangeIncrement
            userIndex
            controlPoint
        }
    }
}
