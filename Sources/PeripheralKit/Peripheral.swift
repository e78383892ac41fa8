/// A Bluetooth LE peripheral with services for centrals.
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
/// Centrals discover the peripheral, and then read, write and subscribe to its characteristics. A
/// `Peripheral` value is only a declaration. The declaration has no effect before ``run(on:logger:_:)``
/// publishes the peripheral.
public struct Peripheral: Sendable {
    /// The name of the peripheral.
    ///
    /// The advertisement also contains this name, unless the advertisement declares another name.
    public let name: String

    /// The identifier for the preserved state of the peripheral, or `nil` if the state is not preserved.
    public let restorationIdentifier: String?

    let pairing: Pairing
    let onRestore: (@Sendable (RestoredState) async throws -> Void)?
    /// The declarations of the services.
    ///
    /// Each declaration can perform background work.
    let declarations: [any GATTServiceDeclaration]
    package internal(set) var services: [GATTService]
    let advertisements: [Advertisement]
    /// Whether nothing is advertised until the program changes the advertisements.
    ///
    /// The value is `true` if the declaration is restored from a peripheral that did not advertise.
    var isSilentAtFirst = false
    /// The differences between a restored declaration and the preserved declaration.
    var restorationIssues: [DeclarationIssue] = []
    let state = StateBroadcast()
    let backendMemory = BackendMemory()

    /// A sequence of the current state of the peripheral and all later states.
    ///
    /// ```swift
    /// for await state in peripheral.states {
    ///     light.isOn = state.isOnTheAir
    ///     if let reason = state.reason { print(reason) }
    /// }
    /// ```
    ///
    /// Each access to `states` returns a separate sequence. The sequence does not end. If a program does not
    /// read a sequence of states, the sequence retains the newest 64 states.
    ///
    /// All copies of a `Peripheral` share one state. To run one declaration on two adapters at the same time,
    /// write a function that returns the `Peripheral`, and call the function twice.
    public var states: some AsyncSequence<PeripheralState, Never> & Sendable {
        state.listen()
    }

    /// Declares a peripheral.
    ///
    /// - Parameters:
    ///   - name: The name of the peripheral, with 1 to 248 bytes of UTF-8. If the name is too long for an
    ///     advertisement, the advertisement contains a shortened name.
    ///   - restorationIdentifier: The identifier for the preserved state of the peripheral, with 1 to 4,096
    ///     bytes of UTF-8. An example is `com.example.lamp`. The next run of the program continues with the
    ///     preserved state, even if the current run crashes. If the identifier is `nil`, the framework
    ///     preserves no state. Only one running peripheral at a time can use a restoration identifier.
    ///   - pairing: The pairing methods for centrals, with their handlers. If an attribute requires security,
    ///     the peripheral needs a pairing method.
    ///   - content: The services in the order of the database, and the ``Advertisement``s. If the content has
    ///     no ``Advertisement``, the peripheral advertises its name and services.
    ///   - onRestore: A closure that receives the restored state, or the problems that prevented the
    ///     restoration. The framework calls the closure before it registers the peripheral and before it
    ///     serves any request. If there is neither preserved state nor a problem, the framework does not call
    ///     the closure. If the closure throws an error, the run publishes nothing and throws the error.
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

    /// Checks the declaration without publishing the peripheral.
    ///
    /// ``run(on:logger:_:)`` checks the declaration before it publishes the peripheral. If the declaration
    /// has errors, `run` throws a ``DeclarationError``. If the declaration has warnings, `run` logs them. To
    /// check the declaration for a specific Bluetooth stack, use ``validate(for:)``.
    ///
    /// - Returns: The errors and warnings, in the order of the declared elements. The array is empty if the
    ///   declaration has no errors and no warnings.
    public func validate() -> [DeclarationIssue] {
        DeclarationValidation(of: self).issues
    }
}
