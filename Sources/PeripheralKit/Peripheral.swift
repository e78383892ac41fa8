/// A Bluetooth LE peripheral: what centrals find, read, write and subscribe to.
///
/// ```swift
/// let peripheral = Peripheral("Pulse") {
///     heartRate
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
///     Advertisement(localName: "Pulse", appearance: 0x0340)
/// }
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// This is a declaration: making one does nothing. ``run(on:logger:_:)`` publishes it.
public struct Peripheral: Sendable {
    /// The name, which is also advertised unless the advertisement says otherwise.
    public let name: String

    /// Under which the peripheral's state is preserved; `nil` when it is not.
    public let restorationIdentifier: String?

    let pairing: Pairing
    let onRestore: (@Sendable (RestoredState) async throws -> Void)?
    /// The services as they are declared, each of which has work of its own.
    let declarations: [any GATTServiceDeclaration]
    package internal(set) var services: [GATTService]
    let advertisements: [Advertisement]
    /// Whether nothing is advertised until the program demands it, as by one that is declared from what is preserved and did not
    /// advertise either.
    var isSilentAtFirst = false
    /// What keeps it from being as it was, of one that is declared from what is preserved.
    var restorationIssues: [DeclarationIssue] = []
    let state = StateBroadcast()
    let backendMemory = BackendMemory()

    /// Whether the peripheral is on the air, from now on: first as it is, then each change.
    ///
    /// ```swift
    /// for await state in peripheral.states {
    ///     light.isOn = state.isOnTheAir
    ///     if let reason = state.reason { print(reason) }
    /// }
    /// ```
    ///
    /// Each call gives a sequence of its own, which does not end. A program that does not take the states gets the
    /// newest 64. Copies of a peripheral have one state; to run one declaration on two adapters at a time, declare
    /// two peripherals by the same function.
    public var states: some AsyncSequence<PeripheralState, Never> & Sendable {
        state.listen()
    }

    /// Declares a peripheral.
    ///
    /// - Parameters:
    ///   - name: The name; 1 to 248 bytes of UTF-8. An advertisement shows as much of it as fits.
    ///   - restorationIdentifier: Under which the peripheral's state is preserved, so that the next run of the program
    ///     continues where this one ends, however it ends: 1 to 4,096 bytes of UTF-8, such as `com.example.lamp`. `nil`
    ///     preserves nothing. One peripheral at a time can have an identifier.
    ///   - pairing: How centrals may pair; attributes that demand security need it.
    ///   - content: The services in their order, and the ``Advertisement``s; without one, it advertises its name and
    ///     services.
    ///   - onRestore: Takes what was preserved, or what keeps it from being restored, before the peripheral is registered and
    ///     before any request; not called when there is neither. What it throws ends the run before it has begun.
    public init(
        _ name: String,
        restorationIdentifier: String? = nil,
        pairing: Pairing = .none,
        @PeripheralBuilder _ content: () -> [PeripheralElement],
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        self.name = name
        self.restorationIdentifier = restorationIdentifier
        self.pairing = pairing
        self.onRestore = onRestore
        var declarations: [any GATTServiceDeclaration] = []
        var advertisements: [Advertisement] = []
        for element in content() {
            switch element.part {
            case .service(let declaration): declarations.append(declaration)
            case .advertisement(let advertisement): advertisements.append(advertisement)
            }
        }
        self.declarations = declarations
        services = declarations.map(\.service)
        self.advertisements = advertisements
    }

    /// Examines the declaration without publishing it.
    ///
    /// ``run(on:logger:_:)`` does the same first: it refuses a declaration with errors, and logs warnings. What one
    /// Bluetooth stack makes of it is told by ``validate(for:)``.
    ///
    /// - Returns: The errors and warnings, in the order of the declaration; empty when all is well.
    public func validate() -> [DeclarationIssue] {
        DeclarationValidation(of: self).issues
    }
}
