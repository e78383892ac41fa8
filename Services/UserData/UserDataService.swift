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
    /// A device whose user changes something at the device itself counts on, and notifies of that.
    public let databaseChangeIncrement: Characteristic<UInt32>

    /// The User Index, 0x2A9A: the user whose data the central sees.
    public let userIndex: Characteristic<UInt8>

    /// The User Control Point, 0x2A9F.
    public let controlPoint: Characteristic<UserControlResponse>

    private let fields: [ServiceElement]

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - fields: What is known of them: characteristics that were made by ``UserData/characteristic(_:read:write:)``.
    public init(_ users: UserData, @ServiceBuilder _ fields: () -> [ServiceElement]) {
        self.fields = fields()
        databaseChangeIncrement = users.databaseChangeIncrement
        userIndex = users.userIndex
        controlPoint = Characteristic(.userControlPoint, [.write, .indicate], security: users.security) {
            ControlPoint(perform: { (request: UserControlRequest, central, session) in
                try await users.carryOut(request, of: central, in: session)
            })
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
